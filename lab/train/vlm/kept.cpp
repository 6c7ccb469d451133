#include "lab/train/vlm/kept.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "base/sha256.h"

namespace arrcoc::training {

at::Tensor KeptSource::get(const std::string& name, const std::vector<int64_t>& shape) {
  const std::string key = locate(name, shape);
  const auto known = tensors_.find(key);
  if (known != tensors_.end()) return known->second;
  const at::Tensor out = FileSource::get(name, shape).clone().set_requires_grad(learns_);
  return tensors_.emplace(key, out).first->second;
}

std::array<uint8_t, 32> digest_of(const Named& tensors) {
  std::string all;
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor flat = tensor.detach().contiguous();
    const auto one = sha256(flat.data_ptr(), flat.nbytes());
    all += name + '\n' + std::string(one.begin(), one.end());
  }
  return sha256(all.data(), all.size());
}

Steps::Steps(std::vector<at::Tensor> learned, double decay)
    : learned_(std::move(learned)), decay_(decay) {
  const at::NoGradGuard no_grad;
  for (const at::Tensor& one : learned_) {
    mean_.push_back(at::zeros_like(one));
    square_.push_back(at::zeros_like(one));
  }
}

void Steps::step(double rate) {
  const at::NoGradGuard no_grad;
  constexpr double kMean = 0.9, kSquare = 0.98;
  double norm = 0;
  for (const at::Tensor& one : learned_)
    if (one.grad().defined()) norm += one.grad().square().sum().item<double>();
  norm = std::sqrt(norm);
  if (std::isfinite(norm)) {
    ++count_;
    const double factor = 1 / std::max(1.0, norm);
    const double warm = 1 - std::pow(kMean, count_), wide = 1 - std::pow(kSquare, count_);
    for (size_t i = 0; i < learned_.size(); ++i) {
      at::Tensor& one = learned_[i];
      if (!one.grad().defined()) continue;
      const at::Tensor gradient = one.grad() * factor;
      mean_[i].mul_(kMean).add_(gradient, 1 - kMean);
      square_[i].mul_(kSquare).add_(gradient.square(), 1 - kSquare);
      if (one.dim() > 1) one.mul_(1 - rate * decay_);
      one.sub_(mean_[i] / warm / ((square_[i] / wide).sqrt() + 1e-8), rate);
    }
  }
  for (at::Tensor& one : learned_) one.mutable_grad() = at::Tensor();
}

}  // namespace arrcoc::training
