#include "lab/train/optimiser.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace arrcoc::training {
namespace {

struct Net {
  tiny::Layout layout;
  int hidden, kernel, symbols, bias;
  Net()
      : hidden(layout.add("mlp.in.weight", {96, 64}, tiny::Init::normal, 0.1F)),
        kernel(layout.add("stem3.weight", {32, 8, 3, 3}, tiny::Init::normal, 0.1F)),
        symbols(layout.add("symbols", {64, 64}, tiny::Init::normal, 0.1F)),
        bias(layout.add("mlp.in.bias", {96}, tiny::Init::zeros)) {}
};

// The change that one step with gradient `of(weights)` makes, tensor by tensor.
tiny::Tensors change(const Net& net, bool muon, const std::vector<std::string>& frozen = {}) {
  FlatWeights weights(net.layout, net.layout.initial(1), at::kCPU);
  if (muon) weights.use_muon();
  weights.freeze("", frozen);
  const tiny::Tensors before = weights.on_cpu();
  tiny::Tensors now = weights.tensors(at::kFloat);
  at::Tensor loss = at::zeros({});
  for (size_t i = 0; i < now.size(); ++i)
    loss = loss + (now[i] * now[i].detach().mul(3).sin()).sum() + now[i].sum();
  loss.backward();
  weights.step(0.01F, 0, at::ones({}));
  tiny::Tensors after = weights.on_cpu();
  for (size_t i = 0; i < after.size(); ++i) after[i] = (before[i] - after[i]) / 0.01;
  return after;
}

TEST(Muon, HiddenMatricesStepEquallyFarInAllDirections) {
  const Net net;
  const tiny::Tensors steps = change(net, true);
  for (int i : {net.hidden, net.kernel}) {
    const at::Tensor matrix = steps[i].flatten(1);
    const double size = 0.2 * std::sqrt(std::max(matrix.size(0), matrix.size(1)));
    const at::Tensor values = std::get<1>(at::linalg_svd(matrix, false)) / size;
    EXPECT_GT(values.min().item<float>(), 0.3F) << i;
    EXPECT_LT(values.max().item<float>(), 1.3F) << i;
    // As large as a step of AdamW, whose first step is the gradient's sign.
    EXPECT_NEAR(matrix.square().mean().sqrt().item<float>(), 0.2F * 0.9F, 0.12F) << i;
  }
}

TEST(Muon, EmbeddingsAndVectorsStepAsWithAdamw) {
  const Net net;
  const tiny::Tensors with = change(net, true), without = change(net, false);
  for (int i : {net.symbols, net.bias}) EXPECT_TRUE(at::allclose(with[i], without[i], 1e-4, 1e-5));
  EXPECT_FALSE(at::allclose(with[net.hidden], without[net.hidden], 1e-2, 1e-2));
}

TEST(Muon, FrozenMatricesStay) {
  const Net net;
  const tiny::Tensors steps = change(net, true, {"mlp.in.weight"});
  EXPECT_EQ(steps[net.hidden].abs().max().item<float>(), 0);
  EXPECT_GT(steps[net.kernel].abs().max().item<float>(), 0);
}

}  // namespace
}  // namespace arrcoc::training
