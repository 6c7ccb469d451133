// Objects: cut-outs and coloured shapes with attributes, counts, positions and relations.
#include <algorithm>
#include <cmath>

#include "lab/scenes/backdrop.h"
#include "lab/scenes/layouts.h"
#include "lab/scenes/things.h"

namespace arrcoc::scenes {
namespace {

// A cut-out or a coloured shape; the same name may be drawn several times.
struct Thing {
  std::string name;
  const Cutout* cut = nullptr;  // null for shapes
  size_t shape = 0;             // place in the list thing.shape
  NamedColor color = {};
  Run run = {};
  Point centre() const { return {(run.box.x0 + run.box.x1) / 2, (run.box.y0 + run.box.y1) / 2}; }
};
using Things = std::vector<Thing>;

// In the order of the list thing.shape.
enum class Shape { circle, square, triangle, star, diamond, hexagon, cross, heart };

void draw_shape(Page& page, const Run& run, Shape shape, Color color) {
  if (!page.drawn(run)) return;
  const Box& b = run.box;
  const float cx = (b.x0 + b.x1) / 2, cy = (b.y0 + b.y1) / 2, rx = b.width() / 2,
              ry = b.height() / 2;
  Canvas& canvas = page;
  // Corners on the ellipse; with inner < 1 every second one lies inside (a star).
  auto regular = [&](int n, float start, float inner) {
    std::vector<Point> points;
    const int count = inner < 1 ? 2 * n : n;
    for (int i = 0; i < count; ++i) {
      const float a = 6.2831853F * (i + start) / count, s = inner < 1 && i % 2 ? inner : 1.0F;
      points.push_back({cx + rx * s * std::sin(a), cy - ry * s * std::cos(a)});
    }
    canvas.polygon(points, color);
  };
  switch (shape) {
    case Shape::circle:
      return canvas.ellipse(cx, cy, rx, ry, color);
    case Shape::square:
      return canvas.rect(b, color);
    case Shape::triangle:
      return canvas.polygon({{cx, b.y0}, {b.x1, b.y1}, {b.x0, b.y1}}, color);
    case Shape::star:
      return regular(5, 0, 0.42F);
    case Shape::diamond:
      return canvas.polygon({{cx, b.y0}, {b.x1, cy}, {cx, b.y1}, {b.x0, cy}}, color);
    case Shape::hexagon:
      return regular(6, 0.5F, 1);
    case Shape::cross:
      canvas.rect(cx - rx * 0.33F, b.y0, cx + rx * 0.33F, b.y1, color);
      return canvas.rect(b.x0, cy - ry * 0.33F, b.x1, cy + ry * 0.33F, color);
    case Shape::heart:
      for (float side : {-0.48F, 0.48F})
        canvas.ellipse(cx + rx * side, b.y0 + ry * 0.55F, rx * 0.52F, ry * 0.55F, color);
      const float low = b.y0 + ry * 0.78F;
      canvas.polygon({{b.x0 + rx * 0.06F, low}, {b.x1 - rx * 0.06F, low}, {cx, b.y1}}, color);
  }
}

// The words between thing and thing, and the direction in which the second one lies.
struct Side {
  const char* words;
  float dx, dy;
};
constexpr Side kSides[] = {
    {"to the left of", -1, 0}, {"to the right of", 1, 0}, {"above", 0, -1}, {"below", 0, 1}};

// The ninth of the picture.
std::string where(const Point& p, float w, float h) {
  const std::string row = p.y < h / 3 ? "top" : p.y > h * 2 / 3 ? "bottom" : "middle";
  const std::string column = p.x < w / 3 ? "left" : p.x > w * 2 / 3 ? "right" : "centre";
  return row == "middle" && column == "centre" ? "centre" : row + " " + column;
}

std::vector<Run> named(const Things& things, const std::string& name) {
  std::vector<Run> runs;
  for (const Thing& t : things)
    if (t.name == name) runs.push_back(t.run);
  return runs;
}
bool single(const Things& things, const std::string& name) {
  return named(things, name).size() == 1;
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

void place_questions(Page& page, const Things& things) {
  const float w = page.w(), h = page.h();
  // Not where a third of the picture ends: the answer must be plain.
  auto plain = [](float thirds) {
    return std::fabs(thirds - 1) > 0.2F && std::fabs(thirds - 2) > 0.2F;
  };
  for (const Thing& t : things) {
    if (!single(things, t.name)) continue;
    if (plain(t.centre().x / w * 3) && plain(t.centre().y / h * 3))
      page.ask("object.where", where(t.centre(), w, h), {t.run}, 0.7F, simple, {{"name", t.name}});
    for (const Side& side : kSides) {
      const Thing* other = plain_neighbour(things, t, side);
      if (!other || !single(things, other->name)) continue;
      page.ask("object.relation", other->name, {other->run}, 0.4F, medium,
               {{"relation", side.words}, {"name", t.name}}, {t.run.box});
    }
  }
}

void count_questions(Page& page, const WordLists& words, const Things& things) {
  std::vector<std::string> seen;
  for (const Thing& t : things) {
    if (holds(seen, t.name)) continue;
    seen.push_back(t.name);
    if (!countable(words, t.name)) continue;
    const std::vector<Run> runs = named(things, t.name);
    page.ask("object.count", std::to_string(runs.size()), runs, runs.size() > 1 ? 1.0F : 0.12F,
             medium, {{"name", t.name}, {"names", plural(words, t.name)}});
  }
}

// Largest and smallest, where the eye can tell: twice or half the area of every other thing.
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
    if (plain) page.ask(intent, best->name, {best->run}, 0.8F, complex);
  }
}

void group_questions(Page& page, const WordLists& words, const Things& things, bool busy) {
  for (const Row& group : words.table<"thing.group", 2>()) {
    if (busy && group[0] == "plant") continue;  // trees are part of some backdrops
    const Thing* only = nullptr;
    int n = 0;
    for (const Thing& t : things) {
      const Belongs sure = belongs(words, *t.cut, group[0]);
      n += sure != Belongs::no;
      if (sure == Belongs::yes) only = &t;
    }
    if (n == 1 && only)
      page.ask("object.group", only->name, {only->run}, 0.8F, medium, {{"group", group[1]}});
  }
}

// "What colour is the star?" where there is one star, "What shape is red?" where one thing is red.
void shape_questions(Page& page, const WordLists& words, const Things& things) {
  for (const Thing& t : things) {
    const std::string& shape = words.list<"thing.shape">()[t.shape];
    long same_shape = 0, same_color = 0;
    for (const Thing& other : things) {
      same_shape += other.shape == t.shape;
      same_color += other.color.name == t.color.name;
    }
    if (same_shape == 1)
      page.ask("object.color", t.color.name, {t.run}, 0.7F, simple, {{"name", shape}});
    if (same_color == 1)
      page.ask("object.shape", shape, {t.run}, 0.7F, simple, {{"color", t.color.name}});
  }
}

Things cutout_sorts(Context& c, size_t count, bool busy) {
  const auto& hidden = c.random.list<"thing.in-backdrop">();
  Things sorts;
  for (const Cutout* cut : unlike_cutouts(c, count + 6)) {
    if (busy && (holds(hidden, cut->group) || holds(hidden, cut->name))) continue;
    if (sorts.size() < count) sorts.push_back({cut->name, cut});
  }
  return sorts;
}

Things shape_sorts(Random& r, size_t count, Color ground) {
  const std::vector<NamedColor> colors = plain_colors(r);
  const auto& shapes = r.list<"thing.shape">();
  Things sorts;
  for (size_t tries = 0; tries < 4 * count && sorts.size() < count; ++tries) {
    const NamedColor& color = r.pick(colors);
    const size_t shape = r.next() % shapes.size();
    const std::string name = color.name + " " + shapes[shape];
    // A shape must stand out from the ground, whatever the light.
    const int contrast = std::abs(color.color.r - ground.r) + std::abs(color.color.g - ground.g) +
                         std::abs(color.color.b - ground.b);
    if (contrast > 130 && named(sorts, name).empty())
      sorts.push_back({name, nullptr, shape, color});
  }
  return sorts;
}

std::string absent_shape(Random& r, const Things& things) {
  for (;;) {
    const std::string shape = r.pick<"thing.shape">();
    const std::string name = r.pick(plain_colors(r)).name + " " + shape;
    if (named(things, name).empty()) return name;
  }
}

}  // namespace

Sheet objects_scattered(Context& c) {
  Random& r = c.random;
  const bool shapes = r.chance(0.3F);
  Sheet sheet(shapes ? "shapes" : "cut-outs", Finish::object);
  const int w = c.options.longest, h = static_cast<int>(w * r.real(0.6F, 1.0F));
  const Color ground = mix(muted(r), kWhite, 0.5F);
  const int down = r.chance(0.8F) ? h : w, across = r.chance(0.8F) ? w : h;
  Page& page = sheet.add(c, across, down, ground);
  const bool busy = !shapes && r.chance(0.5F);
  if (busy) backdrop(page, r);
  Places places(page, c.px(10));
  Things things;
  const auto count = static_cast<size_t>(r.between(3, 10));
  for (Thing thing : shapes ? shape_sorts(r, count, ground) : cutout_sorts(c, count, busy)) {
    const int copies = r.chance(0.7F) || !countable(*r.words, thing.name) ? 1 : r.between(2, 6);
    // Large enough to be known: the cut-outs themselves are 64 pixels.
    const float size = std::floor(c.px(copies > 1 ? r.real(46, 115) : r.real(54, 165)));
    for (int i = 0; i < copies; ++i) {
      Box box;
      if (!places.find(r, size, size, box)) continue;
      thing.run = page.item(box, thing.name);
      if (shapes) {
        draw_shape(page, thing.run, static_cast<Shape>(thing.shape), thing.color.color);
      } else {
        const float light = r.real(0.85F, 1.05F);
        page.cutout(thing.run, *thing.cut, r.chance(0.3F), light);
      }
      things.push_back(thing);
    }
  }
  if (things.size() < 2) return objects_scattered(c);
  place_questions(page, things);
  count_questions(page, *r.words, things);
  if (!busy) size_questions(page, things);
  if (shapes)
    shape_questions(page, *r.words, things);
  else
    group_questions(page, *r.words, things, busy);
  std::vector<std::string> names;
  for (const Thing& t : things) names.push_back(t.name);
  page.ask_none("object.where", 0.25F, simple,
                {{"name", shapes ? absent_shape(r, things) : absent_cutout(c, names)}});
  return sheet;
}

}  // namespace arrcoc::scenes
