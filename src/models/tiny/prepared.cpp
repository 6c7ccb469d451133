#include "models/tiny/prepared.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

#include "models/tiny/kernels.h"

namespace arrcoc::tiny {

namespace {
constexpr int64_t kBins = 8192;
}

void RangesSeen::add(int weight, const Tensor& x) {
  const Tensor flat = x.detach().to(at::kFloat).flatten();
  const float low = flat.min().item<float>(), high = flat.max().item<float>();
  Seen& seen = seen_[weight];
  seen.low = std::min(seen.low, low);
  seen.high = std::max(seen.high, high);
  if (!seen.counts.defined()) {
    seen.counts = at::zeros({kBins}, at::kDouble);
    seen.reach = 0x1p-10F;
  }
  while (seen.reach < std::max(-low, high)) {  // twice as wide: two bins become one
    const Tensor half = seen.counts.view({kBins / 2, 2}).sum(1);
    seen.counts = at::constant_pad_nd(half, {kBins / 4, kBins / 4});
    seen.reach *= 2;
  }
  seen.counts += at::histc(flat, kBins, -seen.reach, seen.reach).to(at::kDouble);
}

Range RangesSeen::best(const Seen& seen) {
  // Sums of 1, x and x^2 over the bins before each.
  std::array<std::vector<double>, 3> sums;
  for (auto& sum : sums) sum.assign(kBins + 1, 0);
  const double width = 2.0 * seen.reach / kBins;
  for (int64_t i = 0; i < kBins; ++i) {
    const double count = seen.counts.data_ptr<double>()[i];
    double value = count;
    for (auto& sum : sums) {
      sum[static_cast<size_t>(i) + 1] = sum[static_cast<size_t>(i)] + value;
      value *= -seen.reach + (static_cast<double>(i) + 0.5) * width;
    }
  }
  const auto place = [&](double at) {
    return static_cast<size_t>(std::clamp<double>(std::round((at + seen.reach) / width), 0, kBins));
  };
  // Squared distances of what lies beyond an edge.
  const auto beyond = [&](size_t from, size_t to, double edge) {
    const auto sum = [&](size_t k) { return sums[k][to] - sums[k][from]; };
    return std::max(0.0, sum(2) - 2 * edge * sum(1) + edge * edge * sum(0));
  };
  constexpr int kSteps = 64;
  constexpr double kCutOff = 4;  // values that are cut off are large ones: they count more
  Range out{seen.low, seen.high};
  double least = -1;
  for (int i = kSteps; i >= 1; --i)
    for (int k = kSteps; k >= 1; --k) {
      const double low = static_cast<double>(seen.low) * i / kSteps,
                   high = static_cast<double>(seen.high) * k / kSteps, step = (high - low) / 255;
      const size_t first = place(low), last = place(high);
      const double error = kCutOff * (beyond(0, first, low) + beyond(last, kBins, high)) +
                           (sums[0][last] - sums[0][first]) * step * step / 12;
      if (least >= 0 && error >= least) continue;
      least = error;
      out = {static_cast<float>(low), static_cast<float>(high)};
    }
  return out;
}

Ranges RangesSeen::ranges() const {
  Ranges out;
  for (const auto& [weight, seen] : seen_) out[weight] = best(seen);
  return out;
}

struct Prepared::Slot {
  ProductSpec spec;
  bool whole = false;
  Scale scale;
  Weights weights, both;  // both: with those of the product that follows
  std::once_flag once, once_pair;
  std::unique_ptr<const Dense> dense, pair;
  std::unique_ptr<const Convolution> convolution;
  std::atomic<bool> made = false;
};

namespace {

// Small products, those that have the network's last word, those that read values of very different
// sizes, and those whose caller computes with the weights itself.
bool stays_float(const TensorSpec& weight) {
  for (const char* name :
       {"text", "place", "relevance", "tier", "tensions", "patch", "patch2", "adapter.level",
        "adapter.quality", "adapter.gate", "out", "stem1", "ngram"})
    if (weight.name == std::string(name) + ".weight") return true;
  return false;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

Prepared::Prepared(const Layout& layout, Tensors& tensors, const Ranges& ranges)
    : layout_(layout), tensors_(tensors) {
  int before = -1;
  for (const ProductSpec& product : layout.products()) {
    auto slot = std::make_unique<Slot>();
    slot->spec = product;
    const auto range = ranges.find(product.weight);
    const TensorSpec& spec = layout_.specs()[static_cast<size_t>(product.weight)];
    slot->whole = range != ranges.end() && !stays_float(spec);
    if (range != ranges.end()) slot->scale = scale_of(range->second);
    Tensor& values = tensors[static_cast<size_t>(product.weight)];
    slot->weights = {values, tensors[static_cast<size_t>(product.bias)], {}};
    if (slot->whole) {
      slot->weights = in_int8(slot->weights);
      values = Tensor();
    }
    slots_.emplace(product.weight, std::move(slot));
    if (ends_with(spec.name, ".memory.weight")) lay_side_by_side(before, product.weight);
    before = product.weight;
  }
}
Prepared::~Prepared() = default;

// Queries, keys and values of what looks at itself are one product.
void Prepared::lay_side_by_side(int first, int second) {
  Slot &a = slot(first), &b = slot(second);
  if (a.whole != b.whole || a.weights.values.size(1) != b.weights.values.size(1)) return;
  a.both = {at::cat({a.weights.values, b.weights.values}),
            at::cat({a.weights.bias, b.weights.bias}),
            a.whole ? at::cat({a.weights.scales, b.weights.scales}) : Tensor()};
  const int64_t queries = a.weights.values.size(0), others = b.weights.values.size(0);
  a.weights.values = a.both.values.narrow(0, 0, queries);
  b.weights.values = a.both.values.narrow(0, queries, others);
}

Prepared::Slot& Prepared::slot(int weight) const { return *slots_.at(weight); }
Scale Prepared::scale(int weight) const { return slot(weight).scale; }
bool Prepared::whole(int weight) const { return slot(weight).whole; }
bool Prepared::made(int weight) const { return slot(weight).made; }

const Dense& Prepared::dense(int weight) const {
  Slot& s = slot(weight);
  std::call_once(s.once, [&] {
    s.dense = std::make_unique<const Dense>(s.weights, s.whole ? &s.scale : nullptr);
  });
  return *s.dense;
}

const Dense& Prepared::pair(int first) const {
  Slot& s = slot(first);
  std::call_once(s.once_pair, [&] {
    s.pair = std::make_unique<const Dense>(s.both, s.whole ? &s.scale : nullptr);
  });
  return *s.pair;
}

const Dense& Prepared::dense(int weight, const Weights& own, const Scale& input) const {
  Slot& s = slot(weight);
  std::call_once(s.once, [&] {
    s.dense = std::make_unique<const Dense>(own, &input);
    s.made = true;
  });
  return *s.dense;
}

const Convolution& Prepared::convolution(int weight) const {
  Slot& s = slot(weight);
  std::call_once(s.once, [&] {
    s.convolution =
        std::make_unique<const Convolution>(s.weights, s.spec.stride, s.spec.padding, s.scale);
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
                       RowWork work) const {
  const int64_t width = x.size(-1), rows = x.numel() / width;
  Tensor out = room_for(rows, width, at::kByte);
  if (norm) {
    work.weight = w[norm->weight].data_ptr<float>();
    work.bias = w[norm->bias].data_ptr<float>();
  }
  work.bytes = out.data_ptr<uint8_t>();
  work.scale = scale(weight);
  work_rows(x.data_ptr<float>(), rows, width, work);
  return out;
}

Tensor Prepared::input(const Parameters& w, const Norm* norm, const Tensor& x, int weight) const {
  if (slot(weight).whole) return bytes(w, norm, x, weight);
  const int64_t width = x.size(-1), rows = x.numel() / width;
  if (!norm) return padded_rows(rows) == rows ? x.reshape({rows, width}) : with_room(x);
  Tensor out = room_for(rows, width, at::kFloat);
  RowWork work;
  work.weight = w[norm->weight].data_ptr<float>();
  work.bias = w[norm->bias].data_ptr<float>();
  work.floats = out.data_ptr<float>();
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
  if (s.whole && x.size(-1) % kRowLanes != 0)
    in = with_room(x.div(s.scale.step).add(s.scale.zero + 0.5).clamp(0, s.scale.top).to(at::kByte));
  else
    in = input(Parameters(tensors_), nullptr, x.contiguous(), weight);
  product.run(in.data_ptr(), rows, out.data_ptr());
  return out.view(sizes);
}

Tensor Prepared::mlp(const Parameters& w, const Mlp& part, const Tensor& x) const {
  const int64_t rows = x.numel() / x.size(-1);
  const Tensor in = input(w, nullptr, x.contiguous(), part.in.weight);
  const Tensor hidden = room_for(rows, dense(part.in.weight).outputs(), at::kFloat),
               out = room_for(rows, dense(part.out.weight).outputs(), at::kFloat);
  const bool bytes = whole(part.out.weight);
  dense(part.in.weight).run(in.data_ptr(), rows, hidden.data_ptr(), {false, !bytes, nullptr});
  const Tensor next = bytes ? room_for(rows, hidden.size(1), at::kByte) : hidden;
  if (bytes)
    light(hidden.data_ptr<float>(), hidden.numel(), scale(part.out.weight),
          next.data_ptr<uint8_t>());
  dense(part.out.weight).run(next.data_ptr(), rows, out.data_ptr());
  return out.view(x.sizes());
}

}  // namespace arrcoc::tiny
