// Hard cases: tiny, faint, crowded, huge, and nothing at all.
#include <algorithm>
#include <cmath>

#include "lab/scenes/backdrop.h"
#include "lab/scenes/layouts.h"
#include "lab/scenes/things.h"

namespace arrcoc::scenes {
namespace {

std::string word(Random& r) { return upper(r.pick<"hard.word">()); }
std::string code_word(Random& r) {
  return r.chance(0.5F) ? word(r) : pattern(r, r.pick<"hard.code">());
}

// A page whose longer side is so many times the longest allowed, wide or tall.
Page& wide_page(Context& c, Sheet& sheet, Color ground, int times = 1) {
  const int a = c.options.longest * times, b = static_cast<int>(a * c.random.real(0.6F, 1.0F));
  const bool tall = c.random.chance(0.3F);
  return sheet.add(c, tall ? b : a, tall ? a : b, ground);
}

Color pale(Random& r) { return mix(muted(r), kWhite, 0.5F); }

void scatter(Context& c, Page& page, Places& places, int count, float low, float high) {
  Random& r = c.random;
  for (int i = 0; i < count; ++i) {
    Box box;
    const float s = std::floor(c.px(r.real(low, high)));
    if (!places.find(r, s, s, box)) continue;
    const Cutout& cut = c.any_cutout();
    page.cutout(page.item(box, cut.name), cut, r.chance(0.5F));
  }
}

// Text on a coloured plate, somewhere; no item when there is no room. Sizes in em.
Run plate(Random& r, Page& page, Places& places, const std::string& text, const Style& style,
          Color ground, float tall, float baseline) {
  Box box;
  if (!places.find(r, page.measure(text, style) + style.size, style.size * tall, box)) return {};
  page.rect(box, ground);
  return page.text(box.x0 + style.size / 2, box.y0 + style.size * baseline, text,
                   coloured(style, readable_on(ground)));
}

}  // namespace

Sheet tiny_corner(Context& c) {
  Random& r = c.random;
  Sheet sheet("tiny-corner", Finish::object);
  Page& page = wide_page(c, sheet, muted(r));
  backdrop(page, r);
  Places places(page, c.px(8));
  const Family& family = c.family("sans");
  for (const std::string corner : {"top left", "top right", "bottom left", "bottom right"}) {
    if (r.chance(0.3F)) {
      page.ask_none("hard.corner", 0.12F, simple, {{"corner", corner}});
      continue;
    }
    const Style small = style(family, c.px(r.real(9, 13)), {250, 250, 250});
    const std::string text = code_word(r);
    const float tw = page.measure(text, small);
    const bool left = corner.find("left") != std::string::npos,
               top = corner.find("top") != std::string::npos;
    const float x = left ? c.px(10) : page.w() - c.px(10) - tw,
                y = top ? c.px(10) + small.size : page.h() - c.px(10);
    const Box box{x - 4, y - small.size, x + tw + 4, y + small.size * 0.35F};
    const Color ground = r.chance(0.6F) ? Color{245, 245, 240} : Color{30, 30, 35};
    page.rect(box, ground);
    places.take(box);
    page.ask("hard.corner", page.text(x, y, text, coloured(small, readable_on(ground))), 1, medium,
             {{"corner", corner}});
  }
  if (page.texts.empty()) return tiny_corner(c);
  scatter(c, page, places, r.between(3, 12), 60, 240);
  return sheet;
}

// Grey on grey beside a loud distractor.
Sheet camouflage(Context& c) {
  Random& r = c.random;
  Sheet sheet("camouflage", Finish::object);
  const int base = r.between(50, 190);
  auto grey = [](int v) {
    const auto part = static_cast<uint8_t>(v);
    return Color{part, part, part};
  };
  Page& page = wide_page(c, sheet, grey(base));
  Places places(page, c.px(12));
  if (r.chance(0.5F))
    for (int i = r.between(10, 60); i > 0; --i) {
      const Color shade = grey(base + r.between(-7, 7));
      const float ry = c.px(r.real(20, 120)), rx = c.px(r.real(20, 120)), y = r.real(0, page.h());
      page.ellipse(r.real(0, page.w()), y, rx, ry, shade);
    }
  const Family& family = c.family(r.pick({"sans", "display", "serif"}));
  const int sign = r.chance(0.5F) ? 1 : -1;
  const Color faint_ink = grey(std::clamp(base + sign * r.between(20, 42), 0, 255));
  const Style faint = bold(family, c.px(r.real(18, 44)), faint_ink);
  const std::string hidden = word(r);
  Box box;
  places.find(r, page.measure(hidden, faint) + 4, faint.size * 1.3F, box);
  page.ask("hard.hidden", page.text(box.x0, box.y0 + faint.size, hidden, faint), 3, complex);
  for (int i = r.between(1, 4); i > 0; --i) {
    const NamedColor color = plain_colors(r)[static_cast<size_t>(i)];
    const Style loud = bold(family, c.px(r.real(16, 40)), {250, 250, 250});
    const std::string text = word(r);
    if (text == hidden) continue;
    const Run run = plate(r, page, places, text, loud, color.color, 1.6F, 1.15F);
    if (run.item >= 0) page.ask("hard.distractor", run, 0.5F, simple, {{"color", color.name}});
  }
  return sheet;
}

// Dozens of labels, each colour once.
Sheet distractors(Context& c) {
  Random& r = c.random;
  Sheet sheet("distractors", Finish::object);
  Page& page = wide_page(c, sheet, mix(muted(r), kWhite, 0.6F));
  Places places(page, c.px(6));
  const Family& family = c.family(r.pick({"sans", "narrow", "mono"}));
  std::vector<NamedColor> colors = plain_colors(r);
  r.shuffle(colors);
  const auto asked = static_cast<size_t>(r.between(4, static_cast<int>(colors.size())));
  const Color common = mix(muted(r), kWhite, 0.3F);
  const auto count = static_cast<size_t>(r.between(25, 70));
  for (size_t i = 0; i < count; ++i) {
    const Style s = bold(family, c.px(r.real(11, 22)), {20, 20, 20});
    const std::string text = code_word(r);
    const Run run =
        plate(r, page, places, text, s, i < asked ? colors[i].color : common, 1.5F, 1.1F);
    if (run.item >= 0 && i < asked)
      page.ask("hard.distractor", run, 1, medium, {{"color", colors[i].name}});
  }
  if (asked < colors.size())
    page.ask_none("hard.distractor", 0.5F, medium, {{"color", colors[asked].name}});
  return sheet;
}

// Four megapixels with a few small plates.
Sheet needle(Context& c) {
  Random& r = c.random;
  Sheet sheet("needle", Finish::object);
  Page& page = wide_page(c, sheet, muted(r), 2);
  backdrop(page, r);
  Places places(page, c.px(10));
  const Family& family = c.family("sans");
  std::vector<Field> plates = fields(r, r.table<"hard.plate", 2>());
  r.shuffle(plates);
  const auto shown = static_cast<size_t>(r.between(1, 3));
  for (size_t i = 0; i < shown; ++i) {
    const auto& [name, text, quantity] = plates[i];
    const Style s = bold(family, c.px(r.real(13, 24)), {20, 20, 20}),
                small = style(family, c.px(11), {60, 60, 60});
    const float tw = std::max(page.measure(text, s), page.measure(name, small)) + s.size;
    Box box;
    if (!places.find(r, tw, s.size * 1.5F + small.size * 1.5F, box)) continue;
    page.rect(box, {248, 248, 240});
    const Run key = page.text(box.x0 + s.size / 2, box.y0 + small.size * 1.2F, name, small);
    page.ask("hard.needle", page.text(box.x0 + s.size / 2, box.y1 - s.size * 0.35F, text, s), 1,
             complex, {{"what", name}}, {key.box});
  }
  page.ask_none("hard.needle", 0.3F, complex, {{"what", plates[shown].key}});
  scatter(c, page, places, r.between(10, 40), 50, 220);
  return sheet;
}

Sheet odd_one_out(Context& c) {
  Random& r = c.random;
  Sheet sheet("odd-one-out", Finish::object);
  Page& page = wide_page(c, sheet, pale(r));
  const auto two = unlike_cutouts(c, 2);
  const Cutout &many = *two[0], &one = *two[1];
  const int columns = r.between(5, 12);
  const float cell = page.w() / columns, s = std::floor(cell * r.real(0.55F, 0.85F));
  const int rows = static_cast<int>(page.h() / cell);
  if (rows < 1) return odd_one_out(c);
  const int odd = r.between(0, columns * rows - 1);
  for (int i = 0; i < columns * rows; ++i) {
    const float x = std::floor(cell * (i % columns) + (cell - s) * r.unit()),
                y = std::floor(cell * (i / columns) + (cell - s) * r.unit());
    const Cutout& cut = i == odd ? one : many;
    const Run run = page.item({x, y, x + s, y + s}, cut.name);
    page.cutout(run, cut, r.chance(0.5F));
    if (i == odd) page.ask("hard.odd", run, 2, complex);
    if (i == (odd + 1) % (columns * rows)) page.ask("hard.common", many.name, {run}, 1);
  }
  return sheet;
}

Sheet crowd_compare(Context& c) {
  Random& r = c.random;
  Sheet sheet("crowd", Finish::object);
  Page& page = wide_page(c, sheet, pale(r));
  Places places(page, c.px(4));
  auto sorts = unlike_cutouts(c, 12);
  std::erase_if(sorts, [&](const Cutout* cut) { return !countable(*r.words, cut->name); });
  struct Heap {
    std::string name, plural;
    std::vector<Run> runs;
  };
  std::vector<Heap> heaps;
  sorts.resize(std::min(static_cast<size_t>(r.between(2, 5)), sorts.size()));
  for (const Cutout* cut : sorts) {
    Heap& heap = heaps.emplace_back(Heap{cut->name, plural(*r.words, cut->name), {}});
    const float s = std::floor(c.px(r.real(44, 84)));
    for (int i = r.between(1, 10); i > 0; --i) {
      Box box;
      if (!places.find(r, s, s, box)) continue;
      heap.runs.push_back(page.item(box, cut->name));
      page.cutout(heap.runs.back(), *cut, r.chance(0.5F));
    }
  }
  for (size_t i = 0; i < heaps.size(); ++i) {
    const Heap &heap = heaps[i], &next = heaps[(i + 1) % heaps.size()];
    page.ask("object.count", std::to_string(heap.runs.size()), heap.runs, 1, complex,
             {{"name", heap.name}, {"names", heap.plural}});
    if (next.runs.size() == heap.runs.size()) continue;
    const bool more = next.runs.size() > heap.runs.size();
    const Heap &win = more ? next : heap, &lose = more ? heap : next;
    std::vector<Box> others;
    for (const Run& run : lose.runs) others.push_back(run.box);
    page.ask("hard.compare", win.name, win.runs, 1, complex,
             {{"a", heap.name}, {"b", next.name}, {"as", heap.plural}, {"bs", next.plural}},
             others);
  }
  return sheet;
}

// Noise, gradients, blank paper: the only right answer is "none".
Sheet nothing(Context& c) {
  Random& r = c.random;
  Sheet sheet("nothing", Finish::object);
  Page& page = wide_page(c, sheet, muted(r));
  std::vector<uint8_t>& rgb = page.rgb;
  switch (r.between(0, 3)) {
    case 0:
      for (size_t i = 0; i < rgb.size(); i += 8) {
        uint64_t bits = r.next();
        for (size_t k = i; k < std::min(i + 8, rgb.size()); ++k, bits >>= 8)
          rgb[k] = static_cast<uint8_t>(bits & 255);
      }
      break;
    case 1: {
      const Color bottom = muted(r), top = muted(r);
      page.gradient(0, 0, page.w(), page.h(), top, bottom);
      break;
    }
    case 2:
      page.rect(0, 0, page.w(), page.h(), {250, 250, 248});
      break;
    default:
      backdrop(page, r);
  }
  for (int i = 0; i < 2; ++i) page.ask_none("hard.none", 1);
  return sheet;
}

}  // namespace arrcoc::scenes
