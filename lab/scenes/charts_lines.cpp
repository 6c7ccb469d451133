// Line charts with labelled points, and pies.
#include <algorithm>
#include <cmath>

#include "lab/scenes/chart_data.h"
#include "lab/scenes/layouts.h"
#include "lab/scenes/phrases.h"
#include "lab/scenes/words.h"

namespace arrcoc::scenes {
namespace {

constexpr float kTurn = 6.28318530718F;

}  // namespace

Sheet line_chart(Context& c) {
  Random& r = c.random;
  ChartSize s = chart_size(c, 0.75F, 1.3F);
  const int series = r.pick(std::vector<int>{1, 2, 2, 2, 3});
  const int fit = static_cast<int>(s.width / (s.size * 3.1F));
  ChartData d = chart_data(r, series, std::clamp(r.between(4, 12), 3, std::max(3, fit)), 0, true);
  if (d.percent == false && d.values[0][0] > 900) d.decimals = 0;
  d.mark = "point";
  Frame f = chart_type(c, s);
  const size_t ns = d.series.size(), nc = d.categories.size();
  const Page scale(c, 1, 1, Color{255, 255, 255});
  // Names of lines stand in one row, or below each other where they are long.
  Style series_style = style(c.family("sans"), f.label.size, {0, 0, 0}, Weight::bold);
  const bool rows = widest(scale, d.series, series_style) * 1.1F > (f.right - f.left) / ns;
  const float names = ns == 1 ? 0.0F : rows ? 1.3F * ns : 1.3F, tall = r.real(11, 17);
  s.height = fit_height(scale, d, f, s.height, c.options.longest,
                        [&](const Frame& type) { return (names + tall) * type.label.size; });
  series_style.size = f.label.size;
  Sheet sheet;
  sheet.layout = series == 1 ? "line" : "lines";
  sheet.finish = Finish::chart;
  sheet.pages.emplace_back(c, s.width, s.height, Color{255, 255, 255});
  Page& page = sheet.pages.back();
  draw_frame(c, page, d, f);
  float high = 1, low = d.values[0][0];
  for (const auto& line : d.values)
    for (float v : line) high = std::max(high, v), low = std::min(low, v);
  const bool axis = r.chance(0.6F);
  const float range = std::max(high - (axis ? 0.0F : low), 1.0F), base_value = axis ? 0.0F : low;
  const float label_w = widest(page, d.categories, f.label) * 1.15F;
  const float x0 =
      f.left + std::max(axis ? page.measure(shown(high, 0) + "0", f.label) : f.value.size * 1.5F,
                        label_w / 2);
  const float x1 = f.right - std::max(f.value.size * 1.5F, label_w / 2);
  const float top = f.top + f.label.size * (names + 1.3F);
  const float bottom = f.bottom - f.label.size * 1.7F;
  auto X = [&](size_t k) { return x0 + (x1 - x0) * k / std::max<size_t>(1, nc - 1); };
  auto Y = [&](float v) {
    return bottom - f.value.size * 1.2F -
           (bottom - top - f.value.size * 2.4F) * (v - base_value) / range;
  };
  if (axis) {
    const int room =
        static_cast<int>((Y(base_value) - Y(base_value + range)) / (f.label.size * 1.5F));
    const int ticks = std::clamp(r.between(3, 5), 1, std::max(1, room));
    for (int i = 0; i <= ticks; ++i) {
      const float v = base_value + range * i / ticks;
      if (r.chance(0.8F)) page.canvas.hline(x0, f.right, Y(v), 1, {228, 228, 228});
      page.text(x0 - f.label.size * 0.5F, Y(v) + f.label.size * 0.35F, shown(v, 0), f.label,
                Align::right);
    }
  }
  page.canvas.hline(x0 - 4, f.right, bottom, 1, {110, 110, 110});
  std::vector<Run> cats(nc), sers(ns);
  const float gap = (x1 - x0) / std::max<size_t>(1, nc - 1);
  const size_t every = std::max<size_t>(1, static_cast<size_t>(std::ceil(label_w / gap)));
  for (size_t k = 0; k < nc; k += every) {
    page.canvas.vline(X(k), bottom, bottom + 3, 1, {110, 110, 110});
    cats[k] =
        page.text(X(k), bottom + f.label.size * 1.35F, d.categories[k], f.label, Align::centre);
  }
  const bool markers = r.chance(0.8F), hollow = r.chance(0.4F);
  const float thick = std::max(1.5F, s.size * 0.17F);
  std::vector<std::vector<Run>> values(ns, std::vector<Run>(nc));
  for (size_t i = 0; i < ns; ++i) {
    std::vector<Point> points;
    for (size_t k = 0; k < nc; ++k) points.push_back({X(k), Y(d.values[i][k])});
    page.canvas.polyline(points, thick, d.colors[i].color);
    if (!markers) continue;
    for (const Point& p : points) {
      page.canvas.ellipse(p.x, p.y, thick * 1.5F, thick * 1.5F, d.colors[i].color);
      if (hollow) page.canvas.ellipse(p.x, p.y, thick * 0.8F, thick * 0.8F, {255, 255, 255});
    }
  }
  const bool all_labels = r.chance(0.7F);
  for (size_t i = 0; i < ns; ++i) {
    const Style in_colour =
        ns > 1 || r.chance(0.4F)
            ? coloured(f.value, mix(d.colors[i].color, {0, 0, 0},
                                    luma(d.colors[i].color) > 140 ? 0.3F : 0.05F))
            : f.value;
    for (size_t k = 0; k < nc; ++k) {
      if (!all_labels && k != 0 && k + 1 != nc && !r.chance(0.3F)) continue;
      const std::string text = shown(d.values[i][k], d.decimals);
      const float width = page.measure(text, in_colour) + 2, tall = f.value.size;
      // Above or below the point: where no other text stands.
      bool above = true;
      for (size_t j = 0; j < ns; ++j)
        if (j != i && d.values[j][k] > d.values[i][k]) above = false;
      for (int tries = 0; tries < 2; ++tries, above = !above) {
        const float base = above ? Y(d.values[i][k]) - thick * 2.2F
                                 : Y(d.values[i][k]) + thick * 2.2F + page.cap_height(in_colour);
        const Box box{X(k) - width / 2, base - tall, X(k) + width / 2, base + tall * 0.25F};
        if (!page.free(box) || base > bottom - 2 || box.x0 < 0 || box.x1 > page.canvas.width)
          continue;
        values[i][k] = page.text(X(k), base, text, in_colour, Align::centre);
        break;
      }
    }
    // The name of the series: near its line, or in a row on top.
    if (ns > 1) {
      const float y = f.top + f.label.size * (1.1F + (rows ? 1.3F * i : 0.0F));
      const float x =
          (f.left + f.right) / 2 + (rows ? 0.0F : (f.right - f.left) * ((i + 0.5F) / ns - 0.5F));
      sers[i] =
          page.text(x, y, d.series[i], coloured(series_style, in_colour.color), Align::centre);
    }
  }
  chart_questions(page, r, d, values, cats, sers);
  for (size_t i = 0; i < ns; ++i) {
    const std::string name = ns > 1 ? d.series[i] : "the line";
    if (values[i][nc - 1].item >= 0)
      page.ask(
          {"chart.last",
           {{"ser", r.chance(0.5F) && ns > 1 ? std::string(d.colors[i].name) + " line" : name}},
           figure(values[i][nc - 1].text),
           {values[i][nc - 1]},
           {},
           Level::medium,
           0.6F / ns});
    if (values[i][0].item >= 0)
      page.ask({"chart.first",
                {{"ser", name}},
                figure(values[i][0].text),
                {values[i][0]},
                {},
                Level::medium,
                0.5F / ns});
  }
  return sheet;
}

Sheet pie_chart(Context& c) {
  Random& r = c.random;
  ChartSize s = chart_size(c, 0.95F, 1.9F);
  const int pieces = r.between(2, 5);
  ChartData d = chart_data(r, 1, pieces, 0, false);
  // Answers to one question instead of categories.
  ChartData other = chart_data(r, r.between(2, 4), 1, 100, false);
  if (r.chance(0.7F)) {
    d.categories = other.series;
    if (r.chance(0.6F))
      d.categories.push_back(r.pick({"DK", "Other/DK", "Don't know", "Refused", "Neither"}));
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
  Frame f = chart_type(c, s);
  const Page scale(c, 1, 1, Color{255, 255, 255});
  const bool key = r.chance(0.35F);
  const float tall = r.real(9, 13);
  s.height = fit_height(scale, d, f, s.height, c.options.longest, [&](const Frame& type) {
    return (key ? legend_spots(scale, d.categories, type).height : 0) + tall * type.label.size;
  });
  Sheet sheet;
  sheet.layout = r.chance(0.25F) ? "doughnut" : "pie";
  sheet.finish = Finish::chart;
  sheet.pages.emplace_back(c, s.width, s.height, Color{255, 255, 255});
  Page& page = sheet.pages.back();
  draw_frame(c, page, d, f);
  float top = f.top + f.label.size * 0.8F;
  const float bottom = f.bottom - f.label.size * 0.5F;
  std::vector<Run> cats(n);
  if (key) {
    const Legend spots = legend_spots(page, d.categories, f);
    const float side = f.label.size * 0.6F;
    for (size_t k = 0; k < n; ++k) {
      const float x = spots.at[k].x, y = f.top + spots.at[k].y;
      page.canvas.rect(x, y - side, x + side, y, d.colors[k].color);
      cats[k] = page.text(x + side * 1.5F, y, d.categories[k], f.label);
    }
    top = f.top + spots.height;
  }
  const float radius = std::min((f.right - f.left) / 2 - f.label.size * (key ? 0.5F : 2),
                                (bottom - top) / 2 - f.label.size);
  if (radius < f.label.size * 2.5F) return bar_chart(c);  // no room for a pie on this picture
  const float cx = (f.left + f.right) / 2, cy = (top + bottom) / 2;
  float at = r.chance(0.6F) ? 0.0F : r.unit();
  std::vector<std::vector<Run>> values(1, std::vector<Run>(n));
  const float start = at;
  for (size_t k = 0; k < n; ++k) {
    const float share = d.values[0][k] / 100;
    page.canvas.wedge(cx, cy, radius, at, at + share, d.colors[k].color);
    if (r.chance(0.9F))
      page.canvas.line({cx, cy},
                       {cx + radius * std::sin(kTurn * at), cy - radius * std::cos(kTurn * at)}, 1,
                       {255, 255, 255});
    at += share;
  }
  if (sheet.layout == "doughnut")
    page.canvas.ellipse(cx, cy, radius * 0.5F, radius * 0.5F, {255, 255, 255});
  at = start;
  const bool sign = r.chance(0.8F);
  for (size_t k = 0; k < n; ++k) {
    const float share = d.values[0][k] / 100, mid = kTurn * (at + share / 2);
    const std::string text = shown(d.values[0][k], 0) + (sign ? "%" : "");
    // Letters that reach past their piece would be white on white.
    const float words =
        std::max(page.measure(text, f.value), key ? 0.0F : page.measure(d.categories[k], f.value));
    const bool ring = sheet.layout == "doughnut";
    const bool inside = share > 0.14F && words < radius * (ring           ? 0.46F
                                                           : share > 0.3F ? 0.8F
                                                                          : 0.6F);
    const float reach = inside ? (ring ? 0.75F : 0.62F) : 1.12F + (share > 0.14F ? 0.1F : 0.0F);
    const float x = cx + radius * reach * std::sin(mid), y = cy - radius * reach * std::cos(mid);
    const Style style =
        coloured(f.value, inside && luma(d.colors[k].color) < 120 ? Color{255, 255, 255}
                                                                  : Color{20, 20, 20});
    const Box box{x - page.measure(text, style) / 2, y - style.size,
                  x + page.measure(text, style) / 2, y + style.size * (key ? 0.2F : 1.4F)};
    at += share;
    if (!page.free(box) || box.x0 < 1 || box.x1 > page.canvas.width - 2 ||
        box.y1 > page.canvas.height - 1)
      continue;
    values[0][k] = page.text(x, y, text, style, Align::centre);
    if (!key) {
      const float w = page.measure(d.categories[k], style);
      const Box name{x - w / 2, y + 2, x + w / 2, y + style.size * 1.4F};
      if (page.free(name) && name.x0 > 1 && name.x1 < page.canvas.width - 2)
        cats[k] = page.text(x, y + style.size * 1.15F, d.categories[k], style, Align::centre);
    }
  }
  size_t hi = 0, lo = 0;
  for (size_t k = 0; k < n; ++k) {
    if (d.values[0][k] > d.values[0][hi]) hi = k;
    if (d.values[0][k] < d.values[0][lo]) lo = k;
    if (values[0][k].item < 0) continue;
    std::vector<Box> evidence;
    if (cats[k].item >= 0) evidence.push_back(cats[k].box);
    if (cats[k].item >= 0)
      page.ask({"pie.value",
                {{"cat", r.chance(0.5F) ? d.categories[k] : lower(d.categories[k])}},
                figure(values[0][k].text),
                {values[0][k]},
                evidence,
                Level::simple,
                1.5F});
    page.ask({"pie.color",
              {{"color", d.colors[k].name}},
              figure(values[0][k].text),
              {values[0][k]},
              {},
              Level::medium,
              0.5F});
    if (cats[k].item >= 0)
      page.ask({"pie.legend",
                {{"color", d.colors[k].name}},
                d.categories[k],
                {cats[k]},
                {},
                Level::medium,
                0.5F});
  }
  auto once = [&](size_t k) {
    return values[0][k].item >= 0 &&
           std::count(d.values[0].begin(), d.values[0].end(), d.values[0][k]) == 1;
  };
  if (once(hi))
    page.ask({"pie.max", {}, figure(values[0][hi].text), {values[0][hi]}, {}, Level::complex, 1});
  if (once(lo))
    page.ask({"pie.min", {}, figure(values[0][lo].text), {values[0][lo]}, {}, Level::complex, 1});
  if (once(hi) && cats[hi].item >= 0)
    page.ask({"pie.argmax",
              {},
              d.categories[hi],
              {cats[hi]},
              {values[0][hi].box},
              Level::complex,
              0.7F});
  if (once(lo) && cats[lo].item >= 0)
    page.ask({"pie.argmin",
              {},
              d.categories[lo],
              {cats[lo]},
              {values[0][lo].box},
              Level::complex,
              0.7F});
  page.ask({"pie.value",
            {{"cat", r.pick({"Pineapple", "Antarctica", "Left-handed", "Tuesday"})}},
            "none",
            {},
            {},
            Level::simple,
            0.3F});
  return sheet;
}

}  // namespace arrcoc::scenes
