// Dashboards, departure boards and application windows.
#include <algorithm>
#include <cmath>

#include "lab/scenes/backdrop.h"
#include "lab/scenes/layouts.h"
#include "lab/scenes/phrases.h"
#include "lab/scenes/words.h"

namespace arrcoc::scenes {

Sheet dashboard(Context& c) {
  Random& r = c.random;
  Sheet sheet;
  sheet.layout = "dashboard";
  sheet.finish = Finish::screen;
  const int w = c.options.longest, h = static_cast<int>(w * r.real(0.5F, 0.72F));
  const bool dark = r.chance(0.5F);
  const Color ground = dark ? Color{24, 28, 36} : Color{240, 242, 246},
              card = dark ? Color{38, 44, 56} : Color{255, 255, 255},
              ink = dark ? Color{228, 232, 240} : Color{30, 34, 44};
  sheet.pages.emplace_back(c, w, h, ground);
  Page& page = sheet.pages.back();
  const Family& family = c.family(r.pick({"sans", "narrow"}));
  const float bar = c.px(r.real(34, 48)), size = c.px(r.real(11, 14.5F));
  page.canvas.rect(0, 0, static_cast<float>(w), bar, vivid(r));
  const Run title =
      page.text(c.px(16), bar * 0.66F,
                r.pick({"Plant Monitor", "Sales Overview", "Server Status", "Fleet Dashboard",
                        "Weather Station", "Energy Report", "Patient Monitor", "Build Pipeline"}),
                style(family, size * 1.4F, {250, 250, 250}, Weight::bold));
  page.ask({"screen.title", {}, title.text, {title}, {}, Level::simple, 0.7F});
  const Run time = page.text(w - c.px(16), bar * 0.66F, clock(r, false),
                             style(family, size, {250, 250, 250}), Align::right);
  page.ask({"screen.time", {}, time.text, {time}, {}, Level::simple, 0.7F});
  struct Metric {
    const char* name;
    int low, high;
    const char* unit;
  };
  std::vector<Metric> metrics = {{"Temperature", -10, 95, " °C"}, {"Pressure", 1, 16, " bar"},
                                 {"CPU load", 1, 100, "%"},       {"Memory", 8, 99, "%"},
                                 {"Visitors", 120, 98000, ""},    {"Orders", 3, 4800, ""},
                                 {"Revenue", 400, 99000, " $"},   {"Humidity", 20, 98, "%"},
                                 {"Wind speed", 0, 120, " km/h"}, {"Battery", 2, 100, "%"},
                                 {"Heart rate", 48, 160, " bpm"}, {"Flow", 2, 400, " l/min"},
                                 {"Errors", 0, 340, ""},          {"Uptime", 1, 400, " days"},
                                 {"Disk usage", 4, 99, "%"},      {"Latency", 2, 900, " ms"},
                                 {"Voltage", 210, 242, " V"},     {"Queue", 0, 88, ""}};
  r.shuffle(metrics);
  const int columns = r.between(3, 5), rows = r.between(2, 4);
  const float gap = c.px(12), cw = (w - gap * (columns + 1)) / columns,
              ch = (h - bar - gap * (rows + 1)) / rows;
  struct Shown {
    std::string name;
    int value;
    Run key, run;
  };
  std::vector<Shown> shown_;
  size_t next = 0;
  const bool led = r.chance(0.2F);
  for (int row = 0; row < rows; ++row)
    for (int col = 0; col < columns && next < metrics.size(); ++col) {
      const Metric& m = metrics[next++];
      const float x = gap + (cw + gap) * col, y = bar + gap + (ch + gap) * row;
      page.canvas.round_rect(x, y, x + cw, y + ch, c.px(6), card);
      const int value = r.between(m.low, m.high);
      const Run key = page.text(x + c.px(12), y + size * 1.7F, m.name,
                                style(family, size, mix(ink, card, 0.3F)));
      const Family& number = led ? c.library.named("dseg") : family;
      const std::string text = led ? std::to_string(value) : grouped(value) + m.unit;
      const float big = std::min(ch * 0.28F, c.px(r.real(16, 30)));
      Style used = style(number, big, led ? Color{80, 220, 120} : ink, Weight::bold);
      if (page.measure(text, used) > cw - c.px(20))
        used.size *= (cw - c.px(20)) / page.measure(text, used);
      const Run run = page.text(x + c.px(12), y + size * 2.2F + big * 1.1F, text, used);
      page.ask({"screen.value",
                {{"key", lower(m.name)}},
                figure(text),
                {run},
                {key.box},
                Level::simple,
                1});
      shown_.push_back({m.name, value, key, run});
      if (ch > big * 2.6F + size * 3) {  // a small trend line
        std::vector<Point> points;
        for (int i = 0; i < 12; ++i)
          points.push_back(
              {x + c.px(12) + (cw - c.px(24)) * i / 11, y + ch - c.px(10) - r.unit() * ch * 0.22F});
        page.canvas.polyline(points, 1.6F, vivid(r));
      }
    }
  page.ask({"screen.value",
            {{"key", r.pick({"radiation", "rainfall", "fuel level", "altitude"})}},
            "none",
            {},
            {},
            Level::simple,
            0.5F});
  return sheet;
}

Sheet departures(Context& c) {
  Random& r = c.random;
  Sheet sheet;
  sheet.layout = "departure-board";
  sheet.finish = Finish::screen;
  const int w = c.options.longest, h = static_cast<int>(w * r.real(0.5F, 0.75F));
  const Color ground = r.chance(0.7F) ? Color{18, 20, 26} : Color{20, 40, 90},
              ink = r.chance(0.5F) ? Color{250, 215, 70} : Color{240, 240, 240};
  sheet.pages.emplace_back(c, w, h, ground);
  Page& page = sheet.pages.back();
  const Family& family = c.family(r.pick({"sans", "thermal", "narrow"}));
  const int rows = r.between(6, 16);
  const float pitch = (h - c.px(70)) / rows, size = std::min(pitch * 0.62F, c.px(24));
  const Style body = style(family, size, ink),
              head = style(family, size * 0.85F, mix(ink, ground, 0.35F), Weight::bold);
  const bool planes = r.chance(0.5F);
  const float at[5] = {w * 0.03F, w * 0.15F, w * 0.5F, w * 0.68F, w * 0.8F};
  const char* const names[5] = {"Time", "Destination", planes ? "Flight" : "Train",
                                planes ? "Gate" : "Platform", "Status"};
  page.text(w * 0.03F, c.px(26), r.pick({"DEPARTURES", "Departures"}),
            style(family, std::max(size, c.px(17)), ink, Weight::bold));
  std::vector<Run> heads;
  for (int k = 0; k < 5; ++k) heads.push_back(page.text(at[k], c.px(54), names[k], head));
  std::vector<std::string> used;
  for (int i = 0; i < rows; ++i) {
    std::string town = city(r, any_land(r));
    town = title_case(lower(town));
    if (std::find(used.begin(), used.end(), town) != used.end()) continue;
    used.push_back(town);
    const float y = c.px(66) + pitch * (i + 0.65F);
    if (i % 2)
      page.canvas.rect(0, c.px(66) + pitch * i, static_cast<float>(w), c.px(66) + pitch * (i + 1),
                       mix(ground, {255, 255, 255}, 0.08F));
    const std::string texts[5] = {
        clock(r, false).substr(0, 5), town, pattern(r, planes ? "@@####" : "@@ ###"),
        planes ? pattern(r, "@##") : std::to_string(r.between(1, 24)),
        r.pick({"On time", "Delayed", "Boarding", "Cancelled", "Gate closed", "+15 min"})};
    Run runs[5];
    for (int k = 0; k < 5; ++k) runs[k] = page.text(at[k], y, texts[k], body);
    for (int k : {0, 2, 3, 4})
      page.ask({k == 0   ? "board.time"
                : k == 2 ? "board.number"
                : k == 3 ? "board.gate"
                         : "board.status",
                {{"town", town}, {"what", lower(names[k])}},
                texts[k],
                {runs[k]},
                {runs[1].box, heads[static_cast<size_t>(k)].box},
                Level::medium,
                1});
    page.ask({"board.where",
              {{"number", texts[2]}},
              town,
              {runs[1]},
              {runs[2].box},
              Level::medium,
              0.7F});
  }
  page.ask({"board.time",
            {{"town", "Atlantis"}, {"what", "time"}},
            "none",
            {},
            {},
            Level::medium,
            0.5F});
  return sheet;
}

}  // namespace arrcoc::scenes
