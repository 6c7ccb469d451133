// Films for questions over time (kind "time"): what came first, where something went, when it came,
// how many passed, what was said before a cut. kTimeFps frames are a second.
#include <algorithm>
#include <cmath>

#include "lab/scenes/backdrop.h"
#include "lab/scenes/layouts.h"
#include "lab/scenes/things.h"

namespace arrcoc::scenes {
namespace {

constexpr int kApart = kTimeFps;  // frames between two things that come one after the other
constexpr int kShown = 6;         // frames that a thing is there, at least

struct Film {
  int frames, width, height;
  bool upright = false;  // things move up and down, in lanes beside each other
  float w() const { return static_cast<float>(width); }
  float h() const { return static_cast<float>(height); }
  float along() const { return upright ? h() : w(); }
  float across() const { return upright ? w() : h(); }
};
Film film(Context& c, int frames) {
  Random& r = c.random;
  const int w = std::max(96, c.options.longest / 2);
  return {frames, w, static_cast<int>(w * r.real(0.56F, 0.8F)), r.chance(0.35F)};
}

// A thing in a lane of its own: where it is from frame `first` up to `until`.
struct Actor {
  const Cutout* cut = nullptr;
  float size = 0, lane = 0;  // the lane's place across
  float from = 0, to = 0;    // along; outside the frame where it slides in or out
  int first = 0, until = 0;
  bool flip = false;
  Run item = {};
  bool moves() const { return from != to; }
  bool there(int frame) const { return frame >= first && frame < until; }
  // Where it is wholly inside: the middle of its way.
  int middle() const { return (first + until) / 2; }
  Box at(const Film& f, int frame) const {
    const float share =
        static_cast<float>(frame - first) / static_cast<float>(std::max(1, until - 1 - first));
    const float a = std::floor(from + (to - from) * share), b = std::floor(lane);
    const float x = f.upright ? b : a, y = f.upright ? a : b;
    return {x, y, x + size, y + size};
  }
};
using Actors = std::vector<Actor>;

std::vector<Box> track(const Film& f, const Actors& actors) {
  std::vector<Box> out(static_cast<size_t>(f.frames));
  const Box whole{0, 0, f.w(), f.h()};
  for (int k = 0; k < f.frames; ++k)
    for (const Actor& a : actors) {
      Box& box = out[static_cast<size_t>(k)];
      const Box seen = a.there(k) ? intersect(a.at(f, k), whole) : Box{};
      if (seen.area() > 0) box = box.area() > 0 ? hull(box, seen) : seen;
    }
  return out;
}

std::vector<const Cutout*> sorts(Context& c, size_t count) {
  const auto& hidden = c.random.list<"thing.in-backdrop">();
  std::vector<const Cutout*> out;
  for (const Cutout* cut : unlike_cutouts(c, count + 6))
    if (out.size() < count && !holds(hidden, cut->group) && !holds(hidden, cut->name))
      out.push_back(cut);
  return out;
}

Actor actor(Context& c, const Film& f, const Cutout* cut, int lane, int lanes) {
  Actor a;
  a.cut = cut;
  const float broad = f.across() / static_cast<float>(lanes);
  a.size = std::floor(std::min(c.px(c.random.real(46, 80)), broad * 0.85F));
  a.lane = broad * static_cast<float>(lane) + (broad - a.size) / 2;
  a.flip = c.random.chance(0.5F);
  a.until = f.frames;
  a.from = a.to = c.random.real(2, f.along() - a.size - 2);
  return a;
}

// Somewhere else along the lane, at least a third of the frame away.
void set_out(Random& r, const Film& f, Actor& a) {
  const float room = f.along() - a.size - 4;
  do {
    a.from = r.real(2, room);
    a.to = r.real(2, room);
  } while (std::fabs(a.to - a.from) < f.along() * 0.34F);
}

// It comes late or leaves early: at a whole second where it stands there at once, over the edge
// where it slides.
void come_and_go(Random& r, const Film& f, bool late, Actor& a) {
  const bool slides = a.moves() && r.chance(0.6F);
  const int whole = r.between(2, (f.frames - kShown) / kTimeFps) * kTimeFps;
  (late ? a.first : a.until) = slides ? r.between(kShown, f.frames - kShown) : whole;
  if (!slides) return;
  const float low = -0.75F * a.size, high = f.along() - 0.25F * a.size;  // a quarter is seen
  const bool on = a.to > a.from;
  (late ? a.from : a.to) = on == late ? low : high;
}

std::string direction(const Film& f, const Actor& a) {
  if (f.upright) return a.to > a.from ? "down" : "up";
  return a.to > a.from ? "right" : "left";
}

// "the tiger, the bus or the cup"
std::string listed(const std::vector<std::string>& names, const std::string& joint) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i)
    out += (i == 0 ? "" : i + 1 == names.size() ? " " + joint + " " : ", ") + "the " + names[i];
  return out;
}

// Which of some things comes first, which last: where a second lies between that one and the rest.
void order_questions(Random& r, Sheet& sheet, const Film& f, Actors actors, bool last = true) {
  r.shuffle(actors);
  for (size_t count : {2, 3}) {
    if (actors.size() < count) return;
    Actors some(actors.begin(), actors.begin() + static_cast<std::ptrdiff_t>(count));
    std::vector<std::string> names;
    for (const Actor& a : some) names.push_back(a.cut->name);
    std::sort(some.begin(), some.end(),
              [](const Actor& a, const Actor& b) { return a.first < b.first; });
    const Slots slots = {{"either", listed(names, "or")}, {"all", listed(names, "and")}};
    const auto ask = [&](const char* intent, const Actor& a) {
      sheet.ask(intent, a.cut->name, {a.item}, 1, complex, slots).on(a.middle(), track(f, {a}));
    };
    if (some[1].first - some[0].first >= kApart) ask("time.first", some[0]);
    if (last && some[count - 1].first - some[count - 2].first >= kApart)
      ask("time.last", some.back());
  }
}

std::string seconds(int frame) { return std::to_string(frame / kTimeFps) + " s"; }

void presence_questions(Context& c, Sheet& sheet, const Film& f, const Actors& actors) {
  Actors late, early;
  std::vector<std::string> names;
  for (const Actor& a : actors) {
    names.push_back(a.cut->name);
    const Slots name = {{"name", a.cut->name}};
    const auto ask = [&](const char* intent, const std::string& answer, float weight) {
      sheet.ask(intent, answer, {a.item}, weight, complex, name).on(a.middle(), track(f, {a}));
    };
    const bool plain = std::fabs(a.to - a.from) > f.along() * 0.25F;
    if (a.moves() && plain) ask("time.direction", direction(f, a), 1);
    const Box first = a.at(f, a.first), last = a.at(f, a.until - 1), whole{0, 0, f.w(), f.h()};
    if (a.first > 0) late.push_back(a);
    if (a.until < f.frames) early.push_back(a);
    if (a.first > 0 && intersect(first, whole) == first) ask("time.when", seconds(a.first), 0.9F);
    if (a.until < f.frames && intersect(last, whole) == last)
      ask("time.gone", seconds(a.until), 0.7F);
  }
  const bool still =
      std::none_of(actors.begin(), actors.end(), [](const Actor& a) { return a.moves(); });
  const auto what = [&](const char* intent, const Actor& a, float weight) {
    sheet.ask(intent, a.cut->name, {a.item}, weight, complex).on(a.middle(), track(f, {a}));
  };
  if (late.size() == 1) what("time.appears", late[0], 1);
  if (early.size() == 1) what("time.disappears", early[0], 1);
  if (still && late.size() + early.size() == 1)
    what("time.changed", late.empty() ? early[0] : late[0], 1.5F);
  const std::vector<Box> nowhere(static_cast<size_t>(f.frames));
  const Slots absent = {{"name", absent_cutout(c, names)}};
  sheet.ask_none("time.direction", 0.2F, complex, absent).on(0, nowhere);
  sheet.ask_none("time.when", 0.2F, complex, absent).on(0, nowhere);
}

// Draws the frames; every thing is one item wherever it is.
void shoot(Context& c, Sheet& sheet, const Film& f, Actors& actors) {
  Page ground(c, f.width, f.height, muted(c.random));
  if (c.random.chance(0.7F)) backdrop(ground, c.random);
  for (Actor& a : actors) a.item = ground.item(a.at(f, a.middle()), a.cut->name);
  ground.things.clear();
  sheet.pages.assign(static_cast<size_t>(f.frames), ground);
  for (int k = 0; k < f.frames; ++k)
    for (const Actor& a : actors) {
      if (!a.there(k)) continue;
      Run run = a.item;
      run.box = a.at(f, k);
      sheet.pages[static_cast<size_t>(k)].cutout(run, *a.cut, a.flip);
    }
}

}  // namespace

// Things that come, go, move and stay, each in a lane.
Sheet comings_and_goings(Context& c) {
  Random& r = c.random;
  const bool still = r.chance(0.3F);
  Sheet sheet(still ? "still-life" : "comings-and-goings", Finish::clip);
  const Film f = film(c, kTimeFps * r.between(4, 7));
  const int n = r.between(2, 4);
  const auto cuts = sorts(c, static_cast<size_t>(n));
  const size_t changing = r.next() % cuts.size();
  Actors actors;
  for (const Cutout* cut : cuts) {
    const size_t i = actors.size();
    Actor& a = actors.emplace_back(actor(c, f, cut, static_cast<int>(i), n));
    if (!still && r.chance(0.6F)) set_out(r, f, a);
    if (still ? i == changing : r.chance(0.55F)) come_and_go(r, f, r.chance(0.55F), a);
  }
  shoot(c, sheet, f, actors);
  presence_questions(c, sheet, f, actors);
  order_questions(r, sheet, f, actors);
  return sheet;
}

// Several of one sort pass, seldom all at once, and something else is there.
Sheet parade(Context& c) {
  Random& r = c.random;
  Sheet sheet("parade", Finish::clip);
  auto cuts = sorts(c, 6);
  const auto many = std::find_if(cuts.begin(), cuts.end(),
                                 [&](const Cutout* cut) { return countable(*r.words, cut->name); });
  if (many == cuts.end()) return parade(c);
  std::iter_swap(cuts.begin(), many);
  const auto n = static_cast<int>(1 + r.weighted({0.1F, 0.25F, 0.3F, 0.25F, 0.1F}));
  std::vector<int> starts = {r.between(0, 4)}, ends;
  for (int i = 1; i < n; ++i) starts.push_back(starts.back() + r.between(3, 8));
  for (int i = 0; i < n; ++i)  // two lanes: it is gone before the one after the next comes
    ends.push_back(std::min(starts[static_cast<size_t>(i)] + r.between(kShown, 10),
                            i + 2 < n ? std::max(starts[static_cast<size_t>(i) + 2] - 1,
                                                 starts[static_cast<size_t>(i)] + kShown)
                                      : 1000));
  const int least = *std::max_element(ends.begin(), ends.end()) + 2;
  const Film f = film(c, (std::max(16, least) + kTimeFps - 1) / kTimeFps * kTimeFps);
  const bool back = r.chance(0.5F), slide = r.chance(0.6F);
  Actors passing, others;
  for (int i = 0; i < n; ++i) {
    Actor& a = passing.emplace_back(actor(c, f, cuts[0], i % 2, 3));
    a.first = starts[static_cast<size_t>(i)];
    a.until = ends[static_cast<size_t>(i)];
    a.size = passing[0].size;
    a.flip = passing[0].flip;
    const float out = slide ? -0.5F * a.size : 3;
    a.from = back ? f.along() - a.size - out : out;
    a.to = back ? out : f.along() - a.size - out;
  }
  Actor& other = others.emplace_back(actor(c, f, cuts[1], 2, 3));
  if (r.chance(0.6F)) come_and_go(r, f, true, other);
  Actors all = passing;
  all.insert(all.end(), others.begin(), others.end());
  shoot(c, sheet, f, all);
  const size_t count = passing.size();
  passing.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
  others.assign(all.begin() + static_cast<std::ptrdiff_t>(count), all.end());
  const Slots slots = {{"name", cuts[0]->name}, {"names", plural(*r.words, cuts[0]->name)}};
  sheet.ask("time.count", std::to_string(n), {passing[0].item}, 3, complex, slots)
      .on(passing[0].middle(), track(f, passing));
  presence_questions(c, sheet, f, others);
  order_questions(r, sheet, f, {passing[0], others[0]}, false);  // the last one comes later still
  return sheet;
}

namespace {

constexpr const char* kShotNames[] = {"first", "second", "third", "fourth"};

struct Shot {
  int first = 0, until = 0;
  Run caption = {};
  Actor thing = {};
};

void shot_questions(Random& r, Sheet& sheet, const Film& f, const std::vector<Shot>& shots) {
  const size_t n = shots.size();
  const auto shown = [&](const Shot& s, const Box& box) {
    std::vector<Box> out(static_cast<size_t>(f.frames));
    std::fill(out.begin() + s.first, out.begin() + s.until, box);
    return out;
  };
  for (size_t i = 0; i < n; ++i) {
    const Shot& s = shots[i];
    const auto caption = [&](const char* intent, const Slots& slots, float weight) {
      sheet.ask(intent, s.caption, weight, complex, slots).on(s.first, shown(s, s.caption.box));
    };
    caption("time.caption", {{"nth", kShotNames[i]}}, 0.7F);
    if (i + 1 == n) caption("time.caption", {{"nth", "last"}}, 0.7F);
    if (n == 2) caption(i == 0 ? "time.before" : "time.after", {}, 0.7F);
    sheet
        .ask("time.shot", kShotNames[i] + std::string(" shot"), {s.thing.item}, 0.6F, complex,
             {{"name", s.thing.cut->name}})
        .on(s.thing.middle(), track(f, {s.thing}));
  }
  Actors things;
  for (const Shot& s : shots) things.push_back(s.thing);
  order_questions(r, sheet, f, things);
  sheet.ask("time.shots", std::to_string(n), {shots[0].caption}, 1.5F, complex)
      .on(0, std::vector<Box>(static_cast<size_t>(f.frames), Box{0, 0, f.w(), f.h()}));
}

}  // namespace

// Two to four shots, each with a caption and a thing.
Sheet shots(Context& c) {
  Random& r = c.random;
  Sheet sheet("shots", Finish::clip);
  const auto n = static_cast<size_t>(r.between(2, 4));
  const auto cuts = sorts(c, n);
  if (cuts.size() < n) return shots(c);
  std::vector<Shot> list(n);
  int frames = 0;
  for (Shot& s : list) {
    s.first = frames;
    s.until = frames += r.between(5, 8);
  }
  const Film f = film(c, frames);
  const Style style = bold(c.family("sans"), c.px(r.real(12, 18)), {250, 250, 250});
  for (size_t i = 0; i < n; ++i) {
    Shot& s = list[i];
    Page ground(c, f.width, f.height, muted(r));
    backdrop(ground, r);
    ground.next_item = c.first_item + static_cast<int>(2 * i);
    ground.rect(0, f.h() - style.size * 2, f.w(), f.h(), {20, 20, 24});
    const std::string words = r.chance(0.5F) ? title_case(lower(city(r, any_land(r))))
                                             : r.pick<"clip.sign">() + " " + number(r, 2, 480);
    s.caption = ground.text(style.size, f.h() - style.size * 0.65F, words, style);
    s.thing = actor(c, f, cuts[i], 0, 2);
    if (f.upright) s.thing.to = s.thing.from = std::min(s.thing.from, f.h() * 0.5F);
    s.thing.first = s.first;
    s.thing.until = s.until;
    s.thing.item = ground.item(s.thing.at(f, s.first), s.thing.cut->name);
    ground.cutout(s.thing.item, *s.thing.cut, s.thing.flip);
    ground.things.clear();
    ground.next_item = c.first_item + static_cast<int>(2 * n);
    sheet.pages.insert(sheet.pages.end(), static_cast<size_t>(s.until - s.first), ground);
  }
  shot_questions(r, sheet, f, list);
  return sheet;
}

}  // namespace arrcoc::scenes
