#include "media/vision/vision.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "media/mats.h"

namespace arrcoc::media {

FramePlanes planes_of(const at::Tensor& frame) {
  FramePlanes out;
  out.keep = frame.cpu().to(at::kFloat).contiguous();
  for (int c = 0; c < 3; ++c) out.plane[c] = plane_of(out.keep, c);
  return out;
}

cv::Mat grey_of(const at::Tensor& frame) {
  const at::Tensor rgb = frame.cpu().to(at::kFloat);
  cv::Mat out(static_cast<int>(rgb.size(1)), static_cast<int>(rgb.size(2)), CV_8UC1);
  texture::luma_bytes_cpu(rgb, out.data);
  return out;
}

cv::Mat shrunk(const cv::Mat& picture, int longest) {
  const int side = std::max(picture.cols, picture.rows);
  if (side <= longest) return picture;
  const double scale = static_cast<double>(longest) / side;
  cv::Mat out;
  cv::resize(picture, out,
             cv::Size(std::max(1, static_cast<int>(std::lround(picture.cols * scale))),
                      std::max(1, static_cast<int>(std::lround(picture.rows * scale)))),
             0, 0, cv::INTER_AREA);
  return out;
}

Map pool(const cv::Mat& values, const Map& shape, int width, int height) {
  // The integral of a piecewise constant function is bilinear between its grid points, so that
  // reading the table at fractional places gives exact area sums.
  cv::Mat table;
  cv::integral(values, table, CV_64F);
  const double sx = static_cast<double>(values.cols) / width;
  const double sy = static_cast<double>(values.rows) / height;
  const auto sum = [&](double x, double y) {
    const int x0 = std::min(static_cast<int>(x), values.cols - 1);
    const int y0 = std::min(static_cast<int>(y), values.rows - 1);
    const double fx = x - x0;
    const double fy = y - y0;
    const double* above = table.ptr<double>(y0) + x0;
    const double* below = table.ptr<double>(y0 + 1) + x0;
    return (1 - fy) * ((1 - fx) * above[0] + fx * above[1]) +
           fy * ((1 - fx) * below[0] + fx * below[1]);
  };
  Map out = like(shape, 0);
  for (int r = 0; r < out.rows; ++r) {
    const double y0 = std::min<double>(values.rows, r * shape.cell_height * sy);
    const double y1 = std::min<double>(values.rows, (r + 1) * shape.cell_height * sy);
    for (int c = 0; c < out.cols; ++c) {
      const double x0 = std::min<double>(values.cols, c * shape.cell_width * sx);
      const double x1 = std::min<double>(values.cols, (c + 1) * shape.cell_width * sx);
      const double area = (x1 - x0) * (y1 - y0);
      if (area <= 0) continue;
      out.at(r, c) =
          static_cast<float>((sum(x1, y1) - sum(x0, y1) - sum(x1, y0) + sum(x0, y0)) / area);
    }
  }
  return out;
}

}  // namespace arrcoc::media
