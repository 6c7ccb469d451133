// Trees that grow from leaves that are held: what they cost, how fine they get, what stays.
#include <gtest/gtest.h>

#include <cmath>

#include "arrcoc/error.h"
#include "arrcoc/renew.h"

namespace arrcoc::allocating {
namespace {

const Geometry kGeometry{1024, 768, 0};

Map hill(double x, double y) {
  Map out{48, 64, 16, 16, {}};
  for (int r = 0; r < out.rows; ++r)
    for (int c = 0; c < out.cols; ++c) {
      const double dx = (c + 0.5) / out.cols - x, dy = (r + 0.5) / out.rows - y;
      out.values.push_back(static_cast<float>(std::exp(-(dx * dx + dy * dy) / 0.02)));
    }
  return out;
}

Relevance relevance(double x, double y) {
  Relevance out;
  out.map = hill(x, y);
  return out;
}

Budget tokens(int n) {
  Budget out;
  out.tokens = n;
  return out;
}

AllocateOptions plain() {
  AllocateOptions out;
  out.finest_weight = 1;
  return out;
}

Held held_at(double x, double y) {
  Held out{allocate(relevance(x, y), kGeometry, tokens(64), "quadtree", plain()), {}};
  out.current.assign(out.allocation.leaves.size(), true);
  return out;
}

double area(const Allocation& allocation) {
  double out = 0;
  for (const Leaf& leaf : allocation.leaves)
    out += static_cast<double>(box_of(allocation.geometry, leaf).area());
  return out;
}

int fine(const Allocation& allocation) {
  int out = 0;
  for (const Leaf& leaf : allocation.leaves) out += leaf.level == 0;
  return out;
}

TEST(Renew, WhatStaysBecomesFinerAndThenCostsNothing) {
  Held held = held_at(0.4, 0.6);
  int before = fine(held.allocation), all = 0;
  for (int frame = 0; frame < 20; ++frame) {
    const Renewal next =
        renew(relevance(0.4, 0.6), kGeometry, tokens(24), held, RenewOptions{}, plain());
    EXPECT_LE(next.bought, 24);
    EXPECT_LE(next.allocation.tokens(), RenewOptions{}.most);
    EXPECT_DOUBLE_EQ(area(next.allocation), 1024.0 * 768);  // no hole, nothing twice
    EXPECT_GE(fine(next.allocation), before);
    before = fine(next.allocation);
    all += next.bought;
    held = {next.allocation, std::vector<bool>(next.allocation.leaves.size(), true)};
  }
  EXPECT_GT(all, 64);
  EXPECT_EQ(renew(relevance(0.4, 0.6), kGeometry, tokens(24), held, RenewOptions{}, plain()).bought,
            0);
  // Only what is relevant: every leaf below half of the largest relevance is as coarse as before.
  EXPECT_LT(before, 256);
}

TEST(Renew, OnlyLeavesThatAreNotCurrentArePaidForAgain) {
  Held held = held_at(0.4, 0.6);
  RenewOptions options;
  options.enough = 1;  // nothing becomes finer
  held.current[3] = held.current[7] = false;
  const Renewal next = renew(relevance(0.4, 0.6), kGeometry, tokens(64), held, options, plain());
  EXPECT_EQ(next.allocation.leaves, held.allocation.leaves);
  EXPECT_EQ(next.bought, 2);
  EXPECT_EQ(next.held[3], -1);
  EXPECT_EQ(next.held[7], -1);
  EXPECT_EQ(next.held[4], 4);
}

TEST(Renew, WhereTheTokensDoNotReachTheMostRelevantAreBoughtFirst) {
  Held held = held_at(0.4, 0.6);
  std::fill(held.current.begin(), held.current.end(), false);
  const Renewal next =
      renew(relevance(0.4, 0.6), kGeometry, tokens(5), held, RenewOptions{}, plain());
  EXPECT_EQ(next.bought, 5);
  float least = 1, most = 0;
  for (size_t i = 0; i < next.held.size(); ++i) {
    const float r = next.allocation.leaves[i].relevance;
    if (next.held[i] < 0)
      least = std::min(least, r);
    else
      most = std::max(most, r);
  }
  EXPECT_GE(least, most);
}

TEST(Renew, FollowsWhatIsRelevantAndKeepsItsBudget) {
  Held held = held_at(0.2, 0.5);
  for (int frame = 1; frame < 30; ++frame) {
    const Renewal next = renew(relevance(0.2 + 0.02 * frame, 0.5), kGeometry, tokens(40), held,
                               RenewOptions{}, plain());
    EXPECT_LE(next.bought, 40);
    EXPECT_LE(next.allocation.tokens(), RenewOptions{}.most);
    int level = 9;
    for (const Leaf& leaf : next.allocation.leaves) {
      const Box box = box_of(kGeometry, leaf);
      const double x = (0.2 + 0.02 * frame) * 1024;
      if (box.x0 <= x && x < box.x1 && box.y0 <= 384 && 384 < box.y1) level = leaf.level;
    }
    EXPECT_EQ(level, 0) << frame;
    held = {next.allocation, std::vector<bool>(next.allocation.leaves.size(), true)};
  }
}

TEST(Renew, RefusesWhatItCannotGrowFrom) {
  const Held none{Allocation{kGeometry, {}, {}, {}, "quadtree", {}}, {}};
  EXPECT_THROW(renew(relevance(0.5, 0.5), kGeometry, tokens(8), none, {}, {}), Error);
  Held held = held_at(0.5, 0.5);
  EXPECT_THROW(renew(relevance(0.5, 0.5), {512, 512, 0}, tokens(8), held, {}, {}), Error);
  held.current.pop_back();
  EXPECT_THROW(renew(relevance(0.5, 0.5), kGeometry, tokens(8), held, {}, {}), Error);
}

}  // namespace
}  // namespace arrcoc::allocating
