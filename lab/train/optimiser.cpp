#include "lab/train/optimiser.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"

namespace arrcoc::training {
namespace {
// Every tensor starts at a multiple of 64 elements: matrix kernels want aligned weights.
constexpr int64_t kAlignment = 64;
int64_t padded(int64_t count) { return (count + kAlignment - 1) / kAlignment * kAlignment; }

constexpr double kBeta1 = 0.9, kBeta2 = 0.95, kEpsilon = 1e-8;
constexpr double kMomentum = 0.95;  // of Muon

// Matrices [N,rows,columns] with all singular values near 1 (0.7 to 1.2), same singular vectors.
at::Tensor orthogonalised(const at::Tensor& matrices) {
  const bool tall = matrices.size(1) > matrices.size(2);
  at::Tensor x = tall ? matrices.transpose(1, 2) : matrices;
  x = x / x.flatten(1).norm(2, {1}, true).unsqueeze(2).add(1e-7);
  if (x.is_cuda()) x = x.to(at::kBFloat16);
  for (int i = 0; i < 5; ++i) {
    at::Tensor a = at::matmul(x, x.transpose(1, 2));
    at::Tensor b = a * -4.7750 + at::matmul(a, a) * 2.0315;
    x = x * 3.4445 + at::matmul(b, x);
  }
  return (tall ? x.transpose(1, 2) : x).to(matrices.scalar_type());
}

// Matrices and kernels between hidden activations; what maps from or to symbols and pixels is none.
bool hidden_matrix(const tiny::TensorSpec& spec) {
  if (!spec.decays || std::min(spec.shape[0], spec.count() / spec.shape[0]) < 32) return false;
  for (const char* outer : {"patch.", "stem1.", "ring", "symbols", "places", "question_places",
                            "answer_places", "place.", "glyph", "out.", "adapter.level"})
    if (spec.name.rfind(outer, 0) == 0) return false;
  return true;
}

}  // namespace

using at::Tensor;

FlatWeights::FlatWeights(const tiny::Layout& layout, const tiny::Tensors& first, at::Device device)
    : layout_(layout) {
  std::vector<Tensor> parts, decays;
  for (size_t i = 0; i < layout.specs().size(); ++i) {
    const int64_t count = layout.specs()[i].count();
    sizes_.push_back(padded(count));
    parts.push_back(at::zeros({sizes_.back()}, at::kFloat));
    parts.back().narrow(0, 0, count).copy_(first[i].reshape({-1}));
    decays.push_back(at::full({sizes_.back()}, layout.specs()[i].decays ? 1.0 : 0.0, at::kFloat));
  }
  flat_ = at::cat(parts).to(device).contiguous();
  flat_.requires_grad_(true);
  decays_ = at::cat(decays).to(device);
  mean_ = at::zeros_like(decays_);
  square_ = at::zeros_like(decays_);
}

tiny::Tensors FlatWeights::split(const Tensor& flat) const {
  std::vector<Tensor> parts = flat.split_with_sizes(sizes_);
  for (size_t i = 0; i < parts.size(); ++i) {
    const tiny::TensorSpec& spec = layout_.specs()[i];
    if (spec.count() != sizes_[i]) parts[i] = parts[i].narrow(0, 0, spec.count());
    parts[i] = parts[i].view(spec.shape);
  }
  return parts;
}

tiny::Tensors FlatWeights::tensors(at::ScalarType type) const { return split(flat_.to(type)); }

tiny::Tensors FlatWeights::on_cpu() const { return split(flat_.detach().to(at::kCPU).clone()); }

at::Tensor FlatWeights::gradient_or_zeros() const {
  return flat_.grad().defined() ? flat_.grad() : at::zeros_like(flat_.detach());
}

void FlatWeights::forget_gradient() {
  if (flat_.grad().defined()) flat_.mutable_grad() = Tensor();
}

int FlatWeights::freeze(const std::string& network, const std::vector<std::string>& prefixes) {
  int frozen = 0;
  std::vector<Tensor> parts;
  for (size_t i = 0; i < layout_.specs().size(); ++i) {
    const std::string name = network + layout_.specs()[i].name;
    const bool stays = std::any_of(prefixes.begin(), prefixes.end(),
                                   [&](const std::string& p) { return name.rfind(p, 0) == 0; });
    frozen += stays ? 1 : 0;
    parts.push_back(at::full({sizes_[i]}, stays ? 0.0 : 1.0, at::kFloat));
  }
  if (frozen > 0) {
    learns_ = at::cat(parts).to(flat_.device());
    decays_ = decays_ * learns_;
  }
  return frozen;
}

void FlatWeights::use_muon() {
  std::vector<Tensor> forgets;
  int64_t offset = 0;
  for (size_t i = 0; i < layout_.specs().size(); ++i) {
    const tiny::TensorSpec& spec = layout_.specs()[i];
    const bool matrix = hidden_matrix(spec);
    forgets.push_back(at::full({sizes_[i]}, 1 - (matrix ? kMomentum : kBeta1), at::kFloat));
    if (matrix) {
      const int64_t rows = spec.shape[0], columns = spec.count() / rows;  // kernels flattened
      auto same = std::find_if(matrices_.begin(), matrices_.end(), [&](const Alike& a) {
        return a.rows == rows && a.columns == columns;
      });
      if (same == matrices_.end()) same = matrices_.insert(same, {rows, columns, {}});
      same->offsets.push_back(offset);
    }
    offset += sizes_[i];
  }
  forgets_ = at::cat(forgets).to(flat_.device());
}

void FlatWeights::orthogonal_steps(const Tensor& gradient, Tensor& steps) const {
  const Tensor ahead = gradient.lerp(mean_, kMomentum);  // Nesterov
  for (const Alike& alike : matrices_) {
    const auto part = [&](const Tensor& flat, int64_t offset) {
      return flat.narrow(0, offset, alike.rows * alike.columns).view({alike.rows, alike.columns});
    };
    std::vector<Tensor> each;
    for (int64_t offset : alike.offsets) each.push_back(part(ahead, offset));
    const double size = 0.2 * std::sqrt(static_cast<double>(std::max(alike.rows, alike.columns)));
    const Tensor all = orthogonalised(at::stack(each)) * size;
    for (size_t i = 0; i < alike.offsets.size(); ++i)
      part(steps, alike.offsets[i]).copy_(all[static_cast<int64_t>(i)]);
  }
}

void FlatWeights::step(float rate, float decay, const at::Tensor& factor) {
  at::NoGradGuard no_grad;
  if (!flat_.grad().defined()) return;
  ++updates_;
  Tensor gradient = flat_.grad().nan_to_num(0, 0, 0).mul_(factor);
  if (learns_.defined()) gradient.mul_(learns_);
  if (forgets_.defined())
    mean_.lerp_(gradient, forgets_);
  else
    mean_.mul_(kBeta1).add_(gradient, 1 - kBeta1);
  square_.mul_(kBeta2).addcmul_(gradient, gradient, 1 - kBeta2);
  const double bias1 = 1 - std::pow(kBeta1, static_cast<double>(updates_));
  const double bias2 = 1 - std::pow(kBeta2, static_cast<double>(updates_));
  Tensor scale = square_.sqrt().mul_(1 / std::sqrt(bias2)).add_(kEpsilon);
  Tensor flat = flat_.detach();
  flat.addcmul_(flat, decays_, -static_cast<double>(rate) * decay);
  if (matrices_.empty()) {
    flat.addcdiv_(mean_, scale, -static_cast<double>(rate) / bias1);
    return;
  }
  Tensor steps = mean_.div(scale).mul_(1 / bias1);
  orthogonal_steps(gradient, steps);
  if (learns_.defined()) steps.mul_(learns_);
  flat.add_(steps, -static_cast<double>(rate));
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
