#include "lab/measure/cost.h"

#include <ATen/ATen.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

namespace arrcoc::measuring {

namespace {

thread_local double counted = 0;

at::Tensor tensor(const at::RecordFunction& f, size_t i) {
  const auto inputs = f.inputs();
  return i < inputs.size() && inputs[i].isTensor() ? inputs[i].toTensor() : at::Tensor();
}

// [.., n, k] x [.., k, m]
double product(const at::Tensor& a, const at::Tensor& b) {
  if (!a.defined() || !b.defined() || a.dim() < 2) return 0;
  return 2.0 * static_cast<double>(a.numel()) * static_cast<double>(b.size(-1));
}

// Every output pixel is a product with the whole kernel of its group.
double convolution(const at::RecordFunction& f) {
  const at::Tensor x = tensor(f, 0), w = tensor(f, 1);
  const auto inputs = f.inputs();
  if (!x.defined() || x.dim() != 4 || inputs.size() < 6) return 0;
  const auto stride = inputs[3].toIntVector(), padding = inputs[4].toIntVector(),
             dilation = inputs[5].toIntVector();
  double out = static_cast<double>(x.size(0));
  // A list of one number counts for both directions.
  const auto of = [](const std::vector<int64_t>& list, size_t i) {
    return list[std::min(i, list.size() - 1)];
  };
  if (stride.empty() || padding.empty() || dilation.empty()) return 0;
  for (size_t i = 0; i < 2; ++i) {
    const auto d = static_cast<int64_t>(i) + 2;
    out *= static_cast<double>(
        (x.size(d) + 2 * of(padding, i) - of(dilation, i) * (w.size(d) - 1) - 1) / of(stride, i) +
        1);
  }
  return 2.0 * out * static_cast<double>(w.numel());
}

// Leaves of the call tree only: linear and matmul end in these.
std::unique_ptr<at::ObserverContext> count(const at::RecordFunction& f) {
  const char* name = f.name();
  const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
  if (is("aten::mm") || is("aten::bmm")) {
    counted += product(tensor(f, 0), tensor(f, 1));
  } else if (is("aten::addmm") || is("aten::baddbmm")) {
    counted += product(tensor(f, 1), tensor(f, 2));
  } else if (is("aten::convolution")) {
    counted += convolution(f);
  } else if (is("arrcoc::product")) {
    if (!f.inputs().empty()) counted += static_cast<double>(f.inputs()[0].toInt());
  } else if (is("aten::_scaled_dot_product_flash_attention_for_cpu") ||
             is("aten::_scaled_dot_product_flash_attention") ||
             is("aten::_scaled_dot_product_efficient_attention") ||
             is("aten::_scaled_dot_product_cudnn_attention")) {
    counted += 2 * product(tensor(f, 0), tensor(f, 1).transpose(2, 3));
  } else if (is("arrcoc::attend_cpu")) {
    counted += 2 * product(tensor(f, 0), tensor(f, 1).transpose(2, 3));
  }
  return nullptr;
}

}  // namespace

struct FlopCounter::State {
  at::CallbackHandle handle = 0;
  double before = 0;
};

FlopCounter::FlopCounter() : state_(std::make_unique<State>()) {
  state_->before = counted;
  state_->handle =
      at::addThreadLocalCallback(at::RecordFunctionCallback(count).needsInputs(true).scopes(
          {at::RecordScope::FUNCTION, at::RecordScope::USER_SCOPE}));
}

FlopCounter::~FlopCounter() { at::removeCallback(state_->handle); }

double FlopCounter::flops() const { return counted - state_->before; }

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double peak_megabytes() {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::stod(line.substr(6)) / 1000 * 1.024;
  return 0;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void reset_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

}  // namespace arrcoc::measuring
