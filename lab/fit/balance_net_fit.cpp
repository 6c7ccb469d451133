// The network of balancer "outcome", from drawn outputs and their rewards.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "lab/fit/balance_fit.h"
#include "lab/train/dice.h"

namespace arrcoc::fitting {
namespace {

using at::Tensor;
using N = BalanceNet;
using training::Dice;

constexpr double kLeastDeviation = 0.05;  // of what hardly varies

Tensor drawn_tensor(Dice& dice, at::IntArrayRef shape, float scale) {
  Tensor out = at::empty(shape);
  float* values = out.data_ptr<float>();
  for (int64_t i = 0; i < out.numel(); ++i) values[i] = scale * normal(dice);
  return out.requires_grad_(true);
}

std::vector<float> list_of(const Tensor& tensor) {
  const Tensor whole = tensor.detach().contiguous();
  return {whole.data_ptr<float>(), whole.data_ptr<float>() + whole.numel()};
}

// All trials as tensors.
struct Sheet {
  Tensor words;    // [n, kBuckets]: counts over the root of their sum
  Tensor stated;   // [n, kStated], standardised
  Tensor outputs;  // [n, draws, kOutputs]
  Tensor rewards;  // [n, draws]
};

void standardise(const std::vector<BalanceTrial>& trials, const BalanceInputs& inputs, N& net) {
  const auto n = static_cast<double>(trials.size());
  for (int i = 0; i < N::kStated; ++i) {
    double sum = 0, square = 0;
    for (const BalanceTrial& t : trials) {
      const double v = static_cast<double>(t.features.stated[i]);
      sum += v;
      square += v * v;
    }
    const double deviation = std::sqrt(std::max(0.0, square / n - sum / n * (sum / n)));
    net.middle.push_back(static_cast<float>(sum / n));
    // What may not be seen is the same for everybody.
    const bool seen = i < balancing::kOfMaps ? inputs.question : inputs.maps;
    net.deviation.push_back(static_cast<float>(seen ? std::max(kLeastDeviation, deviation) : 1e6));
  }
}

Sheet sheet_of(const std::vector<BalanceTrial>& trials, const BalanceInputs& inputs, const N& net) {
  const auto n = static_cast<int64_t>(trials.size());
  const auto draws = static_cast<int64_t>(trials.front().drawn.size());
  Sheet out{at::zeros({n, N::kBuckets}), at::empty({n, N::kStated}),
            at::empty({n, draws, N::kOutputs}), at::empty({n, draws})};
  for (int64_t t = 0; t < n; ++t) {
    const BalanceTrial& trial = trials[static_cast<size_t>(t)];
    const auto& buckets = trial.features.buckets;
    const float share = 1 / std::sqrt(static_cast<float>(std::max<size_t>(1, buckets.size())));
    float* words = out.words.data_ptr<float>() + t * N::kBuckets;
    for (const int bucket : buckets) words[bucket] += inputs.question ? share : 0;
    for (int i = 0; i < N::kStated; ++i)
      out.stated.data_ptr<float>()[t * N::kStated + i] =
          (trial.features.stated[i] - net.middle[i]) / net.deviation[i];
    for (int64_t d = 0; d < draws; ++d) {
      const auto& [z, reward] = trial.drawn[static_cast<size_t>(d)];
      std::copy(z.begin(), z.end(), out.outputs.data_ptr<float>() + (t * draws + d) * N::kOutputs);
      out.rewards.data_ptr<float>()[t * draws + d] = static_cast<float>(reward);
    }
  }
  return out;
}

// How much each draw counts under means [n, kOutputs]: the chance that the network would draw it
// over the chance that it was drawn with, of one question summing to 1.
Tensor shares(const Sheet& sheet, const Tensor& means, double spread) {
  const Tensor away = (sheet.outputs - means.unsqueeze(1)).square().sum(2);
  const Tensor was = sheet.outputs.square().sum(2);
  return at::softmax((was - away) / (2 * spread * spread), 1);
}

class Learner {
 public:
  explicit Learner(uint64_t seed) {
    Dice dice(seed, 21);
    words_ = drawn_tensor(dice, {N::kBuckets, N::kWord}, 0.3F);
    in_ = drawn_tensor(dice, {N::kHidden, N::kWord + N::kStated}, 0.2F);
    in_bias_ = at::zeros({N::kHidden}).requires_grad_(true);
    out_ = drawn_tensor(dice, {N::kOutputs, N::kHidden}, 0);  // begins at the coupling map alone
    out_bias_ = at::zeros({N::kOutputs}).requires_grad_(true);
    for (const Tensor& w : weights()) {
      mean_.push_back(at::zeros_like(w));
      square_.push_back(at::zeros_like(w));
    }
  }
  std::vector<Tensor> weights() const { return {words_, in_, in_bias_, out_, out_bias_}; }

  Tensor outputs(const Sheet& sheet) const {
    const Tensor x = at::cat({at::matmul(sheet.words, words_), sheet.stated}, 1);
    return at::linear(at::tanh(at::linear(x, in_, in_bias_)), out_, out_bias_);
  }
  Tensor size() const { return words_.square().sum() + in_.square().sum() + out_.square().sum(); }

  // Adam with a rate that falls to 0.
  void step(const Tensor& loss, int number, const BalanceFitOptions& options) {
    loss.backward();
    const at::NoGradGuard no_grad;
    const double rate = options.rate * 0.5 * (1 + std::cos(M_PI * number / options.steps));
    const std::vector<Tensor> all = weights();
    for (size_t i = 0; i < all.size(); ++i) {
      const Tensor g = all[i].grad();
      mean_[i].mul_(0.9).add_(g, 0.1);
      square_[i].mul_(0.99).addcmul_(g, g, 0.01);
      const Tensor scale = (square_[i] / (1 - std::pow(0.99, number))).sqrt_().add_(1e-8);
      all[i].detach().addcdiv_(mean_[i], scale, -rate / (1 - std::pow(0.9, number)));
      all[i].mutable_grad() = Tensor();
    }
  }

  void write(N& net) const {
    net.words = list_of(words_);
    net.in = list_of(in_);
    net.in_bias = list_of(in_bias_);
    net.out = list_of(out_);
    net.out_bias = list_of(out_bias_);
  }

 private:
  Tensor words_, in_, in_bias_, out_, out_bias_;
  std::vector<Tensor> mean_, square_;
};

}  // namespace

BalanceNet fit_net(const std::vector<BalanceTrial>& trials, const BalanceFitOptions& options,
                   const BalanceInputs& inputs) {
  if (trials.empty()) throw Error(ErrorCode::bad_argument, "balance: no question to fit on");
  N net;
  standardise(trials, inputs, net);
  const Sheet sheet = sheet_of(trials, inputs, net);
  Learner learner(options.seed);
  for (int step = 1; step <= options.steps; ++step) {
    const Tensor means = learner.outputs(sheet);
    const Tensor reward = (shares(sheet, means, options.spread) * sheet.rewards).sum(1).mean();
    learner.step(options.pull * means.square().mean() +
                     options.decay * learner.size() / static_cast<double>(N::kHidden) - reward,
                 step, options);
  }
  learner.write(net);
  return net;
}

double expected_reward(const std::vector<BalanceTrial>& trials, const BalanceNet& net,
                       double spread) {
  double sum = 0;
  for (const BalanceTrial& trial : trials) {
    const N::Outputs mean = balancing::run(net, trial.features);
    double all = 0, reward = 0;
    for (const auto& [z, got] : trial.drawn) {
      double log_share = 0;
      for (int i = 0; i < N::kOutputs; ++i) {
        const double at = static_cast<double>(z[i]), away = at - static_cast<double>(mean[i]);
        log_share += (at * at - away * away) / (2 * spread * spread);
      }
      all += std::exp(log_share);
      reward += std::exp(log_share) * got;
    }
    sum += reward / all;
  }
  return sum / static_cast<double>(std::max<size_t>(1, trials.size()));
}

}  // namespace arrcoc::fitting
