#include "models/tiny/prepared.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <atomic>

#include "models/tiny/attend_cpu.h"
#include "models/tiny/row_kernels.h"
#include "models/tiny/scratch.h"

namespace arrcoc::tiny {

void RangesSeen::add(int weight, const Tensor& x) {
  const Tensor flat = x.detach().to(at::kFloat);
  const float low = flat.min().item<float>(), high = flat.max().item<float>();
  const auto [known, first] = ranges_.try_emplace(weight, Range{low, high});
  if (first) return;
  known->second.low = std::min(known->second.low, low);
  known->second.high = std::max(known->second.high, high);
}

struct Prepared::Slot {
  ProductSpec spec;
  bool whole = false;
  Scale scale;
  std::once_flag once, once_pair;
  std::unique_ptr<const Dense> dense, pair;
  std::unique_ptr<const Convolution> convolution;
  std::atomic<bool> made = false;
};

namespace {

// Small products, those that have the network's last word, and those that read values of very
// different sizes.
bool stays_float(const TensorSpec& weight) {
  for (const char* name : {"text", "place", "relevance", "tier", "tensions", "patch", "patch2",
                           "adapter.level", "adapter.quality", "adapter.gate", "out"})
    if (weight.name == std::string(name) + ".weight") return true;
  return false;
}

}  // namespace

Prepared::Prepared(const Layout& layout, const Tensors& tensors, const Ranges& ranges)
    : layout_(layout), tensors_(tensors) {
  for (const ProductSpec& product : layout.products()) {
    auto slot = std::make_unique<Slot>();
    slot->spec = product;
    const auto range = ranges.find(product.weight);
    const TensorSpec& spec = layout_.specs()[static_cast<size_t>(product.weight)];
    slot->whole = range != ranges.end() && !stays_float(spec);
    if (range != ranges.end()) slot->scale = scale_of(range->second);
    slots_.emplace(product.weight, std::move(slot));
  }
}
Prepared::~Prepared() = default;

Prepared::Slot& Prepared::slot(int weight) const { return *slots_.at(weight); }
Scale Prepared::scale(int weight) const { return slot(weight).scale; }
bool Prepared::made(int weight) const { return slot(weight).made; }

const Dense& Prepared::dense(int weight) const {
  Slot& s = slot(weight);
  std::call_once(s.once, [&] {
    s.dense = std::make_unique<const Dense>(tensors_[static_cast<size_t>(weight)],
                                            tensors_[static_cast<size_t>(s.spec.bias)],
                                            s.whole ? &s.scale : nullptr);
  });
  return *s.dense;
}

const Dense& Prepared::pair(int first, int second) const {
  Slot& s = slot(first);
  std::call_once(s.once_pair, [&] {
    const auto both = [&](int a, int b) {
      return at::cat({tensors_[static_cast<size_t>(a)], tensors_[static_cast<size_t>(b)]}, 0);
    };
    s.pair = std::make_unique<const Dense>(both(first, second),
                                           both(s.spec.bias, slot(second).spec.bias),
                                           s.whole ? &s.scale : nullptr);
  });
  return *s.pair;
}

const Convolution& Prepared::convolution(int weight) const {
  const Slot& s = slot(weight);
  return convolution(weight, tensors_[static_cast<size_t>(weight)],
                     tensors_[static_cast<size_t>(s.spec.bias)], s.scale);
}

const Convolution& Prepared::convolution(int weight, const Tensor& own, const Tensor& bias,
                                         const Scale& input) const {
  Slot& s = slot(weight);
  std::call_once(s.once, [&] {
    s.convolution =
        std::make_unique<const Convolution>(own, bias, s.spec.stride, s.spec.padding, input);
    s.made = true;
  });
  return *s.convolution;
}

Tensor with_room(const Tensor& x) {
  const int64_t width = x.size(-1), rows = x.numel() / std::max<int64_t>(1, width);
  Tensor out = room_for(rows, width, x.scalar_type());
  out.copy_(x.reshape({rows, width}));
  return out;
}

Tensor Prepared::bytes(const Parameters& w, const Norm* norm, const Tensor& x, int weight,
                       bool gelu, float* floats) const {
  const int64_t width = x.size(-1), rows = x.numel() / width;
  Tensor out = room_for(rows, width, at::kByte);
  RowWork work;
  if (norm) {
    work.weight = w[norm->weight].data_ptr<float>();
    work.bias = w[norm->bias].data_ptr<float>();
  }
  work.gelu = gelu;
  work.floats = floats;
  work.bytes = out.data_ptr<uint8_t>();
  work.scale = scale(weight);
  work_rows(x.data_ptr<float>(), rows, width, work);
  return out;
}

Tensor Prepared::linear(int weight, const Tensor& x) const {
  const Slot& s = slot(weight);
  const Dense& product = dense(weight);
  const int64_t rows = x.numel() / product.inputs();
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes.back() = product.outputs();
  Tensor out = room_for(rows, product.outputs(), at::kFloat);
  if (rows == 0) return out.view(sizes);
  Tensor in;
  if (s.whole && x.size(-1) % kRowLanes == 0) {
    in = bytes(Parameters(tensors_), nullptr, x.contiguous(), weight);
  } else if (s.whole) {
    in = with_room(x.div(s.scale.step).add(s.scale.zero + 0.5).clamp(0, s.scale.top).to(at::kByte));
  } else {
    in = padded_rows(rows) == rows ? x.contiguous() : with_room(x);
  }
  product.run(in.data_ptr(), rows, out.data_ptr());
  return out.view(sizes);
}

void Prepared::attend_self(const Parameters& w, const Norm& norm, const Attention& attention,
                           const Tensor& y, const std::vector<Sequences>& among,
                           const std::vector<Tensor>& masks) const {
  const int64_t rows = y.size(0), d = y.size(1), heads = attention.heads, each = d / heads;
  const Tensor in = bytes(w, &norm, y, attention.query.weight);
  const Tensor all = room_for(rows, 3 * d, at::kFloat), seen = scratch({rows, d}, at::kFloat);
  pair(attention.query.weight, attention.memory.weight).run(in.data_ptr(), rows, all.data_ptr());
  for (size_t i = 0; i < among.size(); ++i) {
    const Sequences& s = among[i];
    const auto view = [&](const Tensor& of, int64_t from) {
      const int64_t width = of.size(1);
      return of.as_strided({s.count, heads, s.length, each},
                           {s.gap * width, each, s.step * width, 1}, s.start * width + from);
    };
    attend_cpu_into(view(all, 0), view(all, d), view(all, 2 * d), masks[i], view(seen, 0));
  }
  const Tensor last = bytes(w, nullptr, seen, attention.out.weight);
  dense(attention.out.weight).run(last.data_ptr(), rows, y.data_ptr(), {true, false, nullptr});
}

void Prepared::attend_other(const Parameters& w, const Norm& norm, const Attention& attention,
                            const Tensor& y, const KeysValues& past, const Tensor& mask) const {
  const int64_t rows = y.size(0), d = y.size(1), heads = attention.heads, each = d / heads;
  const int64_t count = past.keys.size(0), length = rows / count;
  const Tensor in = bytes(w, &norm, y, attention.query.weight);
  const Tensor q = room_for(rows, d, at::kFloat), seen = scratch({rows, d}, at::kFloat);
  dense(attention.query.weight).run(in.data_ptr(), rows, q.data_ptr());
  const auto view = [&](const Tensor& of) {
    return of.view({count, length, heads, each}).transpose(1, 2);
  };
  attend_cpu_into(view(q), past.keys, past.values, mask, view(seen));
  const Tensor last = bytes(w, nullptr, seen, attention.out.weight);
  dense(attention.out.weight).run(last.data_ptr(), rows, y.data_ptr(), {true, false, nullptr});
}

void Prepared::mlp(const Mlp& mlp, const Tensor& in, float* out, bool add) const {
  const int64_t rows = in.size(0);
  const Dense &first = dense(mlp.in.weight), &second = dense(mlp.out.weight);
  const Tensor hidden = room_for(rows, first.outputs(), at::kByte);
  const Scale between = scale(mlp.out.weight);
  first.run(in.data_ptr(), rows, hidden.data_ptr(), {false, true, &between});
  second.run(hidden.data_ptr(), rows, out, {add, false, nullptr});
}

void Prepared::mlp(const Parameters& w, const Norm& norm, const Mlp& part, const Tensor& y) const {
  mlp(part, bytes(w, &norm, y, part.in.weight), y.data_ptr<float>(), true);
}

Tensor Prepared::mlp(const Parameters& w, const Mlp& part, const Tensor& x) const {
  const Tensor in = bytes(w, nullptr, x.contiguous(), part.in.weight);
  const Tensor out = room_for(in.size(0), dense(part.out.weight).outputs(), at::kFloat);
  mlp(part, in, out.data_ptr<float>(), false);
  return out.view(x.sizes());
}

Tensor Prepared::layer(const Parameters& w, const Layer& layer, const Tensor& x,
                       const Tensor& mask) const {
  const int64_t batch = x.size(0), length = x.size(1);
  const Tensor y = with_room(x);
  attend_self(w, layer.norm1, layer.attention, y, {{batch, length, 1, length}}, {mask});
  mlp(w, layer.norm2, layer.mlp, y);
  return y.view(x.sizes());
}

}  // namespace arrcoc::tiny
