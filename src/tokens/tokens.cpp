#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "arrcoc/error.h"
#include "arrcoc/tokens.h"

namespace arrcoc {

int64_t TokenSequence::size() const { return pixels.defined() ? pixels.size(0) : 0; }

namespace cutting {

namespace {

TokenSequence cut_leaves(const Pyramid& pyramid, const Allocation& allocation, TokenOrder order) {
  const auto n = static_cast<int64_t>(allocation.leaves.size());
  std::vector<int64_t> index(n);
  std::iota(index.begin(), index.end(), 0);
  if (order == TokenOrder::relevance) {
    std::stable_sort(index.begin(), index.end(), [&](int64_t a, int64_t b) {
      return allocation.leaves[a].relevance > allocation.leaves[b].relevance;
    });
  }
  TokenSequence out;
  out.around = at::empty({n, 3, kPatch + 2 * kMargin, kPatch + 2 * kMargin}, at::kByte);
  out.centre = at::empty({n, 2}, at::kFloat);
  out.level = at::empty({n}, at::kLong);
  out.relevance = at::empty({n}, at::kFloat);
  float* centre = out.centre.data_ptr<float>();
  int64_t* level = out.level.data_ptr<int64_t>();
  float* relevance = out.relevance.data_ptr<float>();
  struct Cells {
    std::vector<int64_t> rows, cols, places;
  };
  std::map<int, Cells> by_level;
  const Geometry& g = allocation.geometry;
  for (int64_t i = 0; i < n; ++i) {
    const Leaf& leaf = allocation.leaves[index[i]];
    Cells& cells = by_level[leaf.level];
    cells.rows.push_back(leaf.row);
    cells.cols.push_back(leaf.col);
    cells.places.push_back(i);
    // The centre of the patch, also where the patch reaches past the picture's edge.
    const auto side = static_cast<double>(Geometry::side(leaf.level));
    centre[2 * i] = static_cast<float>((leaf.col + 0.5) * side / g.width);
    centre[2 * i + 1] = static_cast<float>((leaf.row + 0.5) * side / g.height);
    level[i] = leaf.level;
    relevance[i] = leaf.relevance;
  }
  for (const auto& [l, cells] : by_level) {
    out.around.index_copy_(0, at::tensor(cells.places, at::kLong),
                           pyramid.patches(l, cells.rows, cells.cols, kMargin));
  }
  out.pixels = out.around.slice(2, kMargin, kMargin + kPatch)
                   .slice(3, kMargin, kMargin + kPatch)
                   .contiguous();
  out.scale = out.level.to(at::kFloat);
  return out;
}

// One rectangle of the picture, resampled and cut into all of its patches.
TokenSequence cut_crop(const Pyramid& pyramid, const Crop& crop) {
  const Geometry& whole = pyramid.geometry();
  const auto x = static_cast<int64_t>(crop.box.x0), y = static_cast<int64_t>(crop.box.y0);
  const int64_t w = static_cast<int64_t>(crop.box.x1) - x;
  const int64_t h = static_cast<int64_t>(crop.box.y1) - y;
  const bool all = x == 0 && y == 0 && w == whole.width && h == whole.height;
  const Picture part =
      all ? pyramid.picture()
          : make_picture(pyramid.picture().rgb.narrow(1, y, h).narrow(2, x, w).contiguous());
  const Pyramid small(resize(part, crop.width, crop.height));
  Allocation every;
  every.geometry = small.geometry();
  const Grid grid = every.geometry.grid(0);
  for (int r = 0; r < grid.rows; ++r)
    for (int c = 0; c < grid.cols; ++c) every.leaves.push_back({0, r, c, 0});
  TokenSequence out = cut_leaves(small, every, TokenOrder::raster);
  const auto pair = [](int64_t a, int64_t b) {
    return at::tensor({static_cast<float>(a), static_cast<float>(b)});
  };
  out.centre = (out.centre * pair(w, h) + pair(x, y)) / pair(whole.width, whole.height);
  // Longer sides, as their rounding matters least.
  out.scale += std::log2(static_cast<double>(std::max(w, h)) / std::max(crop.width, crop.height));
  return out;
}

TokenSequence joined(const std::vector<TokenSequence>& parts) {
  const auto all = [&](at::Tensor TokenSequence::*field) {
    std::vector<at::Tensor> list;
    for (const TokenSequence& part : parts) list.push_back(part.*field);
    return at::cat(list);
  };
  return {all(&TokenSequence::pixels), all(&TokenSequence::around), all(&TokenSequence::centre),
          all(&TokenSequence::level),  all(&TokenSequence::scale),  all(&TokenSequence::relevance)};
}

}  // namespace

TokenSequence cut(const Pyramid& pyramid, const Allocation& allocation, TokenOrder order) {
  if (allocation.crops.empty()) return cut_leaves(pyramid, allocation, order);
  std::vector<TokenSequence> parts;
  if (!allocation.leaves.empty()) parts.push_back(cut_leaves(pyramid, allocation, order));
  for (const Crop& crop : allocation.crops) parts.push_back(cut_crop(pyramid, crop));
  return parts.size() == 1 ? parts.front() : joined(parts);
}

PackedTokens pack(const std::vector<TokenSequence>& sequences, int64_t length) {
  int64_t longest = 0;
  for (const TokenSequence& s : sequences) longest = std::max(longest, s.size());
  if (length > 0 && longest > length) {
    throw Error(ErrorCode::too_large, "[pack] a sequence has " + std::to_string(longest) +
                                          " tokens, the limit is " + std::to_string(length));
  }
  const int64_t n = length > 0 ? length : longest;
  const auto b = static_cast<int64_t>(sequences.size());
  PackedTokens out;
  out.pixels = at::zeros({b, n, 3, kPatch, kPatch}, at::kByte);
  out.around = at::zeros({b, n, 3, kPatch + 2 * kMargin, kPatch + 2 * kMargin}, at::kByte);
  out.centre = at::zeros({b, n, 2}, at::kFloat);
  out.scale = at::zeros({b, n}, at::kFloat);
  out.relevance = at::zeros({b, n}, at::kFloat);
  out.mask = at::zeros({b, n}, at::kBool);
  for (int64_t i = 0; i < b; ++i) {
    const TokenSequence& s = sequences[i];
    const int64_t m = s.size();
    out.lengths.push_back(m);
    if (m == 0) continue;
    out.pixels[i].narrow(0, 0, m).copy_(s.pixels);
    if (s.around.defined()) out.around[i].narrow(0, 0, m).copy_(s.around);
    out.centre[i].narrow(0, 0, m).copy_(s.centre);
    out.scale[i].narrow(0, 0, m).copy_(s.scale);
    out.relevance[i].narrow(0, 0, m).copy_(s.relevance);
    out.mask[i].narrow(0, 0, m).fill_(true);
  }
  return out;
}

std::vector<std::vector<size_t>> bucket(const std::vector<int64_t>& lengths, int64_t max_tokens) {
  if (max_tokens < 1) throw Error(ErrorCode::bad_argument, "[bucket] max_tokens must be positive");
  std::vector<size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lengths[a] < lengths[b]; });
  std::vector<std::vector<size_t>> out;
  for (size_t i : order) {
    // Sorted upwards, so the newcomer is the longest of its group.
    const bool fits =
        !out.empty() && lengths[i] * static_cast<int64_t>(out.back().size() + 1) <= max_tokens;
    if (!fits) out.emplace_back();
    out.back().push_back(i);
  }
  return out;
}

}  // namespace cutting
}  // namespace arrcoc
