// Records: pages of archives that are full to the edge. Boxed forms with small labels over typed
// entries and a ruled ledger below, agendas and lists with dotted leaders, and reports in small
// print whose facts stand inside sentences.
#include <algorithm>
#include <cmath>

#include "lab/scenes/writing.h"

namespace arrcoc::scenes {
namespace {

struct Record : Writing {
  Record(Context& context, const char* layout, float portrait, float smallest, float largest)
      : Writing(context, layout, context.random.chance(portrait), 0.7F, 0.8F) {
    choose_ink(65);
    size = c.px(r.real(smallest, largest));
    margin = c.px(r.real(28, 70));
    y = c.px(r.real(34, 60));
  }
};

// Something that is not in the ledger yet; empty when eight tries did not find it.
std::string ledger_item(Random& r, std::vector<std::string>& seen) {
  for (int tries = 0; tries < 8; ++tries) {
    const std::string name = expand(r, r.pick<"ledger.item">(), Land::us,
                                    {{"good", [&] { return cap(lower(any_good(r).name)); }},
                                     {"wage", [&] { return money(r.between(200, 2200)); }}});
    if (holds(seen, name)) continue;
    seen.push_back(name);
    return name;
  }
  return "";
}

// The columns of amounts: where the first one starts, their width and their heads.
struct Amounts {
  float first = 0, width = 0;
  std::vector<Run> heads;
};

// False when descriptions would get no room beside them.
bool ledger_head(Record& s, const Style& label, const Style& typed, Amounts& out) {
  Random& r = s.r;
  const int amounts = r.between(1, 2);
  const Row& heads = r.pick(r.table<"ledger.heads", 2>());
  out.width = s.page.measure("999,999", typed) + typed.size;
  for (const std::string& text : heads)
    out.width = std::max(out.width, s.page.measure(text, label) + label.size * 1.6F);
  out.first = s.w - s.margin - out.width * amounts;
  if (out.first - s.margin < typed.size * 16) return false;
  auto head = [&](float x, const std::string& text) {
    return s.page.centred(x, s.y + label.size * 1.2F, text, label);
  };
  head((s.margin + out.first) / 2, r.pick<"ledger.description">());
  for (int k = 0; k < amounts; ++k)
    out.heads.push_back(head(out.first + out.width * (k + 0.5F), heads[k]));
  return true;
}

// Description of goods or work, one or two amounts a row, a total: below the boxes.
void ledger(Record& s, const Style& label, const Style& typed, float foot) {
  Random& r = s.r;
  Page& page = s.page;
  const float pitch = typed.size * r.real(1.7F, 2.3F), x0 = s.margin, x1 = s.w - s.margin,
              top = s.y;
  Amounts columns;
  if (foot - s.y < pitch * 6 || !ledger_head(s, label, typed, columns)) return;
  const size_t amounts = columns.heads.size();
  float y = top + label.size * 2;
  page.hline(x0, x1, y, 1, s.ink);
  const bool ruled = r.chance(0.7F), numbered = r.chance(0.5F);
  std::vector<std::string> seen;
  long sums[2] = {0, 0};
  int row = 0;
  auto amount = [&](size_t k, long value) {
    return page.right(columns.first + columns.width * (k + 1) - typed.size * 0.5F,
                      y + pitch * 0.72F, grouped(value), typed);
  };
  for (; y + pitch * 2 < foot && row < 14; ++row) {
    const std::string item = ledger_item(r, seen),
                      number = std::to_string(row / 3 + 1) + "." + std::to_string(row % 3 + 1);
    if (item.empty()) break;
    float x = x0 + typed.size * 0.5F;
    if (numbered) x = page.text(x, y + pitch * 0.72F, number, typed).end + typed.size;
    if (x + page.measure(item, typed) > columns.first - typed.size * 0.5F) continue;
    const Run name = page.text(x, y + pitch * 0.72F, item, typed);
    const size_t both = 2, filled = amounts == 1 ? 0 : r.next() % 3;
    for (size_t k = 0; k < amounts; ++k) {
      if (filled != both && filled != k) continue;
      const long value = r.between(12, r.chance(0.5F) ? 990 : 24000);
      sums[k] += value;
      const Run shown = amount(k, value);
      if (filled != both)
        page.ask("ledger.amount", shown, 0.5F, simple, {{"item", item}}, {name.box});
      if (amounts == 2)
        page.ask("table.cell", shown, 0.5F, medium,
                 {{"row", item}, {"col", lower(columns.heads[k].text)}},
                 {name.box, columns.heads[k].box});
    }
    if (ruled) page.hline(x0, x1, y + pitch, 1, s.ink);
    y += pitch;
  }
  if (row > 0 && r.chance(0.7F)) {
    const Run key =
        page.right(columns.first - label.size, y + pitch * 0.72F, r.pick<"ledger.total">(), label);
    for (size_t k = 0; k < amounts; ++k)
      if (sums[k] != 0)
        page.ask("table.total", amount(k, sums[k]), 1.0F, medium,
                 {{"col", lower(columns.heads[k].text)}}, {key.box, columns.heads[k].box});
    y += pitch;
  }
  page.hline(x0, x1, y, 1.5F, s.ink);
  for (size_t k = 0; k < amounts; ++k)
    page.vline(columns.first + columns.width * k, top, y, 1, s.ink);
  s.y = y + typed.size;
}

// How entries stand in their boxes.
struct BoxStyle {
  Style label, typed;
  bool capitals, numbered;
  float height, inset;
};

// The first entry from `next` on that fits into a box of this width; a box may stay empty.
void fill_box(Record& s, const BoxStyle& b, std::vector<Field>& entries, size_t& next, float x,
              float width) {
  Random& r = s.r;
  Page& page = s.page;
  for (size_t tries = 0; tries < 4 && next < entries.size(); ++tries) {
    const Field entry = entries[next];
    const std::string label = (b.numbered ? std::to_string(next + 1) + ". " : "") +
                              (b.capitals ? upper(entry.key) : entry.key);
    const float room = width - 3 * b.inset - page.measure(entry.value, b.typed);
    if (page.measure(label, b.label) > width - 2 * b.inset || room < 0) {
      const auto at = entries.begin() + static_cast<std::ptrdiff_t>(next);
      std::rotate(at, at + 1, entries.end());
      continue;
    }
    ++next;
    const Run key = page.text(x + b.inset, s.y + b.label.size * 1.15F, label, b.label);
    if (r.chance(0.08F)) return;  // nobody filled it in
    const float base = s.y + b.height - b.typed.size * 0.42F + s.c.px(r.real(-1, 1));
    const Run shown =
        page.text(x + b.inset * 1.5F + room * r.real(0, 0.5F), base, entry.value, b.typed);
    page.ask("form.field", entry.quantity ? figure(entry.value) : entry.value, {shown}, 1.5F,
             simple, {{"key", r.chance(0.5F) ? entry.key : lower(entry.key)}}, {key.box});
    return;
  }
}

// True when the fact was written (or its page ended after the answer).
bool write_fact(Prose& prose, const Row& fact) {
  const std::vector<Run> before = prose.write(fact[1]);
  const std::vector<Run> answer = before.empty() ? before : prose.write(fact[2]);
  if (answer.empty()) return false;
  prose.write(fact[3]);
  prose.page.ask(fact[0], fact[0] == "prose.figure" ? figure(fact[2]) : fact[2], answer, 2.0F,
                 simple, {{fact[0] == "prose.role" ? "person" : "what", fact[4]}},
                 {before.back().box, before.front().box});
  return true;
}

// Intent, words before the answer, the answer, words after it, what is asked about.
std::vector<Row> facts(Random& r) {
  const std::string who = person(r), other = person(r), firm = company(r, Land::us),
                    town = city(r, Land::us), about = topic(r), job = r.pick<"record.job">();
  const Slots known = {{"who", who},   {"other", other}, {"firm", firm},
                       {"town", town}, {"about", about}, {"role", lower(job)}};
  std::vector<Row> all = r.table<"record.fact", 5>();
  for (Row& fact : all)
    for (std::string& field : fact) field = expand(r, fill(field, known));
  r.shuffle(all);
  return all;
}

std::string day_time(int minutes) {
  const int hour = minutes >= 13 * 60 ? minutes / 60 - 12 : minutes / 60;
  const std::string past = std::to_string(minutes % 60);
  return std::to_string(hour) + (past.size() < 2 ? ":0" : ":") + past;
}

// An item and, at the right edge, who speaks, where it is or on which page it stands. Tables of
// contents have no start.
void agenda_line(Record& s, const Style& body, float x, const Run& start, const std::string& what,
                 const std::string& end, bool dots, bool speakers) {
  const Run item = s.page.text(x, s.y, what, body);
  const Run last = s.page.right(s.w - s.margin, s.y, end, body);
  if (dots)
    s.page.dashed(item.end + body.size * 0.6F, last.start - body.size * 0.5F, s.y - 1, 1.6F,
                  body.size * 0.35F, 1.4F, s.ink);
  const Slots of = {{"item", what}};
  if (start.item < 0) {
    s.page.ask("contents.page", last, 0.5F, simple, of, {item.box});
    return;
  }
  s.page.ask("agenda.time", start, 0.4F, simple, of, {item.box});
  s.page.ask("agenda.item", item, 0.3F, simple, {{"time", start.text}}, {start.box});
  s.page.ask(speakers ? "agenda.who" : "agenda.room", last, 0.4F, simple, of, {item.box});
}

}  // namespace

Sheet boxed_form(Context& c) {
  Random& r = c.random;
  Record s(c, "boxed form", 0.4F, 12.5F, 18);
  const Family& print = c.family(r.chance(0.75F) ? "sans" : "serif");
  Style label = style(print, std::max(c.px(9), s.size * r.real(0.62F, 0.85F)), s.ink);
  const bool capitals = r.chance(0.6F);
  if (capitals) label.tracking = c.px(r.real(0, 1.2F));
  const Style typed = style(c.family(r.chance(0.75F) ? "typewriter" : "serif"), s.size, s.ink);
  const std::string title = upper(r.pick<"record.title">());
  s.page.ask("form.title", s.headline(title, bold(print, s.size * r.real(1.1F, 1.5F), s.ink)),
             0.8F);
  s.y += s.size * 1.2F;
  std::vector<Field> entries = shuffled_fields(r, r.table<"record.field">());
  const std::vector<Field> absent(entries.end() - 2, entries.end());
  entries.resize(entries.size() - 2);
  const float height = label.size * 1.35F + typed.size * r.real(1.5F, 1.9F);
  const BoxStyle boxes{label, typed, capitals, r.chance(0.5F), height, c.px(4)};
  const int rows = r.between(2, 6);
  size_t next = 0;
  for (int row = 0; row < rows && s.y + height < s.h * 0.9F; ++row) {
    std::vector<float> shares(static_cast<size_t>(r.between(2, 4)));
    float sum = 0, x = s.margin;
    for (float& share : shares) sum += share = r.real(0.7F, 1.6F);
    for (float share : shares) {
      const float width = (s.w - 2 * s.margin) * share / sum;
      s.page.frame(x, s.y, x + width, s.y + height, 1, s.ink);
      fill_box(s, boxes, entries, next, x, width);
      x += width;
    }
    s.y += height;
  }
  s.y += label.size * 0.6F;
  ledger(s, label, typed, s.h - c.px(r.real(40, 80)));
  if (s.y + label.size * 5 < s.h) {
    const std::string year = number(r, 55, 98), month = upper(month_name(r, r.between(1, 12)));
    s.page.text(s.margin, s.h - label.size * 2.2F,
                "FORM " + pattern(r, "##@") + "   (REV. " + month + " " + year + ")", label);
  }
  for (const Field& entry : absent)
    s.page.ask_none("form.field", 0.3F, simple, {{"key", lower(entry.key)}});
  return std::move(s.sheet);
}

Sheet agenda(Context& c) {
  Random& r = c.random;
  Record s(c, "agenda", 0.75F, 11, 16);
  const Family& family = c.family(r.pick({"typewriter", "typewriter", "serif", "sans"}));
  const Style body = style(family, s.size, s.ink);
  const bool contents = r.chance(0.35F);
  s.centred(upper(contents ? r.pick<"agenda.contents">() : r.pick<"agenda.title">()),
            bold(family, s.size * 1.3F, s.ink));
  s.y += s.size * 2;
  if (!contents) {
    const std::string where = company(r, Land::us), when = day(r, r.list<"date.record">());
    s.page.ask("agenda.place", s.centred(where, body), 1.0F);
    s.y += s.size * 1.5F;
    s.page.ask("letter.date", s.centred(when, body), 1.0F);
    s.y += s.size * 2;
  }
  const float pitch = s.size * r.real(1.5F, 2.4F), em = s.size, right = s.w - s.margin;
  int minutes = 8 * 60 + 15 * r.between(0, 6), pages = r.between(1, 4);
  const bool dots = r.chance(0.8F), speakers = !contents && r.chance(0.7F);
  std::vector<std::string> seen;
  for (int row = 0; s.y + pitch * 2 < s.h - c.px(50) && row < 22; ++row) {
    const std::string what =
        r.chance(0.15F) && !contents ? r.pick<"agenda.break">() : title_case(topic(r));
    if (holds(seen, what)) continue;
    seen.push_back(what);
    std::string end = contents ? std::to_string(pages) : speakers ? person(r) : pattern(r, "##");
    if (!contents && !speakers) end = r.pick<"agenda.room">() + " " + end;
    float x = s.margin;
    Run start;
    if (!contents) {
      start = s.page.right(x + em * 3, s.y, day_time(minutes), body);
      x += em * 4.2F;
    }
    // Of what is too long only the hour stays.
    const bool fits = x + s.page.measure(what, body) + s.page.measure(end, body) + em * 3 <= right;
    if (fits) agenda_line(s, body, x, start, what, end, dots, speakers);
    s.y += pitch;
    minutes += 15 * r.between(1, fits ? 4 : 3);
    if (!fits) continue;
    pages += r.between(1, 9);
    if (minutes >= 20 * 60) break;
  }
  return std::move(s.sheet);
}

Sheet report_page(Context& c) {
  Random& r = c.random;
  Record s(c, "report", 0.85F, 10.5F, 15);
  const Family& family = c.family(r.pick({"typewriter", "serif", "serif", "sans"}));
  const Style body = style(family, s.size, s.ink);
  const int columns = s.size < c.px(12.5F) && r.chance(0.4F) ? 2 : 1;
  const float gutter = s.size * 2;
  const std::string title = title_case(topic(r));
  s.page.ask("form.title", s.headline(title, bold(family, s.size * r.real(1.2F, 1.6F), s.ink)),
             0.8F);
  s.y += s.size * 2.4F;
  const float column =
      (s.w - 2 * s.margin - gutter * static_cast<float>(columns - 1)) / static_cast<float>(columns);
  const float foot = s.h - c.px(r.real(44, 90)), step = s.size * r.real(1.2F, 1.6F);
  std::vector<Row> told = facts(r);
  for (int k = 0; k < columns; ++k) {
    const float left = s.margin + static_cast<float>(k) * (column + gutter);
    Prose prose{s.page, body, left, left + column, step, left, s.y, foot};
    while (!prose.full()) {
      prose.x = left + s.size * 1.6F;
      for (int i = r.between(2, 6); i > 0 && !prose.full(); --i) {
        if (told.empty() || r.chance(0.6F)) {
          prose.write(sentence(r));
          continue;
        }
        const Row fact = std::move(told.back());
        told.pop_back();
        if (!write_fact(prose, fact)) break;
      }
      prose.newline();
      if (r.chance(0.3F)) prose.y += step * 0.6F;
    }
  }
  s.body = body;
  s.page_number(s.h - c.px(20), number(r, 2, 480));
  return std::move(s.sheet);
}

}  // namespace arrcoc::scenes
