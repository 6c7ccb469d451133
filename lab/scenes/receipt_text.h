// What a receipt says, as lines of cells, before any type is chosen. Look-alike amounts (subtotal,
// rounded total, cash, tax summary) stand near the total on purpose.
#pragma once

#include <string>
#include <vector>

#include "lab/scenes/page.h"
#include "lab/scenes/words.h"

namespace arrcoc::scenes {

// A cell of a printed line: `at` is the share of the text width where it is aligned.
struct ReceiptCell {
  std::string text;
  float at = 0;
  Align align = Align::left;
  std::string tag = {};  // what it is, for the questions
  bool follows = false;  // starts where the cell before ended
};
struct ReceiptLine {
  std::vector<ReceiptCell> cells;
  bool bold = false;
  float scale = 1;  // type size
  float gap = 0;    // additional space above, in lines
  char rule = 0;    // '-', '=', '*', '.', '_' : a drawn or typed rule
  float rows() const { return (rule ? 0.7F : scale) + gap; }
};

struct ReceiptItem {
  std::string name, code;
  int quantity = 1, price = 0;
  int amount() const { return quantity * price; }
};

struct Bill {
  Land land = Land::malaysia;
  std::string shop, street, area, city, phone, number, date, time, cashier, currency;
  std::vector<ReceiptItem> items;
  int subtotal = 0, discount = 0, tax = 0, rounding = 0, total = 0, cash = 0, tax_rate = 6;
  bool tax_included = true;
};

Bill invent_bill(Random& random);

class ReceiptWriter {
 public:
  ReceiptWriter(Random& random, Bill bill) : r(random), b(std::move(bill)) {}
  std::vector<ReceiptLine> lines;

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
  std::string total_label;

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
    ReceiptLine line{{{label, label_at_, Align::left, tag + ".label"}}, bold, scale, pending_, 0};
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
  void pay_otherwise();

  Random& r;
  Bill b;
  bool head_left_ = false, details_before_ = false, mark_amounts_ = false;
  char rule_ = '-';
  size_t body_ = 0;  // lines before the footer
  float label_at_ = 0, value_at_ = 1, pending_ = 0;
};

}  // namespace arrcoc::scenes
