#include <gtest/gtest.h>

#include "allocate/support.h"
#include "lab/baselines/baselines.h"

namespace arrcoc::allocating {
namespace {

TEST(Oracle, LooksOnlyAtTheEvidence) {
  baselines::register_baselines();
  AllocateOptions options;
  options.evidence = {Box{600, 300, 640, 330}, Box{5000, 5000, 6000, 6000}};
  const Allocation out = run("oracle", noise(11), kSquare, 180, options);
  EXPECT_EQ(out.allocator, "oracle");
  for (double x : {601.0, 620.0, 639.0}) {
    for (double y : {301.0, 329.0}) EXPECT_EQ(leaf_at(out, x, y)->level, 0);
  }
  EXPECT_EQ(cells(out), cells(run("oracle", noise(12), kSquare, 180, options)));
  const Geometry large{10000, 10000, 0};
  options.evidence.pop_back();
  EXPECT_EQ(leaf_at(run("oracle", map_over(large, 4, 4), large, 400, options), 620, 315)->level, 0);
}

}  // namespace
}  // namespace arrcoc::allocating
