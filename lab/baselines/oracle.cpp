#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "lab/baselines/allocators.h"

namespace arrcoc::baselines {

namespace {

constexpr int kMaxCells = 256;  // along one side of the evidence map

// 1 under the evidence, 0 elsewhere. Cells are as fine as the patches, or 1/256 of the picture.
Map evidence_map(const std::vector<Box>& evidence, const Geometry& geometry) {
  const auto side = static_cast<float>(Geometry::side(geometry.finest));
  const float step =
      std::max(side, static_cast<float>(std::max(geometry.width, geometry.height)) / kMaxCells);
  const auto along = [&](int pixels) {
    return std::max(1, static_cast<int>(std::ceil(static_cast<float>(pixels) / step)));
  };
  Map map{along(geometry.height), along(geometry.width), step, step, {}};
  map = like(map, 0);
  bool any = false;
  const Box picture{0, 0, static_cast<float>(geometry.width), static_cast<float>(geometry.height)};
  for (const Box& box : evidence) {
    const Box inside = intersect(box, picture);
    if (!(inside.area() > 0)) continue;
    any = true;
    const auto last = [&](float end, int count) {
      return std::min(static_cast<int>(std::ceil(end / step)), count);
    };
    for (int r = static_cast<int>(inside.y0 / step); r < last(inside.y1, map.rows); ++r) {
      for (int c = static_cast<int>(inside.x0 / step); c < last(inside.x1, map.cols); ++c) {
        map.at(r, c) = 1;
      }
    }
  }
  if (!any) {
    throw Error(ErrorCode::bad_argument,
                "[allocate] the oracle allocator needs evidence boxes inside the picture");
  }
  return map;
}

// Knows where the answer lies: what a perfect relevance map would buy. Reads only the evidence.
class Oracle : public Allocator {
 public:
  bool tiles() const override { return true; }
  Allocation allocate(const Relevance&, const Geometry& geometry, const Budget& budget,
                      const AllocateOptions& options) const override {
    Relevance known;
    known.map = evidence_map(options.evidence, geometry);
    return allocating::allocate(known, geometry, budget, "quadtree", options);
  }
};

}  // namespace

std::unique_ptr<Allocator> make_oracle() { return std::make_unique<Oracle>(); }

}  // namespace arrcoc::baselines
