#include "lab/scenes/receipt_text.h"

#include <algorithm>

namespace arrcoc::scenes {

Bill invent_bill(Random& r) {
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
    ReceiptItem item;
    item.name = strange(r, good.name);
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

void ReceiptWriter::header() {
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

void ReceiptWriter::details() {
  const std::string colon = r.pick({": ", " : ", ":", " "});
  std::vector<std::vector<ReceiptCell>> parts;
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
    std::vector<ReceiptCell> cells = {{when + colon, 0, Align::left, "date.label"},
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
    ReceiptLine line{parts[i], false, 1, pending_, 0};
    pending_ = 0;
    if (two_columns && i + 1 < parts.size() && parts[i].size() < 3) {
      for (ReceiptCell cell : parts[i + 1]) {
        if (!cell.follows) cell.at = 0.56F;
        line.cells.push_back(cell);
      }
      ++i;
    }
    lines.push_back(line);
  }
}

void ReceiptWriter::items() {
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
  for (const ReceiptItem& item : b.items) {
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

// Notes that people hand over: the next 1.00, 5.00, ... 100.00, or one with the odd coins.
void ReceiptWriter::pay_otherwise() {
  const int note =
      std::vector<int>{100, 500, 1000, 2000, 5000, 10000}[r.weighted({1, 2, 3, 2, 3, 2})];
  b.cash = (b.total / note + 1) * note;
  if (r.chance(0.2F)) b.cash += b.total % 100;
  if (r.chance(0.15F)) b.cash = b.total;
}

void ReceiptWriter::totals() {
  // Labels and notes of receipts from elsewhere; strange scenes only.
  const bool unusual = r.strangeness > 0 && r.chance(0.6F);
  if (unusual) pay_otherwise();
  bool unrounded = false;
  mark_amounts_ = r.chance(0.3F);
  label_at_ = r.chance(0.6F) ? 0.0F : r.real(0.1F, 0.35F);
  value_at_ = r.chance(0.75F) ? 1.0F : 0.94F;
  if (r.chance(0.35F)) {
    int pieces = 0;
    for (const ReceiptItem& item : b.items) pieces += item.quantity;
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
    unrounded = r.chance(0.5F);
    if (unrounded)
      amount(r.pick({"Total Incl. GST", "TOTAL SALES (INCL GST)", "Total Amt Incl. Tax",
                     "Amount Before Rounding"}),
             due, "unrounded");
    amount(r.pick({"Rounding Adj", "ROUNDING", "Rounding Adjustment", "Round Adj"}), b.rounding,
           "rounding");
  }
  total_label = r.pick({"TOTAL", "Total", "GRAND TOTAL", "Total Amount", "NET TOTAL", "TOTAL DUE",
                        "Total Payable", "Amount Due", "Total :", "TOTAL RM", "Final Total",
                        "Total Rounded", "NETT TOTAL"});
  if (unusual)
    total_label = unrounded
                      ? r.pick({"Total Rounded", "ROUNDED TOTAL", "Total Amt Payable",
                                "AMOUNT PAYABLE", "Nett Amount", "TOTAL TO PAY"})
                      : r.pick({"Total Sales (Inclusive of GST)", "TOTAL INCL. GST",
                                "Total Amt Payable", "TOTAL AMT", "Amount Payable", "BILL TOTAL",
                                "Total Inc. Tax", "NET AMOUNT", "TOTAL (RM)", "Invoice Total",
                                "Nett Amount", "TOTAL TO PAY", "Sum Total", "Total Due", "JUMLAH"});
  amount(total_label, b.total, "total", r.chance(0.5F),
         r.chance(0.3F) ? r.real(1.15F, 1.6F) : 1.0F);
  if (r.chance(0.3F)) rule();
  if (r.chance(0.8F)) {
    const bool card = b.cash == b.total;
    std::string how =
        card ? r.pick({"VISA", "MASTER CARD", "Credit Card", "CASH", "E-WALLET", "Debit Card"})
             : r.pick({"CASH", "Cash", "Cash Tendered", "Payment", "Amount Tendered", "PAID"});
    if (unusual && !card)
      how = r.pick({"CASH", "CASH RECEIVED", "Paid Amount", "CASH PAYMENT", "TENDER", "Amt Paid",
                    "Cash :", "Received", "TUNAI", "CASH RM"});
    amount(how, b.cash, "cash");
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

void ReceiptWriter::footer() {
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

}  // namespace arrcoc::scenes
