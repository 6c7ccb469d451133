// Pictures and their mip pyramids. Pixels stay 8-bit: 100 megapixels must fit in memory.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arrcoc/map.h"

namespace arrcoc {

// rgb is [3,H,W] uint8 on the CPU, contiguous, and is not changed after construction.
struct Picture {
  at::Tensor rgb;
  std::string source;  // file name or "-", for messages
  // SHA-256 over size and pixels: nobody can make two pictures that share it, so caches trust it.
  std::array<uint8_t, 32> digest{};

  int width() const;
  int height() const;
  double megapixels() const { return width() * 1e-6 * height(); }
};

// Checks shape, type and size (1x1 at least), makes it contiguous and digests it.
// Throws Error{bad_image}.
Picture make_picture(at::Tensor rgb, std::string source = "");

// The picture as floats, [3,h,w] in [0,1], area-averaged so that its longer side is at most
// `longest`. Never enlarges. h and w are at least 1.
at::Tensor frame_of(const Picture& picture, int longest = 1024);

// Zero-filled float tensor on the CPU whose pages come from the system at the first touch:
// what is never written costs nothing, and what is written comes in large pages where there are.
at::Tensor zero_pages(at::IntArrayRef sizes);

// The picture resampled to exactly width x height: area mean when it shrinks, bilinear when it
// grows.
Picture resize(const Picture& picture, int width, int height);

// Mip levels: each is the 2x2 mean of the one before, rounded; at odd sizes only pixels that exist
// are averaged, so level l is ceil(W/2^l) x ceil(H/2^l). Levels are built on first use;
// thread-safe.
class Pyramid {
 public:
  explicit Pyramid(Picture picture,
                   int finest = 0);  // finest: 0, or -1 to offer the enlarged level

  const Picture& picture() const { return picture_; }
  const Geometry& geometry() const { return geometry_; }
  // [3, h, w] uint8 of one level, finest..coarsest. Throws Error{bad_argument} outside.
  at::Tensor level(int level) const;
  // The patches of cells (rows[i], cols[i]) of one level: [N,3,16,16] uint8, one gather. The part
  // of a patch beyond the picture repeats the picture's last row or column. margin (even): so many
  // pixels of the same level around each patch come along, [N,3,16+2*margin,16+2*margin].
  at::Tensor patches(int level, const std::vector<int64_t>& rows, const std::vector<int64_t>& cols,
                     int margin = 0) const;

 private:
  struct Levels;
  Picture picture_;
  Geometry geometry_;
  std::shared_ptr<Levels> levels_;
};

}  // namespace arrcoc
