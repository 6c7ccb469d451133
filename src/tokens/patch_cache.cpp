#include "arrcoc/tokens.h"

#include <ATen/ATen.h>

namespace arrcoc::cutting {

namespace {
std::tuple<int, int, int> key(const Leaf& leaf) { return {leaf.level, leaf.row, leaf.col}; }
}  // namespace

TokenSequence PatchCache::cut(const Allocation& allocation, int& reused) {
  reused = 0;
  if (!allocation.crops.empty()) return cutting::cut(*pyramid_, allocation);
  Allocation fresh = allocation;
  std::erase_if(fresh.leaves, [&](const Leaf& l) { return rows_.count(key(l)) != 0; });
  reused = static_cast<int>(allocation.leaves.size() - fresh.leaves.size());
  TokenSequence out;
  if (!fresh.leaves.empty()) out = cutting::cut(*pyramid_, fresh);
  for (size_t i = 0; i < fresh.leaves.size(); ++i)
    rows_[key(fresh.leaves[i])] = out.around[static_cast<int64_t>(i)];
  return reused == 0 ? out : assembled(allocation);
}

TokenSequence PatchCache::assembled(const Allocation& allocation) const {
  std::vector<at::Tensor> around;
  TokenSequence out;
  const auto n = static_cast<int64_t>(allocation.leaves.size());
  out.centre = at::empty({n, 2});
  out.level = at::empty({n}, at::kLong);
  out.relevance = at::empty({n});
  const Geometry& g = allocation.geometry;
  for (int64_t i = 0; i < n; ++i) {
    const Leaf& leaf = allocation.leaves[static_cast<size_t>(i)];
    const auto side = static_cast<double>(Geometry::side(leaf.level));
    around.push_back(rows_.at(key(leaf)));
    float* centre = out.centre.data_ptr<float>() + 2 * i;
    centre[0] = static_cast<float>((leaf.col + 0.5) * side / g.width);
    centre[1] = static_cast<float>((leaf.row + 0.5) * side / g.height);
    out.level.data_ptr<int64_t>()[i] = leaf.level;
    out.relevance.data_ptr<float>()[i] = leaf.relevance;
  }
  out.around = at::stack(around);
  out.pixels = out.around.slice(2, kMargin, kMargin + kPatch)
                   .slice(3, kMargin, kMargin + kPatch)
                   .contiguous();
  out.scale = out.level.to(at::kFloat);
  return out;
}

}  // namespace arrcoc::cutting
