// Optical flow and superpixels of thumbs.
#include <opencv2/imgproc.hpp>
#include <opencv2/video/tracking.hpp>

#include "arrcoc/media.h"
#include "media/vision/vision.h"

namespace arrcoc::media {

namespace {

// A header on the thumb's pixels; OpenCV only reads them.
cv::Mat rgb_of(const filming::Thumb& thumb) {
  return {thumb.height, thumb.width, CV_8UC3, const_cast<uint8_t*>(thumb.rgb.data())};
}

cv::Mat grey_of(const filming::Thumb& thumb) {
  cv::Mat out;
  cv::cvtColor(rgb_of(thumb), out, cv::COLOR_RGB2GRAY);
  return out;
}

class DisFlow : public filming::FlowSource {
 public:
  filming::Flow flow(const filming::Thumb& current, const filming::Thumb& previous) override {
    filming::Flow out;
    // The search needs a few of its 8x8 patches.
    if (current.width < 32 || current.height < 32) return out;
    const cv::Mat now = grey_of(current), before = grey_of(previous);
    cv::Mat moved;
    search_->calc(now, before, moved);
    out.width = current.width;
    out.height = current.height;
    out.dx.resize(moved.total());
    out.dy.resize(moved.total());
    for (int y = 0; y < moved.rows; ++y) {
      const auto* row = moved.ptr<cv::Vec2f>(y);
      const size_t at = static_cast<size_t>(y) * moved.cols;
      for (int x = 0; x < moved.cols; ++x) {
        out.dx[at + x] = row[x][0];
        out.dy[at + x] = row[x][1];
      }
    }
    return out;
  }

 private:
  cv::Ptr<cv::DISOpticalFlow> search_ =
      cv::DISOpticalFlow::create(cv::DISOpticalFlow::PRESET_ULTRAFAST);
};

class SlicSegments : public filming::SegmentSource {
 public:
  filming::Segments segments(const filming::Thumb& thumb) override {
    cv::Mat scaled;
    rgb_of(thumb).convertTo(scaled, CV_32FC3, 1.0 / 255);
    cv::Mat planes[3];
    cv::split(scaled, planes);
    const Segments found = slic(planes, 150);
    filming::Segments out;
    out.count = found.count;
    out.labels.assign(found.labels.begin<int>(), found.labels.end<int>());
    return out;
  }
};

}  // namespace

std::shared_ptr<filming::FlowSource> dis_flow() { return std::make_shared<DisFlow>(); }
std::shared_ptr<filming::SegmentSource> slic_segments() { return std::make_shared<SlicSegments>(); }

}  // namespace arrcoc::media
