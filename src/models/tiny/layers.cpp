#include "models/tiny/layers.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/version.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "models/tiny/attend_cpu.h"
#include "models/tiny/prepared.h"

namespace arrcoc::tiny {

int64_t TensorSpec::count() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

int Layout::add(const std::string& name, std::vector<int64_t> shape, Init init, float deviation) {
  const bool decays = init == Init::normal && shape.size() > 1;
  specs_.push_back({name, std::move(shape), init, deviation, decays});
  return static_cast<int>(specs_.size()) - 1;
}

int64_t Layout::count() const {
  int64_t total = 0;
  for (const TensorSpec& spec : specs_) total += spec.count();
  return total;
}

Tensors Layout::initial(uint64_t seed) const {
  auto generator = at::detail::createCPUGenerator(seed);
  Tensors out;
  for (const TensorSpec& spec : specs_) {
    Tensor t = at::zeros(spec.shape, at::kFloat);
    if (spec.init == Init::ones) t.fill_(1);
    if (spec.init == Init::normal) t.normal_(0, spec.deviation, generator);
    out.push_back(t);
  }
  return out;
}

Linear::Linear(Layout& layout, const std::string& name, int64_t inputs, int64_t outputs, float gain)
    : weight(layout.add(name + ".weight", {outputs, inputs}, Init::normal,
                        gain / std::sqrt(static_cast<float>(inputs)))),
      bias(layout.add(name + ".bias", {outputs}, Init::zeros)) {
  layout.add_product({weight, bias, {}, {}});
}

Tensor Linear::operator()(const Parameters& w, const Tensor& x) const {
  if (w.seen) w.seen->add(weight, x);
  if (w.fast && w.fast->has(weight)) return w.fast->linear(weight, x);
  return at::linear(x, w[weight], w[bias]);
}

Norm::Norm(Layout& layout, const std::string& name, int64_t width)
    : weight(layout.add(name + ".weight", {width}, Init::ones)),
      bias(layout.add(name + ".bias", {width}, Init::zeros)),
      width(width) {}

Tensor Norm::operator()(const Parameters& w, const Tensor& x) const {
  return at::layer_norm(x, {width}, w[weight], w[bias]);
}

Conv::Conv(Layout& layout, const std::string& name, int64_t inputs, int64_t outputs,
           std::vector<int64_t> kernel, std::vector<int64_t> stride, float gain)
    : weight(layout.add(name + ".weight", {outputs, inputs, kernel[0], kernel[1]}, Init::normal,
                        gain / std::sqrt(static_cast<float>(inputs * kernel[0] * kernel[1])))),
      bias(layout.add(name + ".bias", {outputs}, Init::zeros)),
      stride(std::move(stride)),
      padding{kernel[0] / 2, kernel[1] / 2} {
  layout.add_product({weight, bias, this->stride, padding});
}

Tensor Conv::operator()(const Parameters& w, const Tensor& x) const {
  if (w.seen) w.seen->add(weight, x);
  Tensor nchw = x.permute({0, 3, 1, 2});  // channels last in memory
  Tensor kernel = w[weight].contiguous(at::MemoryFormat::ChannelsLast);
  return at::conv2d(nchw, kernel, w[bias], stride, padding).permute({0, 2, 3, 1}).contiguous();
}

namespace {

Tensor attend_plainly(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                      bool causal, Tensor* shares) {
  Tensor scores =
      at::matmul(q * (1.0 / std::sqrt(static_cast<double>(q.size(3)))), k.transpose(2, 3));
  if (mask.defined()) scores = scores + mask;
  if (causal) {
    Tensor later = at::ones({q.size(2), k.size(2)}, q.options().dtype(at::kBool)).triu(1);
    scores = scores.masked_fill(later, -1e9);
  }
  scores = at::softmax(scores, -1);
  if (shares) *shares = scores;
  return at::matmul(scores, v);
}

}  // namespace

Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, bool causal,
              Tensor* shares) {
  if (!shares && !causal && attend_cpu_takes(q, k, v, mask)) return attend_cpu(q, k, v, mask);
#if TORCH_VERSION_MAJOR >= 2
  // One query: no plan of cuDNN's for every length of what is written, see models/compat.h.
  if (shares || (q.is_cuda() && q.size(2) == 1))
    return attend_plainly(q, k, v, mask, causal, shares);
  std::optional<Tensor> bias;
  if (mask.defined()) bias = mask.expand({q.size(0), q.size(1), q.size(2), k.size(2)});
  return at::scaled_dot_product_attention(q, k, v, bias, 0.0, causal);
#else
  return attend_plainly(q, k, v, mask, causal, shares);
#endif
}

Attention::Attention(Layout& layout, const std::string& name, int64_t width, int64_t memory_width,
                     int heads, float gain)
    : query(layout, name + ".query", width, width),
      memory(layout, name + ".memory", memory_width, 2 * width),
      out(layout, name + ".out", width, width, gain),
      heads(heads) {}

KeysValues Attention::remember(const Parameters& w, const Tensor& from) const {
  Tensor both = memory(w, from);  // [B,S,2*width]
  const int64_t batch = both.size(0), length = both.size(1), each = both.size(2) / 2 / heads;
  Tensor split = both.view({batch, length, 2, heads, each}).permute({2, 0, 3, 1, 4});
  return {split.select(0, 0), split.select(0, 1)};
}

Tensor Attention::operator()(const Parameters& w, const Tensor& x, const KeysValues& past,
                             const Tensor& mask, bool causal, Tensor* shares) const {
  const int64_t batch = x.size(0), length = x.size(1), width = x.size(2);
  Tensor q = query(w, x).view({batch, length, heads, width / heads}).transpose(1, 2);
  Tensor seen = attend(q, past.keys, past.values, mask, causal, shares);
  return out(w, seen.transpose(1, 2).reshape({batch, length, width}));
}

Mlp::Mlp(Layout& layout, const std::string& name, int64_t width, int64_t hidden, float gain)
    : in(layout, name + ".in", width, hidden), out(layout, name + ".out", hidden, width, gain) {}

Tensor Mlp::operator()(const Parameters& w, const Tensor& x) const {
  if (w.fast) return w.fast->mlp(w, *this, x);
  return out(w, at::gelu(in(w, x)));
}

Layer::Layer(Layout& layout, const std::string& name, int64_t width, int heads, int64_t hidden,
             float gain)
    : norm1(layout, name + ".norm1", width),
      norm2(layout, name + ".norm2", width),
      attention(layout, name + ".attention", width, width, heads, gain),
      mlp(layout, name + ".mlp", width, hidden, gain) {}

Tensor Layer::operator()(const Parameters& w, const Tensor& x, const Tensor& mask) const {
  if (w.fast) return w.fast->layers(w, {this}, x, mask);
  Tensor n = norm1(w, x);
  Tensor y = x + attention(w, n, attention.remember(w, n), mask);
  return y + mlp(w, norm2(w, y));
}

Tensor additive_mask(const Tensor& real, at::ScalarType type) {
  return at::zeros(real.sizes(), real.options().dtype(type))
      .masked_fill(real.logical_not(), -30000.0)
      .view({real.size(0), 1, 1, real.size(1)});
}

Tensor waves(const Tensor& values, double first, int count) {
  // Built on the device: a copy from the host would wait for the queue.
  Tensor f =
      at::arange(count, values.options().dtype(at::kFloat)).neg().exp2() * (2 * M_PI / first);
  Tensor angle = values.to(at::kFloat).unsqueeze(-1) * f;
  return at::cat({angle.sin(), angle.cos()}, -1);
}

}  // namespace arrcoc::tiny
