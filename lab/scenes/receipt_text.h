// What a receipt says, as lines of cells, before any type is chosen. Look-alike amounts (subtotal,
// rounded total, cash, tax summary) stand near the total on purpose.
#pragma once

#include <string>
#include <vector>

#include "lab/scenes/page.h"

namespace arrcoc::scenes {

// A cell of a printed line: `at` is the share of the text width where it is aligned.
struct ReceiptCell {
  std::string text;
  std::string tag = {};  // what it is, for the questions
  float at = 0;
  Align align = Align::left;
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

// Lines and what stands on them. May change what was paid (bill.cash).
struct ReceiptText {
  std::vector<ReceiptLine> lines;
  size_t body = 0;  // lines before the closing words, which may be left out
  float rows = 0;   // height of all lines
  void drop_last() {
    rows -= lines.back().rows();
    lines.pop_back();
  }
};
ReceiptText write_receipt(Random& random, Bill& bill);

}  // namespace arrcoc::scenes
