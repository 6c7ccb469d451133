// Hard cases: tiny, faint, crowded, huge, and nothing at all.
#include <algorithm>
#include <cmath>

#include "lab/scenes/backdrop.h"
#include "lab/scenes/layouts.h"
#include "lab/scenes/phrases.h"
#include "lab/scenes/things.h"
#include "lab/scenes/words.h"

namespace arrcoc::scenes {
namespace {

std::string word(Random& r) {
  return upper(
      r.pick({"Maple",  "River",  "Copper", "Violin", "Marble",  "Falcon", "Winter", "Lantern",
              "Pepper", "Harbor", "Meadow", "Saturn", "Cactus",  "Velvet", "Anchor", "Bamboo",
              "Castle", "Domino", "Ember",  "Forest", "Glacier", "Hazel",  "Island", "Jungle",
              "Kitten", "Lemon",  "Mirror", "Nectar", "Orbit",   "Pebble", "Quartz", "Ribbon",
              "Silver", "Timber", "Umbra",  "Willow", "Yonder",  "Zephyr"}));
}

std::string code_word(Random& r) {
  return r.chance(0.5F) ? word(r)
                        : pattern(r, r.pick({"@@-####", "####", "@#@#@", "##:##", "@@@ ###"}));
}

Page& wide_page(Context& c, Sheet& sheet, const char* layout, Color ground, int longest) {
  Random& r = c.random;
  sheet.layout = layout;
  sheet.finish = Finish::object;
  const int a = longest, b = static_cast<int>(a * r.real(0.6F, 1.0F));
  const bool tall = r.chance(0.3F);
  sheet.pages.emplace_back(c, tall ? b : a, tall ? a : b, ground);
  return sheet.pages.back();
}

void scatter(Context& c, Page& page, Places& places, int count, float low, float high) {
  Random& r = c.random;
  for (int i = 0; i < count; ++i) {
    Box box;
    const float s = std::floor(c.px(r.real(low, high)));
    if (!places.find(r, s, s, box)) continue;
    const Cutout& cut =
        c.library.cutouts()[static_cast<size_t>(r.pick(c.library.usable(c.options.held_back)))];
    page.cutout(page.item(box, cut.name), cut, r.chance(0.5F));
  }
}

}  // namespace

Sheet tiny_corner(Context& c) {
  Random& r = c.random;
  Sheet sheet;
  Page& page = wide_page(c, sheet, "tiny-corner", muted(r), c.options.longest);
  backdrop(page, r);
  const float W = static_cast<float>(page.canvas.width), H = static_cast<float>(page.canvas.height);
  Places places(W, H, c.px(8));
  const Family& family = c.family("sans");
  const std::vector<std::string> corners = {"top left", "top right", "bottom left", "bottom right"};
  for (const std::string& corner : corners) {
    if (r.chance(0.3F)) {
      page.ask({"hard.corner", {{"corner", corner}}, "none", {}, {}, Level::simple, 0.12F});
      continue;
    }
    const Style small = style(family, c.px(r.real(9, 13)), {250, 250, 250});
    const std::string text = code_word(r);
    const float tw = page.measure(text, small);
    const bool left = corner.find("left") != std::string::npos,
               top = corner.find("top") != std::string::npos;
    const float x = left ? c.px(10) : W - c.px(10) - tw,
                y = top ? c.px(10) + small.size : H - c.px(10);
    const Box plate{x - 4, y - small.size, x + tw + 4, y + small.size * 0.35F};
    const Color ground = r.chance(0.6F) ? Color{245, 245, 240} : Color{30, 30, 35};
    page.canvas.rect(plate.x0, plate.y0, plate.x1, plate.y1, ground);
    const Run run = page.text(x, y, text, coloured(small, readable_on(ground)));
    places.take(plate);
    page.ask({"hard.corner", {{"corner", corner}}, text, {run}, {}, Level::medium, 1});
  }
  if (page.texts.empty()) return tiny_corner(c);
  scatter(c, page, places, r.between(3, 12), 60, 240);
  return sheet;
}

// Grey on grey beside a loud distractor.
Sheet camouflage(Context& c) {
  Random& r = c.random;
  Sheet sheet;
  const int base = r.between(50, 190);
  auto grey = [](int v) {
    return Color{static_cast<uint8_t>(v), static_cast<uint8_t>(v), static_cast<uint8_t>(v)};
  };
  Page& page = wide_page(c, sheet, "camouflage", grey(base), c.options.longest);
  const float W = static_cast<float>(page.canvas.width), H = static_cast<float>(page.canvas.height);
  Places places(W, H, c.px(12));
  if (r.chance(0.5F))
    for (int i = r.between(10, 60); i > 0; --i)
      page.canvas.ellipse(r.real(0, W), r.real(0, H), c.px(r.real(20, 120)), c.px(r.real(20, 120)),
                          grey(base + r.between(-7, 7)));
  const Family& family = c.family(r.pick({"sans", "display", "serif"}));
  const Style faint = style(
      family, c.px(r.real(18, 44)),
      grey(std::clamp(base + (r.chance(0.5F) ? 1 : -1) * r.between(20, 42), 0, 255)), Weight::bold);
  const std::string hidden = word(r);
  Box box;
  places.find(r, page.measure(hidden, faint) + 4, faint.size * 1.3F, box);
  const Run run = page.text(box.x0, box.y0 + faint.size, hidden, faint);
  page.ask({"hard.hidden", {}, hidden, {run}, {}, Level::complex, 3});
  for (int i = r.between(1, 4); i > 0; --i) {
    const Named& color = plain_colors()[static_cast<size_t>(i)];
    const Style loud = style(family, c.px(r.real(16, 40)), {250, 250, 250}, Weight::bold);
    const std::string text = word(r);
    const float tw = page.measure(text, loud) + loud.size;
    if (text == hidden || !places.find(r, tw, loud.size * 1.6F, box)) continue;
    page.canvas.rect(box.x0, box.y0, box.x1, box.y1, color.color);
    const Run label = page.text(box.x0 + loud.size / 2, box.y0 + loud.size * 1.15F, text,
                                coloured(loud, readable_on(color.color)));
    page.ask({"hard.distractor", {{"color", color.name}}, text, {label}, {}, Level::simple, 0.5F});
  }
  return sheet;
}

// Dozens of labels, each colour once.
Sheet distractors(Context& c) {
  Random& r = c.random;
  Sheet sheet;
  Page& page =
      wide_page(c, sheet, "distractors", mix(muted(r), {255, 255, 255}, 0.6F), c.options.longest);
  const float W = static_cast<float>(page.canvas.width), H = static_cast<float>(page.canvas.height);
  Places places(W, H, c.px(6));
  const Family& family = c.family(r.pick({"sans", "narrow", "mono"}));
  std::vector<Named> colors = plain_colors();
  r.shuffle(colors);
  const int asked = r.between(4, static_cast<int>(colors.size()));
  const Color common = mix(muted(r), {255, 255, 255}, 0.3F);
  for (int i = 0, n = r.between(25, 70); i < n; ++i) {
    const Style s = style(family, c.px(r.real(11, 22)), {20, 20, 20}, Weight::bold);
    const std::string text = code_word(r);
    const Color ground = i < asked ? colors[static_cast<size_t>(i)].color : common;
    Box box;
    if (!places.find(r, page.measure(text, s) + s.size, s.size * 1.5F, box)) continue;
    page.canvas.rect(box.x0, box.y0, box.x1, box.y1, ground);
    const Run run = page.text(box.x0 + s.size / 2, box.y0 + s.size * 1.1F, text,
                              coloured(s, readable_on(ground)));
    if (i < asked)
      page.ask({"hard.distractor",
                {{"color", colors[static_cast<size_t>(i)].name}},
                text,
                {run},
                {},
                Level::medium,
                1});
  }
  if (asked < static_cast<int>(colors.size()))
    page.ask({"hard.distractor",
              {{"color", colors[static_cast<size_t>(asked)].name}},
              "none",
              {},
              {},
              Level::medium,
              0.5F});
  return sheet;
}

// Four megapixels with a few small plates.
Sheet needle(Context& c) {
  Random& r = c.random;
  Sheet sheet;
  Page& page = wide_page(c, sheet, "needle", muted(r), c.options.longest * 2);
  backdrop(page, r);
  const float W = static_cast<float>(page.canvas.width), H = static_cast<float>(page.canvas.height);
  Places places(W, H, c.px(10));
  const Family& family = c.family("sans");
  std::vector<std::pair<std::string, std::string>> plates = {
      {"licence plate", pattern(r, "@@@-####")},
      {"house number", std::to_string(r.between(1, 990))},
      {"phone number", phone(r, Land::us)},
      {"password", pattern(r, "@#@@#")},
      {"serial number", pattern(r, "SN ######")},
      {"locker number", std::to_string(r.between(100, 999))}};
  r.shuffle(plates);
  const size_t shown_ = static_cast<size_t>(r.between(1, 3));
  for (size_t i = 0; i < shown_; ++i) {
    const Style s = style(family, c.px(r.real(13, 24)), {20, 20, 20}, Weight::bold),
                small = style(family, c.px(11), {60, 60, 60});
    const float tw =
        std::max(page.measure(plates[i].second, s), page.measure(plates[i].first, small)) + s.size;
    Box box;
    if (!places.find(r, tw, s.size * 1.5F + small.size * 1.5F, box)) continue;
    page.canvas.rect(box.x0, box.y0, box.x1, box.y1, {248, 248, 240});
    const Run key =
        page.text(box.x0 + s.size / 2, box.y0 + small.size * 1.2F, plates[i].first, small);
    const Run run = page.text(box.x0 + s.size / 2, box.y1 - s.size * 0.35F, plates[i].second, s);
    page.ask({"hard.needle",
              {{"what", plates[i].first}},
              plates[i].second,
              {run},
              {key.box},
              Level::complex,
              1});
  }
  page.ask({"hard.needle", {{"what", plates[shown_].first}}, "none", {}, {}, Level::complex, 0.3F});
  scatter(c, page, places, r.between(10, 40), 50, 220);
  return sheet;
}

Sheet odd_one_out(Context& c) {
  Random& r = c.random;
  Sheet sheet;
  Page& page =
      wide_page(c, sheet, "odd-one-out", mix(muted(r), {255, 255, 255}, 0.5F), c.options.longest);
  const auto two = unlike_cutouts(c, 2);
  const Cutout &many = *two[0], &one = *two[1];
  const int columns = r.between(5, 12);
  const float cell = static_cast<float>(page.canvas.width) / columns,
              s = std::floor(cell * r.real(0.55F, 0.85F));
  const int rows = static_cast<int>(page.canvas.height / cell);
  if (rows < 1) return odd_one_out(c);
  const int odd = r.between(0, columns * rows - 1);
  for (int i = 0; i < columns * rows; ++i) {
    const float x = std::floor(cell * (i % columns) + (cell - s) * r.unit()),
                y = std::floor(cell * (i / columns) + (cell - s) * r.unit());
    const Cutout& cut = i == odd ? one : many;
    const Run run = page.item({x, y, x + s, y + s}, cut.name);
    page.cutout(run, cut, r.chance(0.5F));
    if (i == odd) page.ask({"hard.odd", {}, one.name, {run}, {}, Level::complex, 2});
    if (i == (odd + 1) % (columns * rows))
      page.ask({"hard.common", {}, many.name, {run}, {}, Level::simple, 1});
  }
  return sheet;
}

Sheet crowd_compare(Context& c) {
  Random& r = c.random;
  Sheet sheet;
  Page& page =
      wide_page(c, sheet, "crowd", mix(muted(r), {255, 255, 255}, 0.5F), c.options.longest);
  const float W = static_cast<float>(page.canvas.width), H = static_cast<float>(page.canvas.height);
  Places places(W, H, c.px(4));
  auto sorts = unlike_cutouts(c, 12);
  std::erase_if(sorts, [](const Cutout* cut) { return !countable(cut->name); });
  struct Heap {
    const Cutout* cut;
    std::vector<Run> runs;
  };
  std::vector<Heap> heaps;
  const size_t n = std::min(static_cast<size_t>(r.between(2, 5)), sorts.size());
  for (size_t k = 0; k < n; ++k) {
    Heap heap{sorts[k], {}};
    const float s = std::floor(c.px(r.real(44, 84)));
    for (int i = r.between(1, 10); i > 0; --i) {
      Box box;
      if (!places.find(r, s, s, box)) continue;
      heap.runs.push_back(page.item(box, heap.cut->name));
      page.cutout(heap.runs.back(), *heap.cut, r.chance(0.5F));
    }
    heaps.push_back(heap);
  }
  for (size_t i = 0; i < heaps.size(); ++i) {
    page.ask({"object.count",
              {{"name", heaps[i].cut->name}, {"names", plural(heaps[i].cut->name)}},
              std::to_string(heaps[i].runs.size()),
              heaps[i].runs,
              {},
              Level::complex,
              1});
    const Heap& next = heaps[(i + 1) % heaps.size()];
    if (next.runs.size() == heaps[i].runs.size()) continue;
    const Heap& win = next.runs.size() > heaps[i].runs.size() ? next : heaps[i];
    const Heap& lose = &win == &next ? heaps[i] : next;
    std::vector<Box> others;
    for (const Run& run : lose.runs) others.push_back(run.box);
    page.ask({"hard.compare",
              {{"a", heaps[i].cut->name},
               {"b", next.cut->name},
               {"as", plural(heaps[i].cut->name)},
               {"bs", plural(next.cut->name)}},
              win.cut->name,
              win.runs,
              others,
              Level::complex,
              1});
  }
  return sheet;
}

// Noise, gradients, blank paper: the only right answer is "none".
Sheet nothing(Context& c) {
  Random& r = c.random;
  Sheet sheet;
  Page& page = wide_page(c, sheet, "nothing", muted(r), c.options.longest);
  switch (r.between(0, 3)) {
    case 0:
      for (size_t i = 0; i < page.canvas.rgb.size(); i += 8) {
        uint64_t bits = r.next();
        for (size_t k = i; k < std::min(i + 8, page.canvas.rgb.size()); ++k, bits >>= 8)
          page.canvas.rgb[k] = static_cast<uint8_t>(bits & 255);
      }
      break;
    case 1:
      page.canvas.gradient(0, 0, static_cast<float>(page.canvas.width),
                           static_cast<float>(page.canvas.height), muted(r), muted(r));
      break;
    case 2:
      page.canvas = Canvas(page.canvas.width, page.canvas.height, {250, 250, 248});
      break;
    default:
      backdrop(page, r);
  }
  for (int i = 0; i < 2; ++i) page.ask({"hard.none", {}, "none", {}, {}, Level::simple, 1});
  return sheet;
}

}  // namespace arrcoc::scenes
