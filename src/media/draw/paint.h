// The sheet that drawings are made on: a picture scaled to fit, and a legend below it.
#pragma once

#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "arrcoc/map.h"
#include "arrcoc/media.h"

namespace arrcoc::media {

inline const cv::Scalar kPaper(24, 26, 31);
inline const cv::Scalar kInk(226, 228, 232);

// One line of text; `at` is the left end of its baseline.
void write(cv::Mat& sheet, const std::string& text, cv::Point at, const cv::Scalar& ink);

// Mixes a colour into a pixel: opacity 0 leaves it, 1 replaces it.
void mix(cv::Vec3b& pixel, const cv::Vec3b& colour, double opacity);

// A perceptual colour scale, dark to bright; t in [0,1]. RGB.
cv::Vec3b colour_of(double t);

// A value marked on the colour bar.
struct Tick {
  double t = 0;  // place on the bar, [0,1]
  std::string label;
};

// A coloured square with a text behind it.
struct Swatch {
  cv::Vec3b colour;
  std::string label;
};

class Sheet {
 public:
  // For a picture of width x height pixels. Large ones shrink to fit; small ones are enlarged a
  // whole number of times; a very thin one is drawn thicker than it is.
  Sheet(int width, int height, const DrawOptions& options);

  // The picture's part of the sheet, RGB.
  cv::Mat& picture() { return picture_; }
  // Makes width x height the source coordinates: leaves may refer to a resampled picture.
  void cover(int width, int height);
  // Where a rectangle of source pixels lies in picture(): neighbours share borders, nothing is
  // narrower than one pixel.
  cv::Rect place(const Box& box) const;
  // The source pixel at the middle of a pixel of picture().
  double source_x(int x) const { return (x + 0.5) / scale_x_; }
  double source_y(int y) const { return (y + 0.5) / scale_y_; }

  // Fills picture() with the picture itself, area-averaged or enlarged.
  void show(const at::Tensor& rgb);
  // Turns picture() grey and lowers its contrast.
  void fade(double factor);
  // One-pixel frame along the left and top of a rectangle, mixed into what is there.
  void outline(const cv::Rect& rectangle, const cv::Vec3b& colour, double opacity);

  // A line around each, in source pixels.
  void mark(const std::vector<Mark>& marks);

  // Only one of these; without a legend in the options they do nothing.
  void legend_bar(const std::string& left, const std::string& right,
                  const std::vector<Tick>& ticks);
  void legend_swatches(const std::string& left, const std::string& right,
                       const std::vector<Swatch>& swatches);
  void legend_line(const std::string& left, const std::string& right, const std::string& line);

  // [3,h,w]
  at::Tensor finish() const;

 private:
  void legend_titles(const std::string& left, const std::string& right);
  cv::Rect legend_row(int from, int height) const;

  double scale_x_ = 1, scale_y_ = 1;  // sheet pixels per source pixel
  int legend_ = 0;                    // height of the legend, 0 without
  cv::Mat sheet_, picture_;           // picture_ is a part of sheet_
};

}  // namespace arrcoc::media
