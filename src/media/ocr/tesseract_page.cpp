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

std::array<cv::Mat, 3> planes_of(const Picture& picture) {
  return {plane_of(picture.rgb, 0), plane_of(picture.rgb, 1), plane_of(picture.rgb, 2)};
}

void resize_by(const cv::Mat& from, cv::Mat& to, double scale) {
  const cv::Size size(std::max(1, static_cast<int>(std::lround(from.cols * scale))),
                      std::max(1, static_cast<int>(std::lround(from.rows * scale))));
  cv::resize(from, to, size, 0, 0, scale < 1 ? cv::INTER_AREA : cv::INTER_CUBIC);
}

bool all_grey(const std::array<cv::Mat, 3>& planes) {
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
// keeps their edges.
cv::Mat ink_of(const std::vector<cv::Mat>& planes, int window) {
  cv::Mat most;
  for (const cv::Mat& plane : planes) {
    cv::Mat around;
    cv::Mat difference;
    cv::medianBlur(plane, around, window);
    cv::absdiff(plane, around, difference);
    if (most.empty()) {
      most = difference;
    } else {
      cv::max(most, difference, most);
    }
  }
  // The strongest 2 % become black; at least 40 levels of contrast, lest noise is amplified.
  std::array<int64_t, 256> histogram{};
  for (int y = 0; y < most.rows; ++y) {
    const uint8_t* row = most.ptr<uint8_t>(y);
    for (int x = 0; x < most.cols; ++x) ++histogram[row[x]];
  }
  const auto wanted = static_cast<int64_t>(0.02 * static_cast<double>(most.total()));
  int level = 255;
  for (int64_t seen = 0; level > 40 && seen < wanted; --level) seen += histogram[level];
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

// Heights of dark marks that may be letters.
std::vector<int> dark_marks(const cv::Mat& plane) {
  cv::Mat marks;
  cv::adaptiveThreshold(plane, marks, 255, cv::ADAPTIVE_THRESH_MEAN_C, cv::THRESH_BINARY_INV, 31,
                        12);
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

OcrSheet make_sheet(const std::array<cv::Mat, 3>& planes, bool grey, int top, int bottom,
                    double scale, int window) {
  std::vector<cv::Mat> scaled(grey ? 1 : 3);
  for (size_t c = 0; c < scaled.size(); ++c) {
    // Of a grey picture any plane will do; green has the least noise in JPEG files.
    const cv::Mat& plane = planes[grey ? 1 : c];
    resize_by(plane.rowRange(top, bottom), scaled[c], scale);
  }
  OcrSheet sheet;
  sheet.ink = ink_of(scaled, window);
  sheet.scale = static_cast<float>(scale);
  sheet.top = static_cast<float>(top);
  return sheet;
}

}  // namespace

float letter_height(const Picture& picture) {
  const std::array<cv::Mat, 3> planes = planes_of(picture);
  const double pixels = static_cast<double>(planes[1].total());
  const double scale = std::min(2.0, std::sqrt(kAnalysis / pixels));
  cv::Mat plane;
  resize_by(planes[1], plane, scale);
  if (std::min(plane.rows, plane.cols) < 3) return 0;
  std::vector<int> heights = dark_marks(plane);
  if (heights.size() < kFewLetters) {
    // Light print on a dark ground. Only then: around dark print the paper itself looks light.
    cv::bitwise_not(plane, plane);
    const std::vector<int> light = dark_marks(plane);
    heights.insert(heights.end(), light.begin(), light.end());
  }
  if (heights.size() < kFewLetters) return 0;
  const auto middle = heights.begin() + static_cast<std::ptrdiff_t>(heights.size() / 2);
  std::nth_element(heights.begin(), middle, heights.end());
  return static_cast<float>(*middle / scale);
}

std::vector<OcrSheet> sheets_of(const Picture& picture) {
  const int w = picture.width();
  const int h = picture.height();
  if (std::min(w, h) < kMinSide) return {};
  const float measured = letter_height(picture);
  const double letter = measured > 0 ? measured : 12;
  double scale = std::clamp(kLetter / letter, kSmallest, kLargest);
  scale = std::min(scale, std::sqrt(kMaxPixels / (static_cast<double>(w) * h)));
  scale = std::min(scale, kMaxSide / std::max(w, h));
  if (std::min(w, h) * scale < kMinSide) return {};
  const int window = std::min(201, static_cast<int>(letter * scale * 1.6) | 1);
  const std::array<cv::Mat, 3> planes = planes_of(picture);
  const bool grey = all_grey(planes);
  if (h * scale < 16 * kLetter) {
    OcrSheet sheet = make_sheet(planes, grey, 0, h, scale, std::max(3, window));
    sheet.to = static_cast<float>(h);
    return {sheet};
  }
  const int cut = emptiest_row(planes[1]);
  const int margin = std::max(4, static_cast<int>(std::ceil(2 * letter)));
  std::vector<OcrSheet> sheets;
  sheets.push_back(make_sheet(planes, grey, 0, std::min(h, cut + margin), scale, window));
  sheets.push_back(make_sheet(planes, grey, std::max(0, cut - margin), h, scale, window));
  sheets[0].to = sheets[1].from = static_cast<float>(cut);
  sheets[1].to = static_cast<float>(h);
  return sheets;
}

}  // namespace arrcoc::media
