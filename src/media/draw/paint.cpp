#include "media/draw/paint.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "arrcoc/error.h"
#include "media/mats.h"

namespace arrcoc::media {

namespace {

constexpr int kLegend = 62;        // pixels
constexpr int kLegendWidth = 320;  // what its texts need
constexpr int kEnlarged = 400;     // small pictures are enlarged up to this
constexpr int kThinnest = 12;      // of a drawn picture
constexpr int kMargin = 12;
constexpr double kLift = 34;  // of faded blacks: colours laid over black would be lost
constexpr double kFontScale = 0.42;
constexpr int kFont = cv::FONT_HERSHEY_SIMPLEX;
const cv::Scalar kPaleInk(160, 164, 172);

int text_width(const std::string& text) {
  int baseline = 0;
  return cv::getTextSize(text, kFont, kFontScale, 1, &baseline).width;
}

cv::Scalar scalar(const cv::Vec3b& colour) {
  return {1.0 * colour[0], 1.0 * colour[1], 1.0 * colour[2]};
}

}  // namespace

void write(cv::Mat& sheet, const std::string& text, cv::Point at, const cv::Scalar& ink) {
  cv::putText(sheet, text, at, kFont, kFontScale, ink, 1, cv::LINE_AA);
}

void mix(cv::Vec3b& pixel, const cv::Vec3b& colour, double opacity) {
  for (int c = 0; c < 3; ++c)
    pixel[c] = cv::saturate_cast<uint8_t>(pixel[c] + (colour[c] - pixel[c]) * opacity);
}

cv::Vec3b colour_of(double t) {
  static const std::array<cv::Vec3b, 256> table = [] {
    cv::Mat ramp(1, 256, CV_8UC1);
    for (int i = 0; i < 256; ++i) ramp.at<uint8_t>(0, i) = static_cast<uint8_t>(i);
    cv::Mat bgr;
    cv::applyColorMap(ramp, bgr, cv::COLORMAP_TURBO);
    std::array<cv::Vec3b, 256> out;
    for (int i = 0; i < 256; ++i) {
      const auto c = bgr.at<cv::Vec3b>(0, i);
      out[i] = {c[2], c[1], c[0]};
    }
    return out;
  }();
  // The ends of the scale are nearly black: they would read as shadow, not as heat.
  return table[static_cast<size_t>(std::lround(18 + 219 * std::clamp(t, 0.0, 1.0)))];
}

Sheet::Sheet(int width, int height, const DrawOptions& options) {
  if (options.longest < 1) {
    throw Error(ErrorCode::bad_argument, "[draw] longest must be at least 1");
  }
  if (options.legend && options.longest >= kLegendWidth) legend_ = kLegend;
  const int room_w = options.longest;
  const int room_h = options.longest - legend_;
  double scale =
      std::min(static_cast<double>(room_w) / width, static_cast<double>(room_h) / height);
  if (scale > 1) {
    scale = std::max(
        1.0, std::floor(std::min(scale, static_cast<double>(kEnlarged) / std::max(width, height))));
  }
  const auto size = [&](int source, int room) {
    const int wanted = static_cast<int>(std::lround(source * scale));
    return std::min(room, std::max(wanted, std::min(kThinnest, room)));
  };
  const int w = size(width, room_w);
  const int h = size(height, room_h);
  const int full = legend_ > 0 ? std::max(w, kLegendWidth) : w;
  sheet_ = cv::Mat(h + legend_, full, CV_8UC3, kPaper);
  picture_ = sheet_(cv::Rect((full - w) / 2, 0, w, h));
  cover(width, height);
}

void Sheet::cover(int width, int height) {
  scale_x_ = static_cast<double>(picture_.cols) / std::max(1, width);
  scale_y_ = static_cast<double>(picture_.rows) / std::max(1, height);
}

cv::Rect Sheet::place(const Box& box) const {
  const auto span = [](double from, double to, double scale, int most) {
    const int a = std::clamp(static_cast<int>(std::lround(from * scale)), 0, most - 1);
    const int b = std::clamp(static_cast<int>(std::lround(to * scale)), a + 1, most);
    return std::pair{a, b};
  };
  const auto [x0, x1] = span(box.x0, box.x1, scale_x_, picture_.cols);
  const auto [y0, y1] = span(box.y0, box.y1, scale_y_, picture_.rows);
  return {x0, y0, x1 - x0, y1 - y0};
}

void Sheet::show(const at::Tensor& rgb) {
  cv::Mat planes[3];
  for (int c = 0; c < 3; ++c) {
    const cv::Mat plane = plane_of(rgb, c);
    const bool smaller = picture_.cols < plane.cols || picture_.rows < plane.rows;
    cv::resize(plane, planes[c], picture_.size(), 0, 0,
               smaller ? cv::INTER_AREA : cv::INTER_NEAREST);
  }
  cv::merge(planes, 3, picture_);
}

void Sheet::fade(double factor) {
  cv::Mat grey;
  cv::cvtColor(picture_, grey, cv::COLOR_RGB2GRAY);
  grey.convertTo(grey, CV_8U, factor, kLift);
  cv::cvtColor(grey, picture_, cv::COLOR_GRAY2RGB);
}

void Sheet::outline(const cv::Rect& r, const cv::Vec3b& colour, double opacity) {
  for (int x = r.x; x < r.br().x; ++x) mix(picture_.at<cv::Vec3b>(r.y, x), colour, opacity);
  for (int y = r.y + 1; y < r.br().y; ++y) mix(picture_.at<cv::Vec3b>(y, r.x), colour, opacity);
}

void Sheet::mark(const std::vector<Mark>& marks) {
  for (const Mark& m : marks) {
    const cv::Rect r = place(m.box);  // around it: what stands in it stays to be seen
    cv::rectangle(picture_, r.tl() - cv::Point(2, 2), r.br() + cv::Point(1, 1),
                  cv::Scalar(m.colour[0], m.colour[1], m.colour[2]));
  }
}

cv::Rect Sheet::legend_row(int from, int height) const {
  return {kMargin, picture_.rows + from, sheet_.cols - 2 * kMargin, height};
}

void Sheet::legend_titles(const std::string& left, const std::string& right) {
  const cv::Rect row = legend_row(8, 14);
  write(sheet_, left, {row.x, row.y + 12}, kInk);
  const int free = row.width - text_width(left) - 16;
  if (text_width(right) <= free) {
    write(sheet_, right, {row.br().x - text_width(right), row.y + 12}, kPaleInk);
  }
}

void Sheet::legend_bar(const std::string& left, const std::string& right,
                       const std::vector<Tick>& ticks) {
  if (legend_ == 0) return;
  legend_titles(left, right);
  const cv::Rect bar = legend_row(29, 10);
  for (int x = 0; x < bar.width; ++x) {
    sheet_(cv::Rect(bar.x + x, bar.y, 1, bar.height)) =
        scalar(colour_of(static_cast<double>(x) / std::max(1, bar.width - 1)));
  }
  int free_from = bar.x;
  for (const Tick& tick : ticks) {
    const int x = bar.x + static_cast<int>(std::lround(tick.t * (bar.width - 1)));
    const int width = text_width(tick.label);
    const int at = std::clamp(x - width / 2, bar.x, bar.br().x - width);
    if (at < free_from) continue;  // labels never overlap
    cv::line(sheet_, {x, bar.br().y}, {x, bar.br().y + 2}, kPaleInk);
    write(sheet_, tick.label, {at, bar.br().y + 15}, kPaleInk);
    free_from = at + width + 8;
  }
}

void Sheet::legend_swatches(const std::string& left, const std::string& right,
                            const std::vector<Swatch>& swatches) {
  if (legend_ == 0) return;
  legend_titles(left, right);
  const cv::Rect row = legend_row(33, 12);
  int x = row.x;
  for (const Swatch& swatch : swatches) {
    const int width = 18 + text_width(swatch.label);
    if (x + width > row.br().x) break;
    sheet_(cv::Rect(x, row.y, 12, 12)) = scalar(swatch.colour);
    write(sheet_, swatch.label, {x + 18, row.y + 11}, kPaleInk);
    x += width + 18;
  }
}

void Sheet::legend_line(const std::string& left, const std::string& right,
                        const std::string& line) {
  if (legend_ == 0) return;
  legend_titles(left, right);
  const cv::Rect row = legend_row(33, 12);
  if (text_width(line) <= row.width) write(sheet_, line, {row.x, row.y + 11}, kPaleInk);
}

at::Tensor Sheet::finish() const { return planar(sheet_); }

}  // namespace arrcoc::media
