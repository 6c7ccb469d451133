#include "media/ocr/tesseract_page.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "media/mats.h"

namespace arrcoc::media {
namespace {

constexpr double kLetter = 30;  // wanted height of letters on a sheet
constexpr double kLargest = 3;  // never enlarged more: blur does not become detail
constexpr double kSmallest = 0.2;
constexpr double kMaxPixels = 8e6;  // of all sheets together
constexpr double kMaxSide = 16000;  // the engine counts in 16 bits
constexpr double kAnalysis = 3e6;   // pixels that the letter height is measured on
constexpr size_t kFewLetters = 4;   // fewer tell nothing about the size of print
constexpr int kMinSide = 8;         // anything thinner holds no letter
constexpr double kBlur = 0.33;      // of the distance of dots: they are gone, strokes are not
constexpr int kLevels = 12;         // a mark is darker than its surroundings by so many

// What print stands on, and how it is made ready there. Smoothed print has no detail to enlarge,
// and between smoothed dots only what is far darker is print.
struct Ground {
  bool dots = false;
  double letter = kLetter;  // wanted height
  double window = 1.6;      // of the median, in letters
  int levels = kLevels;
  int contrast = 40;  // levels that print has at least
};
constexpr Ground kPlain;
constexpr Ground kDots{true, 24, 2.4, 25, 100};

using Planes = std::array<cv::Mat, 3>;

Planes planes_of(const Picture& picture) {
  return {plane_of(picture.rgb, 0), plane_of(picture.rgb, 1), plane_of(picture.rgb, 2)};
}

void resize_by(const cv::Mat& from, cv::Mat& to, double scale) {
  const cv::Size size(std::max(1, static_cast<int>(std::lround(from.cols * scale))),
                      std::max(1, static_cast<int>(std::lround(from.rows * scale))));
  cv::resize(from, to, size, 0, 0, scale < 1 ? cv::INTER_AREA : cv::INTER_CUBIC);
}

bool all_grey(const Planes& planes) {
  cv::Mat difference;
  for (int c = 1; c < 3; ++c) {
    cv::absdiff(planes[0], planes[c], difference);
    double most = 0;
    cv::minMaxLoc(difference, nullptr, &most);
    if (most > 8) return false;
  }
  return true;
}

// How far each pixel differs from the median around it, as ink on white. Thin strokes differ,
// whatever their colour or polarity; paper, bars and photographs' areas do not, since the median
// keeps their edges. Between dots the paper is lighter than the median: there only dark counts.
cv::Mat ink_of(const std::vector<cv::Mat>& planes, int window, const Ground& ground) {
  cv::Mat most;
  for (const cv::Mat& plane : planes) {
    cv::Mat around;
    cv::Mat difference;
    cv::medianBlur(plane, around, window);
    if (ground.dots) {
      cv::subtract(around, plane, difference);
    } else {
      cv::absdiff(plane, around, difference);
    }
    if (most.empty()) {
      most = difference;
    } else {
      cv::max(most, difference, most);
    }
  }
  if (ground.dots) cv::threshold(most, most, ground.levels, 0, cv::THRESH_TOZERO);
  // The strongest 2 % become black; a least contrast, lest noise is amplified.
  std::array<int64_t, 256> histogram{};
  for (int y = 0; y < most.rows; ++y) {
    const uint8_t* row = most.ptr<uint8_t>(y);
    for (int x = 0; x < most.cols; ++x) ++histogram[row[x]];
  }
  const auto wanted = static_cast<int64_t>(0.02 * static_cast<double>(most.total()));
  int level = 255;
  for (int64_t seen = 0; level > ground.contrast && seen < wanted; --level)
    seen += histogram[level];
  cv::Mat ink;
  most.convertTo(ink, CV_8U, -255.0 / level, 255);
  return ink;
}

// The row with the least contrast between 35 % and 65 % of the height: nothing is printed there.
int emptiest_row(const cv::Mat& plane) {
  int best = plane.rows / 2;
  double least = 1e300;
  for (int y = plane.rows * 35 / 100; y <= plane.rows * 65 / 100 && y < plane.rows; ++y) {
    const uint8_t* row = plane.ptr<uint8_t>(y);
    double contrast = 0;
    for (int x = 1; x < plane.cols; ++x) contrast += std::abs(row[x] - row[x - 1]);
    // Among equally empty rows the most central one, so that the parts take equal time.
    const double off = std::abs(y - plane.rows / 2) / static_cast<double>(plane.rows);
    contrast *= 1 + 0.2 * off;
    contrast += off;
    if (contrast < least) {
      least = contrast;
      best = y;
    }
  }
  return best;
}

// White where the plane is darker than around by so many levels.
cv::Mat dark_pixels(const cv::Mat& plane, int levels) {
  cv::Mat marks;
  cv::adaptiveThreshold(plane, marks, 255, cv::ADAPTIVE_THRESH_MEAN_C, cv::THRESH_BINARY_INV, 31,
                        levels);
  return marks;
}

// Heights of dark marks that may be letters.
std::vector<int> dark_marks(const cv::Mat& plane, const Ground& ground) {
  const cv::Mat marks = dark_pixels(plane, ground.levels);
  cv::Mat labels;
  cv::Mat stats;
  cv::Mat centres;
  const int n = cv::connectedComponentsWithStats(marks, labels, stats, centres, 8);
  std::vector<int> heights;
  for (int i = 1; i < n; ++i) {
    const int w = stats.at<int>(i, cv::CC_STAT_WIDTH);
    const int h = stats.at<int>(i, cv::CC_STAT_HEIGHT);
    const double filled = stats.at<int>(i, cv::CC_STAT_AREA) / (static_cast<double>(w) * h);
    if (h >= 8 && h <= 80 && w >= 3 && w <= 3 * h && filled >= 0.15 && filled <= 0.9)
      heights.push_back(h);
  }
  return heights;
}

// How far apart the dots of a ground lie: over all marks, the median of how many share a tile.
double pitch_of_dots(const cv::Mat& plane) {
  constexpr int kTile = 64;
  cv::Mat labels, stats, centres;
  const int n =
      cv::connectedComponentsWithStats(dark_pixels(plane, kLevels), labels, stats, centres, 8);
  cv::Mat tiles = cv::Mat::zeros(plane.rows / kTile + 1, plane.cols / kTile + 1, CV_32S);
  std::vector<int*> where;
  for (int i = 1; i < n; ++i) {
    where.push_back(&tiles.at<int>(static_cast<int>(centres.at<double>(i, 1)) / kTile,
                                   static_cast<int>(centres.at<double>(i, 0)) / kTile));
    ++*where.back();
  }
  if (where.empty()) return kTile;
  const auto middle = where.begin() + static_cast<std::ptrdiff_t>(where.size() / 2);
  std::nth_element(where.begin(), middle, where.end(), [](int* a, int* b) { return *a < *b; });
  return kTile / std::sqrt(**middle);
}

OcrSheet make_sheet(const Planes& planes, const Ground& ground, bool grey, int top, int bottom,
                    double scale, int window) {
  std::vector<cv::Mat> scaled(grey ? 1 : 3);
  for (size_t c = 0; c < scaled.size(); ++c) {
    // Of a grey picture any plane will do; green has the least noise in JPEG files.
    const cv::Mat& plane = planes[grey ? 1 : c];
    resize_by(plane.rowRange(top, bottom), scaled[c], scale);
  }
  OcrSheet sheet;
  sheet.ink = ink_of(scaled, window, ground);
  sheet.scale = static_cast<float>(scale);
  sheet.top = static_cast<float>(top);
  return sheet;
}

float letter_height(const Planes& planes, const Ground& ground) {
  const double pixels = static_cast<double>(planes[1].total());
  const double scale = std::min(2.0, std::sqrt(kAnalysis / pixels));
  cv::Mat plane;
  resize_by(planes[1], plane, scale);
  if (std::min(plane.rows, plane.cols) < 3) return 0;
  std::vector<int> heights = dark_marks(plane, ground);
  if (heights.size() < kFewLetters && !ground.dots) {
    // Light print on a dark ground. Only then: around dark print the paper itself looks light.
    cv::bitwise_not(plane, plane);
    const std::vector<int> light = dark_marks(plane, ground);
    heights.insert(heights.end(), light.begin(), light.end());
  }
  if (heights.size() < kFewLetters) return 0;
  const auto middle = heights.begin() + static_cast<std::ptrdiff_t>(heights.size() / 2);
  std::nth_element(heights.begin(), middle, heights.end());
  return static_cast<float>(*middle / scale);
}

std::vector<OcrSheet> sheets_of(const Planes& planes, const Ground& ground) {
  const int w = planes[0].cols;
  const int h = planes[0].rows;
  const float measured = letter_height(planes, ground);
  const double letter = measured > 0 ? measured : 12;
  double scale = std::clamp(ground.letter / letter, kSmallest, kLargest);
  scale = std::min(scale, std::sqrt(kMaxPixels / (static_cast<double>(w) * h)));
  scale = std::min(scale, kMaxSide / std::max(w, h));
  if (std::min(w, h) * scale < kMinSide) return {};
  const int window = std::min(201, static_cast<int>(letter * scale * ground.window) | 1);
  const bool grey = all_grey(planes);
  if (ground.dots || h * scale < 16 * kLetter) {
    OcrSheet sheet = make_sheet(planes, ground, grey, 0, h, scale, std::max(3, window));
    sheet.to = static_cast<float>(h);
    return {sheet};
  }
  const int cut = emptiest_row(planes[1]);
  const int margin = std::max(4, static_cast<int>(std::ceil(2 * letter)));
  std::vector<OcrSheet> sheets;
  sheets.push_back(make_sheet(planes, ground, grey, 0, std::min(h, cut + margin), scale, window));
  sheets.push_back(make_sheet(planes, ground, grey, std::max(0, cut - margin), h, scale, window));
  sheets[0].to = sheets[1].from = static_cast<float>(cut);
  sheets[1].to = static_cast<float>(h);
  return sheets;
}

}  // namespace

float letter_height(const Picture& picture) { return letter_height(planes_of(picture), kPlain); }

std::vector<OcrSheet> sheets_of(const Picture& picture) {
  if (std::min(picture.width(), picture.height()) < kMinSide) return {};
  return sheets_of(planes_of(picture), kPlain);
}

std::vector<OcrSheet> sheets_without_dots(const Picture& picture) {
  if (std::min(picture.width(), picture.height()) < kMinSide) return {};
  Planes planes = planes_of(picture);
  const double blur = std::clamp(kBlur * pitch_of_dots(planes[1]), 0.5, 8.0);
  for (cv::Mat& plane : planes) {
    cv::Mat smooth;
    cv::GaussianBlur(plane, smooth, {}, blur);
    plane = smooth;
  }
  return sheets_of(planes, kDots);
}

}  // namespace arrcoc::media
