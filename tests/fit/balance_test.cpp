#include <gtest/gtest.h>

#include "arrcoc/error.h"
#include "lab/fit/balance_fit.h"

namespace arrcoc::fitting {
namespace {

using N = BalanceNet;

// Half of the questions want more information (output 0 up), the others less.
std::vector<BalanceTrial> trials(int count, uint64_t seed) {
  std::vector<BalanceTrial> out;
  training::Dice dice(seed);
  for (int i = 0; i < count; ++i) {
    BalanceTrial& one = out.emplace_back();
    const bool more = i % 2 == 0;
    one.features.buckets = {more ? 3 : 90};
    one.features.stated.fill(0);
    for (int d = 0; d < 12; ++d) {
      N::Outputs z{};
      for (float& v : z) v = d == 0 ? 0 : 1.5F * normal(dice);
      one.drawn.emplace_back(z, (more ? z[0] : -z[0]) > 1 ? 1.0 : 0.0);
    }
  }
  return out;
}

TEST(BalanceFit, MovesToWhereRewardsAreHigh) {
  const BalanceFitOptions options;
  const auto learned = trials(80, 1), kept = trials(40, 2);
  const N net = fit_net(learned, options);
  const auto at = [&](int which) { return balancing::run(net, kept[which].features)[0]; };
  EXPECT_GT(at(0), 0.7F);
  EXPECT_LT(at(1), -0.7F);
  BalanceFitOptions untrained = options;
  untrained.steps = 0;
  const N before = fit_net(learned, untrained);
  for (const float z : balancing::run(before, kept[0].features)) EXPECT_EQ(z, 0);
  EXPECT_GT(expected_reward(kept, net, options.spread),
            expected_reward(kept, before, options.spread) + 0.2);
  EXPECT_EQ(fit_net(learned, options), net);
}

TEST(BalanceFit, SeesOnlyWhatItMay) {
  const auto learned = trials(80, 1);
  const N blind = fit_net(learned, {}, {false, true});
  EXPECT_NEAR(balancing::run(blind, learned[0].features)[0],
              balancing::run(blind, learned[1].features)[0], 1e-4);
}

TEST(BalanceFit, RewardsWhatIsRightAndSure) {
  EXPECT_EQ(reward_of(1, 1), 1);
  EXPECT_EQ(reward_of(0, 1), -0.5);
  EXPECT_GT(reward_of(1, 0.9), reward_of(1, 0.2));
  EXPECT_GT(reward_of(0, 0.1), reward_of(0, 0.9));
  EXPECT_GT(reward_of(0.8, 0.5), reward_of(0.2, 0.5));
}

TEST(BalanceFit, RefusesNothing) { EXPECT_THROW(fit_net({}, {}), Error); }

}  // namespace
}  // namespace arrcoc::fitting
