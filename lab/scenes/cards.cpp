// Small things held to the camera: business cards, identity cards, tickets, nutrition labels.
#include <algorithm>
#include <cmath>

#include "lab/scenes/layouts.h"
#include "lab/scenes/phrases.h"
#include "lab/scenes/words.h"

namespace arrcoc::scenes {
namespace {

Color pastel(Random& r) {
  return {static_cast<uint8_t>(r.between(205, 255)), static_cast<uint8_t>(r.between(205, 255)),
          static_cast<uint8_t>(r.between(205, 255))};
}
Color deep(Random& r) {
  return {static_cast<uint8_t>(r.between(10, 130)), static_cast<uint8_t>(r.between(10, 110)),
          static_cast<uint8_t>(r.between(20, 140))};
}

// The card lies on a larger ground, so that its text is small in the picture.
struct Ground {
  float x0, y0, w, h;
};
Ground card_on_ground(Context& c, Page& page, float aspect) {
  Random& r = c.random;
  const float W = static_cast<float>(page.canvas.width), H = static_cast<float>(page.canvas.height);
  const float w = std::min(W, H * aspect) * r.real(0.66F, 0.94F), h = w / aspect;
  const Ground g{(W - w) * r.real(0.2F, 0.8F), (H - h) * r.real(0.2F, 0.8F), w, h};
  page.canvas.rect(g.x0 + 5, g.y0 + 6, g.x0 + w + 7, g.y0 + h + 8,
                   mix(page.canvas.get(2, 2), {0, 0, 0}, 0.35F));
  return g;
}

Page& card_page(Context& c, Sheet& sheet, const char* layout) {
  Random& r = c.random;
  sheet.layout = layout;
  sheet.finish = Finish::photo;
  const int w = c.options.longest, h = static_cast<int>(w * r.real(0.65F, 0.8F));
  const Color ground =
      mix({static_cast<uint8_t>(r.between(40, 220)), static_cast<uint8_t>(r.between(40, 220)),
           static_cast<uint8_t>(r.between(40, 220))},
          {120, 100, 80}, 0.5F);
  sheet.pages.emplace_back(c, w, h, ground);
  return sheet.pages.back();
}

}  // namespace

Sheet business_card(Context& c) {
  Random& r = c.random;
  Sheet sheet;
  Page& page = card_page(c, sheet, "business-card");
  const Ground g = card_on_ground(c, page, r.real(1.55F, 1.8F));
  const bool dark = r.chance(0.2F);
  const Color paper = dark ? deep(r) : r.chance(0.6F) ? Color{252, 252, 250} : pastel(r);
  const Color ink = dark ? Color{240, 240, 240} : mix({0, 0, 0}, deep(r), 0.5F);
  page.canvas.rect(g.x0, g.y0, g.x0 + g.w, g.y0 + g.h, paper);
  if (r.chance(0.4F)) page.canvas.rect(g.x0, g.y0, g.x0 + g.w, g.y0 + g.h * 0.06F, deep(r));
  const Family& family = c.family(r.pick({"sans", "serif", "sans", "narrow"}));
  const Land land = any_land(r);
  const std::string name = person(r);
  std::string firm = company(r, land);
  const float size = g.h * r.real(0.042F, 0.058F);
  const Style body = style(family, size, ink), big = style(family, size * 1.7F, ink, Weight::bold),
              strong = style(family, size * 1.25F, ink, Weight::bold);
  while (page.measure(firm, strong) > g.w * 0.85F) firm = company(r, land);
  const float x = g.x0 + g.w * r.real(0.06F, 0.12F);
  float y = g.y0 + g.h * 0.2F;
  const Run firm_run = page.text(x, y, firm, strong);
  const Run name_run = page.text(x, y + size * 4, name, big);
  const std::string job = r.pick({"Sales Director", "Architect", "Dentist", "Photographer",
                                  "Project Manager", "Consultant", "Engineer", "Attorney",
                                  "Interior Designer", "Accountant", "Translator", "Chef"});
  const Run job_run = page.text(x, y + size * 5.6F, job, body);
  page.ask({"letter.company", {}, firm, {firm_run}, {}, Level::simple, 1});
  page.ask({"card.name", {}, name, {name_run}, {}, Level::simple, 1.5F});
  page.ask({"card.field",
            {{"key", r.pick({"job title", "profession", "position"})}},
            job,
            {job_run},
            {},
            Level::simple,
            1});
  y += size * 8.2F;
  struct Row {
    const char* label;
    std::string value;
    const char* key;
  };
  std::vector<Row> rows = {{"Tel ", phone(r, land), "telephone number"},
                           {"Mobile ", phone(r, land), "mobile number"},
                           {"Fax ", phone(r, land), "fax number"},
                           {"", email(r, name, firm), "email address"},
                           {"", website(firm, r), "website"},
                           {"", street(r, land), "street"},
                           {"", city_line(r, land), "city"}};
  const bool labelled = r.chance(0.7F);
  for (const Row& row : rows) {
    if (y > g.y0 + g.h - size * 0.8F) break;
    if (r.chance(0.15F) || (!labelled && *row.label && std::string(row.key) != "telephone number"))
      continue;
    Run key;
    float at = x;
    std::vector<Box> evidence;
    if (labelled && *row.label) {
      key = page.text(x, y, row.label, body);
      at = key.end;
      evidence.push_back(key.box);
    }
    const Run value = page.text(at, y, row.value, body);
    page.ask({"card.field", {{"key", row.key}}, row.value, {value}, evidence, Level::simple, 1});
    y += size * 1.45F;
  }
  page.ask({"card.field",
            {{"key", r.pick({"expiry date", "price", "date of birth"})}},
            "none",
            {},
            {},
            Level::simple,
            0.5F});
  return sheet;
}

Sheet id_card(Context& c) {
  Random& r = c.random;
  Sheet sheet;
  Page& page = card_page(c, sheet, "id-card");
  const Ground g = card_on_ground(c, page, 1.585F);
  const Color paper = pastel(r), accent = deep(r), ink = mix({0, 0, 0}, accent, 0.2F);
  page.canvas.gradient(g.x0, g.y0, g.x0 + g.w, g.y0 + g.h, paper, mix(paper, accent, 0.15F));
  page.canvas.rect(g.x0, g.y0, g.x0 + g.w, g.y0 + g.h * 0.15F, accent);
  const Family& family = c.family(r.pick({"sans", "narrow", "sans"}));
  const float size = g.h * r.real(0.045F, 0.056F);
  const Style label = style(family, size * 0.8F, mix(ink, paper, 0.35F)),
              value = style(family, size, ink, r.chance(0.5F) ? Weight::bold : Weight::regular);
  const std::string head =
      upper(r.pick({"Library Card", "Driver Licence", "Student Identity Card", "Employee Pass",
                    "Membership Card", "Residence Permit", "Visitor Badge"}));
  const Run head_run = page.text(g.x0 + g.w * 0.04F, g.y0 + g.h * 0.105F, head,
                                 style(family, size * 1.35F, {250, 250, 250}, Weight::bold));
  page.ask({"form.title", {}, head, {head_run}, {}, Level::simple, 0.8F});
  // The portrait: a head and shoulders.
  const float px = g.x0 + g.w * 0.05F, py = g.y0 + g.h * 0.24F, pw = g.w * 0.24F, ph = g.h * 0.5F;
  page.canvas.rect(px, py, px + pw, py + ph, mix(paper, {140, 160, 180}, 0.6F));
  page.canvas.ellipse(px + pw / 2, py + ph * 1.0F, pw * 0.42F, ph * 0.3F, deep(r));
  page.canvas.rect(px - 1, py + ph, px + pw + 1, py + ph * 1.32F, mix(paper, accent, 0.12F));
  page.canvas.ellipse(
      px + pw / 2, py + ph * 0.42F, pw * 0.24F, ph * 0.26F,
      {static_cast<uint8_t>(r.between(150, 230)), static_cast<uint8_t>(r.between(110, 180)),
       static_cast<uint8_t>(r.between(80, 150))});
  const int form = r.between(0, kDateForms - 1);
  struct Row {
    std::string key, value;
  };
  const Land land = any_land(r);
  std::vector<Row> rows = {
      {r.pick({"Surname", "Last name"}), upper(surname(r))},
      {r.pick({"Given names", "First name"}), given_name(r)},
      {r.pick({"Date of birth", "Born"}), format(date(r, 1940, 2005), form)},
      {r.pick({"Card No.", "ID No.", "Number", "Licence No."}),
       pattern(r, r.pick({"@########", "###-###-###", "@@ ######", "####-####"}))},
      {r.pick({"Issued", "Date of issue"}), format(date(r, 2010, 2022), form)},
      {r.pick({"Expires", "Valid until", "Expiry date"}), format(date(r, 2023, 2034), form)},
      {r.pick({"Address", "Residence"}), street(r, land)},
      {"Class", r.pick({"B", "A1", "C", "D", "Student", "Senior", "Staff"})},
      {"Height", std::to_string(r.between(150, 199)) + " cm"}};
  const float x = g.x0 + g.w * 0.34F;
  float y = g.y0 + g.h * 0.24F;
  const bool below = r.chance(0.6F);
  const float tab = g.w * 0.2F;
  for (const Row& row : rows) {
    if (y + size * 2 > g.y0 + g.h) break;
    if (r.chance(0.12F)) continue;
    const Run key = page.text(x, y, row.key, label);
    const float start = below ? x : std::max(x + tab, key.end + size * 0.5F),
                room = g.x0 + g.w * 0.97F - start;
    const Run shown = page.text(start, below ? y + size * 1.15F : y, row.value,
                                page.narrowed(row.value, value, room));
    page.ask({"card.field",
              {{"key", r.chance(0.5F) ? row.key : lower(row.key)}},
              row.key == "Height" ? figure(row.value) : row.value,
              {shown},
              {key.box},
              Level::simple,
              1});
    y += size * (below ? 2.35F : 1.7F);
  }
  page.ask({"card.field",
            {{"key", r.pick({"telephone number", "blood type", "email"})}},
            "none",
            {},
            {},
            Level::simple,
            0.5F});
  return sheet;
}

Sheet ticket(Context& c) {
  Random& r = c.random;
  Sheet sheet;
  Page& page = card_page(c, sheet, "ticket");
  const Ground g = card_on_ground(c, page, r.real(1.9F, 2.6F));
  const Color paper = r.chance(0.5F) ? Color{250, 248, 240} : pastel(r), accent = deep(r),
              ink{25, 25, 30};
  page.canvas.rect(g.x0, g.y0, g.x0 + g.w, g.y0 + g.h, paper);
  page.canvas.rect(g.x0, g.y0, g.x0 + g.w, g.y0 + g.h * 0.16F, accent);
  const float stub = g.x0 + g.w * 0.74F;
  for (float y = g.y0; y < g.y0 + g.h; y += 9)
    page.canvas.vline(stub, y, y + 5, 1.5F, mix(ink, paper, 0.4F));
  const Family& family = c.family(r.pick({"sans", "thermal", "narrow"}));
  const float size = g.h * r.real(0.055F, 0.07F);
  const Style label = style(family, size * 0.72F, mix(ink, paper, 0.4F)),
              value = style(family, size, ink, Weight::bold);
  const int what = r.between(0, 2);
  const std::string head = what == 0 ? r.pick({"BOARDING PASS", "BOARDING CARD"})
                           : what == 1
                               ? r.pick({"TRAIN TICKET", "RAIL TICKET", "BUS TICKET"})
                               : r.pick({"CONCERT TICKET", "ADMIT ONE", "CINEMA", "MUSEUM"});
  page.text(g.x0 + g.w * 0.03F, g.y0 + g.h * 0.115F, head,
            style(family, size * 1.3F, {250, 250, 250}, Weight::bold));
  struct Row {
    std::string key, value;
  };
  std::vector<Row> rows;
  auto town = [&] { return upper(city(r, any_land(r))); };
  const std::string day = format(date(r, 2010, 2025), r.pick(std::vector<int>{0, 4, 5, 6, 10}));
  if (what < 2)
    rows = {
        {"From", town()},
        {"To", town()},
        {what ? "Train" : "Flight", pattern(r, what ? "@@ ###" : "@@####")},
        {"Date", day},
        {what ? "Departure" : "Boarding", clock(r, false).substr(0, 5)},
        {what ? "Platform" : "Gate", what ? std::to_string(r.between(1, 18)) : pattern(r, "@#")},
        {"Seat", std::to_string(r.between(1, 44)) + pattern(r, "@")},
        {what ? "Coach" : "Class",
         what ? std::to_string(r.between(1, 14)) : r.pick({"Economy", "Business"})},
        {"Passenger", upper(surname(r) + " " + given_name(r))}};
  else
    rows = {{"Event", upper(r.pick({"Symphony Night", "Jazz Evening", "City Derby", "Comedy Hour",
                                    "The Blue Lake", "Rock Summer", "Art Today"}))},
            {"Date", day},
            {"Time", clock(r, false).substr(0, 5)},
            {"Row", pattern(r, "@")},
            {"Seat", std::to_string(r.between(1, 60))},
            {"Door", std::to_string(r.between(1, 9))},
            {"Price", currency(any_land(r)) + money(r.between(4, 120) * 50)},
            {"Venue", upper(surname(r) + " " + r.pick({"Hall", "Arena", "Theatre"}))},
            {"Order", pattern(r, "########")}};
  const float column = g.w * 0.235F;
  for (size_t i = 0; i < rows.size(); ++i) {
    const float x = g.x0 + g.w * 0.03F + column * (i % 3),
                y = g.y0 + g.h * (0.28F + 0.235F * (i / 3));
    const Run key = page.text(x, y, rows[i].key, label);
    const Run shown = page.text(x, y + size * 1.25F, rows[i].value,
                                page.narrowed(rows[i].value, value, column * 0.94F));
    page.ask({"ticket.field",
              {{"key", r.chance(0.3F) ? rows[i].key : lower(rows[i].key)}},
              rows[i].key == "Price" ? figure(rows[i].value) : rows[i].value,
              {shown},
              {key.box},
              Level::simple,
              1});
  }
  // Bars on the stub.
  for (float x = stub + g.w * 0.04F; x < g.x0 + g.w * 0.96F;) {
    const float t = r.real(1, 4);
    page.canvas.rect(x, g.y0 + g.h * 0.25F, x + t, g.y0 + g.h * 0.75F, ink);
    x += t + r.real(1, 4);
  }
  const Run no = page.text((stub + g.x0 + g.w) / 2, g.y0 + g.h * 0.86F, digits(r, 10),
                           style(family, size * 0.75F, ink), Align::centre);
  page.ask({"ticket.field",
            {{"key", r.pick({"number below the bar code", "ticket number", "barcode number"})}},
            no.text,
            {no},
            {},
            Level::medium,
            0.8F});
  page.ask({"ticket.field",
            {{"key", r.pick({"discount", "refund amount", "phone number"})}},
            "none",
            {},
            {},
            Level::simple,
            0.5F});
  return sheet;
}

Sheet nutrition_label(Context& c) {
  Random& r = c.random;
  Sheet sheet;
  sheet.layout = "nutrition-label";
  sheet.finish = Finish::photo;
  const int h = c.options.longest, w = static_cast<int>(h * r.real(0.6F, 0.85F));
  const Color packet =
      mix({static_cast<uint8_t>(r.between(60, 255)), static_cast<uint8_t>(r.between(60, 255)),
           static_cast<uint8_t>(r.between(60, 255))},
          {220, 180, 80}, 0.3F);
  sheet.pages.emplace_back(c, w, h, packet);
  Page& page = sheet.pages.back();
  const Color ink{15, 15, 15},
      paper = r.chance(0.7F) ? Color{252, 252, 252} : mix(packet, {255, 255, 255}, 0.7F);
  const Family& family = c.family(r.pick({"sans", "narrow"}));
  const float bw = w * r.real(0.55F, 0.85F), x0 = (w - bw) * r.real(0.2F, 0.8F), pad = bw * 0.03F,
              x = x0 + pad, x1 = x0 + bw - pad;
  struct Row {
    const char* name;
    int low, high;
    const char* unit;
    bool indent;
  };
  const std::vector<Row> all = {
      {"Total Fat", 0, 30, "g", false},    {"Saturated Fat", 0, 12, "g", true},
      {"Trans Fat", 0, 3, "g", true},      {"Cholesterol", 0, 90, "mg", false},
      {"Sodium", 5, 980, "mg", false},     {"Total Carbohydrate", 1, 60, "g", false},
      {"Dietary Fiber", 0, 14, "g", true}, {"Sugars", 0, 40, "g", true},
      {"Protein", 0, 28, "g", false},      {"Vitamin D", 0, 20, "mcg", false},
      {"Calcium", 0, 400, "mg", false},    {"Iron", 0, 12, "mg", false},
      {"Potassium", 10, 900, "mg", false}};
  const float size = std::clamp(bw * r.real(0.036F, 0.046F), c.px(12), c.px(24));
  const Style body = style(family, size, ink), strong = style(family, size, ink, Weight::bold);
  const size_t count = static_cast<size_t>(r.between(7, static_cast<int>(all.size())));
  const float y0 = h * r.real(0.03F, 0.12F);
  const float bh = size * (9.5F + 1.5F * count);
  // Brand above or below, then the panel.
  page.canvas.rect(x0, y0, x0 + bw, std::min(y0 + bh, h - 4.0F), paper);
  page.canvas.frame(x0, y0, x0 + bw, std::min(y0 + bh, h - 4.0F), 2, ink);
  float y = y0 + size * 2;
  page.text(x, y, "Nutrition Facts", style(family, size * 1.8F, ink, Weight::bold));
  y += size * 1.5F;
  const Run serving_key = page.text(x, y, "Serving size ", body);
  const std::string serving = std::to_string(r.between(15, 90)) + " g";
  const Run serving_run = page.text(serving_key.end, y, serving, body);
  page.ask(
      {"label.serving", {}, figure(serving), {serving_run}, {serving_key.box}, Level::simple, 1});
  y += size * 1.4F;
  const Run per_key = page.text(x, y, "Servings per package ", body);
  const Run per = page.text(per_key.end, y, std::to_string(r.between(1, 16)), body);
  page.ask({"card.field",
            {{"key", "number of servings"}},
            per.text,
            {per},
            {per_key.box},
            Level::simple,
            0.7F});
  y += size * 0.6F;
  page.canvas.rect(x, y, x1, y + size * 0.35F, ink);
  y += size * 1.7F;
  const Run cal_key = page.text(x, y, "Calories", style(family, size * 1.3F, ink, Weight::bold));
  const Run cal = page.text(x1, y, std::to_string(r.between(3, 60) * 10),
                            style(family, size * 1.3F, ink, Weight::bold), Align::right);
  page.ask({"label.calories", {}, cal.text, {cal}, {cal_key.box}, Level::simple, 1.5F});
  y += size * 0.5F;
  page.canvas.rect(x, y, x1, y + size * 0.2F, ink);
  y += size * 1.3F;
  page.text(x1, y, "% Daily Value*", sized(strong, size * 0.85F), Align::right);
  for (size_t i = 0; i < count; ++i) {
    y += size * 0.45F;
    page.canvas.hline(x, x1, y, 1, ink);
    y += size * 1.05F;
    const Row& row = all[i];
    const int amount = r.between(row.low, row.high);
    const Run name =
        page.text(x + (row.indent ? size : 0), y, row.name, row.indent ? body : strong);
    const std::string text = std::to_string(amount) + row.unit;
    const Run value = page.text(name.end + size * 0.5F, y, text, body);
    page.ask({"label.amount",
              {{"key", lower(row.name)}},
              figure(text),
              {value},
              {name.box},
              Level::simple,
              0.6F});
    if (!row.indent || r.chance(0.5F)) {
      const Run percent = page.text(
          x1, y, std::to_string(std::min(99, amount * 100 / std::max(1, row.high * 2))) + "%",
          strong, Align::right);
      page.ask({"label.percent",
                {{"key", lower(row.name)}},
                figure(percent.text),
                {percent},
                {name.box},
                Level::medium,
                0.5F});
    }
  }
  y += size * 2;
  // Ingredients under the panel.
  std::vector<std::string> parts = {
      "potatoes",        "sunflower oil", "salt",          "sugar",
      "corn flour",      "milk powder",   "onion powder",  "yeast extract",
      "paprika",         "citric acid",   "garlic powder", "rice",
      "palm oil",        "cocoa",         "wheat flour",   "glucose syrup",
      "natural flavour", "soy lecithin",  "tomato powder", "cheese powder"};
  r.shuffle(parts);
  const Color ink2 = luma(packet) > 128 ? Color{20, 20, 20} : Color{245, 245, 245};
  const Style small = style(family, std::max(c.px(11), size * 0.8F), ink2);
  if (y + small.size * 6 < h) {
    y = std::max(y, y0 + bh + small.size * 1.6F);
    Run at = page.text(x0, y, "INGREDIENTS: ", style(family, small.size, ink2, Weight::bold));
    float px = at.end;
    std::vector<Run> runs;
    for (int i = 0, n = r.between(4, 12); i < n; ++i) {
      const std::string& word = parts[static_cast<size_t>(i)];
      if (px + page.measure(word + ", ", small) > x0 + bw) {
        px = x0;
        y += small.size * 1.35F;
      }
      if (y > h - small.size) break;
      runs.push_back(page.text(px, y, word, small));
      px = page.text(runs.back().end, y, i + 1 < n ? ", " : ".", small).end;
    }
    if (!runs.empty())
      page.ask({"label.first", {}, runs[0].text, {runs[0]}, {at.box}, Level::simple, 0.8F});
    for (size_t i = 0; i + 1 < runs.size(); ++i)
      page.ask({"label.ingredient",
                {{"key", runs[i].text}},
                runs[i + 1].text,
                {runs[i + 1]},
                {runs[i].box},
                Level::medium,
                0.25F});
    y += small.size * 1.8F;
    if (y < h - small.size && r.chance(0.6F)) {
      const Run key = page.text(x0, y, "CONTAINS: ", style(family, small.size, ink2, Weight::bold));
      const Run value = page.text(
          key.end, y,
          r.pick({"milk", "wheat", "soy", "peanuts", "milk and soy", "egg", "gluten", "sesame"}),
          small);
      page.ask({"label.allergen", {}, value.text, {value}, {key.box}, Level::simple, 0.8F});
    }
  }
  page.ask({"label.amount",
            {{"key", r.pick({"caffeine", "vitamin k", "zinc", "alcohol"})}},
            "none",
            {},
            {},
            Level::simple,
            0.5F});
  return sheet;
}

}  // namespace arrcoc::scenes
