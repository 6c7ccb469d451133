#include "media/codecs/canvas.h"

#include <sys/mman.h>
#include <unistd.h>

#include <opencv2/imgproc.hpp>

#include "arrcoc/error.h"

namespace arrcoc::media {

namespace {

// round(x / 255) for 0 <= x <= 255 * 255, exactly.
uint32_t div255(uint32_t x) { return (x + 128 + ((x + 128) >> 8)) >> 8; }

template <int kColours>
void over_white(const cv::Mat& from, cv::Mat& to, Alpha kind) {
  to.create(from.size(), CV_8UC(kColours));
  for (int y = 0; y < from.rows; ++y) {
    const uint8_t* in = from.ptr(y);
    uint8_t* out = to.ptr(y);
    for (int x = 0; x < from.cols; ++x, in += kColours + 1, out += kColours) {
      const uint32_t a = in[kColours];
      for (int c = 0; c < kColours; ++c) {
        const uint32_t colour = kind == Alpha::straight ? div255(in[c] * a) : in[c];
        out[c] = static_cast<uint8_t>(std::min<uint32_t>(255, colour + 255 - a));
      }
    }
  }
}

// The strip as it lies in the upright picture. EXIF: 2 mirrored, 3 upside down, 4 flipped,
// 5 transposed, 6 to be turned clockwise, 7 transversed, 8 to be turned anticlockwise. From 5 on
// each is one of the first four, transposed before.
void turn(const cv::Mat& strip, cv::Mat target, int orientation) {
  const cv::Mat source = orientation >= 5 ? cv::Mat(strip.t()) : strip;
  const int turned = (orientation - 1) % 4;
  if (turned == 0) return source.copyTo(target);
  constexpr int kFlip[] = {0, 1, -1, 0};  // OpenCV: 0 upside down, 1 sideways, -1 both
  cv::flip(source, target, kFlip[turned]);
}

}  // namespace

Canvas::Canvas(const Job& job, int stored_width, int stored_height, int orientation)
    : width_(stored_width), height_(stored_height), orientation_(orientation) {
  CV_Assert(orientation >= 1 && orientation <= 8);
  const int h = orientation >= 5 ? width_ : height_;
  const int w = orientation >= 5 ? height_ : width_;
  const size_t plane = static_cast<size_t>(h) * w;
  uint8_t* data = job.memory(3 * plane);
  for (int c = 0; c < 3; ++c) planes_[c] = cv::Mat(h, w, CV_8UC1, data + c * plane);
}

cv::Mat Canvas::target(int plane, int y, int rows) {
  const bool from_end =
      orientation_ == 3 || orientation_ == 4 || orientation_ == 6 || orientation_ == 7;
  const int from = from_end ? height_ - y - rows : y;
  const cv::Mat& all = planes_[plane];
  return orientation_ >= 5 ? all.colRange(from, from + rows) : all.rowRange(from, from + rows);
}

void Canvas::put(int y, const cv::Mat& strip, Alpha alpha) {
  CV_Assert(strip.depth() == CV_8U && strip.cols == width_ && y >= 0 && y + strip.rows <= height_);
  const cv::Mat* colours = &strip;
  if (strip.channels() == 2) over_white<1>(strip, opaque_, alpha), colours = &opaque_;
  if (strip.channels() == 4) over_white<3>(strip, opaque_, alpha), colours = &opaque_;

  if (colours->channels() == 1) {
    for (int c = 0; c < 3; ++c) turn(*colours, target(c, y, strip.rows), orientation_);
  } else if (orientation_ == 1) {
    cv::Mat out[3] = {target(0, y, strip.rows), target(1, y, strip.rows), target(2, y, strip.rows)};
    cv::split(*colours, out);
  } else {
    cv::split(*colours, turned_);
    for (int c = 0; c < 3; ++c) turn(turned_[c], target(c, y, strip.rows), orientation_);
  }
}

void Canvas::put_all(int y, const cv::Mat& rows, Alpha alpha, Scratch* scratch) {
  for (int from = 0; from < rows.rows; from += kStrip) {
    const int to = std::min(from + kStrip, rows.rows);
    put(y + from, rows.rowRange(from, to), alpha);
    if (scratch != nullptr) scratch->release_before(rows.step * static_cast<size_t>(to));
  }
}

void Canvas::fill(int type, const std::function<void(int y, cv::Mat& strip)>& read) {
  cv::Mat rows(kStrip, width_, type);
  for (int y = 0; y < height_; y += kStrip) {
    cv::Mat strip = rows.rowRange(0, std::min(kStrip, height_ - y));
    read(y, strip);
    put(y, strip);
  }
}

Scratch::Scratch(size_t bytes) : bytes_(bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw Error(ErrorCode::too_large,
                "no memory for decoding: " + std::to_string(bytes >> 20) + " MB needed");
  }
  data_ = static_cast<uint8_t*>(memory);
}

Scratch::~Scratch() { munmap(data_, bytes_); }

void Scratch::release_before(size_t offset) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  offset = std::min(offset, bytes_) / page * page;
  // In pieces of a megabyte: a system call for every strip would cost more than it frees.
  if (offset < released_ + (size_t{1} << 20)) return;
  madvise(data_ + released_, offset - released_, MADV_DONTNEED);
  released_ = offset;
}

}  // namespace arrcoc::media
