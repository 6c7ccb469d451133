// Objects: cut-outs and coloured shapes with attributes, counts, positions and relations.
#include <algorithm>
#include <cmath>

#include "lab/scenes/backdrop.h"
#include "lab/scenes/layouts.h"
#include "lab/scenes/things.h"
#include "lab/scenes/words.h"

namespace arrcoc::scenes {
namespace {

const char* const kShapes[] = {"circle",  "square",  "triangle", "star",
                               "diamond", "hexagon", "cross",    "heart"};

void draw_shape(Page& page, const Run& run, int shape, Color color) {
  if (!page.drawn(run)) return;
  const Box& b = run.box;
  const float cx = (b.x0 + b.x1) / 2, cy = (b.y0 + b.y1) / 2, rx = b.width() / 2,
              ry = b.height() / 2;
  auto ngon = [&](int n, float start, float inner) {
    std::vector<Point> points;
    const int count = inner < 1 ? 2 * n : n;
    for (int i = 0; i < count; ++i) {
      const float a = 6.2831853F * (i + start) / count, s = inner < 1 && i % 2 ? inner : 1.0F;
      points.push_back({cx + rx * s * std::sin(a), cy - ry * s * std::cos(a)});
    }
    page.canvas.polygon(points, color);
  };
  switch (shape) {
    case 0:
      page.canvas.ellipse(cx, cy, rx, ry, color);
      break;
    case 1:
      page.canvas.rect(b.x0, b.y0, b.x1, b.y1, color);
      break;
    case 2:
      page.canvas.polygon({{cx, b.y0}, {b.x1, b.y1}, {b.x0, b.y1}}, color);
      break;
    case 3:
      ngon(5, 0, 0.42F);
      break;
    case 4:
      page.canvas.polygon({{cx, b.y0}, {b.x1, cy}, {cx, b.y1}, {b.x0, cy}}, color);
      break;
    case 5:
      ngon(6, 0.5F, 1);
      break;
    case 6:
      page.canvas.rect(cx - rx * 0.33F, b.y0, cx + rx * 0.33F, b.y1, color);
      page.canvas.rect(b.x0, cy - ry * 0.33F, b.x1, cy + ry * 0.33F, color);
      break;
    default:
      page.canvas.ellipse(cx - rx * 0.48F, b.y0 + ry * 0.55F, rx * 0.52F, ry * 0.55F, color);
      page.canvas.ellipse(cx + rx * 0.48F, b.y0 + ry * 0.55F, rx * 0.52F, ry * 0.55F, color);
      page.canvas.polygon({{b.x0 + rx * 0.06F, b.y0 + ry * 0.78F},
                           {b.x1 - rx * 0.06F, b.y0 + ry * 0.78F},
                           {cx, b.y1}},
                          color);
  }
}

struct Thing {
  std::string name;
  const Cutout* cut;  // null for shapes
  int shape;
  std::string color;
  Run run;
  Point centre() const { return {(run.box.x0 + run.box.x1) / 2, (run.box.y0 + run.box.y1) / 2}; }
};
using Things = std::vector<Thing>;

// The words between thing and thing, and how far along and across that way the second one lies.
struct Side {
  const char* words;
  float dx, dy;
};
constexpr Side kSides[] = {
    {"to the left of", -1, 0}, {"to the right of", 1, 0}, {"above", 0, -1}, {"below", 0, 1}};

std::string where(const Point& p, float w, float h) {
  const char* row = p.y < h / 3 ? "top" : p.y > h * 2 / 3 ? "bottom" : "middle";
  const char* column = p.x < w / 3 ? "left" : p.x > w * 2 / 3 ? "right" : "centre";
  if (std::string(row) == "middle" && std::string(column) == "centre") return "centre";
  return std::string(row) + " " + column;
}

// How many of one name there are.
long number_of(const Things& things, const std::string& name) {
  return std::count_if(things.begin(), things.end(),
                       [&](const Thing& t) { return t.name == name; });
}

// The one thing that anybody would name: it lies close to the axis, and everything else on that
// side is much farther away or far off the axis.
const Thing* plain_neighbour(const Things& things, const Thing& from, const Side& side) {
  const Thing* best = nullptr;
  float nearest = 1e9F, second = 1e9F;
  for (const Thing& other : things) {
    const float dx = other.centre().x - from.centre().x, dy = other.centre().y - from.centre().y;
    const float along = dx * side.dx + dy * side.dy,
                across = std::fabs(dx * side.dy) + std::fabs(dy * side.dx);
    if (along <= 0 || across > along * 1.1F) continue;
    const float distance = std::hypot(along, across);
    if (distance < nearest) {
      second = nearest;
      nearest = distance;
      best = across < along * 0.4F ? &other : nullptr;
    } else {
      second = std::min(second, distance);
    }
  }
  return best && second > nearest * 1.5F ? best : nullptr;
}

void place_questions(Page& page, const Things& things, float w, float h) {
  for (const Thing& t : things) {
    if (number_of(things, t.name) != 1) continue;
    // Not where a third of the picture ends: the answer must be plain.
    const float u = t.centre().x / w * 3, v = t.centre().y / h * 3;
    const bool plain = std::fabs(u - 1) > 0.2F && std::fabs(u - 2) > 0.2F &&
                       std::fabs(v - 1) > 0.2F && std::fabs(v - 2) > 0.2F;
    if (plain)
      page.ask({"object.where",
                {{"name", t.name}},
                where(t.centre(), w, h),
                {t.run},
                {},
                Level::simple,
                0.7F});
    for (const Side& side : kSides) {
      const Thing* other = plain_neighbour(things, t, side);
      if (!other || number_of(things, other->name) != 1) continue;
      page.ask({"object.relation",
                {{"relation", side.words}, {"name", t.name}},
                other->name,
                {other->run},
                {t.run.box},
                Level::medium,
                0.4F});
    }
  }
}

void count_questions(Page& page, const Things& things) {
  std::vector<std::string> names;
  for (const Thing& t : things)
    if (std::find(names.begin(), names.end(), t.name) == names.end()) names.push_back(t.name);
  for (const std::string& name : names) {
    if (!countable(name)) continue;
    Ask ask;
    ask.intent = "object.count";
    ask.slots = {{"name", name}, {"names", plural(name)}};
    ask.answer = std::to_string(number_of(things, name));
    ask.level = Level::medium;
    ask.weight = number_of(things, name) > 1 ? 1.0F : 0.12F;
    for (const Thing& t : things)
      if (t.name == name) ask.answers.push_back(t.run);
    page.ask(ask);
  }
}

// Largest and smallest, where the eye can tell: half as large again at least.
void size_questions(Page& page, const Things& things) {
  if (things.size() < 3) return;
  auto by_area = [](const Thing& a, const Thing& b) { return a.run.box.area() < b.run.box.area(); };
  const auto [small, big] = std::minmax_element(things.begin(), things.end(), by_area);
  for (const auto& [best, intent] :
       {std::pair{big, "object.largest"}, {small, "object.smallest"}}) {
    const bool plain = std::none_of(things.begin(), things.end(), [&, best = best](const Thing& t) {
      const float ratio = t.run.box.area() / best->run.box.area();
      return &t != &*best && ratio < 2.0F && ratio > 0.5F;
    });
    if (plain) page.ask({intent, {}, best->name, {best->run}, {}, Level::complex, 0.8F});
  }
}

void group_questions(Page& page, const Things& things, bool busy) {
  for (const char* group : {"animal", "food", "vehicle", "clothing", "instrument", "plant"}) {
    if (busy && std::string(group) == "plant") continue;  // trees are part of some backdrops
    const Thing* only = nullptr;
    int n = 0;
    for (const Thing& t : things) {
      const Belongs sure = belongs(*t.cut, group);
      n += sure != Belongs::no;
      if (sure == Belongs::yes) only = &t;
    }
    if (n != 1 || !only) continue;
    const std::string name = std::string(group) == "instrument" ? "musical instrument"
                             : std::string(group) == "clothing" ? "piece of clothing"
                                                                : group;
    page.ask({"object.group", {{"group", name}}, only->name, {only->run}, {}, Level::medium, 0.8F});
  }
}

// "What colour is the star?" where there is one star, "What shape is red?" where one thing is red.
void shape_questions(Page& page, const Things& things) {
  for (const Thing& t : things) {
    long same_shape = 0, same_color = 0;
    for (const Thing& o : things)
      same_shape += o.shape == t.shape, same_color += o.color == t.color;
    if (same_shape == 1)
      page.ask({"object.color",
                {{"name", kShapes[t.shape]}},
                t.color,
                {t.run},
                {},
                Level::simple,
                0.7F});
    if (same_color == 1)
      page.ask({"object.shape",
                {{"color", t.color}},
                kShapes[t.shape],
                {t.run},
                {},
                Level::simple,
                0.7F});
  }
}

// What is to be drawn under one name: a cut-out or a shape.
struct Sort {
  std::string name;
  const Cutout* cut = nullptr;
  int shape = 0;
  Named color{"", {0, 0, 0}};
};

std::vector<Sort> cutout_sorts(Context& c, size_t count, bool busy) {
  std::vector<Sort> sorts;
  for (const Cutout* cut : unlike_cutouts(c, count + 6)) {
    // Not what the backdrop may show as well.
    if (busy && (cut->group == "building" || cut->group == "weather" || cut->name == "palm tree" ||
                 cut->name == "christmas tree" || cut->name == "door"))
      continue;
    if (sorts.size() < count) sorts.push_back({cut->name, cut, 0, {"", {0, 0, 0}}});
  }
  return sorts;
}

std::vector<Sort> shape_sorts(Random& r, size_t count, Color ground) {
  std::vector<Sort> sorts;
  for (size_t tries = 0; tries < 4 * count && sorts.size() < count; ++tries) {
    const Named& color = r.pick(plain_colors());
    const int shape = r.between(0, 7);
    const std::string name = std::string(color.name) + " " + kShapes[shape];
    // A shape must stand out from the ground, whatever the light.
    const int contrast = std::abs(color.color.r - ground.r) + std::abs(color.color.g - ground.g) +
                         std::abs(color.color.b - ground.b);
    if (contrast > 130 &&
        std::none_of(sorts.begin(), sorts.end(), [&](const Sort& s) { return s.name == name; }))
      sorts.push_back({name, nullptr, shape, color});
  }
  return sorts;
}

std::string absent_shape(Random& r, const Things& things) {
  for (;;) {
    const std::string name =
        std::string(r.pick(plain_colors()).name) + " " + kShapes[r.between(0, 7)];
    if (number_of(things, name) == 0) return name;
  }
}

}  // namespace

Sheet objects_scattered(Context& c) {
  Random& r = c.random;
  Sheet sheet;
  const bool shapes = r.chance(0.3F);
  sheet.layout = shapes ? "shapes" : "cut-outs";
  sheet.finish = Finish::object;
  const int w = c.options.longest, h = static_cast<int>(w * r.real(0.6F, 1.0F));
  const Color ground = mix(muted(r), {255, 255, 255}, 0.5F);
  sheet.pages.emplace_back(c, r.chance(0.8F) ? w : h, r.chance(0.8F) ? h : w, ground);
  Page& page = sheet.pages.back();
  const float W = static_cast<float>(page.canvas.width), H = static_cast<float>(page.canvas.height);
  const bool busy = !shapes && r.chance(0.5F);
  if (busy) backdrop(page, r);
  Places places(W, H, c.px(10));
  Things things;
  const auto count = static_cast<size_t>(r.between(3, 10));
  for (const Sort& sort : shapes ? shape_sorts(r, count, ground) : cutout_sorts(c, count, busy)) {
    const int copies = r.chance(0.7F) || !countable(sort.name) ? 1 : r.between(2, 6);
    // Large enough to be known: the cut-outs themselves are 64 pixels.
    const float size = std::floor(c.px(copies > 1 ? r.real(46, 115) : r.real(54, 165)));
    for (int i = 0; i < copies; ++i) {
      Box box;
      if (!places.find(r, size, size, box)) continue;
      const Thing thing{sort.name, sort.cut, sort.shape, sort.color.name,
                        page.item(box, sort.name)};
      if (shapes)
        draw_shape(page, thing.run, sort.shape, sort.color.color);
      else
        page.cutout(thing.run, *sort.cut, r.chance(0.3F), r.real(0.85F, 1.05F));
      things.push_back(thing);
    }
  }
  if (things.size() < 2) return objects_scattered(c);
  place_questions(page, things, W, H);
  count_questions(page, things);
  if (!busy) size_questions(page, things);
  if (shapes)
    shape_questions(page, things);
  else
    group_questions(page, things, busy);
  std::vector<std::string> names;
  for (const Thing& t : things) names.push_back(t.name);
  const std::string other = shapes ? absent_shape(r, things) : absent_cutout(c, names);
  page.ask({"object.where", {{"name", other}}, "none", {}, {}, Level::simple, 0.25F});
  return sheet;
}

// Shelves with price tags: which thing costs what.
Sheet shop_shelf(Context& c) {
  Random& r = c.random;
  Sheet sheet;
  sheet.layout = "shelf";
  sheet.finish = Finish::photo;
  const int w = c.options.longest, h = static_cast<int>(w * r.real(0.65F, 0.9F));
  const Color wall = mix(muted(r), {240, 235, 225}, 0.4F);
  sheet.pages.emplace_back(c, w, h, wall);
  Page& page = sheet.pages.back();
  const int rows = r.between(2, 4), columns = r.between(3, 6);
  const float cell_w = static_cast<float>(w) / columns, cell_h = static_cast<float>(h) / rows;
  const Color board = mix({150, 110, 70}, muted(r), 0.4F);
  const Family& family = c.family(r.pick({"sans", "display", "narrow"}));
  const std::string mark = currency(any_land(r));
  const bool behind = r.chance(0.3F);
  struct Offer {
    std::string name;
    int cents;
    Run thing, price;
  };
  std::vector<Offer> offers;
  const auto goods = unlike_cutouts(c, static_cast<size_t>(rows * columns));
  size_t next = 0;
  for (int row = 0; row < rows; ++row) {
    const float base = cell_h * (row + 1) - cell_h * 0.2F;
    page.canvas.rect(0, base, static_cast<float>(w), base + cell_h * 0.2F, board);
    for (int col = 0; col < columns; ++col) {
      if (r.chance(0.1F) || next >= goods.size()) continue;
      const Cutout& cut = *goods[next++];
      const float s = std::floor(std::min(cell_w, cell_h * 0.72F) * r.real(0.6F, 0.92F));
      const float x = std::floor(cell_w * (col + 0.5F) - s / 2);
      Offer offer{
          cut.name, r.between(25, 4900), page.item({x, base - s, x + s, base}, cut.name), {}};
      if (r.chance(0.5F)) offer.cents = offer.cents / 10 * 10 + 9;
      page.cutout(offer.thing, cut);
      const std::string price = money(offer.cents),
                        text =
                            behind ? price + " " + mark : mark + (mark == "RM" ? " " : "") + price;
      const float size = std::clamp(cell_h * 0.085F, c.px(11), c.px(24));
      const Style style_ =
          style(family, size, {20, 20, 20}, r.chance(0.5F) ? Weight::bold : Weight::regular);
      const float tw = page.measure(text, style_) + size;
      const float ty = base + cell_h * 0.03F;
      page.canvas.rect(cell_w * (col + 0.5F) - tw / 2, ty, cell_w * (col + 0.5F) + tw / 2,
                       ty + size * 1.6F,
                       r.chance(0.3F) ? Color{250, 225, 80} : Color{250, 250, 248});
      offer.price = page.text(cell_w * (col + 0.5F), ty + size * 1.2F, text, style_, Align::centre);
      offers.push_back(offer);
    }
  }
  if (offers.size() < 2) return shop_shelf(c);
  auto once = [&](int cents) {
    return std::count_if(offers.begin(), offers.end(),
                         [&](const Offer& o) { return o.cents == cents; }) == 1;
  };
  const Offer *low = &offers[0], *high = &offers[0];
  std::vector<std::string> names;
  for (const Offer& o : offers) {
    names.push_back(o.name);
    page.ask({"shop.price",
              {{"name", o.name}},
              money(o.cents),
              {o.price},
              {o.thing.box},
              Level::medium,
              1});
    if (once(o.cents))
      page.ask({"shop.which",
                {{"price", o.price.text}},
                o.name,
                {o.thing},
                {o.price.box},
                Level::medium,
                0.3F});
    if (o.cents < low->cents) low = &o;
    if (o.cents > high->cents) high = &o;
  }
  if (once(low->cents))
    page.ask(
        {"shop.cheapest", {}, low->name, {low->thing}, {low->price.box}, Level::complex, 0.8F});
  if (once(high->cents))
    page.ask(
        {"shop.dearest", {}, high->name, {high->thing}, {high->price.box}, Level::complex, 0.8F});
  const Offer &a = r.pick(offers), &b = r.pick(offers);
  if (a.cents != b.cents) {
    const Offer& win = a.cents < b.cents ? a : b;
    page.ask({"shop.compare",
              {{"a", a.name}, {"b", b.name}},
              win.name,
              {win.thing},
              {a.thing.box, b.thing.box, a.price.box, b.price.box},
              Level::complex,
              0.8F});
  }
  page.ask(
      {"shop.price", {{"name", absent_cutout(c, names)}}, "none", {}, {}, Level::medium, 0.4F});
  return sheet;
}

}  // namespace arrcoc::scenes
