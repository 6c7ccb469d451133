// Receipts: first the lines are written down as data, then the type size is chosen so that they
// fit, then they are printed. Look-alike amounts (subtotal, rounded total, cash, tax summary) stand
// near the total on purpose.
#include <algorithm>
#include <cmath>

#include "training/scenes/layouts.h"
#include "training/scenes/phrases.h"
#include "training/scenes/words.h"

namespace arrcoc::scenes {
namespace {

// A cell of a printed line: `at` is the share of the text width where it is aligned.
struct Cell {
  std::string text;
  float at = 0;
  Align align = Align::left;
  std::string tag;       // what it is, for the questions
  bool follows = false;  // starts where the cell before ended
};
struct Line {
  std::vector<Cell> cells;
  bool bold = false;
  float scale = 1;  // type size
  float gap = 0;    // additional space above, in lines
  char rule = 0;    // '-', '=', '*', '.', '_' : a drawn or typed rule
  float rows() const { return (rule ? 0.7F : scale) + gap; }
};

struct Item {
  std::string name, code;
  int quantity = 1, price = 0;
  int amount() const { return quantity * price; }
};

struct Bill {
  Land land = Land::malaysia;
  std::string shop, street, area, city, phone, number, date, time, cashier, currency;
  std::vector<Item> items;
  int subtotal = 0, discount = 0, tax = 0, rounding = 0, total = 0, cash = 0, tax_rate = 6;
  bool tax_included = true;
};

Bill invent(Random& r) {
  Bill b;
  b.land = r.chance(0.65F) ? Land::malaysia : any_land(r);
  b.shop = shop(r, b.land);
  while (b.shop.size() > 36) b.shop = shop(r, b.land);
  b.street = upper(street(r, b.land));
  b.area = upper(b.land == Land::malaysia ? "TAMAN " + city(r, Land::uk) : "");
  b.city = upper(city_line(r, b.land));
  b.phone = phone(r, b.land);
  b.number = pattern(r, r.pick({"########", "@@-######", "INV-#####", "#####", "CS-@@-#######",
                                "###-######", "R#########"}));
  const Date day = date(r, 2012, 2024);
  b.date = format(
      day, static_cast<int>(r.weighted({5, 2, 2, 2, 2, 1, 0.6F, 0.4F, 0.5F, 0.6F, 1, 0.3F})));
  b.time = clock(r, r.chance(0.4F));
  b.cashier = r.chance(0.5F) ? given_name(r)
                             : r.pick({"CASHIER ", "USER", "OPERATOR ", "POS "}) + digits(r, 2);
  b.currency = currency(b.land);
  const int count =
      static_cast<int>(r.weighted({1, 3, 4, 4, 3, 3, 2, 2, 1.5F, 1, 1, 1, 0.7F, 0.5F, 0.3F})) + 1;
  std::vector<std::string> used;
  for (int tries = 0; tries < 60 && static_cast<int>(b.items.size()) < count; ++tries) {
    const Good& good = r.pick(goods());
    Item item;
    item.name = good.name;
    if (std::find(used.begin(), used.end(), item.name) != used.end()) continue;
    used.push_back(item.name);
    item.code = digits(r, r.chance(0.5F) ? 7 : 13);
    item.quantity = r.chance(0.7F) ? 1 : r.between(2, 12);
    item.price = static_cast<int>(r.real(good.low, good.high) * 100);
    if (r.chance(0.6F)) item.price = item.price / 10 * 10;
    if (r.chance(0.25F)) item.price = item.price / 100 * 100;
    item.price = std::max(item.price, 30);
    b.items.push_back(item);
    b.subtotal += item.amount();
  }
  b.discount = r.chance(0.2F) ? b.subtotal * r.between(1, 4) / 20 : 0;
  b.tax_rate = b.land == Land::malaysia ? 6 : r.between(5, 21);
  b.tax_included = r.chance(0.6F);
  const int net = b.subtotal - b.discount;
  b.tax = b.tax_included ? net * b.tax_rate / (100 + b.tax_rate) : net * b.tax_rate / 100;
  const int due = net + (b.tax_included ? 0 : b.tax);
  const int rest = due % 5;
  b.rounding = b.land == Land::malaysia ? (rest < 3 ? -rest : 5 - rest) : 0;
  b.total = due + b.rounding;
  b.cash = r.chance(0.3F) ? b.total : (b.total / 1000 + 1) * 1000;
  return b;
}

class Writer {
 public:
  Writer(Random& random, Bill bill) : r(random), b(std::move(bill)) {}
  std::vector<Line> lines;

  void write() {
    header();
    if (r.chance(0.85F)) details_before_ = true;
    if (details_before_) details();
    items();
    totals();
    if (!details_before_) details();
    body_ = lines.size();
    footer();
  }
  // Whether the last line only closes the receipt; dropping it gives its height back.
  bool closing() const { return lines.size() > body_; }
  float drop_last() {
    const float rows = lines.back().rows();
    lines.pop_back();
    return rows;
  }
  const Bill& bill() const { return b; }
  std::string total_label, currency_mark;

 private:
  void centred(const std::string& text, const std::string& tag = "", float scale = 1,
               bool bold = false) {
    const float at = head_left_ ? 0.0F : 0.5F;
    lines.push_back(
        {{{text, at, head_left_ ? Align::left : Align::centre, tag}}, bold, scale, 0, 0});
  }
  void rule() { lines.push_back({{}, false, 1, 0, rule_}); }
  void gap(float lines_of_space) { pending_ += lines_of_space; }
  void amount(const std::string& label, int cents, const std::string& tag, bool bold = false,
              float scale = 1) {
    const std::string value = money(cents, b.total > 500000);
    Line line{{{label, label_at_, Align::left, tag + ".label"}}, bold, scale, pending_, 0};
    if (mark_amounts_) line.cells.push_back({b.currency, value_at_ - 0.2F, Align::left, ""});
    line.cells.push_back({value, value_at_, Align::right, tag});
    lines.push_back(line);
    pending_ = 0;
  }
  void header();
  void details();
  void items();
  void totals();
  void footer();

  Random& r;
  Bill b;
  bool head_left_ = false, details_before_ = false, mark_amounts_ = false;
  char rule_ = '-';
  size_t body_ = 0;  // lines before the footer
  float label_at_ = 0, value_at_ = 1, pending_ = 0;
};

void Writer::header() {
  head_left_ = r.chance(0.15F);
  rule_ = "--=*._"[r.between(0, 5)];
  if (r.chance(0.12F)) centred(r.pick({"*** COPY ***", "WELCOME", "THANK YOU", "CUSTOMER COPY"}));
  centred(b.shop, "company", r.chance(0.45F) ? r.real(1.15F, 1.7F) : 1.0F, r.chance(0.5F));
  if (r.chance(0.65F))
    centred(
        r.chance(0.4F)
            ? "(" + r.pick({"CO. REG. NO: ", "", "Co. Reg : "}) + pattern(r, "######-@") + ")"
            : r.pick({"Co. Reg No : ", "CO NO: ", "Reg No. ", "ROC No: "}) + pattern(r, "######-@"),
        "");
  centred(b.street + ",", "address");
  if (!b.area.empty() && r.chance(0.7F)) centred(b.area + ",", "");
  centred(b.city, "");
  if (r.chance(0.75F)) {
    const std::string label = r.pick({"TEL: ", "Tel : ", "TEL NO. ", "Phone: ", "Tel:"});
    const float at = head_left_ ? 0.0F : 0.5F;
    lines.push_back({{{label + b.phone, at, head_left_ ? Align::left : Align::centre, "phone"}},
                     false,
                     1,
                     0,
                     0});
  }
  if (b.land == Land::malaysia && r.chance(0.7F))
    centred(r.pick({"GST ID : ", "GST Reg No: ", "GST ID No : ", "GST NO. "}) +
                pattern(r, "000#########"),
            "gst");
  if (r.chance(0.2F)) centred(r.pick({"FAX: ", "Fax : "}) + phone(r, b.land), "");
  if (r.chance(0.25F)) centred(website(b.shop, r), "website");
  if (r.chance(0.7F)) {
    gap(0.3F);
    centred(r.pick({"TAX INVOICE", "INVOICE", "RECEIPT", "CASH SALES", "SIMPLIFIED TAX INVOICE",
                    "-TAX INVOICE-", "CASH BILL", "SALES RECEIPT"}),
            "", r.chance(0.3F) ? 1.25F : 1.0F, r.chance(0.5F));
  }
}

void Writer::details() {
  const std::string colon = r.pick({": ", " : ", ":", " "});
  std::vector<std::vector<Cell>> parts;
  const std::string no = r.pick({"Invoice No", "Receipt No", "Bill No", "INV NO", "Doc No.",
                                 "Slip No.", "RECEIPT #", "Invoice #", "Trans", "CB#"});
  const std::string when =
      r.pick({"Date", "DATE", "Date", "Inv Date", "Bill Date", "Invoice Date"});
  const bool joined = r.chance(0.35F);  // date and time on one line without a label of their own
  const bool unlabelled = r.chance(0.3F);
  parts.push_back(
      {{no + colon, 0, Align::left, "number.label"}, {b.number, 0, Align::left, "number", true}});
  if (unlabelled) {
    parts.push_back(
        {{b.date, 0, Align::left, "date"}, {" " + b.time, 0, Align::left, "time", true}});
  } else {
    std::vector<Cell> cells = {{when + colon, 0, Align::left, "date.label"},
                               {b.date, 0, Align::left, "date", true}};
    if (joined) cells.push_back({" " + b.time, 0, Align::left, "time", true});
    parts.push_back(cells);
    if (!joined && r.chance(0.7F))
      parts.push_back({{r.pick({"Time", "TIME"}) + colon, 0, Align::left, "time.label"},
                       {b.time, 0, Align::left, "time", true}});
  }
  if (r.chance(0.7F))
    parts.push_back({{r.pick({"Cashier", "Served by", "Staff", "Salesman", "Operator"}) + colon, 0,
                      Align::left, "cashier.label"},
                     {b.cashier, 0, Align::left, "cashier", true}});
  if (r.chance(0.25F))
    parts.push_back({{r.pick({"Table", "TABLE", "Counter", "Terminal", "Till"}) + colon, 0,
                      Align::left, "table.label"},
                     {std::to_string(r.between(1, 40)), 0, Align::left, "table", true}});
  if (r.chance(0.3F)) r.shuffle(parts);
  rule();
  const bool two_columns = r.chance(0.35F);
  for (size_t i = 0; i < parts.size(); ++i) {
    Line line{parts[i], false, 1, pending_, 0};
    pending_ = 0;
    if (two_columns && i + 1 < parts.size() && parts[i].size() < 3) {
      for (Cell cell : parts[i + 1]) {
        if (!cell.follows) cell.at = 0.56F;
        line.cells.push_back(cell);
      }
      ++i;
    }
    lines.push_back(line);
  }
}

void Writer::items() {
  rule();
  const int form = static_cast<int>(r.weighted({3, 3, 3, 2}));
  const bool numbered = form == 1 && r.chance(0.25F), coded = r.chance(0.6F);
  const std::string suffix =
      b.land == Land::malaysia && r.chance(0.4F) ? r.pick({" SR", " S", " T", " *S", " ZR"}) : "";
  if (r.chance(0.6F)) {
    if (form == 0)
      lines.push_back({{{r.pick({"Item", "Description", "ITEM", "DESC"}), 0},
                        {r.pick({"Qty", "QTY"}), 0.62F, Align::right},
                        {r.pick({"Amount", "AMT", "Total", "TOTAL"}), 1, Align::right}},
                       false,
                       1,
                       0,
                       0});
    else
      lines.push_back({{{r.pick({"Qty Description", "Item", "Description"}), 0},
                        {r.pick({"Price", "U.P", "Unit"}), 0.7F, Align::right},
                        {r.pick({"Amount", "Total", "AMT"}), 1, Align::right}},
                       false,
                       1,
                       0,
                       0});
    rule();
  }
  int n = 0;
  for (const Item& item : b.items) {
    const std::string tag = "item" + std::to_string(n++);
    const std::string amount = money(item.amount()), price = money(item.price),
                      q = std::to_string(item.quantity);
    const std::string lead = numbered ? std::to_string(n) + ". " : "";
    switch (form) {
      case 0:  // name, quantity and amount on one line
        lines.push_back({{{lead + item.name, 0, Align::left, tag + ".name"},
                          {q, 0.62F, Align::right, tag + ".quantity"},
                          {amount, 1, Align::right, tag + ".amount"}},
                         false,
                         1,
                         0,
                         0});
        break;
      case 1:  // name, then code and "2 X 3.50" with the amount
        lines.push_back({{{lead + item.name, 0, Align::left, tag + ".name"}}, false, 1, 0, 0});
        lines.push_back(
            {{{coded ? item.code : "", 0, Align::left, tag + ".code"},
              {q + r.pick({" X ", " x ", " @ "}), 0.52F, Align::left, tag + ".quantity"},
              {price, 0, Align::left, tag + ".price", true},
              {amount + suffix, 1, Align::right, tag + ".amount"}},
             false,
             1,
             0,
             0});
        break;
      case 2:  // quantity first
        lines.push_back({{{q, 0, Align::left, tag + ".quantity"},
                          {item.name, 0.08F, Align::left, tag + ".name"},
                          {amount + suffix, 1, Align::right, tag + ".amount"}},
                         false,
                         1,
                         0,
                         0});
        if (item.quantity > 1 && r.chance(0.5F))
          lines.push_back({{{"@ " + price, 0.12F, Align::left, ""}}, false, 1, 0, 0});
        break;
      default:  // name, unit price and amount
        lines.push_back({{{item.name, 0, Align::left, tag + ".name"}}, false, 1, 0, 0});
        lines.push_back({{{q, 0.1F, Align::left, tag + ".quantity"},
                          {price, 0.7F, Align::right, tag + ".price"},
                          {amount, 1, Align::right, tag + ".amount"}},
                         false,
                         1,
                         0,
                         0});
    }
  }
  rule();
}

void Writer::totals() {
  mark_amounts_ = r.chance(0.3F);
  label_at_ = r.chance(0.6F) ? 0.0F : r.real(0.1F, 0.35F);
  value_at_ = r.chance(0.75F) ? 1.0F : 0.94F;
  if (r.chance(0.35F)) {
    int pieces = 0;
    for (const Item& item : b.items) pieces += item.quantity;
    lines.push_back({{{r.pick({"Item(s) : ", "No. of items: ", "Total Item(s): ", "ITEMS "}) +
                           std::to_string(b.items.size()),
                       0, Align::left, "items"},
                      {r.pick({"Qty(s) : ", "Total Qty: ", "QTY "}) + std::to_string(pieces), 1,
                       Align::right, "pieces"}},
                     false,
                     1,
                     0,
                     0});
  }
  const int due = b.total - b.rounding;
  if (r.chance(0.6F) || b.discount > 0 || !b.tax_included)
    amount(r.pick({"Subtotal", "SUB TOTAL", "Sub-Total", "Sub Total :", "Total Sales",
                   "Net Total Excl. Tax"}),
           b.subtotal, "subtotal");
  if (b.discount > 0)
    amount(r.pick({"Discount", "DISC", "Less Discount", "Promo Discount"}), -b.discount,
           "discount");
  if (!b.tax_included)
    amount(r.pick({"GST", "Tax", "SST", "VAT", "Service Tax"}) + " " + std::to_string(b.tax_rate) +
               "%",
           b.tax, "tax");
  if (b.rounding != 0 || r.chance(0.3F)) {
    if (r.chance(0.5F))
      amount(r.pick({"Total Incl. GST", "TOTAL SALES (INCL GST)", "Total Amt Incl. Tax",
                     "Amount Before Rounding"}),
             due, "unrounded");
    amount(r.pick({"Rounding Adj", "ROUNDING", "Rounding Adjustment", "Round Adj"}), b.rounding,
           "rounding");
  }
  total_label = r.pick({"TOTAL", "Total", "GRAND TOTAL", "Total Amount", "NET TOTAL", "TOTAL DUE",
                        "Total Payable", "Amount Due", "Total :", "TOTAL RM", "Final Total",
                        "Total Rounded", "NETT TOTAL"});
  amount(total_label, b.total, "total", r.chance(0.5F),
         r.chance(0.3F) ? r.real(1.15F, 1.6F) : 1.0F);
  if (r.chance(0.3F)) rule();
  if (r.chance(0.8F)) {
    const bool card = b.cash == b.total;
    amount(card ? r.pick({"VISA", "MASTER CARD", "Credit Card", "CASH", "E-WALLET", "Debit Card"})
                : r.pick({"CASH", "Cash", "Cash Tendered", "Payment", "Amount Tendered", "PAID"}),
           b.cash, "cash");
    if (!card || r.chance(0.5F))
      amount(r.pick({"CHANGE", "Change", "Change Due", "Balance"}), b.cash - b.total, "change");
  }
  if (b.tax_included && r.chance(0.6F)) {
    gap(0.3F);
    lines.push_back({{{r.pick({"GST Summary", "Tax Summary", "GST Analysis"}), 0},
                      {r.pick({"Amount(RM)", "Amt", "Net Amt"}), 0.68F, Align::right},
                      {r.pick({"Tax(RM)", "Tax", "GST"}), 1, Align::right}},
                     false,
                     1,
                     pending_,
                     0});
    pending_ = 0;
    lines.push_back(
        {{{r.pick({"SR", "S", "GST SR", "T"}) + " @ " + std::to_string(b.tax_rate) + "%", 0},
          {money(due - b.tax), 0.68F, Align::right, "net"},
          {money(b.tax), 1, Align::right, "tax"}},
         false,
         1,
         0,
         0});
    if (r.chance(0.3F))
      lines.push_back({{{"Total", 0},
                        {money(due - b.tax), 0.68F, Align::right},
                        {money(b.tax), 1, Align::right}},
                       false,
                       1,
                       0,
                       0});
  }
}

void Writer::footer() {
  rule();
  static const std::vector<std::vector<const char*>> closings = {
      {"THANK YOU", "PLEASE COME AGAIN"},
      {"Thank you for shopping with us!"},
      {"GOODS SOLD ARE NOT", "RETURNABLE OR REFUNDABLE"},
      {"EXCHANGE WITHIN 7 DAYS", "WITH THIS RECEIPT"},
      {"TERIMA KASIH", "SILA DATANG LAGI"},
      {"All prices are in local currency"},
      {"Please keep this receipt", "for warranty purposes"},
      {"HAVE A NICE DAY"},
      {"Join our members club", "and save on every visit"},
      {"Customer service line", "open 9 am to 6 pm daily"},
      {"This is a computer generated", "receipt. No signature needed"}};
  head_left_ = false;
  for (int i = r.between(0, 6); i > 0; --i) {
    bool first = true;
    for (const char* text : r.pick(closings)) {
      lines.push_back({{{text, 0.5F, Align::centre, ""}}, false, 1, first ? 0.4F : 0.0F, 0});
      first = false;
    }
  }
}

struct Printed {
  std::vector<std::pair<std::string, Run>> runs;
  const Run* find(const std::string& tag) const {
    for (const auto& [name, run] : runs)
      if (name == tag) return &run;
    return nullptr;
  }
};

void questions(Page& page, const Printed& p, const Bill& b, Random& r) {
  auto add = [&](const char* intent, const std::string& tag, const std::string& answer,
                 std::vector<std::pair<std::string, std::string>> slots, float weight,
                 Level level) {
    const Run* run = p.find(tag);
    if (!run) return;
    std::vector<Box> evidence;
    if (const Run* label = p.find(tag + ".label")) evidence.push_back(label->box);
    page.ask({intent, std::move(slots), answer, {*run}, evidence, level, weight});
  };
  auto shown = [&](const std::string& tag) {
    const Run* run = p.find(tag);
    return run ? run->text : std::string();
  };
  add("receipt.total", "total", figure(shown("total")), {}, 5, Level::medium);
  add("receipt.date", "date", b.date, {}, 5, Level::simple);
  add("receipt.company", "company", b.shop, {}, 4, Level::simple);
  add("receipt.address", "address", b.street, {}, 0.8F, Level::simple);
  add("receipt.field", "number", b.number,
      {{"key", r.pick({"invoice number", "receipt number", "bill number", "document number",
                       "invoice no"})}},
      1.2F, Level::simple);
  add("receipt.field", "time", b.time,
      {{"key", r.pick({"time", "time of purchase", "transaction time"})}}, 1, Level::simple);
  add("receipt.field", "cashier", b.cashier,
      {{"key", r.pick({"cashier", "name of the cashier", "cashier name"})}}, 1, Level::simple);
  add("receipt.field", "table", shown("table"),
      {{"key", r.pick({"table number", "counter number", "terminal"})}}, 0.3F, Level::simple);
  for (const auto& [tag, key] :
       std::vector<std::pair<std::string, std::string>>{{"subtotal", "subtotal"},
                                                        {"discount", "discount"},
                                                        {"tax", "tax"},
                                                        {"rounding", "rounding adjustment"},
                                                        {"cash", "cash paid"},
                                                        {"change", "change"}})
    add("receipt.amount", tag, figure(shown(tag)), {{"key", key}}, 0.9F, Level::medium);
  size_t most = 0, least = 0;
  for (size_t i = 0; i < b.items.size(); ++i) {
    const Item& item = b.items[i];
    const std::string tag = "item" + std::to_string(i);
    const std::string name = r.chance(0.5F) ? item.name : lower(item.name);
    std::vector<Box> evidence;
    if (const Run* run = p.find(tag + ".name")) evidence.push_back(run->box);
    if (const Run* run = p.find(tag + ".amount"))
      page.ask({item.quantity > 1 ? "receipt.line" : "receipt.price",
                {{"item", name}},
                money(item.amount()),
                {*run},
                evidence,
                Level::medium,
                0.5F});
    if (const Run* run = p.find(tag + ".price"); run && item.quantity > 1)
      page.ask({"receipt.unit",
                {{"item", name}},
                money(item.price),
                {*run},
                evidence,
                Level::medium,
                0.4F});
    if (const Run* run = p.find(tag + ".quantity"))
      page.ask({"receipt.quantity",
                {{"item", name}},
                std::to_string(item.quantity),
                {*run},
                evidence,
                Level::medium,
                0.25F});
    if (const Run* run = p.find(tag + ".code"); run && !run->text.empty())
      page.ask(
          {"receipt.code", {{"item", name}}, item.code, {*run}, evidence, Level::medium, 0.25F});
    if (item.amount() > b.items[most].amount()) most = i;
    if (item.amount() < b.items[least].amount()) least = i;
  }
  auto unique = [&](size_t best) {
    // The dearest line must hold the dearest piece too, else "most expensive" has two meanings.
    const bool most_wanted = best == most;
    return std::count_if(b.items.begin(), b.items.end(), [&](const Item& i) {
             return i.amount() == b.items[best].amount() ||
                    (most_wanted ? i.price >= b.items[best].price : i.price <= b.items[best].price);
           }) == 1;
  };
  auto by_amount = [&](const char* intent, size_t best) {
    const std::string tag = "item" + std::to_string(best);
    const Run* name = p.find(tag + ".name");
    const Run* value = p.find(tag + ".amount");
    if (b.items.size() > 2 && unique(best) && name && value)
      page.ask({intent, {}, b.items[best].name, {*name}, {value->box}, Level::complex, 0.4F});
  };
  by_amount("receipt.most", most);
  by_amount("receipt.least", least);
  if (!p.find("cashier"))
    page.ask({"receipt.field", {{"key", "cashier"}}, "none", {}, {}, Level::simple, 0.4F});
  if (!p.find("discount"))
    page.ask({"receipt.amount", {{"key", "discount"}}, "none", {}, {}, Level::simple, 0.4F});
}

// Where the cells of a line start, and last where the line ends: cells give way to the right
// rather than run into each other.
std::vector<float> cell_starts(const Page& page, const Line& line, const Style& style, float x0,
                               float width) {
  std::vector<float> starts;
  float end = x0;
  bool first = true;
  for (const Cell& cell : line.cells) {
    const float wide = page.measure(cell.text, style), air = first ? 0.0F : style.size * 0.3F;
    float at = x0 + cell.at * width;
    if (cell.align != Align::left) at -= cell.align == Align::right ? wide : wide / 2;
    at = cell.follows ? end + std::max(1.0F, style.size * 0.07F) : std::max(at, end + air);
    starts.push_back(at);
    if (cell.text.empty()) continue;
    end = at + wide;
    first = false;
  }
  starts.push_back(end);
  return starts;
}

}  // namespace

Sheet receipt(Context& c) {
  Random& r = c.random;
  Writer writer(r, invent(r));
  writer.write();
  const Bill& b = writer.bill();

  float rows = 0;
  for (const Line& line : writer.lines) rows += line.rows();
  const bool on_page = r.chance(0.12F);  // a small receipt scanned on a large white page
  const float top = c.px(r.real(14, 110)), bottom = c.px(r.real(14, 90));
  // Small type needs relatively more: whole pixels between the lines.
  const float spacing = std::max(r.real(1.2F, 1.5F), 1 + 2.2F / std::max(7.0F, c.px(9.5F)));
  // What the paper does not hold is good wishes at the end.
  const float capacity = (c.options.longest - top - bottom) / (c.px(9.5F) * spacing);
  while (rows > capacity && writer.closing()) rows -= writer.drop_last();
  float size = (c.options.longest * (on_page ? 0.62F : 1.0F) - top - bottom) / (rows * spacing);
  size = std::clamp(size, c.px(9.5F), c.px(r.real(16, 27)));
  const bool proportional = r.chance(0.3F);
  const Family& family = c.family(proportional ? (r.chance(0.5F) ? "sans" : "narrow") : "thermal");
  const Color ink = r.chance(0.15F) ? Color{70, 70, 150} : mix({0, 0, 0}, {95, 95, 100}, r.unit());
  Style body = style(family, std::round(size * 2) / 2, ink,
                     proportional && r.chance(0.2F) ? Weight::bold : Weight::regular);
  body.stretch = proportional ? 1.0F : r.real(0.85F, 1.05F);
  if (!proportional && r.chance(0.25F)) body.twice = true;
  Style strong = style(family, body.size, ink, Weight::bold);
  strong.stretch = body.stretch;
  const float line_height = body.size * spacing;

  // Wide enough for the longest line in columns of the usual 32 to 48 characters.
  Page probe(c, 8, 8, {255, 255, 255});
  float width = probe.measure(std::string(static_cast<size_t>(r.between(30, 44)), '0'), body);
  for (const Line& line : writer.lines) {
    float needed = 0;
    for (const Cell& cell : line.cells)
      needed += probe.measure(cell.text, sized(body, body.size * line.scale));
    width = std::max(width, std::min(needed * 1.06F, static_cast<float>(c.options.longest) * 0.8F));
  }
  const float margin = c.px(r.real(10, 60));
  int w = static_cast<int>(width + 2 * margin),
      h = static_cast<int>(rows * line_height + top + bottom);
  float x0 = margin, y = top;
  if (on_page) {
    const int page_h = c.options.longest, page_w = static_cast<int>(page_h * r.real(0.68F, 0.8F));
    x0 += std::max(0.0F, (page_w - w) * r.real(0.2F, 0.8F));
    y += std::max(0.0F, (page_h - h) * r.real(0.1F, 0.6F));
    w = std::max(w, page_w);
    h = std::max(h, page_h);
  }
  w = std::min(w, c.options.longest);
  h = std::min(h, c.options.longest);

  Sheet sheet;
  sheet.layout = "receipt";
  sheet.finish = Finish::receipt;
  sheet.pages.emplace_back(c, w, h, Color{255, 255, 255});
  Page& page = sheet.pages.back();
  Printed printed;
  const bool typed_rules = r.chance(0.6F);
  for (const Line& line : writer.lines) {
    y += line.gap * line_height;
    if (line.rule) {
      const float at = y + line_height * 0.35F;
      y += line_height * 0.7F;
      if (typed_rules && line.rule != '_')
        page.canvas.dashed(x0, x0 + width, at, line.rule == '.' ? 2 : body.size * 0.42F,
                           body.size * 0.2F, std::max(1.0F, body.size / 14), ink);
      else
        page.canvas.hline(x0, x0 + width, at, 1, ink);
      if (line.rule == '=')
        page.canvas.dashed(x0, x0 + width, at + 3, body.size * 0.42F, body.size * 0.2F, 1, ink);
      continue;
    }
    Style used = line.bold ? strong : body;
    used.size = std::round(body.size * line.scale * 2) / 2;
    // Printers squeeze long lines: until the last cell ends on the paper.
    for (int tries = 0; tries < 8; ++tries) {
      const float over = cell_starts(page, line, used, x0, width).back() - x0;
      if (over <= width) break;
      used.stretch *= width / over * 0.99F;
    }
    const float baseline = y + line_height * line.scale * 0.8F;
    const std::vector<float> starts = cell_starts(page, line, used, x0, width);
    for (size_t i = 0; i < line.cells.size(); ++i) {
      const Cell& cell = line.cells[i];
      if (cell.text.empty()) continue;
      const Run run = page.text(starts[i], baseline, cell.text, used);
      if (!cell.tag.empty()) printed.runs.emplace_back(cell.tag, run);
    }
    y += line_height * line.scale;
  }
  // What bookkeepers scribble into the free margin.
  if (r.chance(0.18F)) {
    const std::string note = r.chance(0.6F) ? digits(r, r.between(3, 8)) : given_name(r);
    const Style pen = style(c.family("hand"), c.px(r.real(20, 34)),
                            r.chance(0.5F) ? Color{40, 50, 140} : Color{40, 40, 40});
    const float at = r.real(6, std::max(7.0F, w - page.measure(note, pen) - 6)),
                base = pen.size * 1.3F + r.real(0, 8);
    if (page.free({at - 4, 0, at + page.measure(note, pen) * 1.1F + 4, base + pen.size * 0.8F}))
      page.text(at, base, note, pen);
  }
  questions(page, printed, b, r);
  return sheet;
}

}  // namespace arrcoc::scenes
