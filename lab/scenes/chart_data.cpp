#include "lab/scenes/chart_data.h"

#include <algorithm>
#include <cmath>

namespace arrcoc::scenes {
namespace {

// A line of a table with at least so many fields from `first` on; another one where there is none.
const Row& long_row(Random& r, const std::vector<Row>& table, size_t first, int fields) {
  const Row* row = &r.pick(table);
  for (int tries = 0; tries < 40 && static_cast<int>(row->size() - first) < fields; ++tries)
    row = &r.pick(table);
  return *row;
}

std::vector<std::string> fields(const Row& row, size_t first, int most) {
  const size_t end = std::min(row.size(), first + static_cast<size_t>(most));
  return {row.begin() + static_cast<std::ptrdiff_t>(first),
          row.begin() + static_cast<std::ptrdiff_t>(end)};
}

void choose_years(Random& r, ChartData& d, int count) {
  const int step = r.chance(0.8F) ? 1 : r.between(2, 5);
  const int first = r.between(1960, 2020 - step * count);
  const bool months = r.chance(0.15F);
  d.category_name = months ? "month" : "year";
  for (int i = 0; i < count; ++i)
    d.categories.push_back(months ? month_name(r, (i * 5 + first) % 12 + 1).substr(0, 3) + " " +
                                        std::to_string(2009 + i)
                                  : std::to_string(first + i * step));
}

void choose_categories(Random& r, ChartData& d, int count) {
  if (r.chance(0.3F)) {
    d.category_name = "country";
    std::vector<std::string> list = r.list<"place.country">();
    r.shuffle(list);
    d.categories = fields(list, 0, count);
  } else {
    const Row& row = long_row(r, r.table<"chart.categories">(), 1, count);
    d.category_name = row[0];
    d.categories = fields(row, 1, count);
  }
}

void choose_values(Random& r, ChartData& d, float sum_to, bool in_time) {
  d.percent = sum_to > 0 || r.chance(0.75F);
  d.decimals = sum_to <= 0 && r.chance(0.15F) ? 1 : 0;
  const float top = d.percent ? 97.0F : r.pick({60.0F, 250.0F, 900.0F, 4800.0F, 36000.0F});
  d.values.assign(d.series.size(), std::vector<float>(d.categories.size()));
  for (size_t cat = 0; cat < d.categories.size(); ++cat) {
    float rest = sum_to > 0 ? sum_to - r.between(0, 6) : 0;
    for (size_t ser = 0; ser < d.series.size(); ++ser) {
      float& v = d.values[ser][cat];
      if (sum_to > 0) {
        const auto left = static_cast<float>(d.series.size() - ser - 1);
        v = left == 0
                ? rest
                : std::clamp(r.real(0.15F, 0.85F) * rest, 2.0F, std::max(2.0F, rest - 2 * left));
        v = std::max(1.0F, std::round(v));
        rest -= v;
      } else if (in_time && cat > 0) {
        v = std::clamp(d.values[ser][cat - 1] + r.real(-0.13F, 0.13F) * top, top * 0.04F, top);
      } else {
        v = r.real(0.05F, 1.0F) * top;
      }
      v = d.decimals ? std::round(v * 10) / 10 : std::round(v);
    }
  }
}

// Title, subtitle, note, source and brand.
void choose_words(Random& r, ChartData& d) {
  const std::string what = topic(r), who = r.pick<"chart.who">(), views = r.pick<"chart.views">();
  d.title = expand(r, fill(r.pick<"chart.title">(), {{"who", who},
                                                     {"views", views},
                                                     {"what", what},
                                                     {"What", title_case(what)},
                                                     {"sentence", cap(what)},
                                                     {"category", d.category_name}}));
  if (r.chance(0.8F)) {
    const std::string end = r.pick<"chart.subtitle-end">();
    d.subtitle = r.pick<"chart.subtitle">() + what + end;
  }
  const std::string year = number(r, 2005, 2021), month = month_name(r, r.between(1, 12)),
                    last = number(r, 15, 28), first = number(r, 1, 14);
  if (r.chance(0.7F)) d.note = r.pick<"chart.note">();
  if (r.chance(0.85F))
    d.source = r.pick<"chart.source">() + month + " " + first + "-" + last + ", " + year + ".";
  if (r.chance(0.7F)) {
    const std::string kind = r.pick<"chart.brand-kind">();
    d.brand = upper(r.pick<"chart.brand-name">() + " " + kind);
  }
}

}  // namespace

std::string shown(float value, int decimals) {
  if (decimals == 0) return grouped(std::lround(value));
  const long tenths = std::lround(value * 10);
  return grouped(tenths / 10) + "." + std::to_string(std::labs(tenths % 10));
}

ChartData chart_data(Random& r, int series, int categories, float sum_to, bool years) {
  ChartData d;
  for (const std::string& field : r.pick(r.table<"chart.palette", 5>()))
    d.colors.push_back(named_color(field));
  if (r.chance(0.5F)) std::swap(d.colors[0], d.colors[1]);
  const bool in_time = years || (series > 1 && r.chance(0.12F));
  if (in_time)
    choose_years(r, d, categories);
  else
    choose_categories(r, d, categories);
  d.series = fields(long_row(r, r.table<"chart.answers">(), 0, series), 0, series);
  if (r.strangeness > 0) {
    if (!in_time)
      for (std::string& name : d.categories) name = strange(r, name);
    for (std::string& name : d.series) name = strange(r, name);
  }
  choose_values(r, d, sum_to, in_time);
  choose_words(r, d);
  return d;
}

}  // namespace arrcoc::scenes
