#include "lab/scenes/receipt_text.h"

#include <algorithm>

namespace arrcoc::scenes {
namespace {

std::vector<ReceiptItem> invent_items(Random& r) {
  const size_t count = r.weighted({1, 3, 4, 4, 3, 3, 2, 2, 1.5F, 1, 1, 1, 0.7F, 0.5F, 0.3F}) + 1;
  std::vector<ReceiptItem> items;
  for (int tries = 0; tries < 60 && items.size() < count; ++tries) {
    const Good good = any_good(r);
    ReceiptItem item;
    item.name = strange(r, good.name);
    if (std::any_of(items.begin(), items.end(),
                    [&](const ReceiptItem& other) { return other.name == item.name; }))
      continue;
    item.code = digits(r, r.chance(0.5F) ? 7 : 13);
    item.quantity = r.chance(0.7F) ? 1 : r.between(2, 12);
    item.price = static_cast<int>(r.real(good.low, good.high) * 100);
    if (r.chance(0.6F)) item.price = item.price / 10 * 10;
    if (r.chance(0.25F)) item.price = item.price / 100 * 100;
    item.price = std::max(item.price, 30);
    items.push_back(item);
  }
  return items;
}

ReceiptCell left(std::string text, std::string tag = "", float at = 0) {
  return {std::move(text), std::move(tag), at};
}
ReceiptCell right(std::string text, std::string tag = "", float at = 1) {
  return {std::move(text), std::move(tag), at, Align::right};
}
ReceiptCell after(std::string text, std::string tag) {
  return {std::move(text), std::move(tag), 0, Align::left, true};
}

class ReceiptWriter {
 public:
  ReceiptWriter(Random& random, Bill& bill) : r(random), b(bill) {}

  ReceiptText write() {
    header();
    const bool details_first = r.chance(0.85F);
    if (details_first) details();
    items();
    totals();
    if (!details_first) details();
    out_.body = out_.lines.size();
    closing();
    for (const ReceiptLine& line : out_.lines) out_.rows += line.rows();
    return std::move(out_);
  }

 private:
  using Cells = std::vector<ReceiptCell>;

  void line(Cells cells, float gap = 0, bool bold = false, float scale = 1) {
    out_.lines.push_back({std::move(cells), bold, scale, gap});
  }
  float take_gap() { return std::exchange(pending_gap_, 0.0F); }
  void heading(const std::string& text, const std::string& tag = "", bool bold = false,
               float scale = 1) {
    const float at = left_aligned_ ? 0.0F : 0.5F;
    out_.lines.push_back(
        {{{text, tag, at, left_aligned_ ? Align::left : Align::centre}}, bold, scale});
  }
  void rule() { out_.lines.push_back({{}, false, 1, 0, rule_}); }
  void amount(const std::string& label, int cents, const std::string& tag, bool bold = false,
              float scale = 1) {
    Cells cells = {left(label, tag + ".label", label_at_)};
    if (mark_amounts_) cells.push_back(left(b.currency, "", value_at_ - 0.2F));
    cells.push_back(right(money(cents, b.total > 500000), tag, value_at_));
    line(cells, take_gap(), bold, scale);
  }

  void header() {
    left_aligned_ = r.chance(0.15F);
    rule_ = "--=*._"[r.between(0, 5)];
    if (r.chance(0.12F)) heading(r.pick<"receipt.greeting">());
    const bool bold = r.chance(0.5F);
    heading(b.shop, "company", bold, r.chance(0.45F) ? r.real(1.15F, 1.7F) : 1.0F);
    if (r.chance(0.65F)) {
      const bool brackets = r.chance(0.4F);
      const std::string code = pattern(r, "######-@");
      heading(brackets ? "(" + r.pick<"receipt.registered-brackets">() + code + ")"
                       : r.pick<"receipt.registered">() + " " + code);
    }
    heading(b.street + ",", "address");
    if (!b.area.empty() && r.chance(0.7F)) heading(b.area + ",");
    heading(b.city);
    if (r.chance(0.75F)) heading(r.pick<"receipt.phone">() + b.phone, "phone");
    if (b.land == Land::malaysia && r.chance(0.7F)) {
      const std::string code = pattern(r, "000#########");
      heading(r.pick<"receipt.gst">() + " " + code, "gst");
    }
    if (r.chance(0.2F)) {
      const std::string fax = phone(r, b.land);
      heading(r.pick<"receipt.fax">() + " " + fax);
    }
    if (r.chance(0.25F)) heading(website(b.shop, r), "website");
    if (r.chance(0.7F)) {
      pending_gap_ += 0.3F;
      const bool strong = r.chance(0.5F);
      const float scale = r.chance(0.3F) ? 1.25F : 1.0F;
      heading(r.pick<"receipt.title">(), "", strong, scale);
    }
  }

  // Number, date, time, cashier and table, in one or two columns.
  void details() {
    const std::string colon = r.pick<"receipt.colon">(), no = r.pick<"receipt.number">(),
                      when = r.pick<"receipt.date">();
    const bool joined = r.chance(0.35F);  // date and time on one line without a label of their own
    const bool unlabelled = r.chance(0.3F);
    std::vector<Cells> parts;
    auto add = [&](const std::string& label, const std::string& value, const std::string& tag) {
      parts.push_back({left(label + colon, tag + ".label"), after(value, tag)});
    };
    add(no, b.number, "number");
    if (unlabelled)
      parts.push_back({left(b.date, "date"), after(" " + b.time, "time")});
    else
      add(when, b.date, "date");
    if (!unlabelled && joined) parts.back().push_back(after(" " + b.time, "time"));
    if (!unlabelled && !joined && r.chance(0.7F)) add(r.pick<"receipt.time">(), b.time, "time");
    if (r.chance(0.7F)) add(r.pick<"receipt.cashier">(), b.cashier, "cashier");
    if (r.chance(0.25F)) {
      const std::string label = r.pick<"receipt.table">();
      add(label, number(r, 1, 40), "table");
    }
    if (r.chance(0.3F)) r.shuffle(parts);
    rule();
    const bool two_columns = r.chance(0.35F);
    for (size_t i = 0; i < parts.size(); ++i) {
      Cells cells = parts[i];
      if (two_columns && i + 1 < parts.size() && cells.size() < 3) {
        for (ReceiptCell cell : parts[++i]) {
          if (!cell.follows) cell.at = 0.56F;
          cells.push_back(cell);
        }
      }
      line(cells, take_gap());
    }
  }

  void items() {
    rule();
    const size_t form = r.weighted({3, 3, 3, 2});
    const bool numbered = form == 1 && r.chance(0.25F), coded = r.chance(0.6F);
    const std::string suffix =
        b.land == Land::malaysia && r.chance(0.4F) ? r.pick<"receipt.suffix">() : "";
    if (r.chance(0.6F)) {
      const Row& head = r.table<"receipt.columns", 3>()[form == 0 ? 0 : 1];
      Cells cells;
      for (size_t k = 0; k < 3; ++k) {
        const std::string text = choice(r, head[k]);
        cells.push_back(k == 0 ? left(text) : right(text, "", k == 2 ? 1 : form ? 0.7F : 0.62F));
      }
      line(cells);
      rule();
    }
    for (size_t i = 0; i < b.items.size(); ++i)
      item(b.items[i], "item" + std::to_string(i), form,
           numbered ? std::to_string(i + 1) + ". " : "", coded, suffix);
    rule();
  }

  void item(const ReceiptItem& item, const std::string& tag, size_t form, const std::string& lead,
            bool coded, const std::string& suffix) {
    const std::string price = money(item.price), count = std::to_string(item.quantity);
    const ReceiptCell name = left(lead + item.name, tag + ".name"),
                      quantity = left(count, tag + ".quantity"),
                      sum = right(money(item.amount()), tag + ".amount"),
                      marked = right(money(item.amount()) + suffix, tag + ".amount");
    switch (form) {
      case 0:  // name, quantity and amount on one line
        return line({name, right(count, tag + ".quantity", 0.62F), sum});
      case 1:  // name, then code and "2 X 3.50" with the amount
        line({name});
        return line({left(coded ? item.code : "", tag + ".code"),
                     left(count + r.pick<"receipt.times">(), tag + ".quantity", 0.52F),
                     after(price, tag + ".price"), marked});
      case 2:  // quantity first
        line({quantity, left(item.name, tag + ".name", 0.08F), marked});
        if (item.quantity > 1 && r.chance(0.5F)) line({left("@ " + price, "", 0.12F)});
        return;
      default:  // name, unit price and amount
        line({name});
        line({left(count, tag + ".quantity", 0.1F), right(price, tag + ".price", 0.7F), sum});
    }
  }

  void totals() {
    // Labels and notes of receipts from elsewhere; strange scenes only.
    const bool unusual = r.strangeness > 0 && r.chance(0.6F);
    if (unusual) pay_otherwise();
    mark_amounts_ = r.chance(0.3F);
    label_at_ = r.chance(0.6F) ? 0.0F : r.real(0.1F, 0.35F);
    value_at_ = r.chance(0.75F) ? 1.0F : 0.94F;
    if (r.chance(0.35F)) {
      int pieces = 0;
      for (const ReceiptItem& item : b.items) pieces += item.quantity;
      const std::string kinds = r.pick<"receipt.items">() + std::to_string(b.items.size());
      line({left(kinds, "items"),
            right(r.pick<"receipt.pieces">() + std::to_string(pieces), "pieces")});
    }
    sums(unusual);
    if (r.chance(0.3F)) rule();
    if (r.chance(0.8F)) payment(unusual);
    if (b.tax_included && r.chance(0.6F)) tax_summary();
  }

  // Notes that people hand over: the next 1.00, 5.00, ... 100.00, or one with the odd coins.
  void pay_otherwise() {
    const int notes[] = {100, 500, 1000, 2000, 5000, 10000};
    const int note = notes[r.weighted({1, 2, 3, 2, 3, 2})];
    b.cash = (b.total / note + 1) * note;
    if (r.chance(0.2F)) b.cash += b.total % 100;
    if (r.chance(0.15F)) b.cash = b.total;
  }

  void sums(bool unusual) {
    if (r.chance(0.6F) || b.discount > 0 || !b.tax_included)
      amount(r.pick<"receipt.subtotal">(), b.subtotal, "subtotal");
    if (b.discount > 0) amount(r.pick<"receipt.discount">(), -b.discount, "discount");
    if (!b.tax_included)
      amount(r.pick<"receipt.tax">() + " " + std::to_string(b.tax_rate) + "%", b.tax, "tax");
    bool unrounded = false;
    if (b.rounding != 0 || r.chance(0.3F)) {
      unrounded = r.chance(0.5F);
      if (unrounded) amount(r.pick<"receipt.unrounded">(), b.total - b.rounding, "unrounded");
      amount(r.pick<"receipt.rounding">(), b.rounding, "rounding");
    }
    std::string label = r.pick<"receipt.total">();
    if (unusual)
      label = unrounded ? r.pick<"receipt.total-rounded">() : r.pick<"receipt.total-unusual">();
    const float scale = r.chance(0.3F) ? r.real(1.15F, 1.6F) : 1.0F;
    amount(label, b.total, "total", r.chance(0.5F), scale);
  }

  void payment(bool unusual) {
    const bool card = b.cash == b.total;
    std::string how = card ? r.pick<"receipt.card">() : r.pick<"receipt.cash">();
    if (unusual && !card) how = r.pick<"receipt.cash-unusual">();
    amount(how, b.cash, "cash");
    if (!card || r.chance(0.5F)) amount(r.pick<"receipt.change">(), b.cash - b.total, "change");
  }

  void tax_summary() {
    pending_gap_ += 0.3F;
    const std::string net = money(b.total - b.rounding - b.tax), tax = money(b.tax);
    const std::string title = r.pick<"receipt.summary">(), of = r.pick<"receipt.summary-net">();
    line({left(title), right(of, "", 0.68F), right(r.pick<"receipt.summary-tax">())}, take_gap());
    line({left(r.pick<"receipt.tax-code">() + " @ " + std::to_string(b.tax_rate) + "%"),
          right(net, "net", 0.68F), right(tax, "tax")});
    if (r.chance(0.3F)) line({left("Total"), right(net, "", 0.68F), right(tax)});
  }

  void closing() {
    rule();
    for (int i = r.between(0, 6); i > 0; --i) {
      float gap = 0.4F;
      for (const std::string& text : r.pick(r.table<"receipt.closing">()))
        line({{text, "", 0.5F, Align::centre}}, std::exchange(gap, 0.0F));
    }
  }

  Random& r;
  Bill& b;
  ReceiptText out_;
  bool left_aligned_ = false, mark_amounts_ = false;
  char rule_ = '-';
  float label_at_ = 0, value_at_ = 1;
  float pending_gap_ = 0;  // above the next line of the details or sums
};

}  // namespace

Bill invent_bill(Random& r) {
  Bill b;
  b.land = r.chance(0.65F) ? Land::malaysia : any_land(r);
  b.shop = shop(r, b.land);
  while (b.shop.size() > 36) b.shop = shop(r, b.land);
  b.street = upper(street(r, b.land));
  b.area = upper(b.land == Land::malaysia ? "TAMAN " + city(r, Land::uk) : "");
  b.city = upper(city_line(r, b.land));
  b.phone = phone(r, b.land);
  b.number = pattern(r, r.pick<"receipt.code">());
  const Date day = date(r, 2012, 2024);
  b.date = format(
      r, day, static_cast<int>(r.weighted({5, 2, 2, 2, 2, 1, 0.6F, 0.4F, 0.5F, 0.6F, 1, 0.3F})));
  b.time = clock(r, r.chance(0.4F));
  if (r.chance(0.5F)) {
    b.cashier = given_name(r);
  } else {
    const std::string desk = digits(r, 2);
    b.cashier = r.pick<"receipt.desk">() + desk;
  }
  b.currency = currency(r, b.land);
  b.items = invent_items(r);
  for (const ReceiptItem& item : b.items) b.subtotal += item.amount();
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

ReceiptText write_receipt(Random& r, Bill& bill) { return ReceiptWriter(r, bill).write(); }

}  // namespace arrcoc::scenes
