// Texture channels that need more than a stencil: superpixels, distance to edges, text.
#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "media/mats.h"
#include "media/vision/vision.h"

namespace arrcoc::media {

namespace {

constexpr int kClusters = 256;  // longest side that superpixels need
constexpr int kLongest = 320;   // superpixels and distances are smooth: this is enough
constexpr float kEdge = 0.1F;   // Sobel magnitude that counts as an edge

// Divided by its largest value, if there is one above 0.
cv::Mat relative(cv::Mat distance) {
  double farthest = 0;
  cv::minMaxLoc(distance, nullptr, &farthest);
  if (farthest > 0) distance /= farthest;
  return distance;
}

class Clusters : public Provider {
 public:
  std::vector<Channel> channels() const override {
    return {Channel::cluster_id, Channel::centroid_distance, Channel::cluster_size,
            Channel::object_boundary};
  }

  at::Tensor provide(const at::Tensor& frame, const Picture&) const override {
    const FramePlanes full = planes_of(frame);
    const cv::Mat rgb[3] = {shrunk(full.plane[0], kClusters), shrunk(full.plane[1], kClusters),
                            shrunk(full.plane[2], kClusters)};
    const Segments segments = slic(rgb);
    const cv::Mat& labels = segments.labels;

    std::vector<cv::Point2d> centroid(segments.count);
    std::vector<int> size(segments.count, 0);
    for (int y = 0; y < labels.rows; ++y) {
      for (int x = 0; x < labels.cols; ++x) {
        const int k = labels.at<int>(y, x);
        centroid[k] += cv::Point2d(x, y);
        ++size[k];
      }
    }
    for (int k = 0; k < segments.count; ++k) centroid[k] /= size[k];

    cv::Mat id(labels.size(), CV_32FC1), distance(labels.size(), CV_32FC1),
        share(labels.size(), CV_32FC1), border(labels.size(), CV_32FC1);
    const auto last = static_cast<float>(std::max(1, segments.count - 1));
    const auto total = static_cast<float>(labels.total());
    for (int y = 0; y < labels.rows; ++y) {
      for (int x = 0; x < labels.cols; ++x) {
        const int k = labels.at<int>(y, x);
        id.at<float>(y, x) = static_cast<float>(k) / last;
        distance.at<float>(y, x) =
            static_cast<float>(std::hypot(x - centroid[k].x, y - centroid[k].y));
        share.at<float>(y, x) = static_cast<float>(size[k]) / total;
        const bool right = x + 1 < labels.cols && labels.at<int>(y, x + 1) != k;
        const bool below = y + 1 < labels.rows && labels.at<int>(y + 1, x) != k;
        border.at<float>(y, x) = right || below ? 1.0F : 0.0F;
      }
    }
    return stack({id, relative(distance), share, border});
  }
};

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

std::unique_ptr<Provider> make_clusters() { return std::make_unique<Clusters>(); }
std::unique_ptr<Provider> make_distance_field() { return std::make_unique<DistanceField>(); }
std::unique_ptr<Provider> make_text() { return std::make_unique<Text>(); }

}  // namespace arrcoc::media
