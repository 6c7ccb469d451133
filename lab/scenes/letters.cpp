// Letters, memoranda and envelopes.
#include <algorithm>
#include <cmath>

#include "lab/scenes/layouts.h"
#include "lab/scenes/phrases.h"
#include "lab/scenes/words.h"

namespace arrcoc::scenes {
namespace {

// A signature: a wavering pen stroke.
void sign(Page& page, Random& r, float x, float y, float size, Color ink) {
  std::vector<Point> points;
  float px = x;
  for (int i = r.between(8, 14); i > 0; --i) {
    points.push_back({px, y + r.real(-1.0F, 0.45F) * size});
    px += size * r.real(0.15F, 0.75F);
  }
  std::vector<Point> smooth;
  for (size_t i = 0; i + 3 < points.size(); ++i) {
    for (int k = 0; k < 6; ++k) {  // Catmull-Rom
      const float t = k / 6.0F, t2 = t * t, t3 = t2 * t;
      auto along = [&](float a, float b, float c, float d) {
        return 0.5F * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t2 +
                       (3 * b - a - 3 * c + d) * t3);
      };
      smooth.push_back({along(points[i].x, points[i + 1].x, points[i + 2].x, points[i + 3].x),
                        along(points[i].y, points[i + 1].y, points[i + 2].y, points[i + 3].y)});
    }
  }
  page.canvas.polyline(smooth, 1.6F, ink);
}

std::string role(Random& r) {
  return r.pick({"Secretary", "Vice President", "Director of Research", "Sales Manager", "Editor",
                 "Treasurer", "Professor of Chemistry", "Public Relations", "Head of Department",
                 "Executive Director", "Attorney at Law", "Laboratory Manager", "Senior Scientist",
                 "Account Executive"});
}

struct Pen {
  Page& page;
  Style style;
  float x, y, step;
  Run line(const std::string& text) {
    const Run run = page.text(x, y, text, style);
    y += step;
    return run;
  }
};

}  // namespace

Sheet letter(Context& c) {
  Random& r = c.random;
  const int h = c.options.longest, w = static_cast<int>(h * r.real(0.7F, 0.8F));
  Sheet sheet;
  sheet.layout = "letter";
  sheet.finish = Finish::scan;
  sheet.pages.emplace_back(c, w, h, Color{255, 255, 255});
  Page& page = sheet.pages.back();
  const Land land = r.chance(0.7F) ? Land::us : any_land(r);
  const Color ink = mix({0, 0, 0}, {75, 75, 75}, r.unit());
  const Family& family =
      c.family(r.pick({"typewriter", "typewriter", "typewriter", "serif", "sans"}));
  const float size = c.px(r.real(12, 19)), step = size * r.real(1.25F, 1.6F),
              margin = c.px(r.real(60, 120));
  const Style body = style(family, size, ink);
  float y = c.px(r.real(44, 80));
  // Letterhead.
  if (r.chance(0.8F)) {
    const Family& head = c.family(r.chance(0.5F) ? "serif" : "sans");
    const bool centred = r.chance(0.6F);
    const std::string firm = r.chance(0.5F) ? upper(company(r, land)) : company(r, land);
    const float x = centred ? w / 2.0F : margin;
    const Align align = centred ? Align::centre : Align::left;
    const Run run =
        page.text(x, y, firm,
                  page.narrowed(firm, style(head, size * r.real(1.2F, 1.6F), ink, Weight::bold),
                                w - 2 * margin),
                  align);
    page.ask({"letter.company", {}, firm, {run}, {}, Level::simple, 1.2F});
    y += size * 1.7F;
    const Style fine = style(head, std::max(c.px(9.5F), size * 0.8F), ink);
    page.text(x, y, street(r, land) + ", " + city_line(r, land), fine, align);
    y += size * 1.4F;
    if (r.chance(0.5F)) {
      const std::string tel = phone(r, land);
      Run key = page.text(x - (centred ? size * 6 : 0), y,
                          r.pick({"Telephone: ", "Tel. ", "Phone "}), fine);
      Run value = page.text(key.end, y, tel, fine);
      page.ask({"form.field",
                {{"key", "telephone number"}},
                tel,
                {value},
                {key.box},
                Level::simple,
                0.8F});
      y += size * 1.4F;
    }
  }
  y += step * r.real(0.5F, 2);
  const std::string day = format(
      date(r, 1955, 2015), static_cast<int>(r.weighted({0, 0, 0, 0, 1, 0, 0, 6, 4, 1, 0, 1})));
  const bool right_date = r.chance(0.4F);
  const Run day_run = page.text(right_date ? w * 0.6F : margin, y, day, body);
  page.ask({"letter.date", {}, day, {day_run}, {}, Level::simple, 2.2F});
  y += step * r.real(1.5F, 2.5F);
  Pen pen{page, body, margin, y, step};
  const std::string to = person(r), from = person(r);
  const Run to_run = pen.line(to);
  page.ask({"letter.to", {}, to, {to_run}, {}, Level::simple, 2});
  if (r.chance(0.5F)) {
    const Run run = pen.line(role(r));
    page.ask({"letter.role", {{"person", to}}, run.text, {run}, {to_run.box}, Level::medium, 0.8F});
  }
  if (r.chance(0.6F)) pen.line(company(r, land));
  pen.line(street(r, land));
  const std::string town = city(r, land);
  const Run town_run = page.text(pen.x, pen.y, town, body);
  page.text(town_run.end, pen.y, ", " + digits(r, 5), body);
  pen.y += step * 1.6F;
  page.ask({"letter.city", {}, town, {town_run}, {to_run.box}, Level::medium, 0.8F});
  if (r.chance(0.5F)) {
    const Run key =
        page.text(margin + size * 3, pen.y, r.pick({"Re: ", "Subject: ", "Reference: "}), body);
    const std::string about = title_case(topic(r));
    const Run value = page.text(key.end, pen.y, about, body);
    if (r.chance(0.5F)) page.canvas.hline(value.box.x0, value.box.x1, pen.y + 3, 1, ink);
    page.ask({"letter.subject", {}, about, {value}, {key.box}, Level::simple, 1.2F});
    pen.y += step * 1.6F;
  }
  const Run dear = pen.line("Dear " + to.substr(to.rfind(' ') + 1) + r.pick({":", ","}));
  page.ask({"letter.salutation",
            {},
            dear.text.substr(0, dear.text.size() - 1),
            {dear},
            {},
            Level::simple,
            0.3F});
  pen.y += step * 0.5F;
  const float foot = h - step * 11;
  const bool indent = r.chance(0.4F);
  for (int i = r.between(1, 5); i > 0 && pen.y < foot; --i) {
    const auto lines =
        page.paragraph(margin, pen.y, w - 2 * margin, step,
                       (indent ? std::string("     ") : "") + paragraph_text(r, r.between(2, 6)),
                       body, Align::left, std::max(1, static_cast<int>((foot - pen.y) / step)));
    pen.y += step * (lines.size() + 0.6F);
  }
  pen.x = r.chance(0.5F) ? w * 0.5F : margin;
  pen.line(r.pick({"Sincerely,", "Very truly yours,", "Sincerely yours,", "Yours faithfully,",
                   "Cordially,", "With best regards,"}));
  sign(page, r, pen.x, pen.y + step * 0.9F, size * 1.4F, r.chance(0.4F) ? Color{40, 50, 130} : ink);
  pen.y += step * 2.4F;
  const Run from_run = pen.line(from);
  page.ask({"letter.from", {}, from, {from_run}, {}, Level::simple, 2});
  if (r.chance(0.7F)) {
    const Run run = pen.line(role(r));
    page.ask(
        {"letter.role", {{"person", from}}, run.text, {run}, {from_run.box}, Level::medium, 0.8F});
  }
  if (r.chance(0.4F) && pen.y < h - step * 2) {
    const Run key = page.text(margin, pen.y + step, "cc: ", body);
    const std::string copy = person(r);
    const Run value = page.text(key.end, pen.y + step, copy, body);
    page.ask({"letter.cc", {}, copy, {value}, {key.box}, Level::simple, 0.8F});
  } else {
    page.ask({"letter.cc", {}, "none", {}, {}, Level::simple, 0.4F});
  }
  return sheet;
}

Sheet memo(Context& c) {
  Random& r = c.random;
  const int h = c.options.longest, w = static_cast<int>(h * r.real(0.7F, 0.8F));
  Sheet sheet;
  sheet.layout = "memo";
  sheet.finish = Finish::scan;
  sheet.pages.emplace_back(c, w, h, Color{255, 255, 255});
  Page& page = sheet.pages.back();
  const Color ink = mix({0, 0, 0}, {70, 70, 70}, r.unit());
  const Family& family = c.family(r.pick({"typewriter", "typewriter", "serif", "sans"}));
  const float size = c.px(r.real(12.5F, 20)), step = size * r.real(1.3F, 1.6F),
              margin = c.px(r.real(60, 110));
  const Style body = style(family, size, ink), strong = style(family, size, ink, Weight::bold);
  float y = c.px(r.real(60, 120));
  const bool centred = r.chance(0.5F);
  const Run title = page.text(
      centred ? w / 2.0F : margin, y,
      r.pick({"MEMORANDUM", "INTER-OFFICE MEMORANDUM", "MEMO", "INTEROFFICE CORRESPONDENCE",
              "FILE NOTE", "FAX COVER SHEET"}),
      style(family, size * 1.3F, ink, Weight::bold), centred ? Align::centre : Align::left);
  page.ask({"form.title", {}, title.text, {title}, {}, Level::simple, 1});
  y += step * 2;
  const std::string to = person(r), from = person(r),
                    day = format(date(r, 1960, 2012), r.pick(std::vector<int>{7, 8, 9, 0, 11})),
                    about = title_case(topic(r));
  struct Head {
    std::string key, value;
    const char* intent;
  };
  std::vector<Head> heads = {{"TO", to, "letter.to"},
                             {"FROM", from, "letter.from"},
                             {"DATE", day, "letter.date"},
                             {r.pick({"SUBJECT", "RE"}), about, "letter.subject"}};
  if (r.chance(0.4F)) heads.insert(heads.begin() + 1, {"CC", person(r), "letter.cc"});
  const float tab = margin + page.measure("SUBJECT:", strong) + size;
  for (const Head& head : heads) {
    const Run key = page.text(margin, y, head.key + ":", strong);
    const Run value = page.text(tab, y, head.value, body);
    page.ask({head.intent, {}, head.value, {value}, {key.box}, Level::simple, 1.8F});
    y += step * 1.4F;
  }
  page.canvas.hline(margin, w - margin, y - step * 0.4F, 1, ink);
  y += step;
  // Numbered or plain paragraphs, with a few facts that can be asked for.
  const float foot = h - step * 3;
  int n = 1;
  const bool numbered = r.chance(0.4F);
  while (y < foot && n < 9) {
    const std::string lead = numbered ? std::to_string(n) + ". " : "";
    const auto lines =
        page.paragraph(margin, y, w - 2 * margin, step, lead + paragraph_text(r, r.between(2, 5)),
                       body, Align::left, static_cast<int>((foot - y) / step) + 1);
    y += step * (lines.size() + 0.7F);
    ++n;
    if (r.chance(0.2F)) break;
  }
  if (r.chance(0.5F)) {
    const Run run = page.text(w - margin, h - c.px(24),
                              pattern(r, r.pick({"########", "@@@ ######", "## ### ###"})),
                              style(c.family("sans"), size, ink, Weight::bold), Align::right);
    page.ask({"form.field",
              {{"key", r.pick({"document number", "number at the bottom", "stamp number"})}},
              run.text,
              {run},
              {},
              Level::medium,
              0.7F});
  }
  return sheet;
}

Sheet envelope(Context& c) {
  Random& r = c.random;
  const int w = c.options.longest, h = static_cast<int>(w * r.real(0.45F, 0.7F));
  Sheet sheet;
  sheet.layout = "envelope";
  sheet.finish = Finish::scan;
  sheet.pages.emplace_back(c, w, h, Color{255, 255, 255});
  Page& page = sheet.pages.back();
  const Land land = any_land(r);
  const Color ink = mix({0, 0, 0}, {70, 70, 70}, r.unit());
  const Family& family = c.family(r.pick({"typewriter", "hand", "serif", "typewriter"}));
  const float size = c.px(r.real(17, 30)), small = c.px(r.real(12, 17));
  const Style address = style(family, size, ink), sender = style(c.family("serif"), small, ink);
  const float x = w * r.real(0.4F, 0.5F);
  float y = h * r.real(0.45F, 0.55F);
  const std::string to = person(r), from = company(r, land);
  const Run to_run = page.text(x, y, to, address);
  const Run street_run = page.text(x, y + size * 1.4F, street(r, land), address);
  const Run city_run = page.text(x, y + size * 2.8F, city_line(r, land), address);
  const Run from_run = page.text(c.px(40), c.px(50), from,
                                 style(c.family("serif"), small * 1.2F, ink, Weight::bold));
  const Run from_street = page.text(c.px(40), c.px(50) + small * 1.6F, street(r, land), sender);
  page.text(c.px(40), c.px(50) + small * 3, city_line(r, land), sender);
  page.ask({"letter.to", {}, to, {to_run}, {}, Level::simple, 2});
  page.ask({"letter.from", {}, from, {from_run}, {}, Level::simple, 1.5F});
  page.ask({"form.field",
            {{"key", r.pick({"street of the recipient", "recipient's street",
                             "address of the recipient"})}},
            street_run.text,
            {street_run},
            {to_run.box},
            Level::medium,
            1});
  page.ask({"form.field",
            {{"key", r.pick({"city of the recipient", "last line of the address"})}},
            city_run.text,
            {city_run},
            {to_run.box},
            Level::medium,
            1});
  page.ask({"form.field",
            {{"key", r.pick({"sender's street", "return address street"})}},
            from_street.text,
            {from_street},
            {from_run.box},
            Level::medium,
            1});
  // Postmark and stamp.
  const float cx = w * 0.72F, cy = c.px(90), radius = c.px(48);
  page.canvas.ring(cx, cy, radius, radius, 1.6F, ink);
  const std::string day = upper(std::string(month_name(r.between(1, 12))).substr(0, 3)) + " " +
                          std::to_string(r.between(1, 28));
  const Run day_run =
      page.text(cx, cy, day, style(c.family("sans"), c.px(15), ink, Weight::bold), Align::centre);
  const std::string year = std::to_string(r.between(1948, 1999));
  const Run year_run = page.text(
      cx, cy + c.px(20), year, style(c.family("sans"), c.px(15), ink, Weight::bold), Align::centre);
  page.ask({"form.field",
            {{"key", r.pick({"year on the postmark", "year of the postmark"})}},
            year,
            {year_run},
            {},
            Level::medium,
            1});
  page.ask({"form.field",
            {{"key", r.pick({"day on the postmark", "postmark date"})}},
            day,
            {day_run},
            {},
            Level::medium,
            1});
  for (int i = 0; i < 4; ++i)
    page.canvas.line({cx + radius, cy - c.px(24) + i * c.px(14)},
                     {w * 0.9F, cy - c.px(20) + i * c.px(14)}, 1.4F, ink);
  page.canvas.rect(w * 0.885F, c.px(30), w - c.px(24), c.px(150), mix(ink, {255, 255, 255}, 0.55F));
  const Run price =
      page.text(w * 0.885F + c.px(8), c.px(142), std::to_string(r.between(3, 39)) + "c",
                style(c.family("sans"), c.px(19), {255, 255, 255}, Weight::bold));
  page.ask({"form.field",
            {{"key", r.pick({"value of the stamp", "postage"})}},
            price.text,
            {price},
            {},
            Level::medium,
            0.8F});
  page.ask({"form.field",
            {{"key", r.pick({"telephone number", "date of birth", "email"})}},
            "none",
            {},
            {},
            Level::simple,
            0.4F});
  return sheet;
}

}  // namespace arrcoc::scenes
