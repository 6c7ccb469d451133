// Five paths: regions of 8x8 patches, each pooled by 4, 8, 16, 32 or 64 after the encoder.
//
// Every region begins on the coarsest path (one token for 64 patches); tokens go to the regions
// that the question looks at most, each step to the next finer path (2, 4, 8, 16 tokens). Strided
// means over encoder features, so the encoder pays for every patch.
#include <ATen/ATen.h>

#include <algorithm>
#include <map>
#include <queue>

#include "lab/baselines/reducers.h"

namespace arrcoc::reducing {
namespace {

constexpr int kPatchPixels = 16, kRegion = 8;
struct Stride {
  int rows, cols;
};
constexpr Stride kPaths[] = {{8, 8}, {8, 4}, {4, 4}, {4, 2}, {2, 2}};  // 64x, 32x, 16x, 8x, 4x
constexpr int kFinest = 4;
constexpr double kNext = 0.6;  // worth of a finer path against the one before, at equal relevance

struct Region {
  std::vector<int64_t> tokens;
  double looked_at = 0;  // the most looked-at patch
  int path = 0;
};

class FivePaths : public Reducer {
 public:
  void after(const LayerSight& sight, Flow& flow, int64_t budget) const override {
    if (sight.layer != sight.layers - 1 || flow.tokens() <= budget) return;
    const int64_t n = sight.tokens;
    const at::Tensor received =
        attention_received(sight, n, sight.queries.size(1) - n).to(at::kDouble).contiguous();
    const at::Tensor cells = flow.centre.div(kPatchPixels).floor().to(at::kLong).contiguous();
    const auto at = cells.accessor<int64_t, 2>();
    // Regions grow until one token each is affordable.
    int64_t side = kRegion;
    std::map<std::pair<int64_t, int64_t>, Region> regions;
    for (;; side *= 2) {
      regions.clear();
      for (int64_t i = 0; i < n; ++i)
        regions[{at[i][1] / side, at[i][0] / side}].tokens.push_back(i);
      if (static_cast<int64_t>(regions.size()) <= budget) break;
    }
    const int64_t coarser = side / kRegion;
    // Tokens of a region on a path: groups of its patches.
    const auto groups = [&](const Region& region, int path) {
      std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> out;
      for (int64_t i : region.tokens)
        out[{at[i][1] / (kPaths[path].rows * coarser), at[i][0] / (kPaths[path].cols * coarser)}]
            .push_back(i);
      return out;
    };
    using Wish = std::pair<double, Region*>;
    const auto less = [](const Wish& a, const Wish& b) {
      if (a.first != b.first) return a.first < b.first;
      return a.second->tokens.front() > b.second->tokens.front();
    };
    std::priority_queue<Wish, std::vector<Wish>, decltype(less)> wishes(less);
    for (auto& [place, region] : regions) {
      for (int64_t i : region.tokens)
        region.looked_at = std::max(region.looked_at, received.data_ptr<double>()[i]);
      wishes.emplace(region.looked_at, &region);
    }
    int64_t spent = static_cast<int64_t>(regions.size());
    while (!wishes.empty()) {
      const auto [worth, region] = wishes.top();
      wishes.pop();
      const int64_t more = static_cast<int64_t>(groups(*region, region->path + 1).size()) -
                           static_cast<int64_t>(groups(*region, region->path).size());
      if (spent + more > budget) continue;
      spent += more;
      if (++region->path < kFinest) wishes.emplace(worth * kNext, region);
    }
    std::vector<int64_t> from, to;
    for (const auto& [place, region] : regions)
      for (const auto& [cell, members] : groups(region, region.path))
        for (size_t k = 1; k < members.size(); ++k) {
          from.push_back(members[k]);
          to.push_back(members[0]);
        }
    merge(flow, at::tensor(from, at::kLong), at::tensor(to, at::kLong));
  }
};

}  // namespace

std::unique_ptr<Reducer> make_five_paths() { return std::make_unique<FivePaths>(); }

}  // namespace arrcoc::reducing
