// Clips: a few frames with things that move, appear and are cut away.
#include <algorithm>
#include <cmath>

#include "lab/scenes/backdrop.h"
#include "lab/scenes/layouts.h"
#include "lab/scenes/things.h"
#include "lab/scenes/words.h"

namespace arrcoc::scenes {
namespace {

// Frames are smaller than single pictures: half the longer side.
struct Film {
  int frames, width, height;
};
Film film(Context& c) {
  Random& r = c.random;
  const int w = std::max(64, c.options.longest / 2);
  return {r.between(4, 8), w, static_cast<int>(w * r.real(0.56F, 0.8F))};
}

struct Mover {
  const Cutout* cut;
  float size;
  Point from, to;
  int first = 0;  // frame of entry
  bool flip = false;
  Run item;
  Box at(int frame, int frames) const {
    const float t = static_cast<float>(frame) / std::max(1, frames - 1);
    const float x = std::floor(from.x + (to.x - from.x) * t),
                y = std::floor(from.y + (to.y - from.y) * t);
    return {x, y, x + size, y + size};
  }
};

std::string direction(const Mover& m) {
  const float dx = m.to.x - m.from.x, dy = m.to.y - m.from.y;
  if (std::fabs(dx) > 2 * std::fabs(dy)) return dx > 0 ? "right" : "left";
  if (std::fabs(dy) > 2 * std::fabs(dx)) return dy > 0 ? "down" : "up";
  return "";
}

std::string third(const Box& b, float w) {
  const float x = (b.x0 + b.x1) / 2;
  return x < w / 3 ? "left" : x > w * 2 / 3 ? "right" : "middle";
}

}  // namespace

Sheet moving_objects(Context& c) {
  Random& r = c.random;
  Sheet sheet;
  sheet.layout = "moving-objects";
  sheet.finish = Finish::clip;
  const Film f = film(c);
  Page ground(c, f.width, f.height, muted(r));
  backdrop(ground, r);
  const float W = static_cast<float>(f.width), H = static_cast<float>(f.height);
  std::vector<Mover> movers;
  const int n = r.between(2, 4);
  const auto sorts = unlike_cutouts(c, static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) {
    Mover m;
    m.cut = sorts[static_cast<size_t>(i)];
    m.size = std::floor(std::min(c.px(r.real(40, 76)), H / n * 0.85F));
    // A lane each, so that nothing is covered.
    const float lane = H / n * i + (H / n - m.size) / 2;
    const bool still = r.chance(0.25F), upward = n == 1;
    const float a = r.real(2, W - m.size - 2), b = still ? a : r.real(2, W - m.size - 2);
    m.from = {a, lane};
    m.to = {b, upward ? H - m.size - 2 : lane};
    m.first = i > 0 && r.chance(0.3F) ? r.between(1, f.frames - 1) : 0;
    m.flip = r.chance(0.5F);
    m.item = ground.item(m.at(f.frames - 1, f.frames), m.cut->name);
    movers.push_back(m);
  }
  ground.things.clear();
  sheet.pages.assign(static_cast<size_t>(f.frames), ground);
  for (int k = 0; k < f.frames; ++k) {
    Page& page = sheet.pages[static_cast<size_t>(k)];
    for (Mover& m : movers) {
      if (k < m.first) continue;
      Run run = m.item;
      run.box = m.at(k, f.frames);
      page.cutout(run, *m.cut, m.flip);
    }
  }
  const int last = f.frames - 1;
  int late = 0;
  for (const Mover& m : movers) {
    std::vector<Box> track;
    for (int k = 0; k < f.frames; ++k) track.push_back(k < m.first ? Box{} : m.at(k, f.frames));
    const Run end = m.item;
    Ask where{
        "clip.where", {{"name", m.cut->name}}, third(end.box, W), {end}, {}, Level::medium, 1, last,
        track};
    const float x = (end.box.x0 + end.box.x1) / 2 / W * 3;
    if (std::fabs(x - 1) > 0.2F && std::fabs(x - 2) > 0.2F) sheet.asks.push_back(where);
    if (!direction(m).empty() && std::fabs(m.to.x - m.from.x) > W * 0.2F && m.first < f.frames - 2)
      sheet.asks.push_back({"clip.direction",
                            {{"name", m.cut->name}},
                            direction(m),
                            {end},
                            {},
                            Level::complex,
                            1,
                            last,
                            track});
    late += m.first > 0;
    if (m.first > 0)
      sheet.asks.push_back(
          {"clip.appears", {}, m.cut->name, {end}, {}, Level::complex, 1.5F, last, track});
  }
  if (late > 1) std::erase_if(sheet.asks, [](const Ask& a) { return a.intent == "clip.appears"; });
  Ask count{"clip.count", {}, std::to_string(movers.size()), {}, {}, Level::complex, 0.6F,
            last,         {}};
  for (const Mover& m : movers) count.answers.push_back(m.item);
  count.track.assign(static_cast<size_t>(f.frames), Box{0, 0, W, H});
  sheet.asks.push_back(count);
  return sheet;
}

// The camera passes a sign: everything shifts together.
Sheet moving_sign(Context& c) {
  Random& r = c.random;
  Sheet sheet;
  sheet.layout = "moving-sign";
  sheet.finish = Finish::clip;
  const Film f = film(c);
  const float W = static_cast<float>(f.width), H = static_cast<float>(f.height);
  Page wide(c, f.width * 2, f.height, muted(r));
  backdrop(wide, r);
  const Family& family = c.family("display");
  const std::string text = upper(r.pick({"Exit ", "Gate ", "Route ", "Room ", "Bus "}) +
                                 std::to_string(r.between(2, 480)));
  const Style s = style(family, c.px(r.real(12, 24)), {0, 0, 0}, Weight::bold);
  const Named& paint = r.pick(plain_colors());
  const Color board = paint.color;
  const float bw = wide.measure(text, s) + s.size, bh = s.size * 1.7F, pan = r.real(0.2F, 0.5F) * W;
  const bool leftwards = r.chance(0.5F);
  const float x0 = r.real(4, std::max(5.0F, W - bw - pan - 4)), y0 = r.real(4, H - bh - 4);
  std::vector<Box> track;
  Run last_run;
  const int item = c.first_item;
  for (int k = 0; k < f.frames; ++k) {
    const float t = static_cast<float>(k) / std::max(1, f.frames - 1),
                shift = std::floor(pan * (leftwards ? 1 - t : t));
    Page page(c, f.width, f.height, {0, 0, 0});
    // The window of the wide backdrop that the camera sees.
    const int from = std::clamp(static_cast<int>(W / 2 - shift), 0, f.width);
    for (int y = 0; y < f.height; ++y)
      std::copy_n(wide.canvas.at(from, y), static_cast<size_t>(f.width) * 3, page.canvas.at(0, y));
    const float x = std::floor(x0 + shift);
    page.next_item = item;
    page.canvas.round_rect(x, y0, x + bw, y0 + bh, 3, board);
    last_run = page.text(x + s.size / 2, y0 + s.size * 1.2F, text, coloured(s, readable_on(board)));
    track.push_back(last_run.box);
    sheet.pages.push_back(std::move(page));
  }
  sheet.asks.push_back(
      {"clip.sign", {}, text, {last_run}, {}, Level::medium, 1, f.frames - 1, track});
  sheet.asks.push_back(
      {"clip.color", {}, paint.name, {last_run}, {}, Level::simple, 0.5F, f.frames - 1, track});
  return sheet;
}

// Two shots with a caption each.
Sheet cut_clip(Context& c) {
  Random& r = c.random;
  Sheet sheet;
  sheet.layout = "cut";
  sheet.finish = Finish::clip;
  const Film f = film(c);
  const int cut = r.between(2, f.frames - 2);
  const Family& family = c.family("sans");
  const Style s = style(family, c.px(r.real(11, 17)), {250, 250, 250}, Weight::bold);
  std::vector<Box> track, early;
  Page shots[2] = {Page(c, f.width, f.height, muted(r)), Page(c, f.width, f.height, muted(r))};
  std::string texts[2];
  Run runs[2];
  for (int i = 0; i < 2; ++i) {
    backdrop(shots[i], r);
    texts[i] = title_case(lower(city(r, any_land(r)))) + ", " + format(date(r, 1995, 2025), 8);
    shots[i].next_item = c.first_item + i;
    shots[i].canvas.rect(0, f.height - s.size * 2, static_cast<float>(f.width),
                         static_cast<float>(f.height), {20, 20, 24});
    runs[i] = shots[i].text(s.size, f.height - s.size * 0.65F, texts[i], s);
    shots[i].next_item = c.first_item + 2;
  }
  for (int k = 0; k < f.frames; ++k) {
    sheet.pages.push_back(shots[k >= cut]);
    track.push_back(k >= cut ? runs[1].box : Box{});
    early.push_back(k < cut ? runs[0].box : Box{});
  }
  sheet.asks.push_back(
      {"clip.shot", {}, texts[1], {runs[1]}, {}, Level::complex, 1, f.frames - 1, track});
  sheet.asks.push_back({"clip.before", {}, texts[0], {runs[0]}, {}, Level::medium, 0.7F, 0, early});
  return sheet;
}

}  // namespace arrcoc::scenes
