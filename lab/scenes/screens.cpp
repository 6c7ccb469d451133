// Dashboards and departure boards.
#include <algorithm>
#include <cmath>

#include "lab/scenes/backdrop.h"
#include "lab/scenes/layouts.h"

namespace arrcoc::scenes {

Sheet dashboard(Context& c) {
  Random& r = c.random;
  Sheet sheet("dashboard", Finish::screen);
  const int width = c.options.longest, height = static_cast<int>(width * r.real(0.5F, 0.72F));
  const bool dark = r.chance(0.5F);
  const Color ground = dark ? Color{24, 28, 36} : Color{240, 242, 246},
              card = dark ? Color{38, 44, 56} : Color{255, 255, 255},
              ink = dark ? Color{228, 232, 240} : Color{30, 34, 44};
  Page& page = sheet.add(c, width, height, ground);
  const float w = page.w(), h = page.h(), pad = c.px(12);
  const Family& family = c.family(r.pick({"sans", "narrow"}));
  const float bar = c.px(r.real(34, 48)), size = c.px(r.real(11, 14.5F));
  page.rect(0, 0, w, bar, vivid(r));
  const Style white = style(family, size, {250, 250, 250}),
              title = bold(family, size * 1.4F, white.color);
  page.ask("screen.title", page.text(c.px(16), bar * 0.66F, r.pick<"screen.title">(), title), 0.7F);
  page.ask("screen.time", page.right(w - c.px(16), bar * 0.66F, clock(r, false), white), 0.7F);
  std::vector<Row> metrics = r.table<"screen.metric", 4>();
  r.shuffle(metrics);
  const int columns = r.between(3, 5), rows = r.between(2, 4);
  const float cw = (w - pad * (columns + 1)) / columns, ch = (h - bar - pad * (rows + 1)) / rows;
  const bool led = r.chance(0.2F);
  const Family& digits = led ? c.library.named("dseg") : family;
  for (int i = 0; i < columns * rows && i < static_cast<int>(metrics.size()); ++i) {
    const Row& metric = metrics[static_cast<size_t>(i)];
    const float x = pad + (cw + pad) * (i % columns), y = bar + pad + (ch + pad) * (i / columns);
    page.round_rect(x, y, x + cw, y + ch, c.px(6), card);
    const int value =
        r.between(static_cast<int>(to_number(metric[1])), static_cast<int>(to_number(metric[2])));
    const Run key =
        page.text(x + pad, y + size * 1.7F, metric[0], style(family, size, mix(ink, card, 0.3F)));
    const std::string text = led ? std::to_string(value) : grouped(value) + metric[3];
    const float big = std::min(ch * 0.28F, c.px(r.real(16, 30))), room = cw - c.px(20);
    Style used = bold(digits, big, led ? Color{80, 220, 120} : ink);
    if (page.measure(text, used) > room) used.size *= room / page.measure(text, used);
    page.ask_figure("screen.value", page.text(x + pad, y + size * 2.2F + big * 1.1F, text, used), 1,
                    simple, {{"key", lower(metric[0])}}, {key.box});
    if (ch <= big * 2.6F + size * 3) continue;
    std::vector<Point> trend;
    for (int k = 0; k < 12; ++k)
      trend.push_back(
          {x + pad + (cw - c.px(24)) * k / 11, y + ch - c.px(10) - r.unit() * ch * 0.22F});
    page.polyline(trend, 1.6F, vivid(r));
  }
  page.ask_none("screen.value", 0.5F, simple, {{"key", r.pick<"screen.absent">()}});
  return sheet;
}

Sheet departures(Context& c) {
  Random& r = c.random;
  Sheet sheet("departure-board", Finish::screen);
  const int width = c.options.longest, height = static_cast<int>(width * r.real(0.5F, 0.75F));
  const Color ground = r.chance(0.7F) ? Color{18, 20, 26} : Color{20, 40, 90},
              ink = r.chance(0.5F) ? Color{250, 215, 70} : Color{240, 240, 240};
  Page& page = sheet.add(c, width, height, ground);
  const float w = page.w(), top = c.px(66);
  const Family& family = c.family(r.pick({"sans", "thermal", "narrow"}));
  const int rows = r.between(6, 16);
  const float pitch = (height - c.px(70)) / rows, size = std::min(pitch * 0.62F, c.px(24));
  const Style body = style(family, size, ink),
              head = bold(family, size * 0.85F, mix(ink, ground, 0.35F));
  const bool planes = r.chance(0.5F);
  const float at[5] = {w * 0.03F, w * 0.15F, w * 0.5F, w * 0.68F, w * 0.8F};
  page.text(w * 0.03F, c.px(26), r.pick<"board.title">(),
            bold(family, std::max(size, c.px(17)), ink));
  const std::vector<Row>& table =
      planes ? r.table<"board.plane", 3>() : r.table<"board.train", 3>();
  std::vector<Run> heads;
  for (size_t k = 0; k < 5; ++k) heads.push_back(page.text(at[k], c.px(54), table[k][0], head));
  std::vector<std::string> used;
  for (int i = 0; i < rows; ++i) {
    const std::string town = title_case(lower(city(r, any_land(r))));
    if (holds(used, town)) continue;
    used.push_back(town);
    if (i % 2) page.rect(0, top + pitch * i, w, top + pitch * (i + 1), mix(ground, kWhite, 0.08F));
    const std::vector<Field> row = fields(
        r, table, Land::us,
        {{"clock", [&] { return clock(r, false).substr(0, 5); }}, {"town", [&] { return town; }}});
    std::vector<Run> runs;
    for (size_t k = 0; k < 5; ++k)
      runs.push_back(page.text(at[k], top + pitch * (i + 0.65F), row[k].value, body));
    for (size_t k : {0, 2, 3, 4})
      page.ask(table[k][2], runs[k], 1, medium, {{"town", town}, {"what", lower(table[k][0])}},
               {runs[1].box, heads[k].box});
    page.ask("board.where", runs[1], 0.7F, medium, {{"number", runs[2].text}}, {runs[2].box});
  }
  page.ask_none("board.time", 0.5F, medium, {{"town", "Atlantis"}, {"what", "time"}});
  return sheet;
}

}  // namespace arrcoc::scenes
