// Shelves with price tags, and questions across two pictures.
#include <algorithm>
#include <cmath>
#include <map>

#include "lab/scenes/backdrop.h"
#include "lab/scenes/layouts.h"
#include "lab/scenes/things.h"

namespace arrcoc::scenes {
namespace {

struct Offer {
  const Cutout* cut;
  int cents;
  Run thing = {}, price = {};
};

Color wall(Random& r) { return mix(muted(r), {240, 235, 225}, 0.4F); }

void shelf_questions(Context& c, Page& page, const std::vector<Offer>& offers) {
  Random& r = c.random;
  auto once = [&](int cents) {
    return std::count_if(offers.begin(), offers.end(),
                         [&](const Offer& o) { return o.cents == cents; }) == 1;
  };
  const Offer *low = &offers[0], *high = &offers[0];
  std::vector<std::string> names;
  for (const Offer& o : offers) {
    names.push_back(o.cut->name);
    page.ask("shop.price", money(o.cents), {o.price}, 1, medium, {{"name", o.cut->name}},
             {o.thing.box});
    if (once(o.cents))
      page.ask("shop.which", o.cut->name, {o.thing}, 0.3F, medium, {{"price", o.price.text}},
               {o.price.box});
    if (o.cents < low->cents) low = &o;
    if (o.cents > high->cents) high = &o;
  }
  for (const auto& [intent, best] : {std::pair{"shop.cheapest", low}, {"shop.dearest", high}})
    if (once(best->cents))
      page.ask(intent, best->cut->name, {best->thing}, 0.8F, complex, {}, {best->price.box});
  const Offer &a = r.pick(offers), &b = r.pick(offers);
  if (a.cents != b.cents) {
    const Offer& win = a.cents < b.cents ? a : b;
    page.ask("shop.compare", win.cut->name, {win.thing}, 0.8F, complex,
             {{"a", a.cut->name}, {"b", b.cut->name}},
             {a.thing.box, b.thing.box, a.price.box, b.price.box});
  }
  page.ask_none("shop.price", 0.4F, medium, {{"name", absent_cutout(c, names)}});
}

}  // namespace

// Two pictures that differ in one thing, and by counts.
Sheet spot_difference(Context& c) {
  Random& r = c.random;
  Sheet sheet("spot-the-difference", Finish::object);
  const int w = c.options.longest * 3 / 4, h = static_cast<int>(w * r.real(0.6F, 0.9F));
  Page ground(c, w, h, mix(muted(r), kWhite, 0.5F));
  if (r.chance(0.5F)) backdrop(ground, r);
  Places places(ground, c.px(8));
  const auto sorts = unlike_cutouts(c, 10);
  struct Spot {
    const Cutout* cut;
    Box box;
  };
  std::vector<Spot> spots;
  for (size_t i = 0, n = static_cast<size_t>(r.between(4, 9)); i < n; ++i) {
    const float s = std::floor(c.px(r.real(48, 110)));
    Box box;
    if (places.find(r, s, s, box)) spots.push_back({sorts[i], box});
  }
  Box extra;
  const float s = std::floor(c.px(r.real(48, 90)));
  if (spots.size() < 3 || !places.find(r, s, s, extra)) return spot_difference(c);
  const size_t gone = r.next() % spots.size();
  auto which = [&](int picture, const Run& run) {
    sheet
        .ask("pair.which", kNth[picture] + std::string(" picture"), {run}, 1, medium,
             {{"name", run.text}})
        .on(picture);
  };
  for (int p = 0; p < 2; ++p) {
    sheet.pages.push_back(ground);
    Page& page = sheet.pages.back();
    if (p) page.next_item = sheet.pages[0].next_item;
    for (size_t i = 0; i < spots.size(); ++i) {
      if (p == 1 && i == gone) continue;
      const Run run = page.item(spots[i].box, spots[i].cut->name);
      page.cutout(run, *spots[i].cut);
      if (i != gone) continue;
      sheet.ask("pair.different", run, 2, complex).on(0);
      which(0, run);
    }
  }
  Page& second = sheet.pages.back();
  const Run run = second.item(extra, sorts.back()->name);
  second.cutout(run, *sorts.back());
  which(1, run);
  return sheet;
}

// Two receipts or two forms; the question says which.
Sheet document_pair(Context& c) {
  static const std::map<std::string, std::string> keys = {{"receipt.total", "total"},
                                                          {"receipt.date", "date"},
                                                          {"receipt.company", "company"},
                                                          {"form.title", "title"}};
  Random& r = c.random;
  const bool bills = r.chance(0.5F);
  Sheet sheet(bills ? "receipt-pair" : "form-pair", bills ? Finish::receipt : Finish::scan);
  Options smaller = c.options;
  smaller.longest = std::max(64, c.options.longest * 3 / 4);
  for (int p = 0; p < 2; ++p) {
    Context inner{c.library, smaller, r, c.suppressed, p ? sheet.pages[0].next_item : c.first_item};
    Page page = std::move((bills ? receipt(inner) : form(inner)).pages[0]);
    for (Ask& ask : std::exchange(page.asks, {})) {
      std::string key;
      if (const auto found = keys.find(ask.intent); found != keys.end()) key = found->second;
      if (ask.intent == "form.field" || ask.intent == "receipt.field" ||
          ask.intent == "receipt.amount")
        key = ask.slots[0].second;
      if (key.empty()) continue;
      ask.intent = "pair.field";
      ask.slots = {{"key", key}, {"nth", kNth[p]}};
      ask.picture = p;
      sheet.asks.push_back(ask);
    }
    sheet.pages.push_back(std::move(page));
  }
  return sheet;
}

Sheet shop_shelf(Context& c) {
  Random& r = c.random;
  Sheet sheet("shelf", Finish::photo);
  const int w = c.options.longest, h = static_cast<int>(w * r.real(0.65F, 0.9F));
  Page& page = sheet.add(c, w, h, wall(r));
  const int rows = r.between(2, 4), columns = r.between(3, 6);
  const float cell_w = page.w() / columns, cell_h = page.h() / rows;
  const Color board = mix({150, 110, 70}, muted(r), 0.4F);
  const Family& family = c.family(r.pick({"sans", "display", "narrow"}));
  const std::string mark = currency(r, any_land(r));
  const bool behind = r.chance(0.3F);
  std::vector<Offer> offers;
  const auto goods = unlike_cutouts(c, static_cast<size_t>(rows * columns));
  size_t next = 0;
  for (int row = 0; row < rows; ++row) {
    const float base = cell_h * (row + 1) - cell_h * 0.2F;
    page.rect(0, base, page.w(), base + cell_h * 0.2F, board);
    for (int col = 0; col < columns; ++col) {
      if (r.chance(0.1F) || next >= goods.size()) continue;
      const float s = std::floor(std::min(cell_w, cell_h * 0.72F) * r.real(0.6F, 0.92F)),
                  cx = cell_w * (col + 0.5F), x = std::floor(cx - s / 2);
      Offer offer{goods[next++], r.between(25, 4900)};
      offer.thing = page.item({x, base - s, x + s, base}, offer.cut->name);
      if (r.chance(0.5F)) offer.cents = offer.cents / 10 * 10 + 9;
      page.cutout(offer.thing, *offer.cut);
      const std::string price = money(offer.cents),
                        text =
                            behind ? price + " " + mark : mark + (mark == "RM" ? " " : "") + price;
      const float size = std::clamp(cell_h * 0.085F, c.px(11), c.px(24));
      const Style tag =
          style(family, size, {20, 20, 20}, r.chance(0.5F) ? Weight::bold : Weight::regular);
      const float half = (page.measure(text, tag) + size) / 2, ty = base + cell_h * 0.03F;
      page.rect(cx - half, ty, cx + half, ty + size * 1.6F,
                r.chance(0.3F) ? Color{250, 225, 80} : Color{250, 250, 248});
      offer.price = page.centred(cx, ty + size * 1.2F, text, tag);
      offers.push_back(offer);
    }
  }
  if (offers.size() < 2) return shop_shelf(c);
  shelf_questions(c, page, offers);
  return sheet;
}

// The same goods at two prices.
Sheet shelf_pair(Context& c) {
  Random& r = c.random;
  Sheet sheet("shelf-pair", Finish::object);
  const int w = c.options.longest * 3 / 4, h = static_cast<int>(w * r.real(0.6F, 0.8F));
  const int columns = r.between(3, 5), rows = 2;
  const auto goods = unlike_cutouts(c, static_cast<size_t>(columns * rows));
  const Family& family = c.family("sans");
  const std::string mark = currency(r, any_land(r));
  const float cw = static_cast<float>(w) / columns, ch = static_cast<float>(h) / rows,
              size = c.px(r.real(12, 18)), s = std::floor(std::min(cw, ch * 0.65F) * 0.85F);
  std::vector<Offer> offers[2];
  for (const Cutout* cut : goods)
    for (auto& shelf : offers) shelf.push_back({cut, r.between(40, 3900)});
  for (int p = 0; p < 2; ++p) {
    Page& page = sheet.add(c, w, h, wall(r));
    if (p) page.next_item = sheet.pages[0].next_item;
    std::vector<size_t> order(goods.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    r.shuffle(order);
    for (size_t k = 0; k < order.size(); ++k) {
      Offer& o = offers[p][order[k]];
      const float left = cw * (k % columns), cx = cw * (k % columns + 0.5F),
                  base = ch * (k / columns + 1) - ch * 0.25F, x = std::floor(cx - s / 2);
      o.thing = page.item({x, std::floor(base - s), x + s, std::floor(base)}, o.cut->name);
      page.cutout(o.thing, *o.cut);
      page.rect(left, base, cw * (k % columns + 1), base + ch * 0.06F, {130, 100, 70});
      o.price = page.centred(cx, base + ch * 0.08F + size, mark + money(o.cents),
                             bold(family, size, {20, 20, 20}));
    }
  }
  for (size_t i = 0; i < goods.size(); ++i) {
    for (int p = 0; p < 2; ++p) {
      const Offer& o = offers[p][i];
      sheet
          .ask("pair.price", money(o.cents), {o.price}, 1, medium,
               {{"name", o.cut->name}, {"nth", kNth[p]}}, {o.thing.box})
          .on(p);
    }
    if (offers[0][i].cents == offers[1][i].cents) continue;
    const int cheaper = offers[0][i].cents < offers[1][i].cents ? 0 : 1;
    const Offer& o = offers[cheaper][i];
    sheet
        .ask("pair.cheaper", kNth[cheaper] + std::string(" picture"), {o.price}, 1, complex,
             {{"name", o.cut->name}}, {o.thing.box})
        .on(cheaper);
  }
  return sheet;
}

}  // namespace arrcoc::scenes
