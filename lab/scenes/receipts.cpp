// Receipts: first the lines are written down as data (receipt_text.h), then the type size is chosen
// so that they fit, then they are printed.
#include <algorithm>
#include <cmath>

#include "lab/scenes/layouts.h"
#include "lab/scenes/phrases.h"
#include "lab/scenes/receipt_text.h"

namespace arrcoc::scenes {
namespace {

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
    const ReceiptItem& item = b.items[i];
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
    return std::count_if(b.items.begin(), b.items.end(), [&](const ReceiptItem& i) {
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

}  // namespace

Sheet receipt(Context& c) {
  Random& r = c.random;
  ReceiptWriter writer(r, invent_bill(r));
  writer.write();
  const Bill& b = writer.bill();

  float rows = 0;
  for (const ReceiptLine& line : writer.lines) rows += line.rows();
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
  // Rounding up the size may push the last wish over the edge, or its descenders onto it.
  while (top + rows * line_height + 1 > static_cast<float>(c.options.longest) && writer.closing())
    rows -= writer.drop_last();

  // Wide enough for the longest line in columns of the usual 32 to 48 characters.
  Page probe(c, 8, 8, {255, 255, 255});
  float width = probe.measure(std::string(static_cast<size_t>(r.between(30, 44)), '0'), body);
  for (const ReceiptLine& line : writer.lines) {
    float needed = 0;
    for (const ReceiptCell& cell : line.cells)
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
  for (const ReceiptLine& line : writer.lines) {
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
      const ReceiptCell& cell = line.cells[i];
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
