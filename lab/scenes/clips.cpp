// Clips: a few frames with things that move, appear and are cut away.
#include <algorithm>
#include <cmath>

#include "lab/scenes/backdrop.h"
#include "lab/scenes/layouts.h"
#include "lab/scenes/things.h"

namespace arrcoc::scenes {
namespace {

// Frames are smaller than single pictures: half the longer side.
struct Film {
  int frames, width, height;
  int last() const { return frames - 1; }
  float w() const { return static_cast<float>(width); }
  float h() const { return static_cast<float>(height); }
  float time(int frame) const { return static_cast<float>(frame) / std::max(1, frames - 1); }
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
  Run item;  // as in the last frame
  Box at(float time) const {
    const float x = std::floor(from.x + (to.x - from.x) * time),
                y = std::floor(from.y + (to.y - from.y) * time);
    return {x, y, x + size, y + size};
  }
};

std::string direction(const Mover& m) {
  const float dx = m.to.x - m.from.x, dy = m.to.y - m.from.y;
  if (std::fabs(dx) > 2 * std::fabs(dy)) return dx > 0 ? "right" : "left";
  if (std::fabs(dy) > 2 * std::fabs(dx)) return dy > 0 ? "down" : "up";
  return "";
}

Mover mover(Random& r, Context& c, const Film& f, const Cutout* cut, int lane, int lanes) {
  Mover m{};
  m.cut = cut;
  m.size = std::floor(std::min(c.px(r.real(40, 76)), f.h() / lanes * 0.85F));
  // A lane each, so that nothing is covered.
  const float y = f.h() / lanes * lane + (f.h() / lanes - m.size) / 2;
  const bool still = r.chance(0.25F);
  const float a = r.real(2, f.w() - m.size - 2), b = still ? a : r.real(2, f.w() - m.size - 2);
  m.from = {a, y};
  m.to = {b, y};
  m.first = lane > 0 && r.chance(0.3F) ? r.between(1, f.last()) : 0;
  m.flip = r.chance(0.5F);
  return m;
}

void mover_questions(Sheet& sheet, const Film& f, const std::vector<Mover>& movers) {
  const auto late =
      std::count_if(movers.begin(), movers.end(), [](const Mover& m) { return m.first > 0; });
  for (const Mover& m : movers) {
    std::vector<Box> track;
    for (int k = 0; k < f.frames; ++k) track.push_back(k < m.first ? Box{} : m.at(f.time(k)));
    // Not where a third of the picture ends: the answer must be plain.
    const float x = (m.item.box.x0 + m.item.box.x1) / 2 / f.w() * 3;
    if (std::fabs(x - 1) > 0.2F && std::fabs(x - 2) > 0.2F)
      sheet
          .ask("clip.where",
               x < 1   ? "left"
               : x > 2 ? "right"
                       : "middle",
               {m.item}, 1, medium, {{"name", m.cut->name}})
          .on(f.last(), track);
    if (!direction(m).empty() && std::fabs(m.to.x - m.from.x) > f.w() * 0.2F &&
        m.first < f.frames - 2)
      sheet.ask("clip.direction", direction(m), {m.item}, 1, complex, {{"name", m.cut->name}})
          .on(f.last(), track);
    if (m.first > 0 && late == 1)
      sheet.ask("clip.appears", m.cut->name, {m.item}, 1.5F, complex).on(f.last(), track);
  }
  std::vector<Run> all;
  for (const Mover& m : movers) all.push_back(m.item);
  sheet.ask("clip.count", std::to_string(movers.size()), all, 0.6F, complex)
      .on(f.last(), std::vector<Box>(static_cast<size_t>(f.frames), Box{0, 0, f.w(), f.h()}));
}

}  // namespace

Sheet moving_objects(Context& c) {
  Random& r = c.random;
  Sheet sheet("moving-objects", Finish::clip);
  const Film f = film(c);
  Page ground(c, f.width, f.height, muted(r));
  backdrop(ground, r);
  std::vector<Mover> movers;
  const int n = r.between(2, 4);
  for (const Cutout* cut : unlike_cutouts(c, static_cast<size_t>(n))) {
    Mover& m = movers.emplace_back(mover(r, c, f, cut, static_cast<int>(movers.size()), n));
    m.item = ground.item(m.at(1), cut->name);
  }
  ground.things.clear();
  sheet.pages.assign(static_cast<size_t>(f.frames), ground);
  for (int k = 0; k < f.frames; ++k)
    for (const Mover& m : movers) {
      if (k < m.first) continue;
      Run run = m.item;
      run.box = m.at(f.time(k));
      sheet.pages[static_cast<size_t>(k)].cutout(run, *m.cut, m.flip);
    }
  mover_questions(sheet, f, movers);
  return sheet;
}

// The camera passes a sign: everything shifts together.
Sheet moving_sign(Context& c) {
  Random& r = c.random;
  Sheet sheet("moving-sign", Finish::clip);
  const Film f = film(c);
  Page wide(c, f.width * 2, f.height, muted(r));
  backdrop(wide, r);
  const Family& family = c.family("display");
  const std::string text = upper(r.pick<"clip.sign">() + " " + number(r, 2, 480));
  const Style s = bold(family, c.px(r.real(12, 24)), kBlack);
  const NamedColor board = r.pick(plain_colors(r));
  const float bw = wide.measure(text, s) + s.size, bh = s.size * 1.7F,
              pan = r.real(0.2F, 0.5F) * f.w();
  const bool leftwards = r.chance(0.5F);
  const float x0 = r.real(4, std::max(5.0F, f.w() - bw - pan - 4)), y0 = r.real(4, f.h() - bh - 4);
  std::vector<Box> track;
  Run run;
  for (int k = 0; k < f.frames; ++k) {
    const float shift = std::floor(pan * (leftwards ? 1 - f.time(k) : f.time(k)));
    Page& page = sheet.add(c, f.width, f.height, kBlack);
    // The window of the wide backdrop that the camera sees.
    const int from = std::clamp(static_cast<int>(f.w() / 2 - shift), 0, f.width);
    for (int y = 0; y < f.height; ++y)
      std::copy_n(wide.at(from, y), static_cast<size_t>(f.width) * 3, page.at(0, y));
    const float x = std::floor(x0 + shift);
    page.round_rect(x, y0, x + bw, y0 + bh, 3, board.color);
    run =
        page.text(x + s.size / 2, y0 + s.size * 1.2F, text, coloured(s, readable_on(board.color)));
    track.push_back(run.box);
  }
  sheet.ask("clip.sign", text, {run}, 1, medium).on(f.last(), track);
  sheet.ask("clip.color", board.name, {run}, 0.5F).on(f.last(), track);
  return sheet;
}

// Two shots with a caption each.
Sheet cut_clip(Context& c) {
  Random& r = c.random;
  Sheet sheet("cut", Finish::clip);
  const Film f = film(c);
  const int cut = r.between(2, f.frames - 2);
  const Family& family = c.family("sans");
  const Style s = bold(family, c.px(r.real(11, 17)), {250, 250, 250});
  Page shots[2] = {Page(c, f.width, f.height, muted(r)), Page(c, f.width, f.height, muted(r))};
  Run runs[2];
  for (int i = 0; i < 2; ++i) {
    backdrop(shots[i], r);
    const std::string caption =
        title_case(lower(city(r, any_land(r)))) + ", " + format(r, date(r, 1995, 2025), 8);
    shots[i].next_item = c.first_item + i;
    shots[i].rect(0, f.height - s.size * 2, f.w(), f.h(), {20, 20, 24});
    runs[i] = shots[i].text(s.size, f.height - s.size * 0.65F, caption, s);
    shots[i].next_item = c.first_item + 2;
  }
  std::vector<Box> track, early;
  for (int k = 0; k < f.frames; ++k) {
    sheet.pages.push_back(shots[k >= cut]);
    track.push_back(k >= cut ? runs[1].box : Box{});
    early.push_back(k < cut ? runs[0].box : Box{});
  }
  sheet.ask("clip.shot", runs[1], 1, complex).on(f.last(), track);
  sheet.ask("clip.before", runs[0], 0.7F, medium).on(0, early);
  return sheet;
}

}  // namespace arrcoc::scenes
