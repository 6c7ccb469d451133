// Records: pages of archives that are full to the edge. Boxed forms with small labels over typed
// entries and a ruled ledger below, agendas and lists with dotted leaders, and reports in small
// print whose facts stand inside sentences.
#include <algorithm>
#include <cmath>

#include "lab/scenes/layouts.h"
#include "lab/scenes/phrases.h"
#include "lab/scenes/words.h"

namespace arrcoc::scenes {
namespace {

struct Entry {
  std::string key, value;
  bool quantity = false;
};

std::string day(Random& r) {
  return format(date(r, 1956, 2019),
                static_cast<int>(r.weighted({1, 1, 1, 0.5F, 1, 0.5F, 0.5F, 3, 2, 5, 0.5F, 1})));
}

std::string job(Random& r) {
  return r.pick({"Chairman", "Secretary", "Treasurer", "Director", "Consultant", "Field Agent",
                 "Statistician", "Librarian", "Press Operator", "Coordinator", "Technician"});
}

std::vector<Entry> entries(Random& r) {
  std::vector<Entry> all = {
      {r.pick({"Applicant", "Applicant Agency", "Agency", "Grantee", "Name of Institution"}),
       company(r, Land::us)},
      {r.pick({"Date Submitted", "Date", "Date Prepared", "Date of Report"}), day(r)},
      {r.pick({"Program Year", "Fiscal Year", "Year"}), std::to_string(r.between(1955, 1999))},
      {r.pick({"Grant No.", "Contract No.", "Permit No.", "Case No.", "Docket No."}),
       pattern(r, r.pick({"@@-####", "####-@", "@@-#### @/#", "##-####", "@-###"}))},
      {r.pick({"Number", "Serial No.", "Reel No.", "Box No."}), std::to_string(r.between(3, 980))},
      {r.pick({"Name", "Contact Person", "Principal Investigator", "Project Director"}), person(r)},
      {r.pick({"Beginning", "Beginning Date", "Period From", "Start"}), day(r)},
      {r.pick({"Ending", "Ending Date", "Period To", "Expires"}), day(r)},
      {r.pick({"County", "City", "Station", "Branch Office"}), city(r, Land::us)},
      {r.pick({"Telephone", "Area Code and Telephone", "Phone Number"}), phone(r, Land::us)},
      {r.pick({"Estimated Cost", "Amount Requested", "Budget", "Total Obligated"}),
       "$" + grouped(r.between(90, 960000)), true},
      {r.pick({"Title", "Position", "Official Title"}), job(r)},
      {r.pick({"Prepared By", "Reviewed By", "Certified By", "Checked By"}), person(r)},
      {r.pick({"Address", "Mailing Address"}), street(r, Land::us)},
      {r.pick({"Project Title", "Nature of Study", "Subject", "Type of Work"}),
       title_case(topic(r))},
      {r.pick({"Number of Employees", "Persons Served", "Copies", "Attachments"}),
       std::to_string(r.between(2, 640))},
      {r.pick({"Percent Complete", "Rate", "Overhead"}), std::to_string(r.between(2, 98)) + "%",
       true},
      {r.pick({"Form Approved", "Revision", "Catalog No."}), pattern(r, "###-@####")}};
  for (Entry& entry : all)
    if (r.strangeness > 0 && r.chance(0.5F)) entry.key = strange(r, entry.key);
  r.shuffle(all);
  return all;
}

struct Sheetful {  // a page with what all layouts here share
  Sheet sheet;
  Color ink;
  float size, margin, y;
  int w, h;
  Page& page() { return sheet.pages.back(); }
};

Sheetful begin(Context& c, const char* layout, bool portrait, float smallest, float largest) {
  Random& r = c.random;
  const int long_side = c.options.longest;
  const int short_side = static_cast<int>(long_side * r.real(0.7F, 0.8F));
  Sheetful out;
  out.w = portrait ? short_side : long_side;
  out.h = portrait ? long_side : short_side;
  out.sheet.layout = layout;
  out.sheet.finish = Finish::scan;
  out.sheet.pages.emplace_back(c, out.w, out.h, Color{255, 255, 255});
  out.ink = mix({0, 0, 0}, {65, 65, 65}, r.unit());
  out.size = c.px(r.real(smallest, largest));
  out.margin = c.px(r.real(28, 70));
  out.y = c.px(r.real(34, 60));
  return out;
}

void headline(Sheetful& s, const std::string& title, const Style& big) {
  Page& page = s.page();
  const Run run = page.text(s.w / 2.0F, s.y, title, page.narrowed(title, big, s.w - 2 * s.margin),
                            Align::centre);
  page.ask({"form.title", {}, title, {run}, {}, Level::simple, 0.8F});
}

// Description of goods or work, one or two amounts a row, a total: below the boxes.
void ledger(Context& c, Sheetful& s, const Style& label, const Style& typed, float foot) {
  Random& r = c.random;
  Page& page = s.page();
  const float pitch = typed.size * r.real(1.7F, 2.3F), x0 = s.margin, x1 = s.w - s.margin;
  if (foot - s.y < pitch * 6) return;
  const int amounts = r.between(1, 2);
  const std::vector<std::string> heads =
      r.pick(std::vector<std::vector<std::string>>{{"FEDERAL SHARE", "NON-FEDERAL SHARE"},
                                                   {"AMOUNT", "CHARGE"},
                                                   {"DEBIT", "CREDIT"},
                                                   {"ESTIMATED", "ACTUAL"},
                                                   {"LAST YEAR", "THIS YEAR"}});
  const float column = std::max({page.measure(heads[0], label) + label.size * 1.6F,
                                 page.measure(heads[1], label) + label.size * 1.6F,
                                 page.measure("999,999", typed) + typed.size});
  const float first = x1 - column * static_cast<float>(amounts);
  if (first - x0 < typed.size * 16) return;
  const std::string what = r.pick({"DESCRIPTION", "ITEMIZE", "DESCRIPTION OF ITEM", "PURPOSE"});
  page.text((x0 + first) / 2, s.y + label.size * 1.2F, what, label, Align::centre);
  std::vector<Run> head;
  for (int k = 0; k < amounts; ++k)
    head.push_back(page.text(first + column * (static_cast<float>(k) + 0.5F),
                             s.y + label.size * 1.2F, heads[static_cast<size_t>(k)], label,
                             Align::centre));
  const float top = s.y;
  float y = s.y + label.size * 2;
  page.canvas.hline(x0, x1, y, 1, s.ink);
  const bool ruled = r.chance(0.7F), numbered = r.chance(0.5F);
  std::vector<std::string> seen;
  std::vector<long> sums(2, 0);
  int row = 0;
  for (; y + pitch * 2 < foot && row < 14; ++row) {
    const float base = y + pitch * 0.72F;
    std::string name;
    for (int tries = 0; tries < 8; ++tries) {
      const int kind = r.between(0, 3);
      name = kind == 0 ? job(r) + " - " + std::to_string(r.between(2, 40)) + " hrs. @ " +
                             money(r.between(200, 2200))
             : kind == 1
                 ? cap(lower(r.pick(goods()).name)) + r.pick({" and supplies", "", " rental"})
             : kind == 2 ? "Travel to " + city(r, Land::us)
                         : job(r) + " " + r.pick({"salary", "fees", "expenses"});
      if (std::find(seen.begin(), seen.end(), name) == seen.end()) break;
      name.clear();
    }
    if (name.empty()) break;
    seen.push_back(name);
    float x = x0 + typed.size * 0.5F;
    if (numbered)
      x = page.text(x, base, std::to_string(row / 3 + 1) + "." + std::to_string(row % 3 + 1), typed)
              .end +
          typed.size;
    if (x + page.measure(name, typed) > first - typed.size * 0.5F) continue;
    const Run named = page.text(x, base, name, typed);
    const int filled = amounts == 1 ? 0 : r.between(0, 2);  // 2: both
    for (int k = 0; k < amounts; ++k) {
      if (filled != 2 && filled != k) continue;
      const long value = r.between(12, r.chance(0.5F) ? 990 : 24000);
      sums[static_cast<size_t>(k)] += value;
      const Run shown = page.text(first + column * static_cast<float>(k + 1) - typed.size * 0.5F,
                                  base, grouped(value), typed, Align::right);
      if (amounts == 1 || filled != 2)
        page.ask({"ledger.amount",
                  {{"item", name}},
                  shown.text,
                  {shown},
                  {named.box},
                  Level::simple,
                  0.5F});
      if (amounts == 2)
        page.ask({"table.cell",
                  {{"row", name}, {"col", lower(heads[static_cast<size_t>(k)])}},
                  shown.text,
                  {shown},
                  {named.box, head[static_cast<size_t>(k)].box},
                  Level::medium,
                  0.5F});
    }
    if (ruled) page.canvas.hline(x0, x1, y + pitch, 1, s.ink);
    y += pitch;
  }
  if (row > 0 && r.chance(0.7F)) {
    const Run key = page.text(first - label.size, y + pitch * 0.72F,
                              r.pick({"TOTALS", "TOTAL", "GRAND TOTAL"}), label, Align::right);
    for (int k = 0; k < amounts; ++k) {
      if (sums[static_cast<size_t>(k)] == 0) continue;
      const Run shown =
          page.text(first + column * static_cast<float>(k + 1) - typed.size * 0.5F,
                    y + pitch * 0.72F, grouped(sums[static_cast<size_t>(k)]), typed, Align::right);
      page.ask({"table.total",
                {{"col", lower(heads[static_cast<size_t>(k)])}},
                shown.text,
                {shown},
                {key.box, head[static_cast<size_t>(k)].box},
                Level::medium,
                1.0F});
    }
    y += pitch;
  }
  page.canvas.hline(x0, x1, y, 1.5F, s.ink);
  for (int k = 0; k < amounts; ++k)
    page.canvas.vline(first + column * static_cast<float>(k), top, y, 1, s.ink);
  s.y = y + typed.size;
}

// Words one after the other, broken at the margin; facts are words that may be asked for.
struct Prose {
  Page& page;
  Style style;
  float left, right, step, x, y, foot;
  bool full() const { return y > foot; }
  void newline() {
    x = left;
    y += step;
  }
  // A run for each word; empty when the page ended before all were written.
  std::vector<Run> write(const std::string& text) {
    std::vector<Run> runs;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find(' ', at), text.size());
      const std::string word = text.substr(at, end - at);
      at = end + 1;
      if (word.empty()) continue;
      const float width = page.measure(word, style);
      if (x + width > right && x > left) newline();
      if (full()) return {};
      runs.push_back(page.text(x, y, word, style));
      x = runs.back().end + page.measure("n n", style) - 2 * page.measure("n", style);
    }
    return runs;
  }
};

struct Fact {
  const char* intent;
  std::string before, answer, after;
  std::vector<std::pair<std::string, std::string>> slots;
};

std::vector<Fact> facts(Random& r) {
  const std::string who = person(r), other = person(r), firm = company(r, Land::us),
                    town = city(r, Land::us), about = topic(r), unit = job(r);
  std::vector<Fact> all = {
      {"prose.when",
       "The " + about + " committee met on",
       day(r),
       "to hear the reports.",
       {{"what", about + " committee"}}},
      {"prose.where",
       "The annual meeting of " + firm + " was held in",
       town,
       "last autumn.",
       {{"what", "annual meeting of " + firm}}},
      {"prose.who",
       "The study of " + about + " was directed by",
       who,
       "and two assistants.",
       {{"what", "study of " + about}}},
      {"prose.figure",
       "The total number of persons examined was",
       grouped(r.between(40, 9000)),
       "in both groups.",
       {{"what", "number of persons examined"}}},
      {"prose.figure",
       "The estimated cost of the survey is",
       "$" + grouped(r.between(900, 90000)),
       "for the first year.",
       {{"what", "estimated cost of the survey"}}},
      {"prose.role",
       other + " serves as",
       lower(unit),
       "of the advisory board.",
       {{"person", other}}},
      {"prose.firm",
       "The samples were supplied by",
       company(r, Land::us),
       "under the usual conditions.",
       {{"what", "samples"}}},
      {"prose.figure",
       "The mean age of the men was",
       std::to_string(r.between(21, 79)),
       "years at the first visit.",
       {{"what", "mean age of the men"}}},
      {"prose.figure",
       "The library now holds",
       grouped(r.between(300, 90000)),
       "volumes on this subject.",
       {{"what", "number of volumes in the library"}}},
      {"prose.when",
       "A revised draft of the " + r.pick({"budget", "contract", "protocol"}) + " was mailed on",
       day(r),
       "by the office.",
       {{"what", "revised draft"}}}};
  r.shuffle(all);
  return all;
}

}  // namespace

Sheet boxed_form(Context& c) {
  Random& r = c.random;
  Sheetful s = begin(c, "boxed form", r.chance(0.4F), 12.5F, 18);
  Page& page = s.page();
  const Family& print = c.family(r.chance(0.75F) ? "sans" : "serif");
  Style label = style(print, std::max(c.px(9), s.size * r.real(0.62F, 0.85F)), s.ink);
  const bool capitals = r.chance(0.6F);
  if (capitals) label.tracking = c.px(r.real(0, 1.2F));
  const Style typed = style(c.family(r.chance(0.75F) ? "typewriter" : "serif"), s.size, s.ink);
  const std::string title =
      upper(r.pick({"Program Account Budget", "Statement of Expenditures", "Record of Shipment",
                    "Application for Funds", "Laboratory Work Sheet", "Voucher for Services",
                    "Report of Contact", "Request for Transfer", "Property Record",
                    "Quarterly Account Sheet", "Data Entry Record", "Notice of Award"}));
  headline(s, title, style(print, s.size * r.real(1.1F, 1.5F), s.ink, Weight::bold));
  s.y += s.size * 1.2F;
  std::vector<Entry> all = entries(r);
  const std::vector<Entry> absent(all.end() - 2, all.end());
  all.resize(all.size() - 2);
  const float inset = c.px(4);
  const float height = label.size * 1.35F + typed.size * r.real(1.5F, 1.9F);
  const bool numbered = r.chance(0.5F);
  const int rows = r.between(2, 6);
  size_t next = 0;
  int number = 0;
  for (int row = 0; row < rows && s.y + height < s.h * 0.9F; ++row) {
    const int cells = r.between(2, 4);
    std::vector<float> shares;
    float sum = 0;
    for (int i = 0; i < cells; ++i) sum += shares.emplace_back(r.real(0.7F, 1.6F));
    float x = s.margin;
    for (int i = 0; i < cells; ++i) {
      const float width = (s.w - 2 * s.margin) * shares[static_cast<size_t>(i)] / sum;
      page.canvas.frame(x, s.y, x + width, s.y + height, 1, s.ink);
      // The first entry that fits; a cell may stay empty.
      for (size_t tries = 0; tries < 4 && next < all.size(); ++tries) {
        const Entry entry = all[next];
        const std::string shown_key = (numbered ? std::to_string(number + 1) + ". " : "") +
                                      (capitals ? upper(entry.key) : entry.key);
        if (page.measure(shown_key, label) > width - 2 * inset ||
            page.measure(entry.value, typed) > width - 3 * inset) {
          std::rotate(all.begin() + static_cast<std::ptrdiff_t>(next),
                      all.begin() + static_cast<std::ptrdiff_t>(next) + 1, all.end());
          continue;
        }
        ++next;
        ++number;
        const Run key = page.text(x + inset, s.y + label.size * 1.15F, shown_key, label);
        if (r.chance(0.08F)) break;  // nobody filled it in
        const float room = width - 3 * inset - page.measure(entry.value, typed);
        const Run shown =
            page.text(x + inset * 1.5F + room * r.real(0, 0.5F),
                      s.y + height - typed.size * 0.42F + c.px(r.real(-1, 1)), entry.value, typed);
        page.ask({"form.field",
                  {{"key", r.chance(0.5F) ? entry.key : lower(entry.key)}},
                  entry.quantity ? figure(entry.value) : entry.value,
                  {shown},
                  {key.box},
                  Level::simple,
                  1.5F});
        break;
      }
      x += width;
    }
    s.y += height;
  }
  s.y += label.size * 0.6F;
  ledger(c, s, label, typed, s.h - c.px(r.real(40, 80)));
  if (s.y + label.size * 5 < s.h)
    page.text(s.margin, s.h - label.size * 2.2F,
              "FORM " + pattern(r, "##@") + "   (REV. " + upper(month_name(r.between(1, 12))) +
                  " " + std::to_string(r.between(55, 98)) + ")",
              label);
  for (const Entry& entry : absent)
    page.ask({"form.field", {{"key", lower(entry.key)}}, "none", {}, {}, Level::simple, 0.3F});
  return std::move(s.sheet);
}

Sheet agenda(Context& c) {
  Random& r = c.random;
  Sheetful s = begin(c, "agenda", r.chance(0.75F), 11, 16);
  Page& page = s.page();
  const Family& family = c.family(r.pick({"typewriter", "typewriter", "serif", "sans"}));
  const Style body = style(family, s.size, s.ink);
  const bool contents = r.chance(0.35F);
  const std::string title = upper(contents ? r.pick({"Contents", "Table of Contents", "Index"})
                                           : r.pick({"Agenda", "Program", "Schedule of Sessions",
                                                     "Order of Business", "Conference Program"}));
  page.text(s.w / 2.0F, s.y, title, style(family, s.size * 1.3F, s.ink, Weight::bold),
            Align::centre);
  s.y += s.size * 2;
  if (!contents) {
    const std::string where = company(r, Land::us), when = day(r);
    const Run place = page.text(s.w / 2.0F, s.y, where, body, Align::centre);
    page.ask({"agenda.place", {}, where, {place}, {}, Level::simple, 1.0F});
    s.y += s.size * 1.5F;
    const Run shown = page.text(s.w / 2.0F, s.y, when, body, Align::centre);
    page.ask({"letter.date", {}, when, {shown}, {}, Level::simple, 1.0F});
    s.y += s.size * 2;
  }
  const float pitch = s.size * r.real(1.5F, 2.4F), right = s.w - s.margin;
  const float foot = s.h - c.px(50);
  int minutes = 8 * 60 + 15 * r.between(0, 6), pages = r.between(1, 4);
  const bool dots = r.chance(0.8F), speakers = !contents && r.chance(0.7F);
  std::vector<std::string> seen;
  for (int row = 0; s.y + pitch * 2 < foot && row < 22; ++row) {
    const std::string what =
        r.chance(0.15F) && !contents
            ? r.pick({"Coffee Break", "Luncheon", "Adjournment", "Opening Remarks", "Registration"})
            : title_case(topic(r));
    if (std::find(seen.begin(), seen.end(), what) != seen.end()) continue;
    seen.push_back(what);
    const bool afternoon = minutes >= 13 * 60;
    const int hour = afternoon ? minutes / 60 - 12 : minutes / 60;
    std::string past = std::to_string(minutes % 60);
    if (past.size() < 2) past = "0" + past;
    const std::string time = std::to_string(hour) + ":" + past;
    const std::string end = contents   ? std::to_string(pages)
                            : speakers ? person(r)
                                       : r.pick({"Room ", "Hall "}) + pattern(r, "##");
    float x = s.margin;
    Run time_run;
    if (!contents) {
      time_run = page.text(x + body.size * 3, s.y, time, body, Align::right);
      x += body.size * 4.2F;
    }
    const float end_width = page.measure(end, body);
    if (x + page.measure(what, body) + end_width + body.size * 3 > right) {
      // Too long: only its hour stays.
      s.y += pitch;
      minutes += 15 * r.between(1, 3);
      continue;
    }
    const Run item = page.text(x, s.y, what, body);
    const Run last = page.text(right, s.y, end, body, Align::right);
    if (dots)
      page.canvas.dashed(item.end + body.size * 0.6F, last.start - body.size * 0.5F, s.y - 1, 1.6F,
                         body.size * 0.35F, 1.4F, s.ink);
    if (contents) {
      page.ask({"contents.page", {{"item", what}}, end, {last}, {item.box}, Level::simple, 0.5F});
    } else {
      page.ask(
          {"agenda.time", {{"item", what}}, time, {time_run}, {item.box}, Level::simple, 0.4F});
      page.ask(
          {"agenda.item", {{"time", time}}, what, {item}, {time_run.box}, Level::simple, 0.3F});
      page.ask({speakers ? "agenda.who" : "agenda.room",
                {{"item", what}},
                end,
                {last},
                {item.box},
                Level::simple,
                0.4F});
    }
    s.y += pitch;
    minutes += 15 * r.between(1, 4);
    pages += r.between(1, 9);
    if (minutes >= 20 * 60) break;
  }
  return std::move(s.sheet);
}

Sheet report_page(Context& c) {
  Random& r = c.random;
  Sheetful s = begin(c, "report", r.chance(0.85F), 10.5F, 15);
  Page& page = s.page();
  const Family& family = c.family(r.pick({"typewriter", "serif", "serif", "sans"}));
  const Style body = style(family, s.size, s.ink);
  const int columns = s.size < c.px(12.5F) && r.chance(0.4F) ? 2 : 1;
  const float gutter = s.size * 2;
  const std::string title = title_case(topic(r));
  headline(s, title, style(family, s.size * r.real(1.2F, 1.6F), s.ink, Weight::bold));
  s.y += s.size * 2.4F;
  const float column =
      (s.w - 2 * s.margin - gutter * static_cast<float>(columns - 1)) / static_cast<float>(columns);
  const float foot = s.h - c.px(r.real(44, 90)), step = s.size * r.real(1.2F, 1.6F);
  std::vector<Fact> told = facts(r);
  for (int k = 0; k < columns; ++k) {
    const float left = s.margin + static_cast<float>(k) * (column + gutter);
    Prose prose{page, body, left, left + column, step, left, s.y, foot};
    while (!prose.full()) {
      prose.x = left + s.size * 1.6F;
      for (int i = r.between(2, 6); i > 0 && !prose.full(); --i) {
        if (told.empty() || r.chance(0.6F)) {
          prose.write(sentence(r));
          continue;
        }
        const Fact fact = std::move(told.back());
        told.pop_back();
        const std::vector<Run> before = prose.write(fact.before);
        const std::vector<Run> answer = before.empty() ? before : prose.write(fact.answer);
        if (answer.empty()) break;
        prose.write(fact.after);
        page.ask({fact.intent,
                  fact.slots,
                  fact.intent == std::string("prose.figure") ? figure(fact.answer) : fact.answer,
                  answer,
                  {before.back().box, before.front().box},
                  Level::simple,
                  2.0F});
      }
      prose.newline();
      if (r.chance(0.3F)) prose.y += step * 0.6F;
    }
  }
  const Run number =
      page.text(s.w / 2.0F, s.h - c.px(20), std::to_string(r.between(2, 480)), body, Align::centre);
  page.ask({"doc.page", {}, number.text, {number}, {}, Level::simple, 0.4F});
  return std::move(s.sheet);
}

}  // namespace arrcoc::scenes
