// Texture channels that need more than a stencil: distance to edges, text.
#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "media/mats.h"
#include "media/vision/vision.h"

namespace arrcoc::media {

namespace {

constexpr int kLongest = 320;  // distances are smooth: this is enough
constexpr float kEdge = 0.1F;  // Sobel magnitude that counts as an edge

// Divided by its largest value, if there is one above 0.
cv::Mat relative(cv::Mat distance) {
  double farthest = 0;
  cv::minMaxLoc(distance, nullptr, &farthest);
  if (farthest > 0) distance /= farthest;
  return distance;
}

class DistanceField : public Provider {
 public:
  std::vector<Channel> channels() const override { return {Channel::distance_field}; }

  at::Tensor provide(const at::Tensor& frame, const Picture&) const override {
    // Edges are found at the frame's resolution; a cell with any edge in it is an edge cell.
    const int64_t block = (std::max(frame.size(1), frame.size(2)) + kLongest - 1) / kLongest;
    const at::Tensor peak = texture::peak_outlines_cpu(frame.cpu().to(at::kFloat), block);
    cv::Mat away(static_cast<int>(peak.size(0)), static_cast<int>(peak.size(1)), CV_8UC1);
    const float* from = peak.data_ptr<float>();
    for (size_t i = 0; i < away.total(); ++i) away.data[i] = from[i] > kEdge ? 0 : 255;
    // No edge at all: every place is as far from one as can be.
    if (cv::countNonZero(away) == static_cast<int>(away.total())) {
      return stack({cv::Mat(away.size(), CV_32FC1, cv::Scalar(1))});
    }
    cv::Mat distance;
    cv::distanceTransform(away, distance, cv::DIST_L2, cv::DIST_MASK_PRECISE);
    return stack({relative(distance)});
  }
};

class Text : public Provider {
 public:
  std::vector<Channel> channels() const override { return {Channel::text_mask}; }
  at::Tensor provide(const at::Tensor& frame, const Picture&) const override {
    return stack({text_strength(grey_of(frame))});
  }
};

}  // namespace

std::unique_ptr<Provider> make_distance_field() { return std::make_unique<DistanceField>(); }
std::unique_ptr<Provider> make_text() { return std::make_unique<Text>(); }

}  // namespace arrcoc::media
