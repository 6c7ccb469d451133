#include "media/draw/reliability.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "arrcoc/error.h"
#include "media/draw/paint.h"
#include "media/mats.h"

namespace arrcoc::media {
namespace {

constexpr int kWidth = 400, kHeight = 420, kLeft = 46, kRight = 14, kTop = 56, kBottom = 44;
constexpr size_t kColumns = 3;
const cv::Scalar kDark(40, 40, 40), kGrid(225, 225, 225), kBar(86, 180, 233), kDot(213, 94, 0);

void draw_axes(cv::Mat& sheet, const cv::Rect& area) {
  for (int i = 0; i <= 5; ++i) {
    const int row = area.br().y - area.height * i / 5, col = area.x + area.width * i / 5;
    const std::string label = i == 5 ? "1" : "0." + std::to_string(2 * i);
    cv::line(sheet, {area.x, row}, {area.br().x, row}, kGrid);
    write(sheet, label, {area.x - 28, row + 4}, kDark);
    write(sheet, label, {col - 8, area.br().y + 16}, kDark);
  }
  write(sheet, "confidence", {area.x + area.width / 2 - 36, area.br().y + 34}, kDark);
}

void draw_panel(cv::Mat sheet, const ReliabilityPanel& panel) {
  const cv::Rect area(kLeft, kTop, kWidth - kLeft - kRight, kHeight - kTop - kBottom);
  write(sheet, panel.title, {kLeft, 20}, kDark);
  write(sheet, panel.second, {kLeft, 40}, kDark);
  draw_axes(sheet, area);
  const auto x = [&](double v) { return area.x + static_cast<int>(std::lround(area.width * v)); };
  const auto y = [&](double v) {
    return area.br().y - static_cast<int>(std::lround(area.height * v));
  };
  const auto bins = static_cast<double>(panel.bins.size());
  for (size_t i = 0; i < panel.bins.size(); ++i)
    if (const ReliabilityBar& bin = panel.bins[i]; bin.count > 0)
      cv::rectangle(sheet, {x(static_cast<double>(i) / bins) + 2, y(bin.right)},
                    {x(static_cast<double>(i + 1) / bins) - 2, area.br().y}, kBar, cv::FILLED);
  cv::line(sheet, {area.x, area.br().y}, {area.br().x, area.y}, kDark, 1, cv::LINE_AA);
  cv::rectangle(sheet, area, kDark);
  for (size_t i = 0; i < panel.bins.size(); ++i) {
    const ReliabilityBar& bin = panel.bins[i];
    if (bin.count == 0) continue;
    cv::circle(sheet, {x(bin.confidence), y(bin.right)}, 4, kDot, cv::FILLED, cv::LINE_AA);
    write(sheet, std::to_string(bin.count),
          {x(static_cast<double>(i) / bins) + 4, std::max(area.y + 12, y(bin.right) - 8)}, kDark);
  }
}

}  // namespace

at::Tensor draw_reliability(const std::vector<ReliabilityPanel>& panels) {
  if (panels.empty() || std::any_of(panels.begin(), panels.end(),
                                    [](const ReliabilityPanel& p) { return p.bins.empty(); }))
    throw Error(ErrorCode::bad_argument, "[draw_reliability] there is nothing to draw");
  const size_t columns = std::min(kColumns, panels.size());
  const size_t rows = (panels.size() + columns - 1) / columns;
  cv::Mat sheet(kHeight * static_cast<int>(rows), kWidth * static_cast<int>(columns), CV_8UC3,
                cv::Scalar::all(255));
  for (size_t i = 0; i < panels.size(); ++i)
    draw_panel(sheet(cv::Rect(kWidth * static_cast<int>(i % columns),
                              kHeight * static_cast<int>(i / columns), kWidth, kHeight)),
               panels[i]);
  return planar(sheet);
}

}  // namespace arrcoc::media
