// Objects: cut-outs and coloured shapes with attributes, counts, positions and relations.
#include <algorithm>
#include <cmath>

#include "training/scenes/backdrop.h"
#include "training/scenes/layouts.h"
#include "training/scenes/words.h"

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
  std::string name, group, color;
  Run run;
  Point centre() const { return {(run.box.x0 + run.box.x1) / 2, (run.box.y0 + run.box.y1) / 2}; }
};

std::string where(const Point& p, float w, float h) {
  const char* row = p.y < h / 3 ? "top" : p.y > h * 2 / 3 ? "bottom" : "middle";
  const char* column = p.x < w / 3 ? "left" : p.x > w * 2 / 3 ? "right" : "centre";
  if (std::string(row) == "middle" && std::string(column) == "centre") return "centre";
  return std::string(row) + " " + column;
}

void object_questions(Page& page, Random& r, const std::vector<Thing>& things, float w, float h,
                      bool shapes) {
  auto count = [&](const std::string& name) {
    return std::count_if(things.begin(), things.end(),
                         [&](const Thing& t) { return t.name == name; });
  };
  for (const Thing& t : things) {
    if (count(t.name) != 1) continue;
    // Not where a third of the picture ends: the answer must be plain.
    const float u = t.centre().x / w * 3, v = t.centre().y / h * 3;
    const bool plain = std::fabs(u - 1) > 0.15F && std::fabs(u - 2) > 0.15F &&
                       std::fabs(v - 1) > 0.15F && std::fabs(v - 2) > 0.15F;
    if (plain)
      page.ask({"object.where",
                {{"name", t.name}},
                where(t.centre(), w, h),
                {t.run},
                {},
                Level::simple,
                0.5F});
    if (!t.color.empty())
      page.ask({"object.color", {{"name", t.name}}, t.color, {t.run}, {}, Level::simple, 1});
    // Relations to the nearest other thing that is clearly to one side.
    for (const char* side : {"left", "right", "above", "below"}) {
      const Thing* best = nullptr;
      float nearest = 1e9F;
      for (const Thing& o : things) {
        const float dx = o.centre().x - t.centre().x, dy = o.centre().y - t.centre().y;
        const std::string s = side;
        const float along = s == "left" ? -dx : s == "right" ? dx : s == "above" ? -dy : dy;
        const float across = s == "left" || s == "right" ? std::fabs(dy) : std::fabs(dx);
        if (along <= 0 || across > along * 0.6F) continue;
        if (along < nearest) nearest = along, best = &o;
      }
      if (!best || count(best->name) != 1) continue;
      const std::string relation = std::string(side) == "left"    ? "to the left of"
                                   : std::string(side) == "right" ? "to the right of"
                                                                  : side;
      page.ask({"object.relation",
                {{"relation", relation}, {"name", t.name}},
                best->name,
                {best->run},
                {t.run.box},
                Level::medium,
                0.15F});
    }
  }
  std::vector<std::string> names;
  for (const Thing& t : things)
    if (std::find(names.begin(), names.end(), t.name) == names.end()) names.push_back(t.name);
  for (const std::string& name : names) {
    Ask ask{"object.count",
            {{"name", name}},
            std::to_string(count(name)),
            {},
            {},
            Level::medium,
            count(name) > 1 ? 1.0F : 0.2F};
    for (const Thing& t : things)
      if (t.name == name) ask.answers.push_back(t.run);
    page.ask(ask);
  }
  const Thing *big = &things[0], *small = &things[0];
  for (const Thing& t : things) {
    if (t.run.box.area() > big->run.box.area()) big = &t;
    if (t.run.box.area() < small->run.box.area()) small = &t;
  }
  auto distinct = [&](const Thing* best) {
    return std::none_of(things.begin(), things.end(), [&](const Thing& t) {
      return &t != best && t.run.box.area() / best->run.box.area() < 1.3F &&
             t.run.box.area() / best->run.box.area() > 0.77F;
    });
  };
  if (things.size() > 2 && distinct(big))
    page.ask({"object.largest", {}, big->name, {big->run}, {}, Level::complex, 0.8F});
  if (things.size() > 2 && distinct(small))
    page.ask({"object.smallest", {}, small->name, {small->run}, {}, Level::complex, 0.8F});
  if (!shapes) {
    for (const char* group :
         {"animal", "food", "vehicle", "clothing", "tool", "instrument", "plant", "device"}) {
      const Thing* only = nullptr;
      int n = 0;
      for (const Thing& t : things)
        if (t.group == group) only = &t, ++n;
      if (n == 1)
        page.ask(
            {"object.group", {{"group", group}}, only->name, {only->run}, {}, Level::medium, 0.8F});
    }
  }
  const std::string other =
      shapes ? std::string("pink octagon")
             : r.pick({"zeppelin", "harp", "penguin statue", "windmill", "submarine"});
  page.ask({"object.where", {{"name", other}}, "none", {}, {}, Level::simple, 0.3F});
}

}  // namespace

Sheet objects_scattered(Context& c) {
  Random& r = c.random;
  Sheet sheet;
  const bool shapes = r.chance(0.3F);
  sheet.layout = shapes ? "shapes" : "cut-outs";
  sheet.finish = Finish::object;
  const int w = c.options.longest, h = static_cast<int>(w * r.real(0.6F, 1.0F));
  sheet.pages.emplace_back(c, r.chance(0.8F) ? w : h, r.chance(0.8F) ? h : w,
                           mix(muted(r), {255, 255, 255}, 0.5F));
  Page& page = sheet.pages.back();
  const float W = static_cast<float>(page.canvas.width), H = static_cast<float>(page.canvas.height);
  if (!shapes && r.chance(0.5F)) backdrop(page, r);
  Places places(W, H, c.px(10));
  std::vector<Thing> things;
  const int kinds = r.between(3, 10);
  const auto& usable = c.library.usable(c.options.held_back);
  for (int k = 0; k < kinds; ++k) {
    const int copies = r.chance(0.7F) ? 1 : r.between(2, 6);
    const Cutout& cut = c.library.cutouts()[static_cast<size_t>(r.pick(usable))];
    const Named& color = r.pick(plain_colors());
    const int shape = r.between(0, 7);
    const std::string name = shapes ? std::string(color.name) + " " + kShapes[shape] : cut.name;
    if (std::any_of(things.begin(), things.end(), [&](const Thing& t) { return t.name == name; }))
      continue;
    const float size = c.px(r.real(34, 150));
    for (int i = 0; i < copies; ++i) {
      Box box;
      const float s = std::floor(copies > 1 ? size * 0.75F : size);
      if (!places.find(r, s, s, box)) continue;
      Thing thing{name, shapes ? "" : cut.group, "", page.item(box, name)};
      if (shapes)
        draw_shape(page, thing.run, shape, color.color);
      else
        page.cutout(thing.run, cut, r.chance(0.3F), r.real(0.85F, 1.05F));
      things.push_back(thing);
    }
  }
  if (things.size() < 2) return objects_scattered(c);
  object_questions(page, r, things, W, H, shapes);
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
  std::vector<int> order = c.library.usable(c.options.held_back);
  r.shuffle(order);
  size_t next = 0;
  for (int row = 0; row < rows; ++row) {
    const float base = cell_h * (row + 1) - cell_h * 0.2F;
    page.canvas.rect(0, base, static_cast<float>(w), base + cell_h * 0.2F, board);
    for (int col = 0; col < columns; ++col) {
      if (r.chance(0.1F)) continue;
      const Cutout& cut = c.library.cutouts()[static_cast<size_t>(order[next++ % order.size()])];
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
  const Offer *low = &offers[0], *high = &offers[0];
  for (const Offer& o : offers) {
    page.ask({"shop.price",
              {{"name", o.name}},
              money(o.cents),
              {o.price},
              {o.thing.box},
              Level::medium,
              1});
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
  page.ask({"shop.cheapest", {}, low->name, {low->thing}, {low->price.box}, Level::complex, 0.8F});
  page.ask(
      {"shop.dearest", {}, high->name, {high->thing}, {high->price.box}, Level::complex, 0.8F});
  const Offer &a = r.pick(offers), &b = r.pick(offers);
  if (a.cents != b.cents) {
    const Offer& win = a.cents < b.cents ? a : b;
    page.ask({"shop.compare",
              {{"a", a.name}, {"b", b.name}},
              win.name,
              {win.thing},
              {a.price.box, b.price.box},
              Level::complex,
              0.8F});
  }
  page.ask({"shop.price",
            {{"name", r.pick({"zeppelin", "harp", "windmill", "submarine"})}},
            "none",
            {},
            {},
            Level::medium,
            0.4F});
  return sheet;
}

}  // namespace arrcoc::scenes
