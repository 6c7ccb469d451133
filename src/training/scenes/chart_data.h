// What charts show: a title, categories, series, values, in the manner of opinion research.
#pragma once

#include <string>
#include <vector>

#include "training/scenes/canvas.h"
#include "training/scenes/page.h"

namespace arrcoc::scenes {

struct NamedColor {
  const char* name;
  Color color;
};

struct ChartData {
  std::string title, subtitle, note, source, brand;
  std::string category_name;  // "country", "year", "age group"
  std::vector<std::string> categories, series;
  std::vector<std::vector<float>> values;  // [series][category]
  int decimals = 0;
  bool percent = true;
  std::vector<NamedColor> colors;  // one per series (or per piece)
};

// Values of one category add up to at most `sum_to` when it is positive (stacked bars, pies).
ChartData chart_data(Random& random, int series, int categories, float sum_to, bool years);
std::string shown(float value, int decimals);

// Head and foot shared by all charts: title, subtitle, note, source. Returns the space between.
struct Frame {
  float left = 0, top = 0, right = 0, bottom = 0;
  Style title, subtitle, label, value, note;
};
Frame chart_frame(Context& context, Page& page, const ChartData& data, float size);
// The size of the canvas and of the type: small pictures as published, or large ones.
struct ChartSize {
  int width, height;
  float size;
};
ChartSize chart_size(Context& context, float aspect_low, float aspect_high);

// Questions that hold for every chart whose values are printed: [series][category] runs; labels.
void chart_questions(Page& page, Random& random, const ChartData& data,
                     const std::vector<std::vector<Run>>& values,
                     const std::vector<Run>& categories, const std::vector<Run>& series);

}  // namespace arrcoc::scenes
