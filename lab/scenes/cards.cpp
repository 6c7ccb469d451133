// Small things held to the camera: business cards, identity cards, tickets, nutrition labels.
#include <algorithm>
#include <cmath>

#include "lab/scenes/backdrop.h"
#include "lab/scenes/layouts.h"

namespace arrcoc::scenes {
namespace {

Color pastel(Random& r) { return random_color(r, {205, 205, 205}, {255, 255, 255}); }
Color deep(Random& r) { return random_color(r, {10, 10, 20}, {130, 110, 140}); }

// The card lies on a larger ground, so that its text is small in the picture.
struct Card {
  Random& r;
  Sheet sheet;
  Page& page;
  float x0 = 0, y0 = 0, w = 0, h = 0;

  Card(Context& c, const char* layout, float narrow, float wide)
      : r(c.random), sheet(layout, Finish::photo), page(ground(c)) {
    const float aspect = narrow == wide ? wide : r.real(narrow, wide);
    w = std::min(page.w(), page.h() * aspect) * r.real(0.66F, 0.94F);
    h = w / aspect;
    x0 = (page.w() - w) * r.real(0.2F, 0.8F);
    y0 = (page.h() - h) * r.real(0.2F, 0.8F);
    page.rect(x0 + 5, y0 + 6, x0 + w + 7, y0 + h + 8, mix(page.get(2, 2), kBlack, 0.35F));
  }
  Page& ground(Context& c) {
    const int width = c.options.longest, height = static_cast<int>(width * r.real(0.65F, 0.8F));
    const Color any = random_color(r, {40, 40, 40}, {220, 220, 220});
    return sheet.add(c, width, height, mix(any, {120, 100, 80}, 0.5F));
  }
  // A band over the whole width, down to a share of the height.
  void band(float share, Color color) { page.rect(x0, y0, x0 + w, y0 + h * share, color); }
  Run text(float x, float y, const std::string& text, const Style& style) {
    return page.text(x0 + w * x, y0 + h * y, text, style);
  }
};

}  // namespace

Sheet business_card(Context& c) {
  Random& r = c.random;
  Card card(c, "business-card", 1.55F, 1.8F);
  Page& page = card.page;
  const bool dark = r.chance(0.2F);
  const Color paper = dark ? deep(r) : r.chance(0.6F) ? Color{252, 252, 250} : pastel(r);
  const Color ink = dark ? Color{240, 240, 240} : mix(kBlack, deep(r), 0.5F);
  card.band(1, paper);
  if (r.chance(0.4F)) card.band(0.06F, deep(r));
  const Family& family = c.family(r.pick({"sans", "serif", "sans", "narrow"}));
  const Land land = any_land(r);
  const std::string name = person(r);
  std::string firm = company(r, land);
  const float size = card.h * r.real(0.042F, 0.058F);
  const Style body = style(family, size, ink), big = bold(family, size * 1.7F, ink),
              strong = bold(family, size * 1.25F, ink);
  while (page.measure(firm, strong) > card.w * 0.85F) firm = company(r, land);
  const float x = card.x0 + card.w * r.real(0.06F, 0.12F);
  float y = card.y0 + card.h * 0.2F;
  page.ask("letter.company", page.text(x, y, firm, strong), 1);
  page.ask("card.name", page.text(x, y + size * 4, name, big), 1.5F);
  const Run job = page.text(x, y + size * 5.6F, r.pick<"card.job">(), body);
  page.ask("card.field", job, 1, simple, {{"key", r.pick<"card.asked-job">()}});
  y += size * 8.2F;
  const std::vector<Row>& table = r.table<"card.row", 3>();
  const std::vector<Field> rows = fields(r, table, land,
                                         {{"email", [&] { return email(r, name, firm); }},
                                          {"website", [&] { return website(firm, r); }}});
  const bool labelled = r.chance(0.7F);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (y > card.y0 + card.h - size * 0.8F) break;
    const std::string &label = rows[i].key, &asked = table[i][2];
    if (r.chance(0.15F) || (!labelled && !label.empty() && asked != "telephone number")) continue;
    float at = x;
    std::vector<Box> evidence;
    if (labelled && !label.empty()) {
      const Run key = page.text(x, y, label, body);
      at = key.end;
      evidence.push_back(key.box);
    }
    page.ask("card.field", page.text(at, y, rows[i].value, body), 1, simple, {{"key", asked}},
             evidence);
    y += size * 1.45F;
  }
  page.ask_none("card.field", 0.5F, simple, {{"key", r.pick<"card.absent">()}});
  return std::move(card.sheet);
}

Sheet id_card(Context& c) {
  Random& r = c.random;
  Card card(c, "id-card", 1.585F, 1.585F);
  Page& page = card.page;
  const Color paper = pastel(r), accent = deep(r), ink = mix(kBlack, accent, 0.2F);
  const float right = card.x0 + card.w, bottom = card.y0 + card.h;
  page.gradient(card.x0, card.y0, right, bottom, paper, mix(paper, accent, 0.15F));
  card.band(0.15F, accent);
  const Family& family = c.family(r.pick({"sans", "narrow", "sans"}));
  const float size = card.h * r.real(0.045F, 0.056F);
  const Style label = style(family, size * 0.8F, mix(ink, paper, 0.35F)),
              value = style(family, size, ink, r.chance(0.5F) ? Weight::bold : Weight::regular);
  page.ask("form.title",
           card.text(0.04F, 0.105F, upper(r.pick<"card.id-title">()),
                     bold(family, size * 1.35F, {250, 250, 250})),
           0.8F);
  // The portrait: a head and shoulders.
  const float px = card.x0 + card.w * 0.05F, py = card.y0 + card.h * 0.24F, pw = card.w * 0.24F,
              ph = card.h * 0.5F;
  page.rect(px, py, px + pw, py + ph, mix(paper, {140, 160, 180}, 0.6F));
  page.ellipse(px + pw / 2, py + ph * 1.0F, pw * 0.42F, ph * 0.3F, deep(r));
  page.rect(px - 1, py + ph, px + pw + 1, py + ph * 1.32F, mix(paper, accent, 0.12F));
  page.ellipse(px + pw / 2, py + ph * 0.42F, pw * 0.24F, ph * 0.26F,
               random_color(r, {150, 110, 80}, {230, 180, 150}));
  const int form = r.between(0, kDateForms - 1);
  auto day = [&](int first, int last) { return format(r, date(r, first, last), form); };
  const Land land = any_land(r);
  const std::vector<Field> rows = fields(r, r.table<"card.id">(), land,
                                         {{"born", [&] { return day(1940, 2005); }},
                                          {"issued", [&] { return day(2010, 2022); }},
                                          {"expires", [&] { return day(2023, 2034); }}});
  const float x = card.x0 + card.w * 0.34F;
  float y = card.y0 + card.h * 0.24F;
  const bool below = r.chance(0.6F);
  for (const Field& row : rows) {
    if (y + size * 2 > bottom) break;
    if (r.chance(0.12F)) continue;
    const Run key = page.text(x, y, row.key, label);
    const float start = below ? x : std::max(x + card.w * 0.2F, key.end + size * 0.5F),
                room = card.x0 + card.w * 0.97F - start;
    const Run shown = page.text(start, below ? y + size * 1.15F : y, row.value,
                                page.narrowed(row.value, value, room));
    page.ask("card.field", row.quantity ? figure(row.value) : row.value, {shown}, 1, simple,
             {{"key", r.chance(0.5F) ? row.key : lower(row.key)}}, {key.box});
    y += size * (below ? 2.35F : 1.7F);
  }
  page.ask_none("card.field", 0.5F, simple, {{"key", r.pick<"card.id-absent">()}});
  return std::move(card.sheet);
}

Sheet ticket(Context& c) {
  Random& r = c.random;
  Card card(c, "ticket", 1.9F, 2.6F);
  Page& page = card.page;
  const Color paper = r.chance(0.5F) ? Color{250, 248, 240} : pastel(r), accent = deep(r),
              ink{25, 25, 30};
  card.band(1, paper);
  card.band(0.16F, accent);
  const float stub = card.x0 + card.w * 0.74F;
  for (float y = card.y0; y < card.y0 + card.h; y += 9)
    page.vline(stub, y, y + 5, 1.5F, mix(ink, paper, 0.4F));
  const Family& family = c.family(r.pick({"sans", "thermal", "narrow"}));
  const float size = card.h * r.real(0.055F, 0.07F);
  const Style label = style(family, size * 0.72F, mix(ink, paper, 0.4F)),
              value = bold(family, size, ink);
  const int kind = r.between(0, 2);  // flight, train, event
  const std::string title = choice(r, r.list<"ticket.title">()[static_cast<size_t>(kind)]);
  card.text(0.03F, 0.115F, title, bold(family, size * 1.3F, {250, 250, 250}));
  const int form = r.pick({0, 4, 5, 6, 10});
  const std::string day = format(r, date(r, 2010, 2025), form);
  const std::vector<Row>& table = kind == 0   ? r.table<"ticket.flight">()
                                  : kind == 1 ? r.table<"ticket.train">()
                                              : r.table<"ticket.event">();
  auto price = [&] {
    const std::string sum = money(r.between(4, 120) * 50);
    return currency(r, any_land(r)) + sum;
  };
  const std::vector<Field> rows = fields(r, table, Land::us,
                                         {{"town", [&] { return city(r, any_land(r)); }},
                                          {"date", [&] { return day; }},
                                          {"clock", [&] { return clock(r, false).substr(0, 5); }},
                                          {"price", price}});
  const float column = card.w * 0.235F;
  for (size_t i = 0; i < rows.size(); ++i) {
    const float x = card.x0 + card.w * 0.03F + column * (i % 3),
                y = card.y0 + card.h * (0.28F + 0.235F * (i / 3));
    const Run key = page.text(x, y, rows[i].key, label);
    const Run shown = page.text(x, y + size * 1.25F, rows[i].value,
                                page.narrowed(rows[i].value, value, column * 0.94F));
    page.ask("ticket.field", rows[i].quantity ? figure(shown.text) : shown.text, {shown}, 1, simple,
             {{"key", r.chance(0.3F) ? rows[i].key : lower(rows[i].key)}}, {key.box});
  }
  // Bars on the stub.
  for (float x = stub + card.w * 0.04F; x < card.x0 + card.w * 0.96F;) {
    const float t = r.real(1, 4);
    page.rect(x, card.y0 + card.h * 0.25F, x + t, card.y0 + card.h * 0.75F, ink);
    x += t + r.real(1, 4);
  }
  const Run no = page.centred((stub + card.x0 + card.w) / 2, card.y0 + card.h * 0.86F,
                              digits(r, 10), style(family, size * 0.75F, ink));
  page.ask("ticket.field", no, 0.8F, medium, {{"key", r.pick<"ticket.asked-number">()}});
  page.ask_none("ticket.field", 0.5F, simple, {{"key", r.pick<"ticket.absent">()}});
  return std::move(card.sheet);
}

namespace {

// The table of a nutrition label. Returns where it ends.
float nutrition_table(Random& r, Page& page, const Family& family, float size, size_t rows, float x,
                      float x1, float y) {
  const Color ink{15, 15, 15};
  const Style body = style(family, size, ink), strong = bold(family, size, ink),
              large = sized(strong, size * 1.3F);
  y += size * 2;
  page.text(x, y, "Nutrition Facts", sized(strong, size * 1.8F));
  y += size * 1.5F;
  const Run serving = page.text(x, y, "Serving size ", body);
  page.ask_figure("label.serving", page.text(serving.end, y, number(r, 15, 90) + " g", body), 1,
                  simple, {}, {serving.box});
  y += size * 1.4F;
  const Run per = page.text(x, y, "Servings per package ", body);
  page.ask("card.field", page.text(per.end, y, number(r, 1, 16), body), 0.7F, simple,
           {{"key", "number of servings"}}, {per.box});
  y += size * 0.6F;
  page.rect(x, y, x1, y + size * 0.35F, ink);
  y += size * 1.7F;
  const Run calories = page.text(x, y, "Calories", large);
  const std::string amount = std::to_string(r.between(3, 60) * 10);
  page.ask("label.calories", page.right(x1, y, amount, large), 1.5F, simple, {}, {calories.box});
  y += size * 0.5F;
  page.rect(x, y, x1, y + size * 0.2F, ink);
  y += size * 1.3F;
  page.right(x1, y, "% Daily Value*", sized(strong, size * 0.85F));
  for (size_t i = 0; i < rows; ++i) {
    y += size * 0.45F;
    page.hline(x, x1, y, 1, ink);
    y += size * 1.05F;
    const Row& row = r.table<"label.row", 5>()[i];
    const int high = static_cast<int>(to_number(row[2])),
              grams = r.between(static_cast<int>(to_number(row[1])), high);
    const bool part = row[4] == "part";
    const Run name = page.text(x + (part ? size : 0), y, row[0], part ? body : strong);
    const Slots slots = {{"key", lower(row[0])}};
    page.ask_figure("label.amount",
                    page.text(name.end + size * 0.5F, y, std::to_string(grams) + row[3], body),
                    0.6F, simple, slots, {name.box});
    if (part && !r.chance(0.5F)) continue;
    const int percent = std::min(99, grams * 100 / std::max(1, high * 2));
    page.ask_figure("label.percent", page.right(x1, y, std::to_string(percent) + "%", strong), 0.5F,
                    medium, slots, {name.box});
  }
  return y;
}

}  // namespace

Sheet nutrition_label(Context& c) {
  Random& r = c.random;
  Sheet sheet("nutrition-label", Finish::photo);
  const int h = c.options.longest, w = static_cast<int>(h * r.real(0.6F, 0.85F));
  const Color packet = mix(random_color(r, {60, 60, 60}, {255, 255, 255}), {220, 180, 80}, 0.3F);
  Page& page = sheet.add(c, w, h, packet);
  const Color paper = r.chance(0.7F) ? Color{252, 252, 252} : mix(packet, kWhite, 0.7F);
  const Family& family = c.family(r.pick({"sans", "narrow"}));
  const float bw = w * r.real(0.55F, 0.85F), x0 = (w - bw) * r.real(0.2F, 0.8F), pad = bw * 0.03F;
  const float size = std::clamp(bw * r.real(0.036F, 0.046F), c.px(12), c.px(24));
  const auto count =
      static_cast<size_t>(r.between(7, static_cast<int>(r.table<"label.row", 5>().size())));
  const float y0 = h * r.real(0.03F, 0.12F), bh = size * (9.5F + 1.5F * count),
              bottom = std::min(y0 + bh, h - 4.0F);
  page.rect(x0, y0, x0 + bw, bottom, paper);
  page.frame(x0, y0, x0 + bw, bottom, 2, {15, 15, 15});
  float y = nutrition_table(r, page, family, size, count, x0 + pad, x0 + bw - pad, y0) + size * 2;
  // Ingredients under the panel.
  std::vector<std::string> parts = r.list<"label.ingredient">();
  r.shuffle(parts);
  const Color ink = luma(packet) > 128 ? Color{20, 20, 20} : Color{245, 245, 245};
  const Style small = style(family, std::max(c.px(11), size * 0.8F), ink),
              strong = bold(family, small.size, ink);
  if (y + small.size * 6 < h) {
    y = std::max(y, y0 + bh + small.size * 1.6F);
    const Run key = page.text(x0, y, "INGREDIENTS: ", strong);
    float x = key.end;
    std::vector<Run> runs;
    for (int i = 0, n = r.between(4, 12); i < n; ++i) {
      const std::string& word = parts[static_cast<size_t>(i)];
      if (x + page.measure(word + ", ", small) > x0 + bw) {
        x = x0;
        y += small.size * 1.35F;
      }
      if (y > h - small.size) break;
      runs.push_back(page.text(x, y, word, small));
      x = page.text(runs.back().end, y, i + 1 < n ? ", " : ".", small).end;
    }
    if (!runs.empty()) page.ask("label.first", runs[0], 0.8F, simple, {}, {key.box});
    for (size_t i = 0; i + 1 < runs.size(); ++i)
      page.ask("label.ingredient", runs[i + 1], 0.25F, medium, {{"key", runs[i].text}},
               {runs[i].box});
    y += small.size * 1.8F;
    if (y < h - small.size && r.chance(0.6F)) {
      const Run contains = page.text(x0, y, "CONTAINS: ", strong);
      page.ask("label.allergen", page.text(contains.end, y, r.pick<"label.allergen">(), small),
               0.8F, simple, {}, {contains.box});
    }
  }
  page.ask_none("label.amount", 0.5F, simple, {{"key", r.pick<"label.absent">()}});
  return sheet;
}

}  // namespace arrcoc::scenes
