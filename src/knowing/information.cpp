// Propositional knowing: how much information is in a cell, whatever it says?
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "arrcoc/knowing.h"
#include "knowing/maps.h"
#include "knowing/scorers.h"

namespace arrcoc::knowing {

namespace {

// Pixel range [first, last) of cell i when n pixels are cut into cells of frame pixels.
struct Range {
  int64_t first, last;
};
Range cell_range(int64_t i, int64_t cells, int64_t pixels) {
  const int64_t size = (pixels + cells - 1) / cells;
  return {std::min(pixels, i * size), std::min(pixels, (i + 1) * size)};
}

// H = -sum p log2 p of a 256-bin luminance histogram, / 8 bits. A short cell at the border cannot
// reach 8 bits: it is divided by what it can reach.
class Shannon : public Scorer {
 public:
  Map score(const Sight& sight) const override {
    const at::Tensor frame = sight.frame.contiguous();
    const int64_t h = frame.size(1);
    const int64_t w = frame.size(2);
    const float* red = frame.data_ptr<float>();
    const float* green = red + h * w;
    const float* blue = green + h * w;
    Map out = like(sight.shape, 0.0F);
    at::parallel_for(0, out.rows, 4, [&](int64_t begin, int64_t end) {
      std::array<int, 256> histogram{};
      for (int64_t r = begin; r < end; ++r) {
        const Range ys = cell_range(r, out.rows, h);
        for (int64_t c = 0; c < out.cols; ++c) {
          const Range xs = cell_range(c, out.cols, w);
          histogram.fill(0);
          for (int64_t y = ys.first; y < ys.last; ++y) {
            for (int64_t i = y * w + xs.first; i < y * w + xs.last; ++i) {
              const float luma = 0.2126F * red[i] + 0.7152F * green[i] + 0.0722F * blue[i];
              ++histogram[std::clamp(static_cast<int>(luma * 255.0F + 0.5F), 0, 255)];
            }
          }
          const double n = static_cast<double>((ys.last - ys.first) * (xs.last - xs.first));
          out.at(static_cast<int>(r), static_cast<int>(c)) = entropy(histogram, n);
        }
      }
    });
    return out;
  }

 private:
  static float entropy(const std::array<int, 256>& histogram, double n) {
    if (n <= 1) return 0;
    double sum = 0;
    for (int count : histogram) {
      if (count > 0) sum += count * std::log2(static_cast<double>(count));
    }
    return static_cast<float>(
        std::max(0.0, (std::log2(n) - sum / n) / std::min(8.0, std::log2(n))));
  }
};

// Entropy of the normalised magnitude spectrum of a cell (without its mean), weighed by how much
// amplitude there is at all: otherwise sensor noise on a wall would score like print.
class Spectrum : public Scorer {
 public:
  Map score(const Sight& sight) const override {
    constexpr int64_t kSize = 16;
    const at::Tensor gray = texture::luma(sight.frame.unsqueeze(0));
    const int64_t rows = sight.shape.rows;
    const int64_t cols = sight.shape.cols;
    at::Tensor cells = gray;
    if (gray.size(2) != rows * kSize || gray.size(3) != cols * kSize) {
      cells = at::upsample_bilinear2d(gray, {rows * kSize, cols * kSize}, false);
    }
    cells = cells.reshape({rows, kSize, cols, kSize}).permute({0, 2, 1, 3});
    cells = cells - cells.mean({2, 3}, true);
    const at::Tensor power = at::fft_rfft2(cells).abs().flatten(2);
    const at::Tensor total = power.sum(2);
    const at::Tensor p = power / total.clamp_min(1e-9).unsqueeze(2);
    const at::Tensor bits = -(p * (p + 1e-12).log2()).sum(2);
    const at::Tensor spread = bits / std::log2(static_cast<double>(power.size(2)));
    const at::Tensor amplitude = cells.pow(2).mean({2, 3}).sqrt();
    return to_map(spread * (amplitude / (amplitude + 0.05)), sight.shape);
  }
};

// 0.4 max(edges, normalised edges) + 0.3 |highpass| + 0.3 (1 - distance to the nearest edge)
class Points : public Scorer {
 public:
  Map score(const Sight& sight) const override {
    const Texture& t = sight.texture;
    at::Tensor edges = t.has(Channel::edges)
                           ? at::max(t.of(Channel::edges), t.of(Channel::edges_inverted))
                           : t.of(Channel::gradient_magnitude);
    at::Tensor sum = edges.clamp(0, 1) * 0.4;
    if (t.has(Channel::highpass)) sum = sum + t.of(Channel::highpass).abs().clamp_max(1) * 0.3;
    // Without the provider the distance field is all zero, which would read as "edges everywhere".
    if (t.has(Channel::distance_field) && t.of(Channel::distance_field).max().item<float>() > 0) {
      sum = sum + (1.0 - t.of(Channel::distance_field)) * 0.3;
    }
    return to_map(sum, sight.shape);
  }
};

}  // namespace

std::unique_ptr<Scorer> make_shannon() { return std::make_unique<Shannon>(); }
std::unique_ptr<Scorer> make_spectrum() { return std::make_unique<Spectrum>(); }
std::unique_ptr<Scorer> make_points() { return std::make_unique<Points>(); }

}  // namespace arrcoc::knowing
