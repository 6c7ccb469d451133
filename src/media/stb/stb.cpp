#include "media/stb/stb.h"

#include <climits>
#include <cstdlib>
#include <memory>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_ONLY_BMP
#define STBI_NO_STDIO
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

namespace arrcoc::media::stb {

namespace {

using Pixels = std::unique_ptr<stbi_uc, void (*)(void*)>;

// round(x / 255) for 0 <= x <= 255 * 255, exactly.
uint32_t div255(uint32_t x) { return (x + 128 + ((x + 128) >> 8)) >> 8; }

// Where pixel (x, y) of the stored picture lies in the upright one, as an offset: start + x * along
// + y * down. EXIF: 2 mirrored, 3 upside down, 4 flipped, 5 transposed, 6 to be turned clockwise, 7
// transversed, 8 to be turned anticlockwise.
struct Turn {
  int64_t start = 0, along = 1, down = 0;

  Turn(int64_t w, int64_t h, int orientation) {
    const bool transposed = orientation >= 5;
    const int64_t row = transposed ? h : w;  // pixels in a row of the upright picture
    along = transposed ? row : 1;
    down = transposed ? 1 : row;
    const bool right_to_left =
        orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    const bool bottom_up =
        orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    if (right_to_left) start += (w - 1) * along, along = -along;
    if (bottom_up) start += (h - 1) * down, down = -down;
  }
};

// kChannels interleaved bytes a pixel (grey, grey and alpha, RGB, RGBA) to three planes.
template <int kChannels>
void spread(const stbi_uc* in, int w, int h, const Turn& turn, uint8_t* planes) {
  constexpr int kColours = kChannels <= 2 ? 1 : 3;
  const int64_t plane = int64_t{w} * h;
  for (int y = 0; y < h; ++y) {
    uint8_t* out = planes + turn.start + y * turn.down;
    for (int x = 0; x < w; ++x, in += kChannels, out += turn.along) {
      uint8_t colour[3];
      for (int c = 0; c < 3; ++c) colour[c] = in[kColours == 1 ? 0 : c];
      if constexpr (kChannels == 2 || kChannels == 4) {
        const uint32_t a = in[kColours];
        for (uint8_t& c : colour) c = static_cast<uint8_t>(div255(c * a) + 255 - a);
      }
      for (int c = 0; c < 3; ++c) out[c * plane] = colour[c];
    }
  }
}

}  // namespace

Upright decode(const Job& job) {
  if (job.bytes.size() > INT_MAX) job.unsupported("a file of 2 GB or more");
  int w = 0, h = 0, channels = 0;
  const auto size = static_cast<int>(job.bytes.size());
  // Before memory for that size is taken. A BMP from the top down has a height below 0 here.
  if (!stbi_info_from_memory(job.bytes.data(), size, &w, &h, &channels))
    job.broken(stbi_failure_reason());
  job.require_size(w, std::abs(int64_t{h}));
  const Pixels pixels(stbi_load_from_memory(job.bytes.data(), size, &w, &h, &channels, 0),
                      stbi_image_free);
  if (!pixels) job.broken(stbi_failure_reason());
  job.require_size(w, h);
  const Turn turn(w, h, job.orientation);
  uint8_t* planes = job.memory(3 * static_cast<size_t>(w) * h);
  constexpr void (*kSpread[])(const stbi_uc*, int, int, const Turn&, uint8_t*) = {
      spread<1>, spread<2>, spread<3>, spread<4>};
  kSpread[channels - 1](pixels.get(), w, h, turn, planes);
  return job.orientation >= 5 ? Upright{h, w} : Upright{w, h};
}

std::vector<uint8_t> encode(const uint8_t* planes, int width, int height) {
  const size_t plane = static_cast<size_t>(width) * height;
  std::vector<uint8_t> rgb(3 * plane);
  for (size_t i = 0; i < plane; ++i)
    for (size_t c = 0; c < 3; ++c) rgb[3 * i + c] = planes[c * plane + i];
  int size = 0;
  const Pixels png(stbi_write_png_to_mem(rgb.data(), 3 * width, width, height, 3, &size),
                   [](void* memory) { STBIW_FREE(memory); });
  if (!png) throw Error(ErrorCode::too_large, "no memory for a PNG");
  return {png.get(), png.get() + size};
}

}  // namespace arrcoc::media::stb
