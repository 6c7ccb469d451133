// What happens to papers in offices and archives: stamps, notes by hand, pasted photographs,
// punched holes, numbers along the edge. Only where the page is blank.
#include <algorithm>
#include <cmath>

#include "lab/scenes/backdrop.h"
#include "lab/scenes/layouts.h"
#include "lab/scenes/things.h"
#include "lab/scenes/words.h"

namespace arrcoc::scenes {
namespace {

constexpr float kDegree = 0.01745329252F;

// Nothing drawn and nothing written: every third pixel is white paper.
bool blank(const Page& page, const Box& box) {
  const Canvas& canvas = page;
  const int x0 = static_cast<int>(box.x0), y0 = static_cast<int>(box.y0),
            x1 = static_cast<int>(box.x1), y1 = static_cast<int>(box.y1);
  if (x0 < 2 || y0 < 2 || x1 > canvas.width - 2 || y1 > canvas.height - 2) return false;
  if (!page.free(box)) return false;
  for (int y = y0; y < y1; y += 3)
    for (int x = x0; x < x1; x += 3)
      if (canvas.get(x, y) != kWhite) return false;
  return true;
}

bool find_blank(const Page& page, Random& r, float w, float h, Box& out) {
  for (int tries = 0; tries < 24; ++tries) {
    const float x = std::floor(r.real(4, std::max(5.0F, page.width - w - 4))),
                y = std::floor(r.real(4, std::max(5.0F, page.height - h - 4)));
    out = {x, y, x + w, y + h};
    if (blank(page, {x - 5, y - 5, x + w + 5, y + h + 5})) return true;
  }
  return false;
}

// The space that w x h takes when it is turned.
Point turned_size(float w, float h, float degrees) {
  const float c = std::fabs(std::cos(degrees * kDegree)),
              s = std::fabs(std::sin(degrees * kDegree));
  return {w * c + h * s, w * s + h * c};
}

void rubber_stamp(Context& c, Page& page) {
  Random& r = c.random;
  static const std::vector<Color> inks = {
      {170, 30, 40}, {40, 50, 140}, {90, 40, 120}, {50, 50, 55}, {30, 100, 60}};
  const Color ink = r.pick(inks);
  const Style big = bold(c.family("sans"), c.px(r.real(15, 30)), ink),
              small = sized(big, big.size * 0.66F);
  const std::string word =
      r.pick({"RECEIVED", "PAID", "APPROVED", "CONFIDENTIAL", "COPY", "FILED", "CANCELLED",
              "VERIFIED", "URGENT", "ENTERED", "REJECTED", "ORIGINAL"});
  const bool dated = r.chance(0.6F);
  const std::string day =
      upper(format(r, date(r, 1960, 2022), r.pick(std::vector<int>{7, 8, 4, 0})));
  const float w = std::max(page.measure(word, big), dated ? page.measure(day, small) : 0.0F) +
                  big.size * 1.2F,
              h = big.size * (dated ? 2.5F : 1.6F);
  // Two lines stay level: turned, their boxes would share pixels.
  const float degrees = dated ? 0.0F : r.real(-16, 16);
  const Point size = turned_size(w, h, degrees);
  Box box;
  if (!find_blank(page, r, size.x, size.y, box)) return;
  const float cx = (box.x0 + box.x1) / 2, cy = (box.y0 + box.y1) / 2,
              cs = std::cos(degrees * kDegree), sn = std::sin(degrees * kDegree);
  auto at = [&](float x, float y) { return Point{cx + x * cs - y * sn, cy + x * sn + y * cs}; };
  const Point corners[4] = {at(-w / 2, -h / 2), at(w / 2, -h / 2), at(w / 2, h / 2),
                            at(-w / 2, h / 2)};
  if (r.chance(0.8F))
    for (int i = 0; i < 4; ++i)
      page.line(corners[i], corners[(i + 1) % 4], std::max(1.5F, big.size * 0.1F), ink);
  const Point upper_line = at(0, dated ? -big.size * 0.45F : 0.0F),
              lower_line = at(0, big.size * 0.6F);
  const Run run = page.turned(upper_line, word, big, degrees);
  page.ask("doc.stamp", word, {run}, 0.8F);
  if (!dated) return;
  const Run day_run = page.turned(lower_line, day, small, degrees);
  page.ask("doc.stamp.date", day, {day_run}, 0.8F, medium, {}, {run.box});
}

// A photograph on the page: light, soft shapes behind, one thing in front.
void photograph(Context& c, Page& page) {
  Random& r = c.random;
  const float w = std::floor(c.px(r.real(130, 260))), h = std::floor(w * r.real(0.7F, 1.2F));
  Box box;
  if (!find_blank(page, r, w, h, box)) return;
  Canvas& canvas = page;
  canvas.gradient(box.x0, box.y0, box.x1, box.y1, muted(r), mix(muted(r), {30, 30, 30}, 0.4F));
  for (int i = r.between(3, 8); i > 0; --i) {
    const float rx = w * r.real(0.05F, 0.2F), ry = h * r.real(0.05F, 0.2F);
    canvas.ellipse(r.real(box.x0 + rx, box.x1 - rx), r.real(box.y0 + ry, box.y1 - ry), rx, ry,
                   muted(r), r.between(60, 150));
  }
  const Cutout& cut = *unlike_cutouts(c, 1).front();
  const float s = std::floor(std::min(w, h) * r.real(0.6F, 0.85F)),
              x = std::floor(box.x0 + (w - s) * r.unit()),
              y = std::floor(box.y0 + (h - s) * r.real(0.4F, 1.0F));
  const Run thing = page.item({x, y, x + s, y + s}, cut.name);
  page.cutout(thing, cut, r.chance(0.5F));
  canvas.frame(box.x0, box.y0, box.x1, box.y1, r.real(1, 3), {30, 30, 30});
  page.halftones = true;
  page.ask("doc.photo", cut.name, {thing}, 0.6F);
}

void note_by_hand(Context& c, Page& page, bool asked) {
  Random& r = c.random;
  const Style pen = style(c.family("hand"), c.px(r.real(22, 42)),
                          r.chance(0.5F) ? Color{40, 50, 140} : Color{45, 45, 45});
  const std::string note = r.pick(
      {"ok", "please file", "see attached", "copy to ", "paid ", "call ", "check ", "sent "});
  const std::string text = note.back() == ' '
                               ? note + (r.chance(0.5F) ? given_name(r)
                                                        : std::to_string(r.between(1, 12)) + "/" +
                                                              std::to_string(r.between(1, 28)))
                               : note;
  const float degrees = r.real(-9, 9);
  const Point size = turned_size(page.measure(text, pen) * 1.1F, pen.size * 2.3F, degrees);
  Box box;
  if (!find_blank(page, r, size.x, size.y, box)) return;
  const Run run = page.turned({(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2}, text, pen, degrees);
  if (asked) page.ask("doc.note", text, {run}, 0.6F, medium);
}

// Filed and punched: holes show the dark behind the page.
void punched_holes(Context& c, Page& page) {
  Random& r = c.random;
  const bool left = r.chance(0.6F);
  const int count = r.chance(0.5F) ? 2 : 3;
  const float radius = c.px(r.real(9, 15)), edge = radius * r.real(1.5F, 2.5F);
  const Color behind = r.chance(0.7F) ? Color{30, 30, 30} : Color{90, 90, 90};
  for (int i = 0; i < count; ++i) {
    const float along = (i + 0.5F) / count;
    const Point p = left ? Point{edge, page.height * along} : Point{page.width * along, edge};
    if (blank(page, {p.x - radius - 2, p.y - radius - 2, p.x + radius + 2, p.y + radius + 2}))
      page.ellipse(p.x, p.y, radius, radius, behind);
  }
}

// A number along the side, read from below or from above.
void side_number(Context& c, Page& page) {
  Random& r = c.random;
  const Style s = bold(c.family("sans"), c.px(r.real(12, 17)), {30, 30, 30});
  const std::string text = pattern(r, r.pick({"##########", "@@-######", "#### #####"}));
  const float length = page.measure(text, s), wide = s.size * 1.3F;
  const float x = r.chance(0.5F) ? c.px(r.real(6, 16)) : page.width - wide - c.px(12),
              y = r.real(4, std::max(5.0F, page.height - length - 6));
  if (!blank(page, {x - 3, y - 3, x + wide + 3, y + length + 3})) return;
  const Run run =
      page.turned({x + wide / 2, y + length / 2}, text, s, r.chance(0.5F) ? 90.0F : -90.0F);
  page.ask("doc.side", text, {run}, 0.6F, medium);
}

void line_below(Page& page, const std::string& text, const Style& style, float x, float baseline) {
  const Box box{x - 2, baseline - style.size, x + page.measure(text, style) + 2,
                baseline + style.size * 0.3F};
  if (box.x0 > 0 && box.x1 < page.width - 2 && page.free(box)) page.text(x, baseline, text, style);
}

}  // namespace

void archive_marks(Context& c, Page& page, const std::string& layout) {
  Random& r = c.random;
  const float w = static_cast<float>(page.width), h = static_cast<float>(page.height);
  if (r.chance(0.16F)) photograph(c, page);
  if (r.chance(0.25F)) rubber_stamp(c, page);
  // On pages that are filled in or signed by hand a note is one of several.
  if (r.chance(0.22F))
    note_by_hand(c, page, layout == "table" || layout == "invoice" || layout == "memo");
  if (r.chance(0.18F)) side_number(c, page);
  if (r.chance(0.15F)) punched_holes(c, page);
  if (r.chance(0.3F)) {
    const std::string text =
        "Source: https://www." +
        r.pick({"paperarchive.org", "olddocuments.net", "opencollection.edu"}) + "/docs/" +
        lower(pattern(r, "@@@@####"));
    const Style s = style(c.family("sans"), c.px(r.real(11, 18)), {150, 150, 150});
    line_below(page, text, s, (w - page.measure(text, s)) / 2, h - c.px(4) - s.size * 0.3F);
  }
  if (r.chance(0.25F) && layout != "memo") {
    const Style s = bold(c.family("sans"), c.px(r.real(12, 17)), {30, 30, 30});
    const std::string text = pattern(r, r.pick({"########", "## ######", "@@#######"}));
    line_below(page, text, s, w - page.measure(text, s) - c.px(r.real(8, 60)),
               h - c.px(r.real(22, 40)));
  }
}

}  // namespace arrcoc::scenes
