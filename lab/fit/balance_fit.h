// Fitting the network of balancer "outcome" on the rewards of answers.
//
// Every question is answered under drawn weights and tensions; a reward says how good each answer
// is. The network then moves its outputs to where rewards were high: a policy gradient over the
// drawn outputs with each question's own mean as the baseline, drawn once and weighted by how
// likely the network is to choose them (off-policy).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "arrcoc/balance.h"
#include "lab/measure/measure.h"
#include "lab/train/dice.h"

namespace arrcoc::fitting {

struct BalanceFitOptions {
  int questions = 200;  // of every source; pictures are taken in turn, every fourth is kept back
  int draws = 12;       // of each question, and the coupling map alone
  double spread = 1.5;  // standard deviation of the drawn outputs
  double pull = 0.02;   // of outputs to 0 (close to the coupling map alone), against collapse
  double decay = 2e-3;  // of the network's weights
  int steps = 400;
  double rate = 0.01;
  uint64_t seed = 1;
};

struct BalanceSource {
  std::string name;  // of the kind of its questions; "": generated, and the group's suite
  measuring::GroupSource groups;
};

// One way to balance, on questions that were kept back, against the coupling map alone.
struct BalanceRow {
  std::string what;
  int questions = 0;
  double right = 0, score = 0, reward = 0;  // means; score: the set's own metric
  measuring::Interval points, gain;         // of right (in points) and of reward
};
// Means over questions of one kind.
struct BalanceKind {
  std::string kind;
  int questions = 0;
  std::array<measuring::Interval, BalanceNet::kOutputs> mean;  // weights, then tensions
};

struct BalanceReport {
  BalanceNet net;
  int fitted_on = 0;
  double expected_before = 0, expected_after = 0;  // reward of those questions, by the draws
  std::vector<BalanceRow> rows;
  std::vector<BalanceKind> kinds;
};

// done hears of every question. Error{bad_argument} with fewer than 8 questions that have answers.
BalanceReport fit_balance(const BalanceFitOptions& options, const Bundle& bundle,
                          const std::vector<BalanceSource>& sources,
                          const std::function<void()>& done = {});

// A standard normal number, by Box and Muller.
float normal(training::Dice& dice);

// 1 for a right answer that is sure, -0.5 for a wrong one that is.
double reward_of(double score, double likelihood);

// ---- The network alone, from what was drawn

struct BalanceTrial {
  balancing::BalanceFeatures features;
  std::vector<std::pair<BalanceNet::Outputs, double>> drawn;  // outputs and reward
};
// Which inputs it may see; without any, one balance serves all questions.
struct BalanceInputs {
  bool question = true, maps = true;
};
BalanceNet fit_net(const std::vector<BalanceTrial>& trials, const BalanceFitOptions& options,
                   const BalanceInputs& inputs = {});
// Mean reward that the draws promise of a network, self-normalised.
double expected_reward(const std::vector<BalanceTrial>& trials, const BalanceNet& net,
                       double spread);

}  // namespace arrcoc::fitting
