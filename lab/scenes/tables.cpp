// Tables, ruled in several ways, and invoices.
#include <algorithm>
#include <cmath>

#include "lab/scenes/backdrop.h"
#include "lab/scenes/writing.h"

namespace arrcoc::scenes {
namespace {

struct Table {
  std::string row_name, title;
  Row rows, columns;
  std::vector<Run> heads, names;
  std::vector<std::vector<Run>> cells;  // [row][column]
  float value(size_t row, size_t column) const {
    std::string plain;
    for (char c : cells[row][column].text)
      if (c != ',' && c != '+') plain += c;
    return std::strtof(plain.c_str(), nullptr);
  }
};

Table invent_table(Random& r) {
  // Three lines each: what a row is and the title; the rows; the columns.
  const std::vector<Row>& subjects = r.table<"table.subject">();
  const size_t at = r.next() % (subjects.size() / 3) * 3;
  Table t{subjects[at][0], subjects[at][1], subjects[at + 1], subjects[at + 2], {}, {}, {}};
  r.shuffle(t.columns);
  if (r.chance(0.4F)) r.shuffle(t.rows);
  t.columns.resize(
      static_cast<size_t>(r.between(2, std::min(5, static_cast<int>(t.columns.size())))));
  t.rows.resize(static_cast<size_t>(r.between(3, static_cast<int>(t.rows.size()))));
  if (r.strangeness <= 0) return t;
  if (r.chance(0.5F)) {  // longer than any list here
    t.rows.clear();
    for (int i = r.between(8, 22); i > 0; --i) {
      const std::string row = r.chance(0.5F) ? surname(r) : strange(r, r.pick<"place.country">());
      if (!holds(t.rows, row)) t.rows.push_back(row);
    }
  }
  for (std::string& row : t.rows) row = strange(r, row);
  for (std::string& name : t.columns) name = strange(r, name);
  return t;
}

void table_questions(Page& page, Random& r, const Table& t) {
  const size_t nr = t.cells.size(), nc = t.columns.size();
  auto either = [&](const std::string& text) { return r.chance(0.5F) ? text : lower(text); };
  for (size_t i = 0; i < nr; ++i)
    for (size_t k = 0; k < nc; ++k) {
      const std::string row = either(t.rows[i]), column = either(t.columns[k]);
      page.ask("table.cell", t.cells[i][k], 10.0F / (nr * nc), medium,
               {{"row", row}, {"col", column}}, {t.names[i].box, t.heads[k].box});
    }
  for (size_t k = 0; k < nc; ++k) {
    size_t hi = 0, lo = 0;
    for (size_t i = 0; i < nr; ++i) {
      if (t.value(i, k) > t.value(hi, k)) hi = i;
      if (t.value(i, k) < t.value(lo, k)) lo = i;
    }
    auto once = [&](size_t at) {
      int same = 0;
      for (size_t i = 0; i < nr; ++i) same += t.value(i, k) == t.value(at, k);
      return same == 1;
    };
    const Slots slots = {{"name", t.row_name}, {"col", t.columns[k]}};
    for (const auto& [at, intent] : {std::pair{hi, "table.max"}, {lo, "table.min"}})
      if (once(at))
        page.ask(intent, t.names[at], 1.0F / nc, complex, slots,
                 {t.heads[k].box, t.cells[at][k].box});
    const size_t pick = r.next() % nr;
    if (once(pick))
      page.ask("table.row", t.names[pick], 1.0F / nc, medium,
               {slots[0], slots[1], {"value", t.cells[pick][k].text}}, {t.cells[pick][k].box});
  }
}

enum class Ruling { heads, grid, rows, none, zebra };

class TablePage : Writing {
 public:
  TablePage(Context& context, bool portrait) : Writing(context, "table", portrait, 0.62F, 0.8F) {
    choose_ink(60);
    const Family& family = c.family(r.pick({"typewriter", "typewriter", "sans", "serif", "sans"}));
    choose_type(family, 12.5F, portrait ? 17 : 26);
    t = invent_table(r);
    margin = c.px(r.real(30, 90));
    y = c.px(r.real(40, 110));
  }

  Sheet draw() {
    if (r.chance(0.35F)) {
      const auto lines = page.paragraph(margin, y, room(), size * 1.4F,
                                        paragraph_text(r, r.between(1, 3)), body, Align::left, 6);
      y += size * (1.4F * lines.size() + 1.5F);
    }
    title();
    grid();
    y += size * 2;
    if (y < h - c.px(80)) {
      const Style small = sized(body, std::max(c.px(9.5F), size * 0.85F));
      const std::string note = paragraph_text(r, r.between(1, 8));
      prose(r.pick<"table.note">() + " " + note, small, small.size * 1.4F, h - c.px(50));
    }
    if (r.chance(0.4F)) page_number(h - c.px(22), number(r, 1, 240));
    if (t.cells.empty()) return std::move(sheet);
    table_questions(page, r, t);
    page.ask_none("table.cell", 0.4F, medium,
                  {{"row", t.rows[0]}, {"col", r.pick<"table.absent">()}});
    return std::move(sheet);
  }

 private:
  void title() {
    const std::string no = number(r, 1, 24);
    const bool numbered = r.chance(0.7F);
    const float spacing = numbered ? 1.4F : 1.7F;
    std::vector<Run> lines;
    if (numbered) {
      const Run head = page.text(margin, y, "Table ", strong),
                run = page.text(head.end, y, no, strong);
      page.text(run.end, y, ".", strong);
      lines = page.paragraph(run.end + size * 1.5F, y, w - run.end - size * 1.5F - margin,
                             size * spacing, t.title, strong);
      page.ask("table.number", run, 0.7F, simple, {}, {head.box});
    } else {
      lines =
          page.paragraph(w / 2, y, room(), size * spacing, upper(t.title), strong, Align::centre);
    }
    page.ask("table.title", t.title, lines, 0.7F);
    y += size * (spacing * lines.size() + 0.8F);
  }

  void grid() {
    first_ = page.measure(cap(t.row_name), strong);
    for (const auto& row : t.rows) first_ = std::max(first_, page.measure(row, body));
    first_ += size * 1.5F;
    column_ = (room() - first_) / t.columns.size();
    const auto ruling = static_cast<Ruling>(r.between(0, 4));
    const bool lines = ruling <= Ruling::rows;
    const float pitch = size * r.real(1.5F, 2.2F), top = y, right = w - margin;
    auto rule = [&](float thickness) { page.hline(margin, right, y, thickness, ink); };
    if (lines) rule(ruling == Ruling::heads ? 2 : 1);
    heads();
    if (lines) rule(1);
    const std::vector<std::string>& numbers = r.list<"table.number">();
    std::vector<size_t> forms;
    for (size_t k = 0; k < t.columns.size(); ++k) forms.push_back(r.next() % numbers.size());
    for (size_t i = 0; i < t.rows.size() && y + pitch <= h - c.px(60); ++i) {
      if (ruling == Ruling::zebra && i % 2 == 0)
        page.rect(margin, y + 2, right, y + pitch, {238, 238, 238});
      const float base = y + pitch * 0.68F;
      t.names.push_back(page.text(margin + 4, base, t.rows[i], body));
      t.cells.emplace_back();
      for (size_t k = 0; k < forms.size(); ++k)
        t.cells.back().push_back(page.centred(centre(k), base, expand(r, numbers[forms[k]]), body));
      y += pitch;
      if (ruling == Ruling::grid || ruling == Ruling::rows) rule(1);
    }
    if (ruling == Ruling::heads) rule(1);
    if (ruling != Ruling::grid) return;
    page.vline(margin, top, y, 1, ink);
    for (size_t k = 0; k < t.columns.size(); ++k)
      page.vline(margin + first_ + column_ * k, top, y, 1, ink);
    page.vline(right, top, y, 1, ink);
  }

  float centre(size_t column) const { return margin + first_ + column_ * (column + 0.5F); }

  // Heads of two lines where one does not fit.
  void heads() {
    std::vector<Row> wrapped;
    size_t most = 1;
    for (const auto& name : t.columns) {
      wrapped.push_back(page.wrap(name, strong, column_ - size * 0.6F));
      most = std::max(most, wrapped.back().size());
    }
    auto base = [&](size_t line) { return y + size * (1.3F + 1.2F * line); };
    for (size_t k = 0; k < wrapped.size(); ++k) {
      std::vector<Run> lines;
      for (const std::string& text : wrapped[k])
        lines.push_back(
            page.centred(centre(k), base(most - wrapped[k].size() + lines.size()), text, strong));
      t.heads.push_back(lines.front());
      t.heads.back().box = hull(lines);
    }
    page.text(margin + 4, base(most - 1), cap(t.row_name), strong);
    y += size * (0.9F + 1.2F * most);
  }

  Table t;
  float first_ = 0, column_ = 0;  // widths of the row names and of the columns
};

class Invoice : Writing {
 public:
  explicit Invoice(Context& context)
      : Writing(context, "invoice", true, 0.68F, 0.78F), land_(any_land(r)) {
    choose_ink(70);
    accent_ = r.chance(0.4F) ? random_color(r, {20, 40, 60}, {120, 120, 170}) : ink;
    choose_type(c.family(r.pick({"sans", "sans", "serif", "typewriter", "narrow"})), 11, 15);
    step = size * r.real(1.35F, 1.6F);
    margin = c.px(r.real(34, 70));
    right_ = w - margin;
    y = c.px(r.real(44, 70));
  }

  Sheet draw() {
    letterhead();
    fields_and_customer();
    const int subtotal = goods();
    sums(subtotal);
    y += step;
    const Style small = sized(body, std::max(c.px(9.5F), size * 0.85F));
    const std::string more = paragraph_text(r, r.between(0, 2));
    prose(r.pick<"invoice.note">() + " " + more, small, small.size * 1.4F, h - c.px(20));
    return std::move(sheet);
  }

 private:
  void letterhead() {
    std::string firm = company(r, land_);
    while (page.measure(firm, sized(strong, size * 1.7F)) > w * 0.55F) firm = company(r, land_);
    const Style head = coloured(sized(strong, size * r.real(1.3F, 1.7F)), accent_);
    page.ask("receipt.company", page.text(margin, y, firm, head), 2);
    const Style title = sized(head, size * r.real(1.5F, 2.0F));
    page.right(right_, y, r.pick<"invoice.title">(), title);
    y += step * 1.3F;
    const Run from = page.text(margin, y, street(r, land_), body);
    page.text(margin, y + step, city_line(r, land_), body);
    const std::string label = r.pick<"invoice.phone">();
    labelled(margin, y + 2 * step, body, label, phone(r, land_), "form.field", 0.8F,
             {{"key", "telephone number"}});
    page.ask("receipt.address", from, 0.4F);
  }

  void fields_and_customer() {
    const std::string colon = r.chance(0.5F) ? ":" : "";
    const Date day = date(r, 1995, 2023);
    Date due = day;
    due.month = due.month % 12 + 1;
    due.year += due.month == 1;
    const int form = r.between(0, kDateForms - 1);
    const std::vector<Row>& table = r.table<"invoice.field", 3>();
    const std::vector<Field> list = fields(r, table, land_,
                                           {{"date", [&] { return format(r, day, form); }},
                                            {"due", [&] { return format(r, due, form); }}});
    const float top = y;
    for (size_t i = 0; i < list.size(); ++i) {
      const Run key = page.text(w * 0.58F, y, list[i].key + colon, body);
      const Run value = page.right(right_, y, list[i].value, body);
      const std::string& asked = table[i][2];
      if (asked == "date")
        page.ask("receipt.date", value, 2, simple, {}, {key.box});
      else
        page.ask("form.field", value, 0.9F, simple, {{"key", r.chance(0.5F) ? asked : list[i].key}},
                 {key.box});
      y += step;
    }
    y = std::max(top + 3 * step, y) + step;
    const Run key = page.text(margin, y, r.pick<"invoice.customer">(), strong);
    page.ask("letter.to", page.text(margin, y + step, person(r), body), 1, simple, {}, {key.box});
    page.text(margin, y + 2 * step, street(r, land_), body);
    page.text(margin, y + 3 * step, city_line(r, land_), body);
    y += 4.5F * step;
  }

  // Description, quantity, unit price, amount. Returns the sum.
  int goods() {
    const float wide = right_ - margin;
    const float at[] = {margin + 4, margin + wide * 0.62F, margin + wide * 0.8F, right_ - 4};
    auto write = [&](int column, const std::string& text, const Style& style) {
      return page.text(at[column], y, text, style, column ? Align::right : Align::left);
    };
    if (r.chance(0.5F))
      page.rect(margin, y - size * 1.2F, right_, y + size * 0.5F, mix(accent_, kWhite, 0.9F));
    page.hline(margin, right_, y + size * 0.5F, 1, ink);
    const Row& heads = r.table<"invoice.columns", 4>()[0];
    for (int k = 0; k < 4; ++k) write(k, choice(r, heads[k]), strong);
    y += step * 1.4F;
    std::vector<Row> list = r.table<"goods.all", 3>();
    r.shuffle(list);
    int subtotal = 0;
    const int count = r.between(2, 14);
    for (int i = 0; i < count && y < h - 11 * step; ++i) {
      const Good good = scenes::good(list[i]);
      const int n = r.between(1, 40), price = static_cast<int>(r.real(good.low, good.high) * 100);
      const Run name = write(0, title_case(lower(good.name)), body),
                quantity = write(1, std::to_string(n), body),
                unit = write(2, money(price, true), body),
                sum = write(3, money(price * n, true), body);
      const Slots slots = {{"item", name.text}};
      page.ask(n > 1 ? "receipt.line" : "receipt.price", sum, 3.0F / count, medium, slots,
               {name.box});
      page.ask("receipt.quantity", quantity, 1.5F / count, medium, slots, {name.box});
      page.ask("receipt.unit", unit, 1.5F / count, medium, slots, {name.box});
      subtotal += price * n;
      y += step * 1.15F;
    }
    page.hline(margin, right_, y - size * 0.4F, 1, ink);
    y += step;
    return subtotal;
  }

  void sums(int subtotal) {
    const int rate = r.between(5, 21), tax = subtotal * rate / 100;
    const std::string mark = r.chance(0.5F) ? currency(r, land_) : "";
    const std::string net_label = r.pick<"invoice.net">(),
                      tax_label = r.pick<"invoice.tax">() + " " + std::to_string(rate) + "%",
                      total_label = r.pick<"invoice.total">();
    auto sum = [&](const std::string& label, int cents, const Style& style, const char* intent,
                   float weight, const Slots& slots) {
      const Run key = page.text(w * 0.62F, y, label, style);
      const Run value = page.right(right_ - 4, y, mark + money(cents, true), style);
      page.ask(intent, money(cents, true), {value}, weight, medium, slots, {key.box});
      y += step * 1.2F;
    };
    sum(net_label, subtotal, body, "receipt.amount", 1, {{"key", "subtotal"}});
    sum(tax_label, tax, body, "receipt.amount", 1, {{"key", "tax amount"}});
    sum(total_label, subtotal + tax, strong, "receipt.total", 3, {});
  }

  const Land land_;
  Color accent_;
  float right_ = 0;
};

}  // namespace

Sheet table_page(Context& c) {
  const bool portrait = c.random.chance(0.4F);
  return TablePage(c, portrait).draw();
}

Sheet invoice(Context& c) { return Invoice(c).draw(); }

}  // namespace arrcoc::scenes
