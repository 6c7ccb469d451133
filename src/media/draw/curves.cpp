#include "media/draw/curves.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <opencv2/imgproc.hpp>

#include "arrcoc/error.h"
#include "media/draw/paint.h"
#include "media/mats.h"

namespace arrcoc::media {
namespace {

constexpr int kLeft = 64, kRight = 170, kTop = 30, kBottom = 34;
const cv::Scalar kDark(40, 40, 40), kGrid(225, 225, 225);

// Colours that stay apart for colour-blind eyes (Okabe and Ito).
const cv::Scalar kColours[] = {{0, 114, 178}, {213, 94, 0},   {0, 158, 115},  {204, 121, 167},
                               {230, 159, 0}, {86, 180, 233}, {120, 120, 120}};

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void take(double v) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
  bool empty() const { return low > high; }
  double share(double v) const { return high > low ? (v - low) / (high - low) : 0.5; }
};

bool drawable(const std::pair<double, double>& p) {
  return std::isfinite(p.first) && std::isfinite(p.second);
}

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", v);
  return text;
}

void draw_panel(cv::Mat sheet, const CurvePanel& panel, const Range& x, const std::string& axis) {
  Range y;
  for (const Curve& curve : panel.curves)
    for (const auto& p : curve.points)
      if (drawable(p)) y.take(p.second);
  write(sheet, panel.title, {kLeft, 20}, kDark);
  const cv::Rect area(kLeft, kTop, sheet.cols - kLeft - kRight, sheet.rows - kTop - kBottom);
  if (y.empty()) {
    write(sheet, "no values", {area.x, area.y + area.height / 2}, kDark);
    return;
  }
  for (int i = 0; i <= 4; ++i) {
    const int row = area.y + area.height - area.height * i / 4;
    cv::line(sheet, {area.x, row}, {area.x + area.width, row}, kGrid);
    write(sheet, number(y.low + (y.high - y.low) * i / 4), {6, row + 4}, kDark);
    const int col = area.x + area.width * i / 4;
    write(sheet, number(x.low + (x.high - x.low) * i / 4), {col - 10, area.y + area.height + 16},
          kDark);
  }
  write(sheet, axis, {area.x + area.width + 12, area.y + area.height + 16}, kDark);
  cv::rectangle(sheet, area, kDark);
  int colour = 0, line = 0;
  for (const Curve& curve : panel.curves) {
    std::vector<cv::Point> path;
    for (const auto& p : curve.points)
      if (drawable(p))
        path.emplace_back(
            area.x + static_cast<int>(std::lround(area.width * x.share(p.first))),
            area.y + area.height - static_cast<int>(std::lround(area.height * y.share(p.second))));
    const cv::Scalar& ink = kColours[static_cast<size_t>(colour++) % std::size(kColours)];
    if (path.empty()) continue;
    cv::polylines(sheet, path, false, ink, 2, cv::LINE_AA);
    if (path.size() == 1) cv::circle(sheet, path[0], 3, ink, cv::FILLED, cv::LINE_AA);
    const int row = area.y + 14 + 18 * line++;
    cv::line(sheet, {area.x + area.width + 10, row - 4}, {area.x + area.width + 26, row - 4}, ink,
             2);
    write(sheet, curve.name, {area.x + area.width + 32, row}, kDark);
  }
}

}  // namespace

at::Tensor draw_curves(const std::vector<CurvePanel>& panels, const CurveOptions& options) {
  Range x;
  for (const CurvePanel& panel : panels)
    for (const Curve& curve : panel.curves)
      for (const auto& p : curve.points)
        if (drawable(p)) x.take(p.first);
  if (x.empty()) throw Error(ErrorCode::bad_argument, "[draw_curves] there is no point to draw");
  if (options.width < 400 || options.panel_height < 100 || options.width > 16384 ||
      options.panel_height > 16384)
    throw Error(ErrorCode::bad_argument, "[draw_curves] panels are 400x100 to 16384x16384 pixels");
  cv::Mat sheet(options.panel_height * static_cast<int>(panels.size()), options.width, CV_8UC3,
                cv::Scalar::all(255));
  for (size_t i = 0; i < panels.size(); ++i)
    draw_panel(sheet.rowRange(static_cast<int>(i) * options.panel_height,
                              static_cast<int>(i + 1) * options.panel_height),
               panels[i], x, options.axis);
  return planar(sheet);
}

}  // namespace arrcoc::media
