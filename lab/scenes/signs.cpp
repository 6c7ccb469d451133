// Signs, billboards, posters, landmarks and the zoo: text in the world.
#include <algorithm>
#include <cmath>

#include "lab/scenes/backdrop.h"
#include "lab/scenes/layouts.h"
#include "lab/scenes/phrases.h"
#include "lab/scenes/things.h"
#include "lab/scenes/words.h"

namespace arrcoc::scenes {
namespace {

// A board with centred lines of text that fill it; the runs in order.
std::vector<Run> board(Page& page, const Family& family, const Box& box,
                       const std::vector<std::string>& lines, Color ground, Color ink,
                       float frame_width) {
  page.canvas.round_rect(box.x0, box.y0, box.x1, box.y1, frame_width * 2, ink);
  page.canvas.round_rect(box.x0 + frame_width, box.y0 + frame_width, box.x1 - frame_width,
                         box.y1 - frame_width, frame_width * 2, ground);
  float size = (box.height() - 3 * frame_width) / (lines.size() * 1.35F);
  for (const auto& line : lines) {
    const float w = page.measure(line, style(family, 100, ink, Weight::bold)) / 100;
    size = std::min(size, (box.width() - 4 * frame_width) * 0.94F / std::max(w, 0.01F));
  }
  size = std::max(7.0F, std::floor(size * 2) / 2);
  std::vector<Run> runs;
  const float total = size * 1.3F * lines.size();
  float y = (box.y0 + box.y1) / 2 - total / 2 + size * 1.0F;
  for (const auto& line : lines) {
    runs.push_back(page.text((box.x0 + box.x1) / 2, y, line, style(family, size, ink, Weight::bold),
                             Align::centre));
    y += size * 1.3F;
  }
  return runs;
}

struct SignText {
  const char* what;  // how one asks for it
  std::vector<std::string> lines;
};

SignText sign_text(Random& r) {
  const std::string town = city(r, Land::us), number = std::to_string(r.between(2, 140)),
                    address = street(r, Land::us);
  switch (r.between(0, 11)) {
    case 0:
      return {"speed limit sign", {"SPEED", "LIMIT", std::to_string(r.between(2, 12) * 5 + 5)}};
    case 1:
      return {"road sign", {upper(town), number + " km"}};
    case 2:
      return {"exit sign", {"EXIT " + std::to_string(r.between(1, 98)), upper(town)}};
    case 3:
      return {"street sign", {title_case(lower(address.substr(address.find(' ') + 1)))}};
    case 4:
      return {"shop sign", {shop(r, Land::us).substr(0, 22)}};
    case 5:
      return {"opening hours sign",
              {"OPEN", std::to_string(r.between(6, 11)) + " AM - " +
                           std::to_string(r.between(3, 11)) + " PM"}};
    case 6:
      return {
          "parking sign",
          {r.pick({"PARKING", "NO PARKING"}),
           r.chance(0.5F) ? "MAX " + std::to_string(r.between(2, 12)) + " HOURS"
                          : "FROM " + std::to_string(r.between(1, 12)) + r.pick({" AM", " PM"})}};
    case 7:
      return {"house number", {std::to_string(r.between(1, 980))}};
    case 8:
      return {"warning sign",
              {r.pick({"WARNING", "CAUTION", "DANGER"}),
               r.pick({"HIGH VOLTAGE", "WET FLOOR", "DEEP WATER", "FALLING ROCKS", "BEWARE OF DOG",
                       "ROAD WORK", "NO ENTRY", "THIN ICE"})}};
    case 9:
      return {"bus stop sign",
              {"BUS " + std::to_string(r.between(1, 320)),
               upper(r.pick(
                   {"Central Station", "Airport", "Harbour", "Old Town", "University", "Zoo"}))}};
    case 10:
      return {"for sale sign", {"FOR SALE", phone(r, Land::us)}};
    default:
      return {"platform sign", {"PLATFORM", std::to_string(r.between(1, 24))}};
  }
}

}  // namespace

Sheet signs(Context& c) {
  Random& r = c.random;
  Sheet sheet;
  sheet.layout = "signs";
  sheet.finish = Finish::photo;
  const int w = c.options.longest, h = static_cast<int>(w * r.real(0.6F, 0.85F));
  const bool tall = r.chance(0.2F);
  sheet.pages.emplace_back(c, tall ? h : w, tall ? w : h, Color{200, 200, 200});
  Page& page = sheet.pages.back();
  backdrop(page, r);
  const float W = static_cast<float>(page.canvas.width), H = static_cast<float>(page.canvas.height);
  Places places(W, H, c.px(12));
  std::vector<std::string> asked;
  for (int i = r.between(2, 6); i > 0; --i) {
    const SignText text = sign_text(r);
    if (std::find(asked.begin(), asked.end(), text.what) != asked.end()) continue;
    size_t longest = 0;
    for (const auto& line : text.lines) longest = std::max(longest, line.size());
    const float size = c.px(r.real(13, 40)), bw = size * (longest * 0.72F + 1.2F),
                bh = size * (text.lines.size() * 1.4F + 0.6F);
    Box box;
    if (bw > W * 0.9F || !places.find(r, bw, bh, box)) continue;
    asked.push_back(text.what);
    const Color ground = r.chance(0.3F) ? Color{245, 245, 245} : vivid(r);
    if (r.chance(0.6F))
      page.canvas.rect((box.x0 + box.x1) / 2 - 3, box.y1, (box.x0 + box.x1) / 2 + 3,
                       std::min(H, box.y1 + c.px(90)), {110, 110, 110});
    places.take({(box.x0 + box.x1) / 2 - 4, box.y1, (box.x0 + box.x1) / 2 + 4, box.y1 + c.px(90)});
    const auto runs = board(page, c.family("display"), box, text.lines, ground, readable_on(ground),
                            std::max(1.5F, size * 0.09F));
    std::string whole;
    for (const Run& run : runs) whole += (whole.empty() ? "" : " ") + run.text;
    page.ask({"sign.text", {{"what", text.what}}, whole, runs, {}, Level::simple, 1});
    if (runs.size() > 1) {
      const std::string what = text.what;
      if (what == "speed limit sign")
        page.ask({"sign.limit",
                  {},
                  runs[2].text,
                  {runs[2]},
                  {runs[0].box, runs[1].box},
                  Level::simple,
                  1.2F});
      if (what == "road sign")
        page.ask({"sign.distance",
                  {{"town", title_case(lower(runs[0].text))}},
                  figure(runs[1].text),
                  {runs[1]},
                  {runs[0].box},
                  Level::medium,
                  1.2F});
      if (what == "exit sign")
        page.ask({"sign.exit",
                  {{"town", title_case(lower(runs[1].text))}},
                  runs[0].text,
                  {runs[0]},
                  {runs[1].box},
                  Level::medium,
                  1.2F});
      if (what == "for sale sign")
        page.ask({"sign.phone", {}, runs[1].text, {runs[1]}, {runs[0].box}, Level::simple, 1});
      if (what == "opening hours sign")
        page.ask({"sign.hours", {}, runs[1].text, {runs[1]}, {runs[0].box}, Level::simple, 1});
      if (what == "platform sign")
        page.ask({"sign.platform", {}, runs[1].text, {runs[1]}, {runs[0].box}, Level::simple, 1});
      if (what == "bus stop sign")
        page.ask({"sign.bus",
                  {{"town", title_case(lower(runs[1].text))}},
                  runs[0].text,
                  {runs[0]},
                  {runs[1].box},
                  Level::medium,
                  1});
    }
  }
  // Things that stand around.
  for (int i = r.between(0, 5); i > 0; --i) {
    Box box;
    const float s = std::floor(c.px(r.real(40, 130)));
    if (!places.find(r, s, s, box, 0.4F)) continue;
    const Cutout& cut =
        c.library.cutouts()[static_cast<size_t>(r.pick(c.library.usable(c.options.held_back)))];
    page.cutout(page.item(box, cut.name), cut, r.chance(0.5F));
  }
  if (page.asks.empty()) return signs(c);
  if (r.chance(0.3F) &&
      std::find(asked.begin(), asked.end(), std::string("speed limit sign")) == asked.end())
    page.ask({"sign.limit", {}, "none", {}, {}, Level::simple, 0.3F});
  return sheet;
}

Sheet poster(Context& c) {
  Random& r = c.random;
  Sheet sheet;
  sheet.layout = "poster";
  sheet.finish = Finish::photo;
  const int h = c.options.longest, w = static_cast<int>(h * r.real(0.65F, 1.0F));
  sheet.pages.emplace_back(c, w, h, Color{200, 200, 200});
  Page& page = sheet.pages.back();
  backdrop(page, r);
  const float pw = w * r.real(0.5F, 0.9F), ph = std::min(h * 0.94F, pw * r.real(1.1F, 1.5F));
  const float x0 = (w - pw) * r.real(0.2F, 0.8F), y0 = (h - ph) * r.real(0.2F, 0.8F),
              cx = x0 + pw / 2;
  const Color paper = r.chance(0.5F) ? vivid(r) : mix(muted(r), {255, 250, 235}, 0.6F),
              ink = readable_on(paper);
  page.canvas.rect(x0, y0, x0 + pw, y0 + ph, paper);
  const Family &head = c.family("display"), &body = c.family("sans");
  auto fit = [&](const std::string& text, const Family& family, float wish, Weight weight) {
    Style s = style(family, wish, ink, weight);
    const float need = page.measure(text, s);
    if (need > pw * 0.88F) s.size = std::max(c.px(9), std::floor(wish * pw * 0.88F / need));
    return s;
  };
  const std::string event =
      r.pick({"Summer Jazz Festival", "Spring Flower Market", "City Marathon", "Book Fair",
              "Winter Concert", "Film Night", "Farmers Market", "Science Day", "Kite Festival",
              "Food Truck Rally", "Night of Museums", "Garden Show"});
  float y = y0 + ph * 0.12F;
  const Run event_run = page.text(cx, y, r.chance(0.5F) ? upper(event) : event,
                                  fit(upper(event), head, pw * 0.1F, Weight::bold), Align::centre);
  page.ask({"poster.event", {}, event, {event_run}, {}, Level::simple, 1.2F});
  const float s = std::floor(std::min(pw, ph) * 0.36F);
  const Cutout& cut =
      c.library.cutouts()[static_cast<size_t>(r.pick(c.library.usable(c.options.held_back)))];
  const Run art = page.item({std::floor(cx - s / 2), std::floor(y0 + ph * 0.18F),
                             std::floor(cx - s / 2) + s, std::floor(y0 + ph * 0.18F) + s},
                            cut.name);
  page.cutout(art, cut);
  page.ask({"poster.art", {}, cut.name, {art}, {}, Level::simple, 0.6F});
  y = y0 + ph * 0.18F + s + ph * 0.08F;
  const float small = std::clamp(pw * r.real(0.032F, 0.046F), c.px(11), c.px(30));
  struct Row {
    std::string text, key;
  };
  const std::string place =
      surname(r) + r.pick({" Park", " Hall", " Square", " Arena", " Gardens"});
  const std::vector<Row> rows = {
      {format(date(r, 2015, 2026), r.pick(std::vector<int>{7, 8, 4})), "date"},
      {clock(r, true).substr(0, 5) + " - " + std::to_string(r.between(5, 11)) + " PM", "time"},
      {place, "place"},
      {"Tickets " + currency(any_land(r)) + std::to_string(r.between(3, 95)), "ticket price"},
      {website(event, r), "website"},
      {"Info: " + phone(r, Land::us), "phone number"}};
  for (const Row& row : rows) {
    if (y > y0 + ph - small || r.chance(0.12F)) continue;
    const size_t cut_at =
        row.key == "ticket price" || row.key == "phone number" ? row.text.find(' ') + 1 : 0;
    const Style used = fit(row.text, body, small, r.chance(0.3F) ? Weight::bold : Weight::regular);
    const float start = cx - page.measure(row.text, used) / 2;
    Run lead;
    float at = start;
    if (cut_at) {
      lead = page.text(start, y, row.text.substr(0, cut_at), used);
      at = lead.end;
    }
    const Run value = page.text(at, y, row.text.substr(cut_at), used);
    page.ask({"poster.field",
              {{"key", row.key}},
              row.key == "ticket price" ? figure(value.text) : value.text,
              {value},
              {},
              Level::simple,
              1});
    y += small * 1.75F;
  }
  page.ask({"poster.field",
            {{"key", r.pick({"dress code", "age limit", "parking fee"})}},
            "none",
            {},
            {},
            Level::simple,
            0.4F});
  return sheet;
}

// Named silhouettes with a label each; which is where, and what is written under it.
Sheet landmarks(Context& c) {
  Random& r = c.random;
  Sheet sheet;
  sheet.layout = "landmarks";
  sheet.finish = Finish::photo;
  const int w = c.options.longest, h = static_cast<int>(w * r.real(0.5F, 0.7F));
  sheet.pages.emplace_back(c, w, h, Color{200, 210, 230});
  Page& page = sheet.pages.back();
  const Color sky =
      r.pick(std::vector<Color>{{150, 195, 235}, {245, 190, 140}, {70, 80, 130}, {215, 220, 225}});
  const float ground = h * r.real(0.72F, 0.82F), W = static_cast<float>(w);
  page.canvas.gradient(0, 0, W, ground, sky, mix(sky, {255, 255, 255}, 0.5F));
  page.canvas.gradient(0, ground, W, static_cast<float>(h), {110, 140, 80}, {80, 110, 60});
  const Color dark = mix({40, 45, 60}, sky, r.real(0, 0.35F));
  std::vector<std::string> kinds = {"lighthouse", "windmill", "pyramid", "church",     "castle",
                                    "iron tower", "bridge",   "dome",    "skyscraper", "arch"};
  r.shuffle(kinds);
  const int n = r.between(3, 5);
  const float cell = W / n;
  const Family& family = c.family(r.pick({"sans", "serif"}));
  for (int i = 0; i < n; ++i) {
    const std::string& kind = kinds[static_cast<size_t>(i)];
    const float cx = cell * (i + 0.5F), s = cell * r.real(0.5F, 0.72F),
                top = ground - s * r.real(1.0F, 1.35F), l = cx - s / 2, rr = cx + s / 2;
    // Strokes reach a little past the outline.
    const Run thing =
        page.item({l - s * 0.14F, top - s * 0.05F, rr + s * 0.14F, ground + s * 0.05F}, kind);
    if (page.drawn(thing)) {
      Canvas& k = page.canvas;
      if (kind == "lighthouse") {
        k.polygon({{cx - s * 0.14F, ground},
                   {cx - s * 0.09F, top + s * 0.2F},
                   {cx + s * 0.09F, top + s * 0.2F},
                   {cx + s * 0.14F, ground}},
                  dark);
        k.rect(cx - s * 0.08F, top + s * 0.08F, cx + s * 0.08F, top + s * 0.2F, {250, 230, 120});
        k.polygon({{cx - s * 0.1F, top + s * 0.08F}, {cx + s * 0.1F, top + s * 0.08F}, {cx, top}},
                  dark);
      } else if (kind == "windmill") {
        k.polygon({{cx - s * 0.2F, ground},
                   {cx - s * 0.11F, top + s * 0.35F},
                   {cx + s * 0.11F, top + s * 0.35F},
                   {cx + s * 0.2F, ground}},
                  dark);
        for (int b = 0; b < 4; ++b) {
          const float a = 0.6F + b * 1.5708F;
          k.line({cx, top + s * 0.4F},
                 {cx + std::cos(a) * s * 0.38F, top + s * 0.4F + std::sin(a) * s * 0.38F},
                 s * 0.05F, dark);
        }
      } else if (kind == "pyramid") {
        k.polygon({{cx, top + s * 0.3F}, {rr, ground}, {l, ground}},
                  mix(dark, {220, 180, 110}, 0.6F));
      } else if (kind == "church") {
        k.rect(cx - s * 0.1F, top + s * 0.45F, rr - s * 0.1F, ground, dark);
        k.rect(l + s * 0.1F, top + s * 0.3F, cx - s * 0.1F, ground, dark);
        k.polygon({{l + s * 0.05F, top + s * 0.3F},
                   {cx - s * 0.05F, top + s * 0.3F},
                   {l + s * 0.25F, top}},
                  dark);
      } else if (kind == "castle") {
        k.rect(l, ground - s * 0.5F, rr, ground, dark);
        for (int t = 0; t < 3; ++t) {
          const float tx = l + (rr - l) * t / 2;
          k.rect(tx - s * 0.1F, top + s * 0.15F, tx + s * 0.1F, ground, dark);
          k.polygon(
              {{tx - s * 0.13F, top + s * 0.15F}, {tx + s * 0.13F, top + s * 0.15F}, {tx, top}},
              dark);
        }
      } else if (kind == "iron tower") {
        k.line({l + s * 0.15F, ground}, {cx, top}, s * 0.06F, dark);
        k.line({rr - s * 0.15F, ground}, {cx, top}, s * 0.06F, dark);
        for (float f : {0.35F, 0.6F, 0.8F})
          k.hline(cx - s * 0.35F * f, cx + s * 0.35F * f, top + (ground - top) * f, s * 0.05F,
                  dark);
      } else if (kind == "bridge") {
        k.rect(l, ground - s * 0.25F, rr, ground - s * 0.18F, dark);
        for (float f : {0.25F, 0.75F})
          k.rect(l + s * f - 4, top + s * 0.3F, l + s * f + 4, ground, dark);
        k.line({l, ground - s * 0.25F}, {l + s * 0.25F, top + s * 0.3F}, 2, dark);
        k.line({l + s * 0.25F, top + s * 0.3F}, {cx, ground - s * 0.25F}, 2, dark);
        k.line({cx, ground - s * 0.25F}, {l + s * 0.75F, top + s * 0.3F}, 2, dark);
        k.line({l + s * 0.75F, top + s * 0.3F}, {rr, ground - s * 0.25F}, 2, dark);
      } else if (kind == "dome") {
        k.rect(l + s * 0.1F, ground - s * 0.4F, rr - s * 0.1F, ground, dark);
        k.ellipse(cx, ground - s * 0.4F, s * 0.34F, s * 0.4F, dark);
        k.vline(cx, top, ground - s * 0.75F, 3, dark);
      } else if (kind == "skyscraper") {
        k.rect(cx - s * 0.16F, top, cx + s * 0.16F, ground, dark);
        for (float y = top + 8; y < ground - 8; y += 12)
          for (float x = cx - s * 0.12F; x < cx + s * 0.12F; x += 10)
            k.rect(x, y, x + 5, y + 6, {240, 220, 140});
      } else {
        k.ellipse(cx, ground - s * 0.45F, s * 0.42F, s * 0.45F, dark);
        k.rect(cx - s * 0.42F, ground - s * 0.45F, cx + s * 0.42F, ground, dark);
        k.ellipse(cx, ground - s * 0.35F, s * 0.24F, s * 0.3F, mix(sky, {255, 255, 255}, 0.4F));
        k.rect(cx - s * 0.24F, ground - s * 0.35F, cx + s * 0.24F, ground,
               mix(sky, {255, 255, 255}, 0.45F));
      }
    }
    const std::string name =
        r.pick({"Cape ", "Old ", "Saint ", "Port ", "Mount ", "New "}) + surname(r);
    const float size = std::min(c.px(r.real(12, 20)), cell * 0.09F);
    const Run label = page.text(cx, ground + c.px(26), name,
                                style(family, size, {250, 250, 245}, Weight::bold), Align::centre);
    const Run year = page.text(cx, ground + c.px(26) + size * 1.6F,
                               "built " + std::to_string(r.between(1180, 2015)),
                               style(family, size * 0.9F, {240, 240, 230}), Align::centre);
    page.ask({"landmark.name", {{"kind", kind}}, name, {label}, {thing.box}, Level::medium, 1.2F});
    page.ask({"landmark.year",
              {{"kind", r.chance(0.5F) ? kind : name}},
              figure(year.text),
              {year},
              {thing.box, label.box},
              Level::medium,
              1});
    page.ask({"landmark.kind", {{"name", name}}, kind, {thing}, {label.box}, Level::medium, 0.8F});
  }
  page.ask({"landmark.name", {{"kind", kinds.back()}}, "none", {}, {}, Level::medium, 0.4F});
  return sheet;
}

// Animals behind bars with a plate, and a chip packet that somebody dropped.
Sheet zoo(Context& c) {
  Random& r = c.random;
  Sheet sheet;
  sheet.layout = "zoo";
  sheet.finish = Finish::photo;
  const int w = c.options.longest, h = static_cast<int>(w * r.real(0.65F, 0.85F));
  sheet.pages.emplace_back(c, w, h, Color{150, 180, 120});
  Page& page = sheet.pages.back();
  const float W = static_cast<float>(w), H = static_cast<float>(h);
  page.canvas.gradient(0, 0, W, H * 0.5F, {160, 200, 230}, {200, 220, 200});
  page.canvas.gradient(0, H * 0.5F, W, H, {130, 160, 90}, {150, 130, 90});
  const int n = r.between(2, 4);
  const auto animals = unlike_cutouts(c, static_cast<size_t>(n), "animal");
  std::vector<std::string> present;
  const float cell = W / n;
  const Family& family = c.family(r.pick({"sans", "serif", "display"}));
  for (int i = 0; i < n && i < static_cast<int>(animals.size()); ++i) {
    const Cutout& cut = *animals[static_cast<size_t>(i)];
    present.push_back(cut.name);
    const float s = std::floor(std::min(cell * 0.6F, H * 0.34F) * r.real(0.8F, 1.0F)),
                x = std::floor(cell * (i + 0.5F) - s / 2), y = std::floor(H * 0.56F - s);
    const Run animal = page.item({x, y, x + s, y + s}, cut.name);
    page.cutout(animal, cut, r.chance(0.5F));
    for (float bx = cell * i + cell * 0.08F; bx < cell * (i + 1) - cell * 0.06F; bx += cell * 0.07F)
      page.canvas.vline(bx, H * 0.12F, H * 0.62F, 3, {60, 62, 66});
    page.canvas.hline(cell * i + cell * 0.06F, cell * (i + 1) - cell * 0.06F, H * 0.12F, 5,
                      {60, 62, 66});
    page.canvas.hline(cell * i + cell * 0.06F, cell * (i + 1) - cell * 0.06F, H * 0.62F, 5,
                      {60, 62, 66});
    const float size = std::min(c.px(r.real(12, 18)), cell * 0.065F);
    const float py = H * 0.65F;
    page.canvas.rect(cell * i + cell * 0.1F, py, cell * (i + 1) - cell * 0.1F, py + size * 5.6F,
                     {245, 240, 215});
    const std::string pet = given_name(r), home = r.pick(countries()),
                      age = std::to_string(r.between(1, 38));
    const float cx = cell * (i + 0.5F);
    const Run pet_run =
        page.text(cx, py + size * 1.4F, pet,
                  style(family, size * 1.15F, {40, 30, 20}, Weight::bold), Align::centre);
    const Run home_run = page.text(cx, py + size * 3.0F, "from " + home,
                                   style(family, size, {40, 30, 20}), Align::centre);
    const Run age_run = page.text(cx, py + size * 4.5F, age + " years old",
                                  style(family, size, {40, 30, 20}), Align::centre);
    page.ask({"zoo.name", {{"animal", cut.name}}, pet, {pet_run}, {animal.box}, Level::medium, 1});
    page.ask(
        {"zoo.home", {{"animal", cut.name}}, home, {home_run}, {animal.box}, Level::medium, 1});
    page.ask({"zoo.age",
              {{"whom", r.chance(0.5F) ? "the " + cut.name : pet}},
              age,
              {age_run},
              {animal.box, pet_run.box},
              Level::medium,
              1});
    page.ask(
        {"zoo.which", {{"name", pet}}, cut.name, {animal}, {pet_run.box}, Level::medium, 0.7F});
  }
  // The packet: tiny ingredient list in a corner.
  if (r.chance(0.7F)) {
    const float pw = c.px(r.real(150, 190)), ph = c.px(105), px = r.real(4, W - pw - 4),
                py = H - ph - 3;
    if (page.free({px, py, px + pw, py + ph})) {
      const Color bag = vivid(r), ink = readable_on(bag);
      page.canvas.polygon(
          {{px, py + 4}, {px + pw, py}, {px + pw - 3, py + ph}, {px + 4, py + ph - 2}}, bag);
      const float size = c.px(11);
      const std::string brand = upper(surname(r)) + " CHIPS";
      const Run brand_run =
          page.text(px + pw / 2, py + size * 1.8F, brand,
                    style(c.family("display"), size * 1.25F, ink, Weight::bold), Align::centre);
      const Style fine = style(c.family("narrow"), size, ink);
      const Run key = page.text(px + 8, py + size * 3.6F, "Ingredients:", fine);
      std::vector<std::string> parts = {"potatoes", "salt",  "sunflower oil", "paprika",
                                        "sugar",    "onion", "corn",          "vinegar"};
      r.shuffle(parts);
      const Run first = page.text(key.end + 4, py + size * 3.6F, parts[0], fine);
      page.text(px + 8, py + size * 5.0F, parts[1] + ", " + parts[2], fine);
      const Run weight =
          page.text(px + 8, py + size * 6.9F, std::to_string(r.between(3, 30) * 10) + " g", fine);
      page.ask({"zoo.brand", {}, brand, {brand_run}, {}, Level::medium, 1});
      page.ask({"zoo.ingredient", {}, parts[0], {first}, {key.box}, Level::complex, 1.2F});
      page.ask(
          {"zoo.weight", {}, figure(weight.text), {weight}, {brand_run.box}, Level::medium, 1});
    }
  }
  page.ask({"zoo.name",
            {{"animal", absent_cutout(c, present, "animal")}},
            "none",
            {},
            {},
            Level::medium,
            0.3F});
  return sheet;
}

}  // namespace arrcoc::scenes
