// A sheet of paper that is written from the top down: what documents have in common.
#pragma once

#include <algorithm>

#include "lab/scenes/layouts.h"

namespace arrcoc::scenes {

struct Writing {
  Context& c;
  Random& r;
  Sheet sheet;
  Page& page;
  const float w, h;  // of the page
  Color ink = {};
  Style body = {}, strong = {};
  float size = 0, step = 0, margin = 0;  // of the type, between lines, at the sides
  float x = 0, y = 0;                    // where the next line starts

  Writing(Context& context, const char* layout, bool portrait, float low, float high)
      : c(context),
        r(c.random),
        sheet(layout, Finish::scan),
        page(sheet.add(c, portrait, low, high)),
        w(page.w()),
        h(page.h()) {}

  float room() const { return w - 2 * margin; }
  void choose_ink(uint8_t lightest) { ink = mix(kBlack, {lightest, lightest, lightest}, r.unit()); }
  void choose_type(const Family& family, float smallest, float largest) {
    size = c.px(r.real(smallest, largest));
    body = style(family, size, ink);
    strong = bold(family, size, ink);
  }
  Run line(const std::string& text) {
    const Run run = page.text(x, y, text, body);
    y += step;
    return run;
  }
  Run centred(const std::string& text, const Style& style) {
    return page.centred(w / 2, y, text, style);
  }
  // Wide letters are narrowed until the line fits.
  Run headline(const std::string& text, const Style& style, bool in_the_middle = true) {
    return page.text(in_the_middle ? w / 2 : margin, y, text, page.narrowed(text, style, room()),
                     in_the_middle ? Align::centre : Align::left);
  }
  // "Tel. 123", asked for by its label.
  Run labelled(float from, float base, const Style& style, const std::string& label,
               const std::string& text, const char* intent, float weight, const Slots& slots = {}) {
    const Run key = page.text(from, base, label, style),
              value = page.text(key.end, base, text, style);
    page.ask(intent, value, weight, simple, slots, {key.box});
    return value;
  }
  // Prose in lines `spacing` apart from y on that ends above `foot`. Returns the number of lines.
  size_t prose(const std::string& text, const Style& style, float spacing, float foot) {
    return page
        .paragraph(margin, y, room(), spacing, text, style, Align::left,
                   static_cast<int>((foot - y) / spacing))
        .size();
  }
  // A paragraph of at least one line, which may end `below` lines past `foot`, and some air.
  void paragraph(const std::string& text, float foot, int below, float air) {
    const int most = std::max(1, static_cast<int>((foot - y) / step) + below);
    y += step *
         (page.paragraph(margin, y, room(), step, text, body, Align::left, most).size() + air);
  }
  void page_number(float base, const std::string& number) {
    page.ask("doc.page", page.centred(w / 2, base, number, body), 0.4F);
  }
};

// Words one after the other, broken at the margin.
struct Prose {
  Page& page;
  Style style;
  float left, right, step, x, y, foot;
  bool full() const { return y > foot; }
  void newline() {
    x = left;
    y += step;
  }
  // A run for each word, as far as the page reaches.
  std::vector<Run> write_some(const std::string& text) {
    std::vector<Run> runs;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find(' ', at), text.size());
      const std::string word = text.substr(at, end - at);
      at = end + 1;
      if (word.empty()) continue;
      const float width = page.measure(word, style);
      if (x + width > right && x > left) newline();
      if (full()) return runs;
      runs.push_back(page.text(x, y, word, style));
      x = runs.back().end + page.measure("n n", style) - 2 * page.measure("n", style);
    }
    return runs;
  }
  // The same; empty when the page ended before all were written.
  std::vector<Run> write(const std::string& text) {
    std::vector<Run> runs = write_some(text);
    if (full()) runs.clear();
    return runs;
  }
};

}  // namespace arrcoc::scenes
