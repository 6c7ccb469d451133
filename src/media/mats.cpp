#include "media/mats.h"

#include <ATen/ops/empty.h>

namespace arrcoc::media {

cv::Mat plane_of(const at::Tensor& planes, int c) {
  const int h = static_cast<int>(planes.size(1));
  const int w = static_cast<int>(planes.size(2));
  const int type = planes.scalar_type() == at::kFloat ? CV_32FC1 : CV_8UC1;
  auto* data = static_cast<uint8_t*>(planes.data_ptr());
  return cv::Mat(h, w, type, data + static_cast<size_t>(c) * h * w * CV_ELEM_SIZE(type));
}

at::Tensor new_picture(int height, int width) { return at::empty({3, height, width}, at::kByte); }

cv::Mat interleaved(const at::Tensor& rgb) {
  const cv::Mat planes[3] = {plane_of(rgb, 0), plane_of(rgb, 1), plane_of(rgb, 2)};
  cv::Mat out;
  cv::merge(planes, 3, out);
  return out;
}

at::Tensor planar(const cv::Mat& rgb) {
  at::Tensor out = new_picture(rgb.rows, rgb.cols);
  cv::Mat planes[3] = {plane_of(out, 0), plane_of(out, 1), plane_of(out, 2)};
  cv::split(rgb, planes);
  return out;
}

at::Tensor stack(const std::vector<cv::Mat>& maps) {
  const cv::Size size = maps.front().size();
  at::Tensor out =
      at::empty({static_cast<int64_t>(maps.size()), size.height, size.width}, at::kFloat);
  for (size_t k = 0; k < maps.size(); ++k) {
    CV_Assert(maps[k].type() == CV_32FC1 && maps[k].size() == size);
    maps[k].copyTo(plane_of(out, static_cast<int>(k)));
  }
  return out;
}

}  // namespace arrcoc::media
