// Receipts: first the lines are written down as data (receipt_text.h), then the type size is chosen
// so that they fit, then they are printed.
#include <algorithm>
#include <cmath>

#include "lab/scenes/layouts.h"
#include "lab/scenes/receipt_text.h"

namespace arrcoc::scenes {
namespace {

class ReceiptQuestions {
 public:
  using Printed = std::vector<std::pair<std::string, Run>>;  // tag, run
  ReceiptQuestions(Page& page, const Printed& printed, const Bill& bill, Random& random)
      : page_(page), printed_(printed), b(bill), r(random) {}

  void ask() {
    fact("receipt.total", "total", figure(text("total")), 5, medium);
    fact("receipt.date", "date", b.date, 5);
    fact("receipt.company", "company", b.shop, 4);
    fact("receipt.address", "address", b.street, 0.8F);
    field("number", r.pick<"receipt.asked-number">(), b.number, 1.2F);
    field("time", r.pick<"receipt.asked-time">(), b.time, 1);
    field("cashier", r.pick<"receipt.asked-cashier">(), b.cashier, 1);
    field("table", r.pick<"receipt.asked-table">(), text("table"), 0.3F);
    for (const Row& row : r.table<"receipt.asked-amount", 2>())
      fact("receipt.amount", row[0], figure(text(row[0])), 0.9F, medium, {{"key", row[1]}});
    for (size_t i = 0; i < b.items.size(); ++i) item(i);
    extreme("receipt.most", [](int a, int than) { return a > than; });
    extreme("receipt.least", [](int a, int than) { return a < than; });
    if (!find("cashier")) page_.ask_none("receipt.field", 0.4F, simple, {{"key", "cashier"}});
    if (!find("discount")) page_.ask_none("receipt.amount", 0.4F, simple, {{"key", "discount"}});
  }

 private:
  const Run* find(const std::string& tag) const {
    for (const auto& [name, run] : printed_)
      if (name == tag) return &run;
    return nullptr;
  }
  std::string text(const std::string& tag) const {
    const Run* run = find(tag);
    return run ? run->text : std::string();
  }
  void fact(const std::string& intent, const std::string& tag, const std::string& answer,
            float weight, Complexity complexity = simple, const Slots& slots = {}) {
    const Run* run = find(tag);
    if (!run) return;
    std::vector<Box> evidence;
    if (const Run* label = find(tag + ".label")) evidence.push_back(label->box);
    page_.ask(intent, answer, {*run}, weight, complexity, slots, evidence);
  }
  void field(const std::string& tag, const std::string& key, const std::string& answer,
             float weight) {
    fact("receipt.field", tag, answer, weight, simple, {{"key", key}});
  }

  void item(size_t i) {
    const ReceiptItem& item = b.items[i];
    const bool several = item.quantity > 1;
    const std::string tag = "item" + std::to_string(i);
    const Slots slots = {{"item", r.chance(0.5F) ? item.name : lower(item.name)}};
    std::vector<Box> evidence;
    if (const Run* run = find(tag + ".name")) evidence.push_back(run->box);
    if (const Run* run = find(tag + ".amount"))
      page_.ask(several ? "receipt.line" : "receipt.price", money(item.amount()), {*run}, 0.5F,
                medium, slots, evidence);
    if (const Run* run = find(tag + ".price"); run && several)
      page_.ask("receipt.unit", money(item.price), {*run}, 0.4F, medium, slots, evidence);
    if (const Run* run = find(tag + ".quantity"))
      page_.ask("receipt.quantity", std::to_string(item.quantity), {*run}, 0.25F, medium, slots,
                evidence);
    if (const Run* run = find(tag + ".code"); run && !run->text.empty())
      page_.ask("receipt.code", item.code, {*run}, 0.25F, medium, slots, evidence);
  }

  // The dearest or cheapest line. It must hold the dearest or cheapest piece too, else "most
  // expensive" has two meanings.
  void extreme(const char* intent, bool (*beats)(int, int)) {
    size_t best = 0;
    for (size_t i = 0; i < b.items.size(); ++i)
      if (beats(b.items[i].amount(), b.items[best].amount())) best = i;
    const ReceiptItem& winner = b.items[best];
    const bool unique = std::count_if(b.items.begin(), b.items.end(), [&](const ReceiptItem& i) {
                          return i.amount() == winner.amount() || !beats(winner.price, i.price);
                        }) == 1;
    const std::string tag = "item" + std::to_string(best);
    const Run *name = find(tag + ".name"), *value = find(tag + ".amount");
    if (b.items.size() > 2 && unique && name && value)
      page_.ask(intent, winner.name, {*name}, 0.4F, complex, {}, {value->box});
  }

  Page& page_;
  const Printed& printed_;
  const Bill& b;
  Random& r;
};

// Where the cells of a line start, and last where the line ends: cells give way to the right
// rather than run into each other.
std::vector<float> cell_starts(const Page& page, const ReceiptLine& line, const Style& style,
                               float x0, float width) {
  std::vector<float> starts;
  float end = x0;
  bool first = true;
  for (const ReceiptCell& cell : line.cells) {
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

// How a receipt is printed.
struct Print {
  Style body, strong;
  float line_height = 0, width = 0;  // of the text
};

// Wide enough for the longest line in columns of the usual 32 to 48 characters.
float text_width(Context& c, const ReceiptText& text, const Style& body) {
  const Page probe(c, 8, 8, kWhite);
  float width =
      probe.measure(std::string(static_cast<size_t>(c.random.between(30, 44)), '0'), body);
  for (const ReceiptLine& line : text.lines) {
    float needed = 0;
    for (const ReceiptCell& cell : line.cells)
      needed += probe.measure(cell.text, sized(body, body.size * line.scale));
    width = std::max(width, std::min(needed * 1.06F, static_cast<float>(c.options.longest) * 0.8F));
  }
  return width;
}

void draw_rule(Page& page, char rule, const Print& p, float x0, float y, bool typed) {
  const float size = p.body.size;
  if (typed && rule != '_')
    page.dashed(x0, x0 + p.width, y, rule == '.' ? 2 : size * 0.42F, size * 0.2F,
                std::max(1.0F, size / 14), p.body.color);
  else
    page.hline(x0, x0 + p.width, y, 1, p.body.color);
  if (rule == '=') page.dashed(x0, x0 + p.width, y + 3, size * 0.42F, size * 0.2F, 1, p.body.color);
}

ReceiptQuestions::Printed print(Page& page, const ReceiptText& text, const Print& p, float x0,
                                float y, bool typed_rules) {
  ReceiptQuestions::Printed printed;
  for (const ReceiptLine& line : text.lines) {
    y += line.gap * p.line_height;
    if (line.rule) {
      draw_rule(page, line.rule, p, x0, y + p.line_height * 0.35F, typed_rules);
      y += p.line_height * 0.7F;
      continue;
    }
    Style used = line.bold ? p.strong : p.body;
    used.size = std::round(p.body.size * line.scale * 2) / 2;
    // Printers squeeze long lines: until the last cell ends on the paper.
    for (int tries = 0; tries < 8; ++tries) {
      const float over = cell_starts(page, line, used, x0, p.width).back() - x0;
      if (over <= p.width) break;
      used.stretch *= p.width / over * 0.99F;
    }
    const float baseline = y + p.line_height * line.scale * 0.8F;
    const std::vector<float> starts = cell_starts(page, line, used, x0, p.width);
    for (size_t i = 0; i < line.cells.size(); ++i) {
      const ReceiptCell& cell = line.cells[i];
      if (cell.text.empty()) continue;
      const Run run = page.text(starts[i], baseline, cell.text, used);
      if (!cell.tag.empty()) printed.emplace_back(cell.tag, run);
    }
    y += p.line_height * line.scale;
  }
  return printed;
}

// What bookkeepers write into the free margin.
void margin_note(Context& c, Page& page) {
  Random& r = c.random;
  const std::string note = r.chance(0.6F) ? digits(r, r.between(3, 8)) : given_name(r);
  const Color ink = r.chance(0.5F) ? Color{40, 50, 140} : Color{40, 40, 40};
  const float size = c.px(r.real(20, 34));
  const Style pen = style(c.family("hand"), size, ink);
  const float width = page.measure(note, pen), at = r.real(6, std::max(7.0F, page.w() - width - 6)),
              base = pen.size * 1.3F + r.real(0, 8);
  if (page.free({at - 4, 0, at + width * 1.1F + 4, base + pen.size * 0.8F}))
    page.text(at, base, note, pen);
}

}  // namespace

Sheet receipt(Context& c) {
  Random& r = c.random;
  const int longest = c.options.longest;
  Bill bill = invent_bill(r);
  ReceiptText text = write_receipt(r, bill);
  const bool on_page = r.chance(0.12F);  // a small receipt scanned on a large white page
  const float top = c.px(r.real(14, 110)), bottom = c.px(r.real(14, 90));
  // Small type needs relatively more: whole pixels between the lines.
  const float spacing = std::max(r.real(1.2F, 1.5F), 1 + 2.2F / std::max(7.0F, c.px(9.5F)));
  // Closing words are left out where the paper ends before them.
  const float capacity = (longest - top - bottom) / (c.px(9.5F) * spacing);
  while (text.rows > capacity && text.lines.size() > text.body) text.drop_last();
  float size = (longest * (on_page ? 0.62F : 1.0F) - top - bottom) / (text.rows * spacing);
  size = std::clamp(size, c.px(9.5F), c.px(r.real(16, 27)));
  const bool proportional = r.chance(0.3F);
  const Family& family = c.family(proportional ? (r.chance(0.5F) ? "sans" : "narrow") : "thermal");
  const Color ink = r.chance(0.15F) ? Color{70, 70, 150} : mix(kBlack, {95, 95, 100}, r.unit());
  Print p;
  p.body = style(family, std::round(size * 2) / 2, ink,
                 proportional && r.chance(0.2F) ? Weight::bold : Weight::regular);
  p.body.stretch = proportional ? 1.0F : r.real(0.85F, 1.05F);
  if (!proportional && r.chance(0.25F)) p.body.twice = true;
  p.strong = bold(family, p.body.size, ink);
  p.strong.stretch = p.body.stretch;
  p.line_height = p.body.size * spacing;
  // Rounding up the size may push the last line over the edge, or its descenders onto it.
  while (top + text.rows * p.line_height + 1 > static_cast<float>(longest) &&
         text.lines.size() > text.body)
    text.drop_last();
  p.width = text_width(c, text, p.body);
  const float margin = c.px(r.real(10, 60));
  int w = static_cast<int>(p.width + 2 * margin),
      h = static_cast<int>(text.rows * p.line_height + top + bottom);
  float x0 = margin, y = top;
  if (on_page) {
    const int page_w = static_cast<int>(longest * r.real(0.68F, 0.8F));
    x0 += std::max(0.0F, (page_w - w) * r.real(0.2F, 0.8F));
    y += std::max(0.0F, (longest - h) * r.real(0.1F, 0.6F));
    w = std::max(w, page_w);
    h = longest;
  }
  Sheet sheet("receipt", Finish::receipt);
  Page& page = sheet.add(c, std::min(w, longest), std::min(h, longest));
  const auto printed = print(page, text, p, x0, y, r.chance(0.6F));
  if (r.chance(0.18F)) margin_note(c, page);
  ReceiptQuestions(page, printed, bill, r).ask();
  return sheet;
}

}  // namespace arrcoc::scenes
