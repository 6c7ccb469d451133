#include <algorithm>
#include <cmath>

#include "ask/passes.h"

namespace arrcoc::asking {

namespace {

constexpr float kShare = 0.25F;  // of the peak: leaves with less attention do not join

bool touching(const Box& a, const Box& b) {
  // Words of one line are a gap apart: half the smaller side counts as touching.
  const float near = 0.5F * std::min({a.width(), a.height(), b.width(), b.height()});
  return a.x0 - near < b.x1 && b.x0 - near < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;
}

}  // namespace

std::optional<Box> answer_box(const std::vector<ReadToken>& tokens,
                              const std::vector<float>& focus) {
  const size_t n = std::min(focus.size(), tokens.size());
  const auto peak = std::max_element(focus.begin(), focus.begin() + static_cast<int64_t>(n));
  if (n == 0 || !(*peak > 0)) return std::nullopt;
  const auto first = static_cast<size_t>(peak - focus.begin());
  Box out = tokens[first].box;
  std::vector<bool> taken(n, false);
  taken[first] = true;
  for (bool grew = true; grew;) {
    grew = false;
    for (size_t i = 0; i < n; ++i) {
      if (taken[i] || focus[i] < kShare * *peak || !touching(out, tokens[i].box)) continue;
      taken[i] = grew = true;
      const Box& more = tokens[i].box;
      out = {std::min(out.x0, more.x0), std::min(out.y0, more.y0), std::max(out.x1, more.x1),
             std::max(out.y1, more.y1)};
    }
  }
  return out;
}

}  // namespace arrcoc::asking
