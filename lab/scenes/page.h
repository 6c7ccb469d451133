// A page under construction: pixels, what is written where, and what may be asked about it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lab/scenes/canvas.h"
#include "lab/scenes/library.h"
#include "lab/scenes/random.h"

namespace arrcoc::scenes {

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
Style sized(Style style, float size);
Style coloured(Style style, Color color);

// A piece of text as drawn. Items are counted per scene: leaving one out changes nothing else.
struct Run {
  int item = -1;
  Box box;  // hull of the ink
  float start = 0, end = 0, baseline = 0;
  std::string text;
};

enum class Level { simple, medium, complex };

// A fact that can be asked about. Slots fill the phrases of the intent.
struct Ask {
  std::string intent;
  std::vector<std::pair<std::string, std::string>> slots;
  std::string answer;
  std::vector<Run> answers;
  std::vector<Box> evidence;
  Level level = Level::simple;
  float weight = 1;
  int picture = 0;
  std::vector<Box> track = {};  // clips: where the evidence is in each frame
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
};

class Page {
 public:
  Page(const Context& context, int width, int height, Color paper);

  Run text(float x, float baseline, const std::string& text, const Style& style,
           Align align = Align::left);
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

  void ask(Ask ask) { asks.push_back(std::move(ask)); }

  Canvas canvas;
  std::vector<Glyph> glyphs;
  std::vector<TextBox> texts;
  std::vector<Box> things;  // what item() was told
  std::vector<Ask> asks;
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

// What a layout hands back: pages (one but for clips and pairs), the questions about them and how
// they are to be aged.
enum class Finish { receipt, scan, chart, photo, screen, object, clip, none };
struct Sheet {
  std::string layout;
  std::vector<Page> pages;
  std::vector<Ask> asks;  // across pages; each page's own asks come on top
  Finish finish = Finish::none;
};

}  // namespace arrcoc::scenes
