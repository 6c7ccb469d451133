#include "models/hf/source.h"

#include <ATen/ATen.h>

#include "arrcoc/error.h"

namespace arrcoc::hf {
namespace {

// Every name a checkpoint may use for ours, the preferred one first.
std::vector<std::string> names_of(const std::string& name, const Spellings& spellings) {
  std::vector<std::string> out;
  for (const Spelling& spelling : spellings) {
    if (name.compare(0, spelling.ours.size(), spelling.ours) != 0) continue;
    std::string rest = name.substr(spelling.ours.size());
    for (const std::string& prefix : spelling.theirs) out.push_back(prefix + rest);
  }
  if (out.empty()) out.push_back(name);
  return out;
}

// One element that looks like a tensor of any shape.
at::Tensor hollow(const std::vector<int64_t>& shape) {
  return at::zeros({1}).as_strided(shape, std::vector<int64_t>(shape.size(), 0));
}

}  // namespace

at::Tensor Source::Linear::operator()(const at::Tensor& x) const {
  return bias.defined() ? at::linear(x, weight, bias) : at::linear(x, weight);
}

at::Tensor Source::Norm::operator()(const at::Tensor& x) const {
  if (!rms) return at::layer_norm(x, {weight.size(0)}, weight, bias, eps);
  at::Tensor wide = x.to(at::kFloat);
  wide = wide * at::rsqrt(wide.square().mean(-1, true) + eps);
  return weight * wide.to(x.scalar_type());
}

Linear Source::linear(const std::string& name, int64_t in, int64_t out, bool bias) {
  Linear layer;
  layer.weight = get(name + ".weight", {out, in});
  if (bias) layer.bias = get(name + ".bias", {out});
  return layer;
}

Norm Source::layer_norm(const std::string& name, int64_t size, double eps) {
  return {get(name + ".weight", {size}), get(name + ".bias", {size}), eps, false};
}

Norm Source::rms_norm(const std::string& name, int64_t size, double eps) {
  return {get(name + ".weight", {size}), {}, eps, true};
}

std::string FileSource::find(const std::string& name) const {
  for (const std::string& candidate : names_of(name, spellings_)) {
    if (weights_.has(candidate)) return candidate;
  }
  return "";
}

std::string FileSource::locate(const std::string& name, const std::vector<int64_t>& shape) const {
  std::string found = find(name);
  if (found.empty()) found = names_of(name, spellings_).front();  // the error names this one
  const WeightFile::Info& info = weights_.info(found);
  if (!c10::isFloatingType(info.dtype)) {
    throw Error(ErrorCode::bad_weights, info.file + ": tensor '" + found + "' is " +
                                            dtype_name(info.dtype) + ", expected floating point");
  }
  weights_.check(found, shape);
  return found;
}

at::Tensor FileSource::get(const std::string& name, const std::vector<int64_t>& shape) {
  return weights_.view(locate(name, shape)).to(device_, dtype_);
}

at::Tensor HeaderSource::get(const std::string& name, const std::vector<int64_t>& shape) {
  locate(name, shape);
  return hollow(shape);
}

at::Tensor PlanSource::get(const std::string& name, const std::vector<int64_t>& shape) {
  planned_[names_of(name, spellings_).front()] = shape;
  return hollow(shape);
}

}  // namespace arrcoc::hf
