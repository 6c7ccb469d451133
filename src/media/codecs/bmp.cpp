// BMP, all kinds since OS/2 1.0. Decoded here because imdecode prints on broken files.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "media/codecs/canvas.h"
#include "media/codecs/codecs.h"

namespace arrcoc::media {

namespace {

enum Compression : uint32_t { kPlain = 0, kRle8 = 1, kRle4 = 2, kMasks = 3, kMasksAlpha = 6 };

// One colour inside a 16- or 32-bit pixel.
struct Field {
  int shift = 0;
  uint32_t most = 0;  // largest value; 0 when absent

  static Field of(uint32_t mask) {
    if (mask == 0) return {};
    const int shift = std::countr_zero(mask);
    return {shift, mask >> shift};
  }
  uint8_t operator()(uint32_t pixel) const {
    if (most == 0) return 0;
    const uint64_t value = pixel >> shift & most;
    return static_cast<uint8_t>((value * 255 + most / 2) / most);
  }
};

class Decoder {
 public:
  explicit Decoder(const Job& job)
      : job_(job), file_(job.bytes), width_(job.header.width), height_(job.header.height) {
    read_header();
  }

  Upright run() {
    if (compression_ == kRle8 || compression_ == kRle4) unpack();
    const bool alpha = fields_[3].most != 0 && any_alpha();
    Canvas canvas(job_, width_, height_, 1);
    canvas.fill(alpha ? CV_8UC4 : CV_8UC3, [&](int y, cv::Mat& strip) {
      for (int i = 0; i < strip.rows; ++i) {
        const uint8_t* in = stored_row(y + i);
        uint8_t* out = strip.ptr(i);
        if (bits_ <= 8) {
          indexed(in, out);
        } else if (bits_ == 24) {
          for (int x = 0; x < width_; ++x, in += 3, out += 3) {
            out[0] = in[2], out[1] = in[1], out[2] = in[0];
          }
        } else {
          masked(in, out, strip.channels());
        }
      }
    });
    return canvas.size();
  }

 private:
  void read_header() {
    const uint32_t size = file_.le32(14);
    const bool core = size == 12;
    if (!core && size != 16 && (size < 40 || size > 124)) {
      job_.broken("header of " + std::to_string(size) + " bytes");
    }
    if (!file_.holds(14, size)) job_.broken("the file ends early");
    bits_ = static_cast<int>(file_.le16(core ? 24 : 28));
    compression_ = size >= 40 ? file_.le32(30) : uint32_t{kPlain};
    top_down_ = !core && static_cast<int32_t>(file_.le32(22)) < 0;
    const bool masks = compression_ == kMasks || compression_ == kMasksAlpha;
    const bool legal =
        (compression_ == kPlain &&
         (bits_ == 1 || bits_ == 4 || bits_ == 8 || bits_ == 16 || bits_ == 24 || bits_ == 32)) ||
        (compression_ == kRle8 && bits_ == 8) || (compression_ == kRle4 && bits_ == 4) ||
        (masks && (bits_ == 16 || bits_ == 32) && size != 64);
    if (!legal)
      job_.unsupported("BMP with " + std::to_string(bits_) + " bits and compression " +
                       std::to_string(compression_) + " is not supported");
    uint32_t mask[4] = {0x7C00, 0x03E0, 0x001F, 0};
    if (bits_ == 32) mask[0] = 0xFF0000, mask[1] = 0xFF00, mask[2] = 0xFF;
    if (masks) {
      for (int c = 0; c < 3; ++c) mask[c] = file_.le32(54 + 4 * c);
      if (size >= 56 || compression_ == kMasksAlpha) mask[3] = file_.le32(66);
    }
    for (int c = 0; c < 4; ++c) fields_[c] = Field::of(mask[c]);
    if (bits_ <= 8) read_palette(size, core);

    pixels_ = file_.le32(10);
    stride_ = (static_cast<size_t>(width_) * bits_ + 31) / 32 * 4;
    if (compression_ == kRle8 || compression_ == kRle4) return;
    // The padding of the last row is often left out.
    const size_t last = (static_cast<size_t>(width_) * bits_ + 7) / 8;
    if (pixels_ < 14 + size || !file_.holds(pixels_, stride_ * (height_ - 1) + last)) {
      job_.broken("the file ends early");
    }
  }

  void read_palette(uint32_t header, bool core) {
    const uint32_t used = header >= 40 ? file_.le32(46) : 0;
    const uint32_t most = 1U << bits_;
    const uint32_t entries = used == 0 || used > most ? most : used;
    for (uint32_t i = 0; i < entries; ++i) {
      const size_t at = 14 + header + static_cast<size_t>(i) * (core ? 3 : 4);
      palette_[i] = {file_.u8(at + 2), file_.u8(at + 1), file_.u8(at)};
    }
  }

  const uint8_t* stored_row(int y) const {
    const size_t row = top_down_ ? y : height_ - 1 - y;
    if (!unpacked_.empty()) return unpacked_.data() + row * width_;
    return file_.data() + pixels_ + row * stride_;
  }

  void indexed(const uint8_t* in, uint8_t* out) const {
    const int bits = unpacked_.empty() ? bits_ : 8;
    const int each = 8 / bits;
    for (int x = 0; x < width_; ++x, out += 3) {
      const int index = in[x / each] >> (8 - bits * (x % each + 1)) & ((1 << bits) - 1);
      std::memcpy(out, palette_[index].data(), 3);
    }
  }

  uint32_t pixel(const uint8_t* in, int x) const {
    in += static_cast<size_t>(x) * bits_ / 8;
    const uint32_t low = in[0] | in[1] << 8;
    return bits_ == 16 ? low : low | in[2] << 16 | static_cast<uint32_t>(in[3]) << 24;
  }

  void masked(const uint8_t* in, uint8_t* out, int channels) const {
    for (int x = 0; x < width_; ++x, out += channels) {
      const uint32_t value = pixel(in, x);
      for (int c = 0; c < channels; ++c) out[c] = fields_[c](value);
    }
  }

  // Some programs declare alpha and leave it zero everywhere: such a picture is meant opaque.
  bool any_alpha() const {
    for (int y = 0; y < height_; ++y) {
      const uint8_t* in = stored_row(y);
      for (int x = 0; x < width_; ++x) {
        if (fields_[3](pixel(in, x)) != 0) return true;
      }
    }
    return false;
  }

  // Run lengths: (n, v) repeats; (0, 0) next row; (0, 1) end; (0, 2, dx, dy) moves; (0, n, ...) n
  // literal indices, padded to 16 bit. Pixels that are never set have index 0.
  void unpack() {
    unpacked_.assign(static_cast<size_t>(width_) * height_, 0);
    const bool nibbles = compression_ == kRle4;
    size_t at = pixels_;
    int64_t x = 0;
    int64_t y = 0;
    const auto set = [&](uint8_t index) {
      if (x < width_ && y < height_) unpacked_[static_cast<size_t>(y) * width_ + x] = index;
      ++x;
    };
    const auto half = [&](uint8_t pair, int i) -> uint8_t {
      return nibbles ? (i % 2 == 0 ? pair >> 4 : pair & 15) : pair;
    };
    while (true) {
      if (!file_.holds(at, 2)) job_.broken("the file ends early");
      const int count = file_.u8(at);
      const int value = file_.u8(at + 1);
      at += 2;
      if (count > 0) {
        for (int i = 0; i < count; ++i) set(half(static_cast<uint8_t>(value), i));
      } else if (value == 0) {
        x = 0, ++y;
      } else if (value == 1) {
        return;
      } else if (value == 2) {
        x += file_.u8(at), y += file_.u8(at + 1), at += 2;
      } else {
        const size_t bytes = nibbles ? (value + 1) / 2 : value;
        if (!file_.holds(at, bytes)) job_.broken("the file ends early");
        for (int i = 0; i < value; ++i) set(half(file_.u8(at + (nibbles ? i / 2 : i)), i));
        at += bytes + (bytes & 1);
      }
    }
  }

  const Job& job_;
  const Bytes& file_;
  const int width_, height_;
  int bits_ = 0;
  uint32_t compression_ = kPlain;
  bool top_down_ = false;
  size_t pixels_ = 0, stride_ = 0;
  Field fields_[4];
  std::array<std::array<uint8_t, 3>, 256> palette_{};
  std::vector<uint8_t> unpacked_;
};

}  // namespace

Upright decode_bmp(const Job& job) { return Decoder(job).run(); }

}  // namespace arrcoc::media
