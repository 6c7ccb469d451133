#include "training/optimiser.h"

#include <ATen/ATen.h>

#include <cmath>

#include "arrcoc/error.h"

namespace arrcoc::training {

using at::Tensor;
constexpr double kBeta1 = 0.9, kBeta2 = 0.95, kEpsilon = 1e-8;

FlatWeights::FlatWeights(const tiny::Layout& layout, const tiny::Tensors& first, at::Device device)
    : layout_(layout) {
  std::vector<Tensor> parts, decays;
  for (size_t i = 0; i < layout.specs().size(); ++i) {
    sizes_.push_back(layout.specs()[i].count());
    parts.push_back(first[i].to(at::kFloat).reshape({-1}));
    decays.push_back(at::full({sizes_.back()}, layout.specs()[i].decays ? 1.0 : 0.0, at::kFloat));
  }
  flat_ = at::cat(parts).to(device).contiguous();
  flat_.requires_grad_(true);
  decays_ = at::cat(decays).to(device);
  mean_ = at::zeros_like(decays_);
  square_ = at::zeros_like(decays_);
}

tiny::Tensors FlatWeights::tensors(at::ScalarType type) const {
  std::vector<Tensor> parts = flat_.to(type).split_with_sizes(sizes_);
  for (size_t i = 0; i < parts.size(); ++i) parts[i] = parts[i].view(layout_.specs()[i].shape);
  return parts;
}

tiny::Tensors FlatWeights::on_cpu() const {
  at::NoGradGuard no_grad;
  std::vector<Tensor> parts = flat_.detach().to(at::kCPU).clone().split_with_sizes(sizes_);
  for (size_t i = 0; i < parts.size(); ++i) parts[i] = parts[i].view(layout_.specs()[i].shape);
  return parts;
}

void FlatWeights::forget_gradient() {
  if (flat_.grad().defined()) flat_.mutable_grad() = Tensor();
}

void FlatWeights::step(float rate, float decay, const at::Tensor& factor) {
  at::NoGradGuard no_grad;
  if (!flat_.grad().defined()) return;
  ++updates_;
  Tensor gradient = flat_.grad().nan_to_num(0, 0, 0).mul_(factor);
  mean_.mul_(kBeta1).add_(gradient, 1 - kBeta1);
  square_.mul_(kBeta2).addcmul_(gradient, gradient, 1 - kBeta2);
  const double bias1 = 1 - std::pow(kBeta1, static_cast<double>(updates_));
  const double bias2 = 1 - std::pow(kBeta2, static_cast<double>(updates_));
  Tensor scale = square_.sqrt().mul_(1 / std::sqrt(bias2)).add_(kEpsilon);
  Tensor flat = flat_.detach();
  flat.addcmul_(flat, decays_, -static_cast<double>(rate) * decay);
  flat.addcdiv_(mean_, scale, -static_cast<double>(rate) / bias1);
}

void FlatWeights::store(std::map<std::string, Tensor>& into, const std::string& prefix) const {
  into[prefix + ".weights"] = flat_.detach().to(at::kCPU);
  into[prefix + ".mean"] = mean_.to(at::kCPU);
  into[prefix + ".square"] = square_.to(at::kCPU);
  into[prefix + ".updates"] = at::full({1}, updates_, at::kLong);
}

void FlatWeights::restore(const std::map<std::string, Tensor>& from, const std::string& prefix) {
  at::NoGradGuard no_grad;
  const auto take = [&](const std::string& name) {
    auto found = from.find(prefix + name);
    if (found == from.end() || (name != ".updates" && found->second.numel() != flat_.numel()))
      throw Error(ErrorCode::bad_weights, "checkpoint: '" + prefix + name +
                                              "' is missing or belongs to another model shape");
    return found->second;
  };
  flat_.detach().copy_(take(".weights"));
  mean_.copy_(take(".mean"));
  square_.copy_(take(".square"));
  updates_ = take(".updates").item<int64_t>();
}

at::Tensor clip_factor(const std::vector<const FlatWeights*>& weights, float clip, Tensor* norm) {
  at::NoGradGuard no_grad;
  Tensor sum;
  for (const FlatWeights* each : weights) {
    if (!each->gradient().defined()) continue;
    Tensor square = each->gradient().to(at::kFloat).square().sum();
    sum = sum.defined() ? sum + square : square;
  }
  if (!sum.defined()) return at::ones({}, at::kFloat);
  Tensor length = sum.sqrt();
  if (norm) *norm = length;
  Tensor factor = (clip / (length + 1e-6)).clamp_max(1.0);
  return at::where(at::isfinite(length), factor, at::zeros_like(factor));
}

}  // namespace arrcoc::training
