#include "allocate/experts.h"

#include <gtest/gtest.h>

#include "arrcoc/error.h"

namespace arrcoc {
namespace {

Relevance bump(int row, int col, float around) {
  Relevance r;
  r.map.rows = r.map.cols = 32;
  r.map.cell_width = r.map.cell_height = 16;
  r.map.values.assign(1024, around);
  r.map.values[static_cast<size_t>(row * 32 + col)] = 1;
  return r;
}

Experts two_minds() {
  Experts out;
  out.experts[0] = {4, 1, 0};         // text: sharp
  out.experts[3] = {0.5F, 0.25F, 0};  // mixed: broad
  return out;
}

const Geometry geometry{512, 512, 0};

TEST(ByExperts, GateSharesAreAPartitionAndFollowTheMap) {
  Experts experts;
  experts.rows[2][3] = -30;  // few cells above half the peak: sparse
  const auto narrow = allocating::gate(experts, allocating::gate_features(bump(3, 3, 0).map));
  const auto wide = allocating::gate(experts, allocating::gate_features(bump(3, 3, 0.9F).map));
  float sum = 0;
  for (float share : narrow) sum += share;
  EXPECT_NEAR(sum, 1, 1e-5);
  EXPECT_GT(narrow[2], wide[2]);
}

TEST(ByExperts, TheChosenExpertDecides) {
  Experts experts = two_minds();
  experts.bias = {30, 0, 0, 0};
  EXPECT_NEAR(allocating::mixed(experts, allocating::gate(experts, {})).power, 4, 1e-3);
  experts.bias = {0, 0, 0, 30};
  EXPECT_NEAR(allocating::mixed(experts, allocating::gate(experts, {})).power, 0.5, 1e-3);
}

TEST(ByExperts, KeepsTheBudgetAndSaysWhenThereAreNone) {
  const Relevance map = bump(20, 9, 0.3F);
  const Allocation plain = allocating::allocate(map, geometry, {100, "", ""}, "experts");
  EXPECT_EQ(plain.fallbacks.size(), 1U);
  AllocateOptions options;
  options.experts = experts_from_json(to_json(two_minds()));
  const Allocation out = allocating::allocate(map, geometry, {100, "", ""}, "experts", options);
  EXPECT_TRUE(out.fallbacks.empty());
  EXPECT_LE(out.tokens(), 100);
  EXPECT_GT(out.tokens(), 90);
}

TEST(ByExperts, RefusesWhatIsNoSetOfExperts) {
  Experts bad = two_minds();
  bad.experts[1].power = -1;
  for (const std::string& text : {std::string("{}"), std::string("7"), to_json(bad)})
    EXPECT_THROW(experts_from_json(text), Error) << text;
}

}  // namespace
}  // namespace arrcoc
