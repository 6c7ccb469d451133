// Where decoders put their rows: the planar, upright picture under construction.
#pragma once

#include <functional>
#include <opencv2/core.hpp>

#include "media/codecs/codecs.h"

namespace arrcoc::media {

enum class Alpha {
  straight,       // colour independent of alpha: over white c*a + (1-a)
  premultiplied,  // colour already times alpha: over white c + (1-a)
};

// A large temporary buffer whose front can be handed back to the system while its rear is still
// being read: a 100-megapixel picture never lies in memory twice.
class Scratch {
 public:
  explicit Scratch(size_t bytes);  // Error{too_large} when there is no such memory
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  uint8_t* data() { return data_; }
  void release_before(size_t offset);

 private:
  uint8_t* data_ = nullptr;
  size_t bytes_ = 0, released_ = 0;
};

// Takes strips of interleaved rows and writes them, turned as EXIF orientation says, into [3,H,W].
class Canvas {
 public:
  // Rows that make a good strip: small enough for the cache, tall enough to transpose.
  static constexpr int kStrip = 32;

  // In memory of the job; orientation: EXIF, 1 to 8.
  Canvas(const Job& job, int stored_width, int stored_height, int orientation);

  // strip: 8-bit rows y .. y+strip.rows of the stored picture; 1 channel is grey, 2 grey and alpha,
  // 3 RGB, 4 RGBA.
  void put(int y, const cv::Mat& strip, Alpha alpha = Alpha::straight);
  // Rows y .. y+rows.rows in strips, for memory that holds many of them; a scratch buffer that they
  // lie in is freed on the way.
  void put_all(int y, const cv::Mat& rows, Alpha alpha, Scratch* scratch = nullptr);
  // The whole picture: read(y, strip) writes the rows from y on into `strip`, of the OpenCV type.
  void fill(int type, const std::function<void(int y, cv::Mat& strip)>& read);
  Upright size() const { return {planes_[0].cols, planes_[0].rows}; }

 private:
  cv::Mat target(int plane, int y, int rows);

  int width_, height_, orientation_;
  cv::Mat planes_[3];
  cv::Mat turned_[3], opaque_;
};

}  // namespace arrcoc::media
