#include "base/tiling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace arrcoc {
namespace {

using Pair = std::pair<int64_t, int64_t>;

// Every pair whose product lies within the limits, smaller products first.
std::vector<Pair> candidates(int64_t least, int64_t most) {
  std::vector<Pair> out;
  for (int64_t a = 1; a <= most; ++a) {
    for (int64_t b = 1; a * b <= most; ++b)
      if (a * b >= least) out.emplace_back(a, b);
  }
  std::stable_sort(out.begin(), out.end(), [](const Pair& x, const Pair& y) {
    return x.first * x.second < y.first * y.second;
  });
  return out;
}

// The share of the picture that survives when every part is shrunk into a square of `side`.
double covered(int64_t height, int64_t width, const Pair& grid, int64_t side) {
  int64_t row_height = height / grid.first;
  int64_t col_width = width / grid.second;
  double sum = 0;
  for (int64_t row = 0; row < grid.first; ++row) {
    for (int64_t col = 0; col < grid.second; ++col) {
      int64_t h = row + 1 == grid.first ? height - row * row_height : row_height;
      int64_t w = col + 1 == grid.second ? width - col * col_width : col_width;
      auto longer = static_cast<double>(std::max(h, w));
      auto shorter = static_cast<double>(std::min(h, w));
      if (longer > static_cast<double>(side)) {
        shorter = shorter / longer * static_cast<double>(side);
        longer = static_cast<double>(side);
      }
      sum += longer * shorter;
    }
  }
  return sum / (static_cast<double>(height) * static_cast<double>(width));
}

}  // namespace

// The reference measures a candidate as rows x columns and uses it as columns x rows; checkpoints
// were trained on that, so it is kept.
TileGrid covering_grid(int64_t height, int64_t width, int64_t side, int64_t max_tiles) {
  constexpr double kEnough = 0.9;
  std::vector<std::pair<Pair, double>> all;
  for (const Pair& grid : candidates(1, max_tiles))
    all.emplace_back(grid, covered(height, width, grid, side));
  const std::pair<Pair, double>* best = nullptr;
  for (const auto& one : all) {
    if (one.second <= kEnough) continue;
    int64_t tiles = one.first.first * one.first.second;
    int64_t least = best ? best->first.first * best->first.second : 0;
    if (!best || tiles < least || (tiles == least && one.second > best->second)) best = &one;
  }
  if (!best) {
    for (const auto& one : all)
      if (!best || one.second > best->second) best = &one;
  }
  return {best->first.second, best->first.first};
}

TileGrid canvas_grid(int64_t height, int64_t width, int64_t tile_height, int64_t tile_width,
                     int64_t min_tiles, int64_t max_tiles) {
  double aspect = static_cast<double>(width) / static_cast<double>(height);
  double area = static_cast<double>(width) * static_cast<double>(height);
  double closest = std::numeric_limits<double>::infinity();
  Pair best = {1, 1};
  for (const Pair& grid : candidates(min_tiles, max_tiles)) {
    double off =
        std::abs(aspect - static_cast<double>(grid.first) / static_cast<double>(grid.second));
    bool roomy =
        area > 0.5 * static_cast<double>(tile_height * tile_width * grid.first * grid.second);
    if (off < closest || (off == closest && roomy)) {
      closest = off;
      best = grid;
    }
  }
  return {best.second, best.first};
}

// transformers: idefics3/image_processing_idefics3.py, with Python's arithmetic.
PixelSize longest_edge_size(PixelSize picture, int64_t longest) {
  constexpr int64_t kLargest = 4096;  // MAX_IMAGE_SIZE
  const auto ratio = [](const PixelSize& size) {
    return static_cast<double>(size.width) / static_cast<double>(size.height);
  };
  const auto even = [](double side) {
    const auto whole = static_cast<int64_t>(side);
    return std::max<int64_t>(1, whole + whole % 2);
  };
  const double aspect = ratio(picture);
  const auto wanted = static_cast<double>(longest);
  PixelSize out{longest, longest};
  if (picture.width >= picture.height)
    out.height = even(wanted / aspect);
  else
    out.width = even(wanted * aspect);
  const double again = ratio(out);
  if (out.width >= out.height && out.width > kLargest)
    out = {static_cast<int64_t>(kLargest / again), kLargest};
  else if (out.height > out.width && out.height > kLargest)
    out = {kLargest, static_cast<int64_t>(kLargest * again)};
  return {std::max<int64_t>(1, out.height), std::max<int64_t>(1, out.width)};
}

PixelSize whole_tiles_size(PixelSize picture, int64_t tile) {
  const auto up = [tile](int64_t side) { return (side + tile - 1) / tile * tile; };
  const double aspect = static_cast<double>(picture.width) / static_cast<double>(picture.height);
  if (picture.width >= picture.height) {
    const int64_t width = up(picture.width);
    return {std::max(tile, up(static_cast<int64_t>(static_cast<double>(width) / aspect))), width};
  }
  const int64_t height = up(picture.height);
  return {height, std::max(tile, up(static_cast<int64_t>(static_cast<double>(height) * aspect)))};
}

}  // namespace arrcoc
