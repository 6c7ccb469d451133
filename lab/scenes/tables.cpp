// Tables: scientific and business tables on a page, ruled in several ways, and invoices.
#include <algorithm>
#include <cmath>

#include "lab/scenes/layouts.h"
#include "lab/scenes/phrases.h"
#include "lab/scenes/words.h"

namespace arrcoc::scenes {
namespace {

using List = std::vector<std::string>;

struct Subject {
  const char* row_name;
  List rows, columns;
  const char* title;
};

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> list = {
      {"group",
       {"Malays", "Chinese", "Indians", "Thais", "Javanese", "Tamils", "Filipinos", "Burmese"},
       {"Number", "Mean height (cm)", "Mean weight (kg)", "Chest (cm)", "Std. Dev.", "Mean age"},
       "Measurements of adult males by group"},
      {"treatment group",
       {"A (2.5 mg)", "B (5.0 mg)", "C (10 mg)", "D (20 mg)", "E (placebo)", "F (control)"},
       {"# Pts.", "Baseline Value", "Mean % Change", "Week 4", "Week 12", "Std. Error"},
       "Total cholesterol in treated and normal populations"},
      {"diet",
       {"Basal", "Basal + Met", "Basal + Try", "Casein 5%", "Casein 10%", "Skim milk", "Soy flour",
        "Wheat gluten"},
       {"Food intake g/day", "Weight gain g/14 days", "N %", "PER", "FE", "Level of protein"},
       "Fourteen-day growth of rats fed diets with different proteins"},
      {"month",
       {"January", "February", "March", "April", "May", "June", "July", "August", "September",
        "October", "November", "December"},
       {"Sales", "Returns", "Orders", "Visitors", "Net", "Stock"},
       "Monthly summary of operations"},
      {"region",
       {"New York", "Chicago", "Atlanta", "Dallas", "Denver", "Seattle", "Boston", "St. Louis",
        "Detroit", "Houston"},
       {"1985", "1986", "1987", "1988", "Share %", "Index"},
       "Sales by market"},
      {"brand",
       {"Arrow", "Bluebell", "Castle", "Drummer", "Eastwood", "Falcon", "Granite", "Harvest"},
       {"Tar", "Nicotine", "Length mm", "Price", "Share", "Puffs"},
       "Results of the brand comparison"},
      {"department",
       {"Research", "Marketing", "Personnel", "Purchasing", "Engineering", "Accounting", "Legal",
        "Transport"},
       {"Budget", "Actual", "Variance", "Staff", "Travel", "Supplies"},
       "Departmental expenses for the year"},
      {"concern",
       {"Eating a balanced diet", "Getting enough exercise", "Using too much salt",
        "Drinking too much coffee", "Smoking too much", "Getting enough calcium",
        "Eating too much sugar", "Getting enough sleep"},
       {"1988 %", "1989 %", "1990 %", "1991 %", "Men %", "Women %"},
       "Diet and exercise concerns of consumers"},
      {"food",
       {"Whole milk", "Cheddar cheese", "Beef, lean", "Salmon", "White rice", "Potato", "Spinach",
        "Orange", "Peanuts", "Egg"},
       {"Calories", "Protein g", "Fat g", "Calcium mg", "Iron mg", "Vitamin C mg"},
       "Composition of foods per 100 grams"},
      {"player",
       {"Adams", "Bennett", "Cooper", "Diaz", "Ellis", "Foster", "Grant", "Hughes", "Irwin"},
       {"Games", "Points", "Wins", "Average", "Rank", "Fouls"},
       "Season statistics"},
      {"state",
       {"Alabama", "Georgia", "Iowa", "Kansas", "Maine", "Nevada", "Ohio", "Oregon", "Texas",
        "Utah"},
       {"Population", "Farms", "Acres", "Income", "Schools", "Rate"},
       "Selected figures by state"},
      {"country",
       {"Canada", "Mexico", "Brazil", "France", "Germany", "Japan", "India", "Egypt", "Kenya",
        "Norway"},
       {"1970", "1980", "1990", "2000", "Change %", "Rank"},
       "Consumption per head by country"}};
  return list;
}

std::string number(Random& r, int form) {
  switch (form) {
    case 0:
      return std::to_string(r.between(2, 99));
    case 1:
      return std::to_string(r.between(0, 99)) + "." + std::to_string(r.between(0, 9));
    case 2:
      return grouped(r.between(1000, 99999));
    case 3:
      return "0." + digits(r, 2);
    case 4:
      return std::to_string(r.between(100, 250)) + "." + std::to_string(r.between(0, 9));
    case 5:
      return (r.chance(0.5F) ? "-" : "+") + std::to_string(r.between(0, 9)) + "." +
             std::to_string(r.between(0, 9));
    default:
      return std::to_string(r.between(100, 999));
  }
}

float value_of(const std::string& text) {
  std::string plain;
  for (char c : text)
    if (c != ',' && c != '+') plain += c;
  return std::strtof(plain.c_str(), nullptr);
}

struct Grid {
  std::vector<Run> head, names;
  std::vector<std::vector<Run>> cells;  // [row][column]
};

void table_questions(Page& page, Random& r, const Subject& subject, const List& rows,
                     const List& columns, const std::vector<List>& values, const Grid& g) {
  const size_t nr = rows.size(), nc = columns.size();
  for (size_t i = 0; i < nr; ++i)
    for (size_t k = 0; k < nc; ++k)
      page.ask({"table.cell",
                {{"row", r.chance(0.5F) ? rows[i] : lower(rows[i])},
                 {"col", r.chance(0.5F) ? columns[k] : lower(columns[k])}},
                values[i][k],
                {g.cells[i][k]},
                {g.names[i].box, g.head[k].box},
                Level::medium,
                10.0F / (nr * nc)});
  for (size_t k = 0; k < nc; ++k) {
    size_t hi = 0, lo = 0;
    for (size_t i = 0; i < nr; ++i) {
      if (value_of(values[i][k]) > value_of(values[hi][k])) hi = i;
      if (value_of(values[i][k]) < value_of(values[lo][k])) lo = i;
    }
    auto once = [&](size_t at) {
      int same = 0;
      for (size_t i = 0; i < nr; ++i) same += value_of(values[i][k]) == value_of(values[at][k]);
      return same == 1;
    };
    const float weight = 1.0F / nc;
    if (once(hi))
      page.ask({"table.max",
                {{"name", subject.row_name}, {"col", columns[k]}},
                rows[hi],
                {g.names[hi]},
                {g.head[k].box, g.cells[hi][k].box},
                Level::complex,
                weight});
    if (once(lo))
      page.ask({"table.min",
                {{"name", subject.row_name}, {"col", columns[k]}},
                rows[lo],
                {g.names[lo]},
                {g.head[k].box, g.cells[lo][k].box},
                Level::complex,
                weight});
    const size_t pick = r.next() % nr;
    if (once(pick))
      page.ask({"table.row",
                {{"name", subject.row_name}, {"col", columns[k]}, {"value", values[pick][k]}},
                rows[pick],
                {g.names[pick]},
                {g.cells[pick][k].box},
                Level::medium,
                weight});
  }
}

}  // namespace

Sheet table_page(Context& c) {
  Random& r = c.random;
  const bool portrait = r.chance(0.4F);
  const int long_side = c.options.longest,
            short_side = static_cast<int>(long_side * r.real(0.62F, 0.8F));
  const int w = portrait ? short_side : long_side, h = portrait ? long_side : short_side;
  Sheet sheet;
  sheet.layout = "table";
  sheet.finish = Finish::scan;
  sheet.pages.emplace_back(c, w, h, Color{255, 255, 255});
  Page& page = sheet.pages.back();
  const Color ink = mix({0, 0, 0}, {60, 60, 60}, r.unit());
  const Family& family = c.family(r.pick({"typewriter", "typewriter", "sans", "serif", "sans"}));
  const float size = c.px(r.real(12.5F, portrait ? 17 : 26));
  const Style body = style(family, size, ink), strong = style(family, size, ink, Weight::bold);
  const Subject& subject = r.pick(subjects());
  List rows = subject.rows, columns = subject.columns;
  r.shuffle(columns);
  if (r.chance(0.4F)) r.shuffle(rows);
  columns.resize(
      static_cast<size_t>(r.between(2, std::min<int>(5, static_cast<int>(columns.size())))));
  rows.resize(static_cast<size_t>(r.between(3, static_cast<int>(rows.size()))));

  if (r.strangeness > 0) {
    if (r.chance(0.5F)) {  // longer than any list here
      rows.clear();
      for (int i = r.between(8, 22); i > 0; --i) {
        const std::string row = r.chance(0.5F) ? surname(r) : strange(r, r.pick(countries()));
        if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
      }
    }
    for (std::string& row : rows) row = strange(r, row);
    for (std::string& name : columns) name = strange(r, name);
  }

  const float margin = c.px(r.real(30, 90));
  float y = c.px(r.real(40, 110));
  if (r.chance(0.35F)) {
    const auto lines = page.paragraph(margin, y, w - 2 * margin, size * 1.4F,
                                      paragraph_text(r, r.between(1, 3)), body, Align::left, 6);
    y += size * (1.4F * lines.size() + 1.5F);
  }
  const std::string no = std::to_string(r.between(1, 24)), title = subject.title;
  if (r.chance(0.7F)) {
    const Run head = page.text(margin, y, "Table ", strong);
    const Run number_run = page.text(head.end, y, no, strong);
    page.text(number_run.end, y, ".", strong);
    const auto lines =
        page.paragraph(number_run.end + size * 1.5F, y, w - number_run.end - size * 1.5F - margin,
                       size * 1.4F, title, strong);
    page.ask({"table.number", {}, no, {number_run}, {head.box}, Level::simple, 0.7F});
    page.ask({"table.title", {}, title, lines, {}, Level::simple, 0.7F});
    y += size * (1.4F * lines.size() + 0.8F);
  } else {
    const auto lines = page.paragraph(w / 2.0F, y, w - 2 * margin, size * 1.7F, upper(title),
                                      strong, Align::centre);
    page.ask({"table.title", {}, title, lines, {}, Level::simple, 0.7F});
    y += size * (1.7F * lines.size() + 0.8F);
  }

  float first = page.measure(cap(subject.row_name), strong);
  for (const auto& row : rows) first = std::max(first, page.measure(row, body));
  first += size * 1.5F;
  const float column = (w - 2 * margin - first) / columns.size();
  // Heads of two lines where one does not fit.
  std::vector<List> heads;
  size_t head_lines = 1;
  for (const auto& name : columns) {
    heads.push_back(page.wrap(name, strong, column - size * 0.6F));
    head_lines = std::max(head_lines, heads.back().size());
  }
  const int ruling = r.between(0, 4);  // 0 head rules, 1 full grid, 2 rows, 3 none, 4 zebra
  const float pitch = size * r.real(1.5F, 2.2F);
  const float top = y;
  if (ruling <= 2) page.canvas.hline(margin, w - margin, y, ruling == 0 ? 2 : 1, ink);
  Grid g;
  for (size_t k = 0; k < columns.size(); ++k) {
    const float cx = margin + first + column * (k + 0.5F);
    std::vector<Run> lines;
    for (size_t i = 0; i < heads[k].size(); ++i)
      lines.push_back(page.text(cx, y + size * (1.3F + 1.2F * (head_lines - heads[k].size() + i)),
                                heads[k][i], strong, Align::centre));
    Run joined = lines.front();
    joined.box = hull(lines);
    g.head.push_back(joined);
  }
  page.text(margin + 4, y + size * (1.3F + 1.2F * (head_lines - 1)), cap(subject.row_name), strong);
  y += size * (0.9F + 1.2F * head_lines);
  if (ruling <= 2) page.canvas.hline(margin, w - margin, y, 1, ink);
  std::vector<int> forms;
  for (size_t k = 0; k < columns.size(); ++k) forms.push_back(r.between(0, 6));
  std::vector<List> values;
  std::vector<float> lines_at = {y};
  for (size_t i = 0; i < rows.size(); ++i) {
    if (y + pitch > h - c.px(60)) {
      rows.resize(i);
      break;
    }
    if (ruling == 4 && i % 2 == 0)
      page.canvas.rect(margin, y + 2, w - margin, y + pitch, {238, 238, 238});
    const float base = y + pitch * 0.68F;
    g.names.push_back(page.text(margin + 4, base, rows[i], body));
    g.cells.emplace_back();
    values.emplace_back();
    for (size_t k = 0; k < columns.size(); ++k) {
      values.back().push_back(number(r, forms[k]));
      g.cells.back().push_back(page.text(margin + first + column * (k + 0.5F), base,
                                         values.back().back(), body, Align::centre));
    }
    y += pitch;
    lines_at.push_back(y);
    if (ruling == 1 || ruling == 2) page.canvas.hline(margin, w - margin, y, 1, ink);
  }
  if (ruling == 0) page.canvas.hline(margin, w - margin, y, 1, ink);
  if (ruling == 1)
    for (size_t k = 0; k <= columns.size(); ++k) {
      page.canvas.vline(k == 0 ? margin : margin + first + column * (k - 1), top, y, 1, ink);
      if (k == columns.size()) page.canvas.vline(w - margin, top, y, 1, ink);
    }
  y += size * 2;
  if (y < h - c.px(80)) {
    const Style small = sized(body, std::max(c.px(9.5F), size * 0.85F));
    page.paragraph(margin, y, w - 2 * margin, small.size * 1.4F,
                   r.pick({"* ", "Note: ", "1 "}) + paragraph_text(r, r.between(1, 8)), small,
                   Align::left, static_cast<int>((h - c.px(50) - y) / (small.size * 1.4F)));
  }
  if (r.chance(0.4F)) {
    const Run run =
        page.text(w / 2.0F, h - c.px(22), std::to_string(r.between(1, 240)), body, Align::centre);
    page.ask({"doc.page", {}, run.text, {run}, {}, Level::simple, 0.4F});
  }
  if (!rows.empty()) {
    table_questions(page, r, subject, rows, columns, values, g);
    page.ask({"table.cell",
              {{"row", rows[0]}, {"col", r.pick({"Density", "Humidity", "Tax rate", "Volume"})}},
              "none",
              {},
              {},
              Level::medium,
              0.4F});
  }
  return sheet;
}

Sheet invoice(Context& c) {
  Random& r = c.random;
  const int h = c.options.longest, w = static_cast<int>(h * r.real(0.68F, 0.78F));
  Sheet sheet;
  sheet.layout = "invoice";
  sheet.finish = Finish::scan;
  sheet.pages.emplace_back(c, w, h, Color{255, 255, 255});
  Page& page = sheet.pages.back();
  const Land land = any_land(r);
  const Color ink = mix({0, 0, 0}, {70, 70, 70}, r.unit());
  const Color accent = r.chance(0.4F) ? Color{static_cast<uint8_t>(r.between(20, 120)),
                                              static_cast<uint8_t>(r.between(40, 120)),
                                              static_cast<uint8_t>(r.between(60, 170))}
                                      : ink;
  const Family& family = c.family(r.pick({"sans", "sans", "serif", "typewriter", "narrow"}));
  const float size = c.px(r.real(11, 15)), step = size * r.real(1.35F, 1.6F),
              margin = c.px(r.real(34, 70));
  const Style body = style(family, size, ink), strong = style(family, size, ink, Weight::bold);
  float y = c.px(r.real(44, 70));
  auto field = [&](const char* intent, const std::string& key, const Run& value,
                   const std::string& answer, std::vector<Box> evidence, float weight,
                   Level level = Level::simple) {
    page.ask({intent, {{"key", key}}, answer, {value}, std::move(evidence), level, weight});
  };
  std::string firm = company(r, land);
  while (page.measure(firm, sized(strong, size * 1.7F)) > w * 0.55F) firm = company(r, land);
  const Run firm_run =
      page.text(margin, y, firm, style(family, size * r.real(1.3F, 1.7F), accent, Weight::bold));
  page.ask({"receipt.company", {}, firm, {firm_run}, {}, Level::simple, 2});
  page.text(w - margin, y, r.pick({"INVOICE", "Invoice", "TAX INVOICE", "STATEMENT"}),
            style(family, size * r.real(1.5F, 2.0F), accent, Weight::bold), Align::right);
  y += step * 1.3F;
  const Run from = page.text(margin, y, street(r, land), body);
  page.text(margin, y + step, city_line(r, land), body);
  const Run tel_key =
      page.text(margin, y + 2 * step, r.pick({"Tel: ", "Phone: ", "Telephone: "}), body);
  const Run tel = page.text(tel_key.end, y + 2 * step, phone(r, land), body);
  field("form.field", "telephone number", tel, tel.text, {tel_key.box}, 0.8F);
  page.ask({"receipt.address", {}, from.text, {from}, {}, Level::simple, 0.4F});
  const bool dotted = r.chance(0.5F);
  const float key_x = w * 0.58F, value_x = w - margin;
  struct Pair {
    std::string key, value, asked;
  };
  const Date day = date(r, 1995, 2023);
  Date due = day;
  due.month = due.month % 12 + 1;
  due.year += due.month == 1;
  const int form = r.between(0, kDateForms - 1);
  const std::vector<Pair> pairs = {
      {r.pick({"Invoice No.", "Invoice #", "Number"}),
       pattern(r, r.pick({"######", "INV-####", "@@#####"})), "invoice number"},
      {r.pick({"Date", "Invoice Date", "Date of issue"}), format(day, form), "date"},
      {r.pick({"Due Date", "Payment due", "Due"}), format(due, form), "due date"},
      {r.pick({"Customer No.", "Account", "Client ID"}), digits(r, 5), "customer number"},
      {r.pick({"P.O. No.", "Order No.", "Your order"}), pattern(r, "##-####"), "order number"}};
  float fy = y;
  for (const Pair& p : pairs) {
    const Run key = page.text(key_x, fy, p.key + (dotted ? ":" : ""), body);
    const Run value = page.text(value_x, fy, p.value, body, Align::right);
    if (p.asked == "date")
      page.ask({"receipt.date", {}, p.value, {value}, {key.box}, Level::simple, 2});
    else
      field("form.field", r.chance(0.5F) ? p.asked : p.key, value, p.value, {key.box}, 0.9F);
    fy += step;
  }
  y = std::max(y + 3 * step, fy) + step;
  const Run to_key =
      page.text(margin, y, r.pick({"Bill to:", "Sold to:", "To:", "Customer:"}), strong);
  const Run to = page.text(margin, y + step, person(r), body);
  page.text(margin, y + 2 * step, street(r, land), body);
  page.text(margin, y + 3 * step, city_line(r, land), body);
  page.ask({"letter.to", {}, to.text, {to}, {to_key.box}, Level::simple, 1});
  y += 4.5F * step;
  // Columns: description, quantity, unit price, amount.
  const float q_x = margin + (w - 2 * margin) * 0.62F, p_x = margin + (w - 2 * margin) * 0.8F,
              a_x = w - margin - 4;
  if (r.chance(0.5F))
    page.canvas.rect(margin, y - size * 1.2F, w - margin, y + size * 0.5F,
                     mix(accent, {255, 255, 255}, 0.9F));
  page.canvas.hline(margin, w - margin, y + size * 0.5F, 1, ink);
  page.text(margin + 4, y, r.pick({"Description", "Item", "Article"}), strong);
  page.text(q_x, y, r.pick({"Qty", "Quantity"}), strong, Align::right);
  page.text(p_x, y, r.pick({"Unit Price", "Price", "Rate"}), strong, Align::right);
  page.text(a_x, y, r.pick({"Amount", "Total"}), strong, Align::right);
  y += step * 1.4F;
  int subtotal = 0;
  std::vector<Good> list = goods();
  r.shuffle(list);
  const int count = r.between(2, 14);
  for (int i = 0; i < count && y < h - 11 * step; ++i) {
    const Good& good = list[static_cast<size_t>(i)];
    const int n = r.between(1, 40), price = static_cast<int>(r.real(good.low, good.high) * 100);
    const std::string item = title_case(lower(good.name));
    const Run name = page.text(margin + 4, y, item, body);
    const Run qty = page.text(q_x, y, std::to_string(n), body, Align::right);
    const Run unit = page.text(p_x, y, money(price, true), body, Align::right);
    const Run sum = page.text(a_x, y, money(price * n, true), body, Align::right);
    page.ask({n > 1 ? "receipt.line" : "receipt.price",
              {{"item", item}},
              money(price * n, true),
              {sum},
              {name.box},
              Level::medium,
              3.0F / count});
    page.ask({"receipt.quantity",
              {{"item", item}},
              std::to_string(n),
              {qty},
              {name.box},
              Level::medium,
              1.5F / count});
    page.ask({"receipt.unit",
              {{"item", item}},
              money(price, true),
              {unit},
              {name.box},
              Level::medium,
              1.5F / count});
    subtotal += price * n;
    y += step * 1.15F;
  }
  page.canvas.hline(margin, w - margin, y - size * 0.4F, 1, ink);
  y += step;
  const int rate = r.between(5, 21), tax = subtotal * rate / 100;
  const std::string mark = r.chance(0.5F) ? currency(land) : "";
  for (const auto& [key, cents, asked] : std::vector<std::tuple<std::string, int, std::string>>{
           {r.pick({"Subtotal", "Net amount"}), subtotal, "subtotal"},
           {r.pick({"Tax ", "VAT ", "Sales tax "}) + std::to_string(rate) + "%", tax, "tax amount"},
           {r.pick({"Total", "TOTAL", "Amount due", "Grand total", "Balance due"}), subtotal + tax,
            "total"}}) {
    const bool last = asked == "total";
    const Run label = page.text(w * 0.62F, y, key, last ? strong : body);
    const Run value =
        page.text(a_x, y, mark + money(cents, true), last ? strong : body, Align::right);
    if (last)
      page.ask({"receipt.total", {}, money(cents, true), {value}, {label.box}, Level::medium, 3});
    else
      page.ask({"receipt.amount",
                {{"key", asked}},
                money(cents, true),
                {value},
                {label.box},
                Level::medium,
                1});
    y += step * 1.2F;
  }
  y += step;
  const Style small = sized(body, std::max(c.px(9.5F), size * 0.85F));
  page.paragraph(margin, y, w - 2 * margin, small.size * 1.4F,
                 r.pick({"Payment is due within 30 days. ",
                         "Please quote the invoice number with your payment. ",
                         "Thank you for your business. "}) +
                     paragraph_text(r, r.between(0, 2)),
                 small, Align::left, static_cast<int>((h - c.px(20) - y) / (small.size * 1.4F)));
  return sheet;
}

}  // namespace arrcoc::scenes
