// What charts show: a title, categories, series, values, in the manner of opinion research.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lab/scenes/backdrop.h"
#include "lab/scenes/page.h"

namespace arrcoc::scenes {

struct ChartData {
  std::string title, subtitle, note, source, brand;
  std::string category_name;  // "country", "year", "age group"
  std::vector<std::string> categories, series;
  std::vector<std::vector<float>> values;  // [series][category]
  int decimals = 0;
  bool percent = true;
  std::string mark = "bar";        // what stands for a value: a bar, a point
  std::vector<NamedColor> colors;  // one per series (or per piece)
};

// Values of one category add up to at most `sum_to` when it is positive (stacked bars, pies).
ChartData chart_data(Random& random, int series, int categories, float sum_to, bool years);
std::string shown(float value, int decimals);

// The size of the canvas and of the type: small pictures as published, or large ones.
struct ChartSize {
  int width, height;
  float size;
};
ChartSize chart_size(Context& context, float aspect_low, float aspect_high);

// Type of a chart and the space between its head and its foot. Made in three steps, so that nothing
// has to be drawn where there is no room: choose the type, find the size, draw head and foot.
struct Frame {
  float left = 0, top = 0, right = 0, bottom = 0, pad = 0;
  Style title, subtitle, label, value, note, brand;
};
Frame chart_type(Context& context, const ChartSize& size);
void widen(Frame& frame, int width);  // the picture got another width
// The height that head, `body` (given the type) and foot need, at least `wanted`. What does not fit
// into `most` is left out before it is drawn: the subtitle, the note, then type gets smaller. The
// page only measures.
int fit_height(const Page& page, ChartData& data, Frame& frame, int wanted, int most,
               const std::function<float(const Frame&)>& body);
void draw_frame(Context& context, Page& page, const ChartData& data, Frame& frame);

// Where the names of a legend stand, baselines counted from the frame's top, broken into rows.
struct Legend {
  std::vector<Point> at;
  float height = 0;
};
Legend legend_spots(const Page& page, const std::vector<std::string>& names, const Frame& frame);
float widest(const Page& page, const std::vector<std::string>& texts, const Style& style);

// What was drawn; runs without an item were left out.
struct ChartRuns {
  std::vector<std::vector<Run>> values;  // [series][category]
  std::vector<Run> categories, series;
};
// Questions that hold for every chart whose values are printed.
void chart_questions(Page& page, Random& random, const ChartData& data, const ChartRuns& runs);

}  // namespace arrcoc::scenes
