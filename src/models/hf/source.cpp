#include "models/hf/source.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arrcoc/error.h"
#include "models/compat.h"

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

uint64_t hash_of(const std::string& text, uint64_t seed) {
  uint64_t hash = 0xcbf29ce484222325ULL ^ (seed * 0x9e3779b97f4a7c15ULL);  // FNV-1a
  for (char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3ULL;
  return hash;
}

// One element that looks like a tensor of any shape.
at::Tensor hollow(const std::vector<int64_t>& shape) {
  return at::zeros({1}).as_strided(shape, std::vector<int64_t>(shape.size(), 0));
}

// What was read of a mapped file goes back to the system, which reads it anew should anybody ask.
void let_go(const at::Tensor& view) {
  if (view.storage().unsafeGetStorageImpl()->resizable()) return;  // a copy, no map
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto from = (reinterpret_cast<uintptr_t>(view.data_ptr()) + page - 1) / page * page,
             to = (reinterpret_cast<uintptr_t>(view.data_ptr()) + view.nbytes()) / page * page;
  if (from < to) ::madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
}

}  // namespace

at::Tensor Source::Linear::operator()(const at::Tensor& x) const {
  if (bytes) return (*bytes)(x);
  return bias.defined() ? at::linear(x, weight, bias) : at::linear(x, weight);
}

at::Tensor Source::Norm::operator()(const at::Tensor& x) const {
  if (rms) return compat::rms_norm(x, weight, eps);
  return at::layer_norm(x, {weight.size(0)}, weight, bias, eps);
}

Linear Source::linear(const std::string& name, int64_t in, int64_t out, bool bias) {
  const at::Tensor weight = table(name + ".weight", {out, in});
  return layer(weight, bias ? get(name + ".bias", {out}) : at::Tensor());
}

Linear Source::layer(const at::Tensor& weight, const at::Tensor& bias) const {
  if (!in_bytes_) return {weight, bias};
  const Linear out{{}, {}, std::make_shared<const kernels::RowDense>(weight, bias)};
  let_go(weight);
  return out;
}

Norm Source::layer_norm(const std::string& name, int64_t size, double eps) {
  return {get(name + ".weight", {size}), get(name + ".bias", {size}), eps, false};
}

Norm Source::rms_norm(const std::string& name, int64_t size, double eps) {
  return {get(name + ".weight", {size}), {}, eps, true};
}

std::string FileSource::find(const std::string& name) const {
  for (const std::string& candidate : names_of(name, spellings_))
    if (weights_.has(candidate)) return candidate;
  return "";
}

std::string FileSource::locate(const std::string& name, const std::vector<int64_t>& shape) const {
  std::string found = find(name);
  if (found.empty()) found = names_of(name, spellings_).front();  // the error names this one
  const WeightFile::Info& info = weights_.info(found);
  if (!c10::isFloatingType(info.dtype))
    throw Error(ErrorCode::bad_weights, info.file + ": tensor '" + found + "' is " +
                                            dtype_name(info.dtype) + ", expected floating point");
  weights_.check(found, shape);
  return found;
}

at::Tensor FileSource::get(const std::string& name, const std::vector<int64_t>& shape) {
  const at::Tensor stored = weights_.view(locate(name, shape));
  at::Tensor out = stored.to(device_, dtype_);
  if (!out.is_alias_of(stored)) let_go(stored);
  return out;
}

at::Tensor FileSource::table(const std::string& name, const std::vector<int64_t>& shape) {
  return in_bytes_ ? weights_.view(locate(name, shape)) : get(name, shape);
}

at::Tensor HeaderSource::get(const std::string& name, const std::vector<int64_t>& shape) {
  locate(name, shape);
  return hollow(shape);
}

at::Tensor PlanSource::get(const std::string& name, const std::vector<int64_t>& shape) {
  planned_[names_of(name, spellings_).front()] = shape;
  return hollow(shape);
}

at::Tensor random_tensor(const std::string& name, const std::vector<int64_t>& shape,
                         at::ScalarType dtype, at::Device device, uint64_t seed) {
  auto ends = [&](const std::string& tail) {
    return name.size() >= tail.size() &&
           name.compare(name.size() - tail.size(), tail.size(), tail) == 0;
  };
  auto options = at::TensorOptions().dtype(dtype).device(device);
  if (ends(".bias") || ends("_bias")) return at::zeros(shape, options);
  bool norm = shape.size() == 1 && ends(".weight");
  if (norm) return at::ones(shape, options);
  uint64_t own = hash_of(name, seed);
  if (device.is_cpu()) {  // drawn as floats, so that every dtype holds the same numbers, rounded
    at::Generator generator = at::detail::createCPUGenerator(own);
    return at::empty(shape, at::kFloat).normal_(0, 0.02, generator).to(dtype);
  }
  at::Tensor out = at::empty(shape, options);
  at::Generator generator = at::globalContext().defaultGenerator(device).clone();
  generator.set_current_seed(own);
  return out.normal_(0, 0.02, generator);
}

}  // namespace arrcoc::hf
