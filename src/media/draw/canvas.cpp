#include "media/draw/canvas.h"

#include <ATen/ops/empty.h>
#include <sys/mman.h>
#include <unistd.h>

#include <opencv2/imgproc.hpp>

#include "arrcoc/error.h"

namespace arrcoc::media {

namespace {

// round(x / 255) for 0 <= x <= 255 * 255, exactly.
inline uint32_t div255(uint32_t x) { return (x + 128 + ((x + 128) >> 8)) >> 8; }

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
// 5 transposed, 6 to be turned clockwise, 7 transversed, 8 to be turned anticlockwise.
void turn(const cv::Mat& strip, cv::Mat target, int orientation) {
  switch (orientation) {
    case 2:
      cv::flip(strip, target, 1);
      break;
    case 3:
      cv::flip(strip, target, -1);
      break;
    case 4:
      cv::flip(strip, target, 0);
      break;
    case 5:
      cv::transpose(strip, target);
      break;
    case 6:
      cv::rotate(strip, target, cv::ROTATE_90_CLOCKWISE);
      break;
    case 7:
      cv::transpose(strip, target);
      cv::flip(target, target, -1);
      break;
    case 8:
      cv::rotate(strip, target, cv::ROTATE_90_COUNTERCLOCKWISE);
      break;
    default:
      strip.copyTo(target);
      break;
  }
}

}  // namespace

Canvas::Canvas(int stored_width, int stored_height, int orientation)
    : width_(stored_width), height_(stored_height), orientation_(orientation) {
  const bool lying = orientation >= 5 && orientation <= 8;
  rgb_ = lying ? new_picture(width_, height_) : new_picture(height_, width_);
  for (int c = 0; c < 3; ++c) planes_[c] = plane_of(rgb_, c);
}

cv::Mat Canvas::target(int plane, int y, int rows) {
  const int mirrored = height_ - y - rows;
  switch (orientation_) {
    case 3:
    case 4:
      return planes_[plane].rowRange(mirrored, mirrored + rows);
    case 5:
    case 8:
      return planes_[plane].colRange(y, y + rows);
    case 6:
    case 7:
      return planes_[plane].colRange(mirrored, mirrored + rows);
    default:
      return planes_[plane].rowRange(y, y + rows);
  }
}

void Canvas::put(int y, const cv::Mat& strip, Alpha alpha) {
  CV_Assert(strip.depth() == CV_8U && strip.cols == width_ && y >= 0 && y + strip.rows <= height_);
  const cv::Mat* colours = &strip;
  if (strip.channels() == 2) over_white<1>(strip, opaque_, alpha), colours = &opaque_;
  if (strip.channels() == 4) over_white<3>(strip, opaque_, alpha), colours = &opaque_;

  const bool upright = orientation_ <= 1 || orientation_ > 8;
  if (colours->channels() == 1) {
    for (int c = 0; c < 3; ++c) turn(*colours, target(c, y, strip.rows), orientation_);
  } else if (upright) {
    cv::Mat out[3] = {target(0, y, strip.rows), target(1, y, strip.rows), target(2, y, strip.rows)};
    cv::split(*colours, out);
  } else {
    cv::split(*colours, turned_);
    for (int c = 0; c < 3; ++c) turn(turned_[c], target(c, y, strip.rows), orientation_);
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

void put_all(Canvas& canvas, Scratch& scratch, int width, int height, int type, Alpha alpha) {
  const size_t stride = static_cast<size_t>(width) * CV_ELEM_SIZE(type);
  for (int y = 0; y < height; y += Canvas::kStrip) {
    const int rows = std::min(Canvas::kStrip, height - y);
    canvas.put(y, cv::Mat(rows, width, type, scratch.data() + stride * y, stride), alpha);
    scratch.release_before(stride * (y + rows));
  }
}

cv::Mat plane_of(const at::Tensor& rgb, int c) {
  const int h = static_cast<int>(rgb.size(1));
  const int w = static_cast<int>(rgb.size(2));
  return cv::Mat(h, w, CV_8UC1, rgb.data_ptr<uint8_t>() + static_cast<size_t>(c) * h * w);
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
  const int h = maps.front().rows;
  const int w = maps.front().cols;
  at::Tensor out = at::empty({static_cast<int64_t>(maps.size()), h, w}, at::kFloat);
  for (size_t k = 0; k < maps.size(); ++k) {
    CV_Assert(maps[k].type() == CV_32FC1 && maps[k].rows == h && maps[k].cols == w);
    maps[k].copyTo(cv::Mat(h, w, CV_32FC1, out.data_ptr<float>() + k * h * w));
  }
  return out;
}

}  // namespace arrcoc::media
