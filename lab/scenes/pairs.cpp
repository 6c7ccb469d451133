// Pairs: questions across two pictures.
#include <algorithm>
#include <cmath>

#include "lab/scenes/backdrop.h"
#include "lab/scenes/layouts.h"
#include "lab/scenes/things.h"
#include "lab/scenes/words.h"

namespace arrcoc::scenes {
namespace {

const char* const kNth[] = {"first", "second"};

std::string picture(int i) { return std::string(kNth[i]) + " picture"; }

}  // namespace

// The same goods at two prices.
Sheet shelf_pair(Context& c) {
  Random& r = c.random;
  Sheet sheet;
  sheet.layout = "shelf-pair";
  sheet.finish = Finish::object;
  const int w = c.options.longest * 3 / 4, h = static_cast<int>(w * r.real(0.6F, 0.8F));
  const int columns = r.between(3, 5), rows = 2;
  const auto goods = unlike_cutouts(c, static_cast<size_t>(columns * rows));
  const Family& family = c.family("sans");
  const std::string mark = currency(any_land(r));
  const float cw = static_cast<float>(w) / columns, ch = static_cast<float>(h) / rows,
              size = c.px(r.real(12, 18));
  struct Offer {
    const Cutout* cut;
    int cents[2];
    Run price[2], thing[2];
  };
  std::vector<Offer> offers;
  for (const Cutout* cut : goods)
    offers.push_back({cut, {r.between(40, 3900), r.between(40, 3900)}, {}, {}});
  for (int p = 0; p < 2; ++p) {
    sheet.pages.emplace_back(c, w, h, mix(muted(r), {240, 235, 225}, 0.4F));
    Page& page = sheet.pages.back();
    if (p) page.next_item = sheet.pages[0].next_item;
    std::vector<size_t> at(offers.size());
    for (size_t i = 0; i < at.size(); ++i) at[i] = i;
    r.shuffle(at);
    for (size_t k = 0; k < at.size(); ++k) {
      Offer& o = offers[at[k]];
      const float cx = cw * (k % columns + 0.5F), base = ch * (k / columns + 1) - ch * 0.25F,
                  s = std::floor(std::min(cw, ch * 0.65F) * 0.85F);
      const float x = std::floor(cx - s / 2);
      o.thing[p] = page.item({x, std::floor(base - s), x + s, std::floor(base)}, o.cut->name);
      page.cutout(o.thing[p], *o.cut);
      page.canvas.rect(cw * (k % columns), base, cw * (k % columns + 1), base + ch * 0.06F,
                       {130, 100, 70});
      o.price[p] = page.text(cx, base + ch * 0.08F + size, mark + money(o.cents[p]),
                             style(family, size, {20, 20, 20}, Weight::bold), Align::centre);
    }
  }
  for (const Offer& o : offers) {
    for (int p = 0; p < 2; ++p)
      sheet.asks.push_back({"pair.price",
                            {{"name", o.cut->name}, {"nth", kNth[p]}},
                            money(o.cents[p]),
                            {o.price[p]},
                            {o.thing[p].box},
                            Level::medium,
                            1,
                            p,
                            {}});
    if (o.cents[0] == o.cents[1]) continue;
    const int win = o.cents[0] < o.cents[1] ? 0 : 1;
    sheet.asks.push_back({"pair.cheaper",
                          {{"name", o.cut->name}},
                          picture(win),
                          {o.price[win]},
                          {o.thing[win].box},
                          Level::complex,
                          1,
                          win,
                          {}});
  }
  return sheet;
}

// Two pictures that differ in one thing, and by counts.
Sheet spot_difference(Context& c) {
  Random& r = c.random;
  Sheet sheet;
  sheet.layout = "spot-the-difference";
  sheet.finish = Finish::object;
  const int w = c.options.longest * 3 / 4, h = static_cast<int>(w * r.real(0.6F, 0.9F));
  Page ground(c, w, h, mix(muted(r), {255, 255, 255}, 0.5F));
  if (r.chance(0.5F)) backdrop(ground, r);
  Places places(static_cast<float>(w), static_cast<float>(h), c.px(8));
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
  const Cutout& added = *sorts.back();
  for (int p = 0; p < 2; ++p) {
    sheet.pages.push_back(ground);
    Page& page = sheet.pages.back();
    if (p) page.next_item = sheet.pages[0].next_item;
    for (size_t i = 0; i < spots.size(); ++i) {
      if (p == 1 && i == gone) continue;
      const Run run = page.item(spots[i].box, spots[i].cut->name);
      page.cutout(run, *spots[i].cut);
      if (p == 0 && i == gone) {
        sheet.asks.push_back(
            {"pair.different", {}, spots[i].cut->name, {run}, {}, Level::complex, 2, 0, {}});
        sheet.asks.push_back({"pair.which",
                              {{"name", spots[i].cut->name}},
                              picture(0),
                              {run},
                              {},
                              Level::medium,
                              1,
                              0,
                              {}});
      }
    }
    if (p == 1) {
      const Run run = page.item(extra, added.name);
      page.cutout(run, added);
      sheet.asks.push_back(
          {"pair.which", {{"name", added.name}}, picture(1), {run}, {}, Level::medium, 1, 1, {}});
    }
  }
  return sheet;
}

// Two receipts or two forms; the question says which.
Sheet document_pair(Context& c) {
  Random& r = c.random;
  const bool bills = r.chance(0.5F);
  Sheet sheet;
  sheet.layout = bills ? "receipt-pair" : "form-pair";
  sheet.finish = bills ? Finish::receipt : Finish::scan;
  Options smaller = c.options;
  smaller.longest = std::max(64, c.options.longest * 3 / 4);
  const int first_item = c.first_item;
  for (int p = 0; p < 2; ++p) {
    Context inner{c.library, smaller, r, c.suppressed, p ? sheet.pages[0].next_item : first_item};
    Sheet one = bills ? receipt(inner) : form(inner);
    Page& page = one.pages[0];
    for (Ask& ask : page.asks) {
      std::string key;
      if (ask.intent == "receipt.total") key = "total";
      if (ask.intent == "receipt.date") key = "date";
      if (ask.intent == "receipt.company") key = "company";
      if (ask.intent == "form.title") key = "title";
      if (ask.intent == "form.field" || ask.intent == "receipt.field" ||
          ask.intent == "receipt.amount")
        key = ask.slots[0].second;
      if (key.empty()) continue;
      ask.intent = "pair.field";
      ask.slots = {{"key", key}, {"nth", kNth[p]}};
      ask.picture = p;
      sheet.asks.push_back(ask);
    }
    page.asks.clear();
    sheet.pages.push_back(std::move(page));
  }
  return sheet;
}

}  // namespace arrcoc::scenes
