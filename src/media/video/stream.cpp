// Films by FFmpeg and cameras by Video4Linux, both through OpenCV; or in a process of their own.
#include "media/video/stream.h"

#include <cstdlib>
#include <cstring>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/videoio.hpp>

#include "media/apart/film.h"
#include "media/apart/film_head.h"

namespace arrcoc::media {

namespace {

// The decoders' own complaints would land on standard error between our lines.
void be_quiet() {
  ::setenv("OPENCV_FFMPEG_LOGLEVEL", "-8", 0);
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
}

class Capture : public Stream {
 public:
  bool open(const std::string& source, int camera) {
    return camera >= 0 ? capture_.open(camera, cv::CAP_V4L2)
                       : capture_.open(source, cv::CAP_FFMPEG);
  }
  FilmHead head() const override { return head_of(capture_); }
  bool grab() override { return capture_.grab(); }
  bool retrieve(Grabbed& frame) override {
    if (!capture_.retrieve(shared_) || shared_.empty() || shared_.type() != CV_8UC3) return false;
    frame.create(shared_.cols, shared_.rows);  // the capture reuses its memory
    const size_t row = size_t{3} * static_cast<size_t>(shared_.cols);
    for (int y = 0; y < shared_.rows; ++y)
      std::memcpy(frame.bgr.get() + static_cast<size_t>(y) * row, shared_.ptr(y), row);
    return true;
  }

 private:
  cv::VideoCapture capture_;
  cv::Mat shared_;
};

}  // namespace

std::unique_ptr<Stream> open_stream(const std::string& source, int camera,
                                    const LoadOptions& options) {
  be_quiet();
  if (camera < 0 && options.apart) return std::make_unique<FilmApart>(source, options);
  auto out = std::make_unique<Capture>();
  if (!out->open(source, camera)) return nullptr;
  return out;
}

}  // namespace arrcoc::media
