#include "arrcoc/strip.h"

#include <cstdio>
#include <opencv2/imgproc.hpp>

#include "media/draw/canvas.h"

namespace arrcoc::media {

at::Tensor draw_passes(const Picture& picture, const esper::Result& result, int longest) {
  constexpr int kTitle = 24, kGap = 8;
  const cv::Scalar paper(24, 26, 31), ink(226, 228, 232);
  std::vector<cv::Mat> tiles;
  int width = 0, height = 0;
  DrawOptions options;
  options.longest = longest;
  for (const esper::Pass& pass : result.passes) {
    tiles.push_back(interleaved(draw_homunculus(picture, pass.allocation, options)));
    width += tiles.back().cols + (tiles.size() > 1 ? kGap : 0);
    height = std::max(height, tiles.back().rows);
  }
  cv::Mat sheet(height + kTitle, width, CV_8UC3, paper);
  int x = 0;
  for (size_t i = 0; i < tiles.size(); ++i) {
    const esper::Pass& pass = result.passes[i];
    char title[160];
    std::snprintf(title, sizeof title, "%zu%s %s: %.40s  sure %.2f, %d tokens", i + 1,
                  i == result.best ? "*" : "", pass.manner.c_str(), pass.answer.c_str(),
                  pass.confidence, pass.tokens);
    cv::Mat part = sheet(cv::Rect(x, 0, tiles[i].cols, sheet.rows));
    cv::putText(part, title, {6, 16}, cv::FONT_HERSHEY_SIMPLEX, 0.42, ink, 1, cv::LINE_AA);
    tiles[i].copyTo(part(cv::Rect(0, kTitle, tiles[i].cols, tiles[i].rows)));
    x += tiles[i].cols + kGap;
  }
  return planar(sheet);
}

}  // namespace arrcoc::media
