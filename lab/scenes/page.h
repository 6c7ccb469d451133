// What layouts work with: styles, texts, facts and pages.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "arrcoc/query.h"
#include "lab/scenes/canvas.h"
#include "lab/scenes/library.h"
#include "lab/scenes/random.h"
#include "lab/scenes/words.h"

namespace arrcoc::scenes {

using enum Complexity;

enum class Weight { regular, bold, italic };
enum class Align { left, centre, right };

struct Style {
  int font = 0;
  float size = 14;  // pixels an em
  Color color{0, 0, 0};
  float stretch = 1;   // widths
  bool twice = false;  // struck twice, one pixel apart: bold without a bold face
  float tracking = 0;  // additional pixels between characters
};
Style style(const Family& family, float size, Color color, Weight weight = Weight::regular);
inline Style bold(const Family& family, float size, Color color) {
  return style(family, size, color, Weight::bold);
}
Style sized(Style style, float size);
Style coloured(Style style, Color color);

// A piece of text as drawn. Items are counted per scene: leaving one out changes nothing else.
struct Run {
  int item = -1;
  Box box;  // hull of the ink
  float start = 0, end = 0, baseline = 0;
  std::string text;
};

// A fact that can be asked about: `answer` stands in `answers`. Slots fill the forms of the intent
// (the lists [ask.INTENT]); facts are drawn by weight.
struct Ask {
  std::string intent, answer;
  std::vector<Run> answers;  // none: the picture does not tell, and the answer is "none"
  float weight = 1;
  Complexity complexity = simple;
  Slots slots = {};
  std::vector<Box> evidence = {};  // what else must be read
  int picture = 0;
  std::vector<Box> track = {};  // clips: where the evidence is in each frame

  // Several pictures: which of them holds the answer.
  void on(int which, std::vector<Box> frames = {}) {
    picture = which;
    track = std::move(frames);
  }
};

// "RM 1,234.50" -> "1,234.50", "43%" -> "43": units are printed around numbers in many ways, and
// the figure is what is asked for.
std::string figure(const std::string& text);

struct Facts {
  std::vector<Ask> asks;
  Ask& ask(std::string intent, std::string answer, std::vector<Run> answers, float weight,
           Complexity complexity = simple, Slots slots = {}, std::vector<Box> evidence = {}) {
    return asks.emplace_back(Ask{std::move(intent), std::move(answer), std::move(answers), weight,
                                 complexity, std::move(slots), std::move(evidence)});
  }
  // The answer is what the run says, or the figure in it.
  Ask& ask(std::string intent, const Run& run, float weight, Complexity complexity = simple,
           Slots slots = {}, std::vector<Box> evidence = {}) {
    return ask(std::move(intent), run.text, {run}, weight, complexity, std::move(slots),
               std::move(evidence));
  }
  Ask& ask_figure(std::string intent, const Run& run, float weight, Complexity complexity = simple,
                  Slots slots = {}, std::vector<Box> evidence = {}) {
    return ask(std::move(intent), figure(run.text), {run}, weight, complexity, std::move(slots),
               std::move(evidence));
  }
  // The pictures do not tell.
  Ask& ask_none(std::string intent, float weight, Complexity complexity = simple,
                Slots slots = {}) {
    return ask(std::move(intent), "none", {}, weight, complexity, std::move(slots));
  }
};

// What every layout is given. Sizes in layouts are meant for a longer side of 1024; px() scales.
struct Context {
  const Library& library;
  const Options& options;
  Random& random;
  int suppressed = -1;  // item that is laid out but not drawn (tests compare the pixels)
  int first_item = 0;   // where the next page starts to count
  float px(float at_1024) const { return at_1024 * options.longest / 1024.0F; }
  const Family& family(const std::string& role) {
    return library.family(random, role, options.held_back);
  }
  const Cutout& any_cutout() {
    const int at = random.pick(library.usable(options.held_back));
    return library.cutouts()[static_cast<size_t>(at)];
  }
};

// A page under construction: pixels, what is written where, and what may be asked about it.
class Page : public Facts, public Canvas {
 public:
  Page(const Context& context, int width, int height, Color paper);

  Run text(float x, float baseline, const std::string& text, const Style& style,
           Align align = Align::left);
  Run centred(float x, float baseline, const std::string& words, const Style& style) {
    return text(x, baseline, words, style, Align::centre);
  }
  Run right(float x, float baseline, const std::string& words, const Style& style) {
    return text(x, baseline, words, style, Align::right);
  }
  // Text around a centre, turned clockwise: stamps, notes, numbers along the edge.
  Run turned(Point centre, const std::string& text, const Style& style, float degrees);
  // Lines broken at spaces to at most `width`; stops after max_lines.
  std::vector<Run> paragraph(float x, float baseline, float width, float line_height,
                             const std::string& text, const Style& style, Align align = Align::left,
                             int max_lines = 1000);
  std::vector<std::string> wrap(const std::string& text, const Style& style, float width) const;
  float measure(const std::string& text, const Style& style) const;
  // The style with letters as narrow as the text needs to fit into `width`.
  Style narrowed(const std::string& text, Style style, float width) const;
  float cap_height(const Style& style) const;
  // True when no text lies in the box.
  bool free(const Box& box) const;
  // Texts until end_group() count as one item (a formula).
  Run begin_group();
  void end_group() { group_ = -1; }
  // Starts a drawn thing; draw it only when the result's `drawn` holds.
  Run item(const Box& box, const std::string& name);
  bool drawn(const Run& run) const { return run.item != suppressed_; }
  void cutout(const Run& run, const Cutout& cutout, bool flip = false, float light = 1.0F);

  float w() const { return static_cast<float>(width); }
  float h() const { return static_cast<float>(height); }

  std::vector<Glyph> glyphs;
  std::vector<TextBox> texts;
  std::vector<Box> things;  // what item() was told
  int next_item = 0;
  bool halftones = false;  // holds a photograph: two tones would leave nothing of it

 private:
  void draw_glyph(const Bitmap& bitmap, int x, int y, const Style& style);

  const Library* library_;
  int suppressed_;
  int group_ = -1;
};

Box hull(const Box& a, const Box& b);
Box hull(const std::vector<Run>& runs);

// What a layout hands back: pages (one but for clips and pairs), the facts across them (each page
// has its own as well) and what happens to them on the way to a picture.
enum class Finish { receipt, scan, chart, photo, screen, object, clip, none };
struct Sheet : Facts {
  std::string layout;
  Finish finish;
  std::vector<Page> pages = {};

  Sheet(std::string name, Finish how) : layout(std::move(name)), finish(how) {}
  // Valid until the next page is added.
  Page& add(const Context& context, int width, int height, Color paper = kWhite) {
    return pages.emplace_back(context, width, height, paper);
  }
  // The longer side is the longest allowed, the shorter one a share of it in [low, high).
  Page& add(Context& context, bool portrait, float low, float high, Color paper = kWhite);
};

}  // namespace arrcoc::scenes
