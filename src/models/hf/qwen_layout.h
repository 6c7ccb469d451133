// Where the patches of Qwen's pictures lie, and in which order they are encoded.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <vector>

namespace arrcoc::hf {

// Every patch of the kept tokens in merge-block order: where it lies.
struct Layout {
  std::vector<int64_t> row, col;       // of each patch
  std::vector<int64_t> frame, window;  // ids of each token, growing
  std::vector<int64_t> place;          // of each patch among the values
  std::vector<int64_t> token;          // index of each token within all
};

// Tokens of one window side by side (stable: raster order inside); as they come without windows.
inline std::vector<int64_t> window_order(const Layout& lie, bool windows) {
  std::vector<int64_t> order(lie.token.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  if (windows) {
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return lie.window[static_cast<size_t>(a)] < lie.window[static_cast<size_t>(b)];
    });
  }
  return order;
}

// The same layout with its tokens in another order, `unit` patches each.
inline Layout reordered(const Layout& lie, const std::vector<int64_t>& order, int64_t unit) {
  Layout out;
  for (int64_t token : order) {
    auto at = static_cast<size_t>(token);
    out.token.push_back(lie.token[at]);
    out.frame.push_back(lie.frame[at]);
    out.window.push_back(lie.window[at]);
    for (int64_t i = token * unit; i < (token + 1) * unit; ++i) {
      out.row.push_back(lie.row[static_cast<size_t>(i)]);
      out.col.push_back(lie.col[static_cast<size_t>(i)]);
      out.place.push_back(lie.place[static_cast<size_t>(i)]);
    }
  }
  return out;
}

inline at::Tensor inverse(const std::vector<int64_t>& order) {
  at::Tensor back = at::empty({static_cast<int64_t>(order.size())}, at::kLong);
  for (size_t i = 0; i < order.size(); ++i)
    back.data_ptr<int64_t>()[order[i]] = static_cast<int64_t>(i);
  return back;
}

}  // namespace arrcoc::hf
