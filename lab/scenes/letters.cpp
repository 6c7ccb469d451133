// Letters, memoranda and envelopes.
#include <algorithm>
#include <cmath>

#include "lab/scenes/writing.h"

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
    const Point &p = points[i], &q = points[i + 1], &s = points[i + 2], &u = points[i + 3];
    for (int k = 0; k < 6; ++k) {  // Catmull-Rom
      const float t = k / 6.0F, t2 = t * t, t3 = t2 * t;
      auto along = [&](float a, float b, float c, float d) {
        return 0.5F * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t2 +
                       (3 * b - a - 3 * c + d) * t3);
      };
      smooth.push_back({along(p.x, q.x, s.x, u.x), along(p.y, q.y, s.y, u.y)});
    }
  }
  page.polyline(smooth, 1.6F, ink);
}

class Letter : Writing {
 public:
  explicit Letter(Context& context) : Writing(context, "letter", true, 0.7F, 0.8F) {}

  Sheet write() {
    const Land land = r.chance(0.7F) ? Land::us : any_land(r);
    choose_ink(75);
    choose_type(c.family(r.pick({"typewriter", "typewriter", "typewriter", "serif", "sans"})), 12,
                19);
    step = size * r.real(1.25F, 1.6F);
    margin = x = c.px(r.real(60, 120));
    y = c.px(r.real(44, 80));
    if (r.chance(0.8F)) letterhead(land);
    y += step * r.real(0.5F, 2);
    const std::string when = day(r, r.list<"date.letter">());
    page.ask("letter.date", page.text(r.chance(0.4F) ? w * 0.6F : margin, y, when, body), 2.2F);
    y += step * r.real(1.5F, 2.5F);
    const std::string to = person(r), from = person(r);
    const Run to_run = person_lines(to, "letter.to", 0.5F);
    if (r.chance(0.6F)) line(company(r, land));
    line(street(r, land));
    const Run town = page.text(x, y, city(r, land), body);
    page.text(town.end, y, ", " + digits(r, 5), body);
    y += step * 1.6F;
    page.ask("letter.city", town, 0.8F, medium, {}, {to_run.box});
    if (r.chance(0.5F)) {
      const std::string label = r.pick<"letter.subject">(), about = title_case(topic(r));
      const Run value = labelled(margin + size * 3, y, body, label, about, "letter.subject", 1.2F);
      if (r.chance(0.5F)) page.hline(value.box.x0, value.box.x1, y + 3, 1, ink);
      y += step * 1.6F;
    }
    const std::string greeting = "Dear " + to.substr(to.rfind(' ') + 1);
    page.ask("letter.salutation", greeting, {line(greeting + r.pick<"letter.comma">())}, 0.3F);
    y += step * 0.5F;
    const float foot = h - step * 11;
    const bool indent = r.chance(0.4F);
    for (int i = r.between(1, 5); i > 0 && y < foot; --i)
      paragraph((indent ? "     " : "") + paragraph_text(r, r.between(2, 6)), foot, 0, 0.6F);
    x = r.chance(0.5F) ? w * 0.5F : margin;
    line(r.pick<"letter.closing">());
    sign(page, r, x, y + step * 0.9F, size * 1.4F, r.chance(0.4F) ? Color{40, 50, 130} : ink);
    y += step * 2.4F;
    person_lines(from, "letter.from", 0.7F);
    if (r.chance(0.4F) && y < h - step * 2)
      labelled(margin, y + step, body, "cc: ", person(r), "letter.cc", 0.8F);
    else
      page.ask_none("letter.cc", 0.4F);
    return std::move(sheet);
  }

 private:
  void letterhead(Land land) {
    const Family& head = c.family(r.chance(0.5F) ? "serif" : "sans");
    const bool centred = r.chance(0.6F);
    const std::string firm = r.chance(0.5F) ? upper(company(r, land)) : company(r, land);
    const float x = centred ? w / 2 : margin;
    const Align align = centred ? Align::centre : Align::left;
    const Style big = bold(head, size * r.real(1.2F, 1.6F), ink);
    page.ask("letter.company",
             page.text(x, y, firm, page.narrowed(firm, big, w - 2 * margin), align), 1.2F);
    y += size * 1.7F;
    const Style fine = style(head, std::max(c.px(9.5F), size * 0.8F), ink);
    const std::string town = city_line(r, land);
    page.text(x, y, street(r, land) + ", " + town, fine, align);
    y += size * 1.4F;
    if (!r.chance(0.5F)) return;
    const std::string tel = phone(r, land);
    labelled(x - (centred ? size * 6 : 0), y, fine, r.pick<"letter.phone">(), tel, "form.field",
             0.8F, {{"key", "telephone number"}});
    y += size * 1.4F;
  }

  // A name and, often, what this person is.
  Run person_lines(const std::string& name, const char* intent, float role) {
    const Run run = line(name);
    page.ask(intent, run, 2);
    if (r.chance(role))
      page.ask("letter.role", line(r.pick<"letter.role">()), 0.8F, medium, {{"person", name}},
               {run.box});
    return run;
  }
};

class Memo : Writing {
 public:
  explicit Memo(Context& context) : Writing(context, "memo", true, 0.7F, 0.8F) {}

  Sheet write() {
    choose_ink(70);
    choose_type(c.family(r.pick({"typewriter", "typewriter", "serif", "sans"})), 12.5F, 20);
    step = size * r.real(1.3F, 1.6F);
    margin = c.px(r.real(60, 110));
    y = c.px(r.real(60, 120));
    const bool centred = r.chance(0.5F);
    page.ask("form.title",
             page.text(centred ? w / 2 : margin, y, r.pick<"memo.title">(),
                       sized(strong, size * 1.3F), centred ? Align::centre : Align::left),
             1);
    y += step * 2;
    const std::string to = person(r), from = person(r);
    const int form = r.pick({7, 8, 9, 0, 11});
    const std::string when = format(r, date(r, 1960, 2012), form), about = title_case(topic(r));
    std::vector<Row> heads = {{"TO", to, "letter.to"},
                              {"FROM", from, "letter.from"},
                              {"DATE", when, "letter.date"},
                              {r.pick<"memo.subject">(), about, "letter.subject"}};
    if (r.chance(0.4F)) heads.insert(heads.begin() + 1, {"CC", person(r), "letter.cc"});
    const float tab = margin + page.measure("SUBJECT:", strong) + size;
    for (const Row& head : heads) {
      const Run key = page.text(margin, y, head[0] + ":", strong);
      page.ask(head[2], page.text(tab, y, head[1], body), 1.8F, simple, {}, {key.box});
      y += step * 1.4F;
    }
    page.hline(margin, w - margin, y - step * 0.4F, 1, ink);
    y += step;
    const bool numbered = r.chance(0.4F);
    for (int n = 1; y < h - step * 3 && n < 9; ++n) {
      const std::string lead = numbered ? std::to_string(n) + ". " : "";
      paragraph(lead + paragraph_text(r, r.between(2, 5)), h - step * 3, 1, 0.7F);
      if (r.chance(0.2F)) break;
    }
    if (r.chance(0.5F)) {
      const Style heavy = bold(c.family("sans"), size, ink);
      const Run run =
          page.right(w - margin, h - c.px(24), pattern(r, r.pick<"memo.code">()), heavy);
      page.ask("form.field", run, 0.7F, medium, {{"key", r.pick<"memo.asked-code">()}});
    }
    return std::move(sheet);
  }
};

}  // namespace

Sheet letter(Context& c) { return Letter(c).write(); }
Sheet memo(Context& c) { return Memo(c).write(); }

Sheet envelope(Context& c) {
  Random& r = c.random;
  Sheet sheet("envelope", Finish::scan);
  Page& page = sheet.add(c, false, 0.45F, 0.7F);
  const float w = page.w(), h = page.h();
  const Land land = any_land(r);
  const Color ink = mix(kBlack, {70, 70, 70}, r.unit());
  const Family& family = c.family(r.pick({"typewriter", "hand", "serif", "typewriter"}));
  const float size = c.px(r.real(17, 30)), small = c.px(r.real(12, 17));
  const Style address = style(family, size, ink), sender = style(c.family("serif"), small, ink);
  const float x = w * r.real(0.4F, 0.5F), y = h * r.real(0.45F, 0.55F), left = c.px(40),
              top = c.px(50);
  const std::string to = person(r), from = company(r, land);
  const Run to_run = page.text(x, y, to, address),
            street_run = page.text(x, y + size * 1.4F, street(r, land), address),
            city_run = page.text(x, y + size * 2.8F, city_line(r, land), address),
            from_run = page.text(left, top, from, bold(c.family("serif"), small * 1.2F, ink)),
            from_street = page.text(left, top + small * 1.6F, street(r, land), sender);
  page.text(left, top + small * 3, city_line(r, land), sender);
  auto field = [&](const Run& run, const std::string& key, float weight, std::vector<Box> by = {}) {
    page.ask("form.field", run, weight, medium, {{"key", key}}, std::move(by));
  };
  page.ask("letter.to", to_run, 2);
  page.ask("letter.from", from_run, 1.5F);
  field(street_run, r.pick<"envelope.street">(), 1, {to_run.box});
  field(city_run, r.pick<"envelope.city">(), 1, {to_run.box});
  field(from_street, r.pick<"envelope.sender-street">(), 1, {from_run.box});
  // Postmark and stamp.
  const float cx = w * 0.72F, cy = c.px(90), radius = c.px(48);
  page.ring(cx, cy, radius, radius, 1.6F, ink);
  const std::string date = number(r, 1, 28),
                    month = upper(month_name(r, r.between(1, 12)).substr(0, 3));
  auto mark = [&](float below, const std::string& text) {
    const Style heavy = bold(c.family("sans"), c.px(15), ink);
    return page.centred(cx, cy + below, text, heavy);
  };
  const Run day_run = mark(0, month + " " + date);
  const std::string year = number(r, 1948, 1999);
  const Run year_run = mark(c.px(20), year);
  field(year_run, r.pick<"envelope.year">(), 1);
  field(day_run, r.pick<"envelope.day">(), 1);
  for (int i = 0; i < 4; ++i)
    page.line({cx + radius, cy - c.px(24) + i * c.px(14)}, {w * 0.9F, cy - c.px(20) + i * c.px(14)},
              1.4F, ink);
  page.rect(w * 0.885F, c.px(30), w - c.px(24), c.px(150), mix(ink, kWhite, 0.55F));
  const Style white = bold(c.family("sans"), c.px(19), kWhite);
  const Run price = page.text(w * 0.885F + c.px(8), c.px(142), number(r, 3, 39) + "c", white);
  field(price, r.pick<"envelope.stamp">(), 0.8F);
  page.ask_none("form.field", 0.4F, simple, {{"key", r.pick<"envelope.absent">()}});
  return sheet;
}

}  // namespace arrcoc::scenes
