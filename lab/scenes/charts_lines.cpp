// Line charts with labelled points, pies and doughnuts.
#include <algorithm>
#include <cmath>

#include "lab/scenes/chart_data.h"
#include "lab/scenes/layouts.h"

namespace arrcoc::scenes {
namespace {

class LineDrawer {
 public:
  // names: lines of series names above the plot; rows: one below the other.
  LineDrawer(Context& c, Page& page, const ChartData& data, const Frame& frame, float names,
             bool rows)
      : r(c.random), page_(page), d(data), f(frame), rows_(rows) {
    float high = 1, low = d.values[0][0];
    for (const auto& line : d.values)
      for (float v : line) high = std::max(high, v), low = std::min(low, v);
    axis_ = r.chance(0.6F);
    range_ = std::max(high - (axis_ ? 0.0F : low), 1.0F);
    base_value_ = axis_ ? 0.0F : low;
    label_width_ = widest(page, d.categories, f.label) * 1.15F;
    x0_ =
        f.left + std::max(axis_ ? page.measure(shown(high, 0) + "0", f.label) : f.value.size * 1.5F,
                          label_width_ / 2);
    x1_ = f.right - std::max(f.value.size * 1.5F, label_width_ / 2);
    top_ = f.top + f.label.size * (names + 1.3F);
    bottom_ = f.bottom - f.label.size * 1.7F;
    out_.categories.resize(nc_);
    out_.series.resize(ns_);
    out_.values.assign(ns_, std::vector<Run>(nc_));
  }

  ChartRuns draw(const Style& series_style, float size) {
    draw_axes();
    draw_lines(std::max(1.5F, size * 0.17F));
    const bool all_labels = r.chance(0.7F);
    for (size_t i = 0; i < ns_; ++i) {
      const Color color = d.colors[i].color;
      const Style in_colour =
          ns_ > 1 || r.chance(0.4F)
              ? coloured(f.value, mix(color, kBlack, luma(color) > 140 ? 0.3F : 0.05F))
              : f.value;
      for (size_t k = 0; k < nc_; ++k)
        if (all_labels || k == 0 || k + 1 == nc_ || r.chance(0.3F)) label_point(i, k, in_colour);
      if (ns_ == 1) continue;
      const float y = f.top + f.label.size * (1.1F + (rows_ ? 1.3F * i : 0.0F));
      const float x =
          (f.left + f.right) / 2 + (rows_ ? 0.0F : (f.right - f.left) * ((i + 0.5F) / ns_ - 0.5F));
      out_.series[i] = page_.centred(x, y, d.series[i], coloured(series_style, in_colour.color));
    }
    return out_;
  }

 private:
  float x(size_t k) const { return x0_ + (x1_ - x0_) * k / std::max<size_t>(1, nc_ - 1); }
  float y(float v) const {
    return bottom_ - f.value.size * 1.2F -
           (bottom_ - top_ - f.value.size * 2.4F) * (v - base_value_) / range_;
  }

  void draw_axes() {
    if (axis_) {
      const int room =
          static_cast<int>((y(base_value_) - y(base_value_ + range_)) / (f.label.size * 1.5F));
      const int ticks = std::clamp(r.between(3, 5), 1, std::max(1, room));
      for (int i = 0; i <= ticks; ++i) {
        const float v = base_value_ + range_ * i / ticks;
        if (r.chance(0.8F)) page_.hline(x0_, f.right, y(v), 1, {228, 228, 228});
        page_.right(x0_ - f.label.size * 0.5F, y(v) + f.label.size * 0.35F, shown(v, 0), f.label);
      }
    }
    page_.hline(x0_ - 4, f.right, bottom_, 1, {110, 110, 110});
    const float gap = (x1_ - x0_) / std::max<size_t>(1, nc_ - 1);
    const size_t every = std::max<size_t>(1, static_cast<size_t>(std::ceil(label_width_ / gap)));
    for (size_t k = 0; k < nc_; k += every) {
      page_.vline(x(k), bottom_, bottom_ + 3, 1, {110, 110, 110});
      out_.categories[k] =
          page_.centred(x(k), bottom_ + f.label.size * 1.35F, d.categories[k], f.label);
    }
  }

  void draw_lines(float thick) {
    thick_ = thick;
    const bool markers = r.chance(0.8F), hollow = r.chance(0.4F);
    for (size_t i = 0; i < ns_; ++i) {
      std::vector<Point> points;
      for (size_t k = 0; k < nc_; ++k) points.push_back({x(k), y(d.values[i][k])});
      page_.polyline(points, thick, d.colors[i].color);
      if (!markers) continue;
      for (const Point& p : points) {
        page_.ellipse(p.x, p.y, thick * 1.5F, thick * 1.5F, d.colors[i].color);
        if (hollow) page_.ellipse(p.x, p.y, thick * 0.8F, thick * 0.8F, kWhite);
      }
    }
  }

  // Above or below the point: where no other text stands.
  void label_point(size_t i, size_t k, const Style& style) {
    const std::string text = shown(d.values[i][k], d.decimals);
    const float width = page_.measure(text, style) + 2, tall = f.value.size;
    bool above = true;
    for (size_t j = 0; j < ns_; ++j)
      if (j != i && d.values[j][k] > d.values[i][k]) above = false;
    for (int tries = 0; tries < 2; ++tries, above = !above) {
      const float base = above ? y(d.values[i][k]) - thick_ * 2.2F
                               : y(d.values[i][k]) + thick_ * 2.2F + page_.cap_height(style);
      const Box box{x(k) - width / 2, base - tall, x(k) + width / 2, base + tall * 0.25F};
      if (!page_.free(box) || base > bottom_ - 2 || box.x0 < 0 || box.x1 > page_.w()) continue;
      out_.values[i][k] = page_.centred(x(k), base, text, style);
      return;
    }
  }

  Random& r;
  Page& page_;
  const ChartData& d;
  const Frame& f;
  const bool rows_;
  const size_t ns_ = d.series.size(), nc_ = d.categories.size();
  ChartRuns out_;
  bool axis_ = false;
  float base_value_ = 0, range_ = 1, label_width_ = 0, thick_ = 0;
  float x0_ = 0, x1_ = 0, top_ = 0, bottom_ = 0;
};

constexpr float kTurn = 6.28318530718F;

// Shares of the categories (or of the answers to one question) that add up to 100.
ChartData pie_data(Random& r) {
  ChartData d = chart_data(r, 1, r.between(2, 5), 0, false);
  const ChartData other = chart_data(r, r.between(2, 4), 1, 100, false);
  if (r.chance(0.7F)) {
    d.categories = other.series;
    if (r.chance(0.6F)) d.categories.push_back(r.pick<"chart.unsure">());
  }
  while (d.categories.size() > d.colors.size()) d.categories.pop_back();
  const size_t n = d.categories.size();
  d.percent = true;
  d.decimals = 0;
  d.category_name = "answer";
  d.values.assign(1, std::vector<float>(n));
  float rest = 100;
  for (size_t k = 0; k < n; ++k) {
    const float left = static_cast<float>(n - k - 1);
    d.values[0][k] =
        left == 0 ? rest
                  : std::clamp(std::round(r.real(0.2F, 0.75F) * rest), 3.0F, rest - 3 * left);
    rest -= d.values[0][k];
  }
  if (r.chance(0.3F)) r.shuffle(d.values[0]);
  return d;
}

class PieDrawer {
 public:
  PieDrawer(Page& page, const ChartData& data, const Frame& frame, bool ring, bool key)
      : page_(page), d(data), f(frame), ring_(ring), key_(key), names_(n_), values_(n_) {
    float top = f.top + f.label.size * 0.8F;
    const float bottom = f.bottom - f.label.size * 0.5F;
    if (key) top = legend();
    radius_ = std::min((f.right - f.left) / 2 - f.label.size * (key ? 0.5F : 2),
                       (bottom - top) / 2 - f.label.size);
    cx_ = (f.left + f.right) / 2;
    cy_ = (top + bottom) / 2;
  }
  // False where the picture has no room for a pie.
  bool fits() const { return radius_ >= f.label.size * 2.5F; }

  void draw(Random& r) {
    const float start = r.chance(0.6F) ? 0.0F : r.unit();
    float at = start;
    for (size_t k = 0; k < n_; ++k) {
      const float share = d.values[0][k] / 100;
      page_.wedge(cx_, cy_, radius_, at, at + share, d.colors[k].color);
      if (r.chance(0.9F))
        page_.line({cx_, cy_},
                   {cx_ + radius_ * std::sin(kTurn * at), cy_ - radius_ * std::cos(kTurn * at)}, 1,
                   kWhite);
      at += share;
    }
    if (ring_) page_.ellipse(cx_, cy_, radius_ * 0.5F, radius_ * 0.5F, kWhite);
    at = start;
    const bool sign = r.chance(0.8F);
    for (size_t k = 0; k < n_; ++k) {
      const float share = d.values[0][k] / 100;
      label_piece(k, share, kTurn * (at + share / 2), shown(d.values[0][k], 0) + (sign ? "%" : ""));
      at += share;
    }
  }

  void questions(Random& r) {
    const std::vector<float>& shares = d.values[0];
    for (size_t k = 0; k < n_; ++k) {
      if (values_[k].item < 0) continue;
      const bool named = names_[k].item >= 0;
      const std::string value = figure(values_[k].text);
      if (named)
        page_.ask("pie.value", value, {values_[k]}, 1.5F, simple,
                  {{"cat", r.chance(0.5F) ? d.categories[k] : lower(d.categories[k])}},
                  {names_[k].box});
      page_.ask("pie.color", value, {values_[k]}, 0.5F, medium, {{"color", d.colors[k].name}});
      if (named)
        page_.ask("pie.legend", d.categories[k], {names_[k]}, 0.5F, medium,
                  {{"color", d.colors[k].name}});
    }
    const auto hi = static_cast<size_t>(std::max_element(shares.begin(), shares.end()) -
                                        shares.begin()),
               lo = static_cast<size_t>(std::min_element(shares.begin(), shares.end()) -
                                        shares.begin());
    auto once = [&](size_t k) {
      return values_[k].item >= 0 && std::count(shares.begin(), shares.end(), shares[k]) == 1;
    };
    for (const auto& [k, intent] : {std::pair{hi, "pie.max"}, {lo, "pie.min"}})
      if (once(k)) page_.ask_figure(intent, values_[k], 1, complex);
    for (const auto& [k, intent] : {std::pair{hi, "pie.argmax"}, {lo, "pie.argmin"}})
      if (once(k) && names_[k].item >= 0)
        page_.ask(intent, d.categories[k], {names_[k]}, 0.7F, complex, {}, {values_[k].box});
    page_.ask_none("pie.value", 0.3F, simple, {{"cat", r.pick<"chart.absent">()}});
  }

 private:
  // Names with squares above the pie. Returns where the pie may start.
  float legend() {
    const Legend spots = legend_spots(page_, d.categories, f);
    const float side = f.label.size * 0.6F;
    for (size_t k = 0; k < n_; ++k) {
      const float x = spots.at[k].x, y = f.top + spots.at[k].y;
      page_.rect(x, y - side, x + side, y, d.colors[k].color);
      names_[k] = page_.text(x + side * 1.5F, y, d.categories[k], f.label);
    }
    return f.top + spots.height;
  }

  void label_piece(size_t k, float share, float angle, const std::string& text) {
    // Letters that reach past their piece would be white on white.
    const float words = std::max(page_.measure(text, f.value),
                                 key_ ? 0.0F : page_.measure(d.categories[k], f.value));
    const float room = ring_ ? 0.46F : share > 0.3F ? 0.8F : 0.6F;
    const bool inside = share > 0.14F && words < radius_ * room;
    const float reach = inside ? (ring_ ? 0.75F : 0.62F) : 1.12F + (share > 0.14F ? 0.1F : 0.0F);
    const float x = cx_ + radius_ * reach * std::sin(angle),
                y = cy_ - radius_ * reach * std::cos(angle);
    const bool light = inside && luma(d.colors[k].color) < 120;
    const Style style = coloured(f.value, light ? kWhite : Color{20, 20, 20});
    const float half = page_.measure(text, style) / 2;
    const Box box{x - half, y - style.size, x + half, y + style.size * (key_ ? 0.2F : 1.4F)};
    if (!page_.free(box) || box.x0 < 1 || box.x1 > page_.w() - 2 || box.y1 > page_.h() - 1) return;
    values_[k] = page_.centred(x, y, text, style);
    if (key_) return;
    const float w = page_.measure(d.categories[k], style);
    const Box name{x - w / 2, y + 2, x + w / 2, y + style.size * 1.4F};
    if (page_.free(name) && name.x0 > 1 && name.x1 < page_.w() - 2)
      names_[k] = page_.centred(x, y + style.size * 1.15F, d.categories[k], style);
  }

  Page& page_;
  const ChartData& d;
  const Frame& f;
  const bool ring_, key_;
  const size_t n_ = d.categories.size();
  std::vector<Run> names_, values_;
  float radius_ = 0, cx_ = 0, cy_ = 0;
};

}  // namespace

Sheet line_chart(Context& c) {
  Random& r = c.random;
  ChartSize s = chart_size(c, 0.75F, 1.3F);
  const int series = r.pick({1, 2, 2, 2, 3});
  const int fit = static_cast<int>(s.width / (s.size * 3.1F));
  ChartData d = chart_data(r, series, std::clamp(r.between(4, 12), 3, std::max(3, fit)), 0, true);
  if (!d.percent && d.values[0][0] > 900) d.decimals = 0;
  d.mark = "point";
  Frame f = chart_type(c, s);
  const size_t ns = d.series.size(), last = d.categories.size() - 1;
  const Page scale(c, 1, 1, kWhite);
  // Names of lines stand in one row, or below each other where they are long.
  Style series_style = bold(c.family("sans"), f.label.size, kBlack);
  const bool rows = widest(scale, d.series, series_style) * 1.1F > (f.right - f.left) / ns;
  const float names = ns == 1 ? 0.0F : rows ? 1.3F * ns : 1.3F, tall = r.real(11, 17);
  s.height = fit_height(scale, d, f, s.height, c.options.longest,
                        [&](const Frame& type) { return (names + tall) * type.label.size; });
  series_style.size = f.label.size;
  Sheet sheet(series == 1 ? "line" : "lines", Finish::chart);
  Page& page = sheet.add(c, s.width, s.height);
  draw_frame(c, page, d, f);
  const ChartRuns runs = LineDrawer(c, page, d, f, names, rows).draw(series_style, s.size);
  chart_questions(page, r, d, runs);
  for (size_t i = 0; i < ns; ++i) {
    const std::string name = ns > 1 ? d.series[i] : "the line";
    if (const Run& run = runs.values[i][last]; run.item >= 0) {
      const bool by_colour = r.chance(0.5F) && ns > 1;
      page.ask_figure("chart.last", run, 0.6F / ns, medium,
                      {{"ser", by_colour ? d.colors[i].name + " line" : name}});
    }
    if (const Run& run = runs.values[i][0]; run.item >= 0)
      page.ask_figure("chart.first", run, 0.5F / ns, medium, {{"ser", name}});
  }
  return sheet;
}

Sheet pie_chart(Context& c) {
  Random& r = c.random;
  ChartSize s = chart_size(c, 0.95F, 1.9F);
  ChartData d = pie_data(r);
  Frame f = chart_type(c, s);
  const Page scale(c, 1, 1, kWhite);
  const bool key = r.chance(0.35F);
  const float tall = r.real(9, 13);
  s.height = fit_height(scale, d, f, s.height, c.options.longest, [&](const Frame& type) {
    return (key ? legend_spots(scale, d.categories, type).height : 0) + tall * type.label.size;
  });
  const bool ring = r.chance(0.25F);
  Sheet sheet(ring ? "doughnut" : "pie", Finish::chart);
  Page& page = sheet.add(c, s.width, s.height);
  draw_frame(c, page, d, f);
  PieDrawer pie(page, d, f, ring, key);
  if (!pie.fits()) return bar_chart(c);
  pie.draw(r);
  pie.questions(r);
  return sheet;
}

}  // namespace arrcoc::scenes
