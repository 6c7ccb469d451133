// Signs, billboards, posters, landmarks and the zoo: text in the world.
#include <algorithm>
#include <cmath>

#include "lab/scenes/backdrop.h"
#include "lab/scenes/layouts.h"
#include "lab/scenes/things.h"

namespace arrcoc::scenes {
namespace {

// A board with centred lines of text that fill it; the runs in order.
std::vector<Run> board(Page& page, const Family& family, const Box& box,
                       const std::vector<std::string>& lines, Color ground, float frame) {
  const Color ink = readable_on(ground);
  page.round_rect(box.x0, box.y0, box.x1, box.y1, frame * 2, ink);
  page.round_rect(box.x0 + frame, box.y0 + frame, box.x1 - frame, box.y1 - frame, frame * 2,
                  ground);
  float size = (box.height() - 3 * frame) / (lines.size() * 1.35F);
  for (const auto& line : lines) {
    const float w = page.measure(line, bold(family, 100, ink)) / 100;
    size = std::min(size, (box.width() - 4 * frame) * 0.94F / std::max(w, 0.01F));
  }
  size = std::max(7.0F, std::floor(size * 2) / 2);
  const Style heavy = bold(family, size, ink);
  std::vector<Run> runs;
  float y = (box.y0 + box.y1) / 2 - size * 1.3F * lines.size() / 2 + size * 1.0F;
  for (const auto& line : lines) {
    runs.push_back(page.centred((box.x0 + box.x1) / 2, y, line, heavy));
    y += size * 1.3F;
  }
  return runs;
}

// What kind of sign it is, then its lines.
Row sign_text(Random& r) {
  const std::string town = upper(city(r, Land::us)), distance = number(r, 2, 140),
                    address = street(r, Land::us);
  const Own own = {
      {"TOWN", [&] { return town; }},
      {"distance", [&] { return distance; }},
      {"address", [&] { return title_case(lower(address.substr(address.find(' ') + 1))); }},
      {"limit", [&] { return std::to_string(r.between(2, 12) * 5 + 5); }},
      {"shop", [&] { return shop(r, Land::us).substr(0, 22); }},
      {"parking", [&] { return expand(r, r.list<"sign.parking">()[r.chance(0.5F) ? 0 : 1]); }}};
  Row sign = r.pick(r.table<"sign.text">());
  for (size_t i = 1; i < sign.size(); ++i) sign[i] = expand(r, choice(r, sign[i]), Land::us, own);
  return sign;
}

void sign_questions(Page& page, const Random& r, const std::string& what,
                    const std::vector<Run>& runs) {
  std::string whole;
  for (const Run& run : runs) whole += (whole.empty() ? "" : " ") + run.text;
  page.ask("sign.text", whole, runs, 1, simple, {{"what", what}});
  for (const Row& fact : r.table<"sign.fact", 5>()) {
    if (fact[0] != what) continue;
    const auto answer = static_cast<size_t>(to_number(fact[2]));
    const bool town = fact[3] != "none";
    Slots slots;
    if (town)
      slots = {{"town", title_case(lower(runs[static_cast<size_t>(to_number(fact[3]))].text))}};
    std::vector<Box> others;
    for (size_t i = 0; i < runs.size(); ++i)
      if (i != answer) others.push_back(runs[i].box);
    const std::string& text = runs[answer].text;
    page.ask(fact[1], what == "road sign" ? figure(text) : text, {runs[answer]}, to_number(fact[4]),
             town ? medium : simple, slots, others);
  }
}

// A part of the picture at the size of a landmark: cx is its middle, l and r its sides.
struct Silhouette {
  Canvas& k;
  float cx, l, r, top, ground, s;
  Color dark, sky;

  void tapered(float bottom, float upper, float y) const {
    k.polygon({{cx - s * bottom, ground},
               {cx - s * upper, y},
               {cx + s * upper, y},
               {cx + s * bottom, ground}},
              dark);
  }
  void roof(float x, float half, float y) const {
    k.polygon({{x - s * half, y}, {x + s * half, y}, {x, top}}, dark);
  }
  void draw(const std::string& kind) const {
    if (kind == "lighthouse") {
      tapered(0.14F, 0.09F, top + s * 0.2F);
      k.rect(cx - s * 0.08F, top + s * 0.08F, cx + s * 0.08F, top + s * 0.2F, {250, 230, 120});
      roof(cx, 0.1F, top + s * 0.08F);
    } else if (kind == "windmill") {
      tapered(0.2F, 0.11F, top + s * 0.35F);
      const Point hub{cx, top + s * 0.4F};
      for (int b = 0; b < 4; ++b) {
        const float a = 0.6F + b * 1.5708F;
        k.line(hub, {cx + std::cos(a) * s * 0.38F, hub.y + std::sin(a) * s * 0.38F}, s * 0.05F,
               dark);
      }
    } else if (kind == "pyramid") {
      k.polygon({{cx, top + s * 0.3F}, {r, ground}, {l, ground}}, mix(dark, {220, 180, 110}, 0.6F));
    } else if (kind == "church") {
      const float eaves = top + s * 0.3F;
      k.rect(cx - s * 0.1F, top + s * 0.45F, r - s * 0.1F, ground, dark);
      k.rect(l + s * 0.1F, eaves, cx - s * 0.1F, ground, dark);
      k.polygon({{l + s * 0.05F, eaves}, {cx - s * 0.05F, eaves}, {l + s * 0.25F, top}}, dark);
    } else if (kind == "castle") {
      k.rect(l, ground - s * 0.5F, r, ground, dark);
      for (int t = 0; t < 3; ++t) {
        const float x = l + (r - l) * t / 2;
        k.rect(x - s * 0.1F, top + s * 0.15F, x + s * 0.1F, ground, dark);
        roof(x, 0.13F, top + s * 0.15F);
      }
    } else if (kind == "iron tower") {
      k.line({l + s * 0.15F, ground}, {cx, top}, s * 0.06F, dark);
      k.line({r - s * 0.15F, ground}, {cx, top}, s * 0.06F, dark);
      for (float f : {0.35F, 0.6F, 0.8F})
        k.hline(cx - s * 0.35F * f, cx + s * 0.35F * f, top + (ground - top) * f, s * 0.05F, dark);
    } else {
      draw_wide(kind);
    }
  }
  void draw_wide(const std::string& kind) const {
    if (kind == "bridge") {
      const float deck = ground - s * 0.25F, tip = top + s * 0.3F;
      k.rect(l, deck, r, ground - s * 0.18F, dark);
      for (float f : {0.25F, 0.75F}) k.rect(l + s * f - 4, tip, l + s * f + 4, ground, dark);
      k.polyline({{l, deck}, {l + s * 0.25F, tip}, {cx, deck}, {l + s * 0.75F, tip}, {r, deck}}, 2,
                 dark);
    } else if (kind == "dome") {
      k.rect(l + s * 0.1F, ground - s * 0.4F, r - s * 0.1F, ground, dark);
      k.ellipse(cx, ground - s * 0.4F, s * 0.34F, s * 0.4F, dark);
      k.vline(cx, top, ground - s * 0.75F, 3, dark);
    } else if (kind == "skyscraper") {
      k.rect(cx - s * 0.16F, top, cx + s * 0.16F, ground, dark);
      for (float y = top + 8; y < ground - 8; y += 12)
        for (float x = cx - s * 0.12F; x < cx + s * 0.12F; x += 10)
          k.rect(x, y, x + 5, y + 6, {240, 220, 140});
    } else {  // arch
      k.ellipse(cx, ground - s * 0.45F, s * 0.42F, s * 0.45F, dark);
      k.rect(cx - s * 0.42F, ground - s * 0.45F, cx + s * 0.42F, ground, dark);
      k.ellipse(cx, ground - s * 0.35F, s * 0.24F, s * 0.3F, mix(sky, kWhite, 0.4F));
      k.rect(cx - s * 0.24F, ground - s * 0.35F, cx + s * 0.24F, ground, mix(sky, kWhite, 0.45F));
    }
  }
};

// A cage with an animal and, below, a plate with its name, origin and age.
void cage(Context& c, Page& page, const Family& family, const Cutout& cut, float left, float cell) {
  Random& r = c.random;
  const float h = page.h(), right = left + cell, cx = left + cell * 0.5F;
  const Color iron{60, 62, 66};
  const float s = std::floor(std::min(cell * 0.6F, h * 0.34F) * r.real(0.8F, 1.0F)),
              x = std::floor(cx - s / 2), y = std::floor(h * 0.56F - s);
  const Run animal = page.item({x, y, x + s, y + s}, cut.name);
  page.cutout(animal, cut, r.chance(0.5F));
  for (float bar = left + cell * 0.08F; bar < right - cell * 0.06F; bar += cell * 0.07F)
    page.vline(bar, h * 0.12F, h * 0.62F, 3, iron);
  for (float rail : {0.12F, 0.62F})
    page.hline(left + cell * 0.06F, right - cell * 0.06F, h * rail, 5, iron);
  const float size = std::min(c.px(r.real(12, 18)), cell * 0.065F), top = h * 0.65F;
  page.rect(left + cell * 0.1F, top, right - cell * 0.1F, top + size * 5.6F, {245, 240, 215});
  const std::string pet = given_name(r), home = r.pick<"place.country">(), age = number(r, 1, 38);
  const Style plain = style(family, size, {40, 30, 20});
  const Run pet_run =
      page.centred(cx, top + size * 1.4F, pet, bold(family, size * 1.15F, plain.color));
  const Run home_run = page.centred(cx, top + size * 3.0F, "from " + home, plain);
  const Run age_run = page.centred(cx, top + size * 4.5F, age + " years old", plain);
  const Slots slots = {{"animal", cut.name}};
  page.ask("zoo.name", pet_run, 1, medium, slots, {animal.box});
  page.ask("zoo.home", home, {home_run}, 1, medium, slots, {animal.box});
  page.ask("zoo.age", age, {age_run}, 1, medium,
           {{"whom", r.chance(0.5F) ? "the " + cut.name : pet}}, {animal.box, pet_run.box});
  page.ask("zoo.which", animal, 0.7F, medium, {{"name", pet}}, {pet_run.box});
}

// A dropped bag of chips with a tiny list of ingredients.
void chip_packet(Context& c, Page& page) {
  Random& r = c.random;
  const float pw = c.px(r.real(150, 190)), ph = c.px(105), px = r.real(4, page.w() - pw - 4),
              py = page.h() - ph - 3;
  if (!page.free({px, py, px + pw, py + ph})) return;
  const Color bag = vivid(r), ink = readable_on(bag);
  page.polygon({{px, py + 4}, {px + pw, py}, {px + pw - 3, py + ph}, {px + 4, py + ph - 2}}, bag);
  const float size = c.px(11);
  const std::string brand = upper(surname(r)) + " CHIPS";
  const Run brand_run = page.centred(px + pw / 2, py + size * 1.8F, brand,
                                     bold(c.family("display"), size * 1.25F, ink));
  const Style fine = style(c.family("narrow"), size, ink);
  const Run key = page.text(px + 8, py + size * 3.6F, "Ingredients:", fine);
  std::vector<std::string> parts = r.list<"zoo.ingredient">();
  r.shuffle(parts);
  const Run first = page.text(key.end + 4, py + size * 3.6F, parts[0], fine);
  page.text(px + 8, py + size * 5.0F, parts[1] + ", " + parts[2], fine);
  const Run weight =
      page.text(px + 8, py + size * 6.9F, std::to_string(r.between(3, 30) * 10) + " g", fine);
  page.ask("zoo.brand", brand_run, 1, medium);
  page.ask("zoo.ingredient", first, 1.2F, complex, {}, {key.box});
  page.ask_figure("zoo.weight", weight, 1, medium, {}, {brand_run.box});
}

}  // namespace

Sheet signs(Context& c) {
  Random& r = c.random;
  Sheet sheet("signs", Finish::photo);
  const int w = c.options.longest, h = static_cast<int>(w * r.real(0.6F, 0.85F));
  const bool tall = r.chance(0.2F);
  Page& page = sheet.add(c, tall ? h : w, tall ? w : h, {200, 200, 200});
  backdrop(page, r);
  Places places(page, c.px(12));
  std::vector<std::string> shown;
  for (int i = r.between(2, 6); i > 0; --i) {
    const Row sign = sign_text(r);
    if (holds(shown, sign[0])) continue;
    const std::vector<std::string> lines(sign.begin() + 1, sign.end());
    size_t longest = 0;
    for (const auto& line : lines) longest = std::max(longest, line.size());
    const float size = c.px(r.real(13, 40)), bw = size * (longest * 0.72F + 1.2F),
                bh = size * (lines.size() * 1.4F + 0.6F);
    Box box;
    if (bw > page.w() * 0.9F || !places.find(r, bw, bh, box)) continue;
    shown.push_back(sign[0]);
    const Color ground = r.chance(0.3F) ? Color{245, 245, 245} : vivid(r);
    const float post = (box.x0 + box.x1) / 2, foot = box.y1 + c.px(90);
    if (r.chance(0.6F))
      page.rect(post - 3, box.y1, post + 3, std::min(page.h(), foot), {110, 110, 110});
    places.take({post - 4, box.y1, post + 4, foot});
    sign_questions(
        page, r, sign[0],
        board(page, c.family("display"), box, lines, ground, std::max(1.5F, size * 0.09F)));
  }
  // Things that stand around.
  for (int i = r.between(0, 5); i > 0; --i) {
    Box box;
    const float s = std::floor(c.px(r.real(40, 130)));
    if (!places.find(r, s, s, box, 0.4F)) continue;
    const Cutout& cut = c.any_cutout();
    page.cutout(page.item(box, cut.name), cut, r.chance(0.5F));
  }
  if (page.asks.empty()) return signs(c);
  if (r.chance(0.3F) && !holds(shown, "speed limit sign")) page.ask_none("sign.limit", 0.3F);
  return sheet;
}

Sheet poster(Context& c) {
  Random& r = c.random;
  Sheet sheet("poster", Finish::photo);
  Page& page = sheet.add(c, true, 0.65F, 1.0F, {200, 200, 200});
  const float w = page.w(), h = page.h();
  backdrop(page, r);
  const float pw = w * r.real(0.5F, 0.9F), ph = std::min(h * 0.94F, pw * r.real(1.1F, 1.5F));
  const float x0 = (w - pw) * r.real(0.2F, 0.8F), y0 = (h - ph) * r.real(0.2F, 0.8F),
              cx = x0 + pw / 2;
  const Color paper = r.chance(0.5F) ? vivid(r) : mix(muted(r), {255, 250, 235}, 0.6F),
              ink = readable_on(paper);
  page.rect(x0, y0, x0 + pw, y0 + ph, paper);
  const Family &head = c.family("display"), &body = c.family("sans");
  auto fit = [&](const std::string& text, const Family& family, float wish, bool bold) {
    Style s = style(family, wish, ink, bold ? Weight::bold : Weight::regular);
    const float need = page.measure(text, s);
    if (need > pw * 0.88F) s.size = std::max(c.px(9), std::floor(wish * pw * 0.88F / need));
    return s;
  };
  const std::string event = r.pick<"poster.event">();
  const Run event_run = page.centred(cx, y0 + ph * 0.12F, r.chance(0.5F) ? upper(event) : event,
                                     fit(upper(event), head, pw * 0.1F, true));
  page.ask("poster.event", event, {event_run}, 1.2F);
  const float s = std::floor(std::min(pw, ph) * 0.36F), left = std::floor(cx - s / 2),
              top = std::floor(y0 + ph * 0.18F);
  const Cutout& cut = c.any_cutout();
  const Run art = page.item({left, top, left + s, top + s}, cut.name);
  page.cutout(art, cut);
  page.ask("poster.art", art, 0.6F);
  float y = y0 + ph * 0.18F + s + ph * 0.08F;
  const float small = std::clamp(pw * r.real(0.032F, 0.046F), c.px(11), c.px(30));
  const std::string hall = r.pick<"poster.hall">(), place = surname(r) + " " + hall;
  const int form = r.pick({7, 8, 4});
  const std::vector<Row>& table = r.table<"poster.field", 3>();
  const std::vector<Field> list =
      fields(r, table, Land::us,
             {{"date", [&] { return format(r, date(r, 2015, 2026), form); }},
              {"clock", [&] { return clock(r, true).substr(0, 5); }},
              {"place", [&] { return place; }},
              {"currency", [&] { return currency(r, any_land(r)); }},
              {"website", [&] { return website(event, r); }}});
  for (size_t i = 0; i < list.size(); ++i) {
    if (y > y0 + ph - small || r.chance(0.12F)) continue;
    const std::string whole = list[i].key + list[i].value;
    const Style used = fit(whole, body, small, r.chance(0.3F));
    float at = cx - page.measure(whole, used) / 2;
    if (!list[i].key.empty()) at = page.text(at, y, list[i].key, used).end;
    const Run value = page.text(at, y, list[i].value, used);
    const std::string& key = table[i][2];
    page.ask("poster.field", key == "ticket price" ? figure(value.text) : value.text, {value}, 1,
             simple, {{"key", key}});
    y += small * 1.75F;
  }
  page.ask_none("poster.field", 0.4F, simple, {{"key", r.pick<"poster.absent">()}});
  return sheet;
}

// Named silhouettes with a label each; which is where, and what is written under it.
Sheet landmarks(Context& c) {
  Random& r = c.random;
  Sheet sheet("landmarks", Finish::photo);
  Page& page = sheet.add(c, false, 0.5F, 0.7F);
  const Color sky = r.pick(
      {Color{150, 195, 235}, Color{245, 190, 140}, Color{70, 80, 130}, Color{215, 220, 225}});
  const float w = page.w(), h = page.h(), ground = h * r.real(0.72F, 0.82F);
  page.gradient(0, 0, w, ground, sky, mix(sky, kWhite, 0.5F));
  page.gradient(0, ground, w, h, {110, 140, 80}, {80, 110, 60});
  const Color dark = mix({40, 45, 60}, sky, r.real(0, 0.35F));
  std::vector<std::string> kinds = r.list<"landmark.kind">();
  r.shuffle(kinds);
  const int n = r.between(3, 5);
  const float cell = w / n;
  const Family& family = c.family(r.pick({"sans", "serif"}));
  for (int i = 0; i < n; ++i) {
    const std::string& kind = kinds[static_cast<size_t>(i)];
    const float cx = cell * (i + 0.5F), s = cell * r.real(0.5F, 0.72F),
                top = ground - s * r.real(1.0F, 1.35F), left = cx - s / 2, right = cx + s / 2;
    // Strokes reach a little past the outline.
    const Run thing =
        page.item({left - s * 0.14F, top - s * 0.05F, right + s * 0.14F, ground + s * 0.05F}, kind);
    if (page.drawn(thing)) Silhouette{page, cx, left, right, top, ground, s, dark, sky}.draw(kind);
    const std::string family_name = surname(r),
                      name = r.pick<"landmark.name">() + " " + family_name;
    const float size = std::min(c.px(r.real(12, 20)), cell * 0.09F);
    const Run label =
        page.centred(cx, ground + c.px(26), name, bold(family, size, {250, 250, 245}));
    const Run year =
        page.centred(cx, ground + c.px(26) + size * 1.6F, "built " + number(r, 1180, 2015),
                     style(family, size * 0.9F, {240, 240, 230}));
    page.ask("landmark.name", label, 1.2F, medium, {{"kind", kind}}, {thing.box});
    page.ask_figure("landmark.year", year, 1, medium, {{"kind", r.chance(0.5F) ? kind : name}},
                    {thing.box, label.box});
    page.ask("landmark.kind", thing, 0.8F, medium, {{"name", name}}, {label.box});
  }
  page.ask_none("landmark.name", 0.4F, medium, {{"kind", kinds.back()}});
  return sheet;
}

// Animals behind bars with a plate, and a chip packet that somebody dropped.
Sheet zoo(Context& c) {
  Random& r = c.random;
  Sheet sheet("zoo", Finish::photo);
  Page& page = sheet.add(c, false, 0.65F, 0.85F);
  const float w = page.w(), h = page.h();
  page.gradient(0, 0, w, h * 0.5F, {160, 200, 230}, {200, 220, 200});
  page.gradient(0, h * 0.5F, w, h, {130, 160, 90}, {150, 130, 90});
  const int n = r.between(2, 4);
  const auto animals = unlike_cutouts(c, static_cast<size_t>(n), "animal");
  const Family& family = c.family(r.pick({"sans", "serif", "display"}));
  std::vector<std::string> present;
  for (const Cutout* animal : animals) {
    cage(c, page, family, *animal, w / n * present.size(), w / n);
    present.push_back(animal->name);
  }
  if (r.chance(0.7F)) chip_packet(c, page);
  page.ask_none("zoo.name", 0.3F, medium, {{"animal", absent_cutout(c, present, "animal")}});
  return sheet;
}

}  // namespace arrcoc::scenes
