#include "models/tiny/ranges.h"

#include <ATen/ATen.h>

#include <cmath>
#include <cstring>

#include "arrcoc/error.h"
#include "base/json.h"

namespace arrcoc::tiny {
namespace {

std::string product_name(const Layout& layout, int weight) {
  const std::string& name = layout.specs()[static_cast<size_t>(weight)].name;
  return name.substr(0, name.rfind(".weight"));
}

ordered_json network_json(const Layout& layout, const Ranges& ranges) {
  ordered_json out = ordered_json::object();
  for (const auto& [weight, range] : ranges)
    out[product_name(layout, weight)] = {range.low, range.high};
  return out;
}

Ranges network_ranges(const json* given, const Layout& layout) {
  Ranges out;
  if (!given || !given->is_object())
    throw Error(ErrorCode::bad_json, "ranges: 'realizer' and 'answerer' must be objects");
  std::map<std::string, int> known;
  for (const ProductSpec& product : layout.products())
    known[product_name(layout, product.weight)] = product.weight;
  for (const auto& [name, pair] : given->items()) {
    const auto found = known.find(name);
    if (found == known.end())
      throw Error(ErrorCode::bad_json, "ranges: the network has no product '" + name + "'");
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number() || !pair[1].is_number())
      throw Error(ErrorCode::bad_json, "ranges: '" + name + "' must be two numbers");
    const Range range{pair[0].get<float>(), pair[1].get<float>()};
    if (!std::isfinite(range.low) || !std::isfinite(range.high) || range.low > range.high)
      throw Error(ErrorCode::bad_json, "ranges: '" + name + "' is no range");
    out[found->second] = range;
  }
  return out;
}

// FNV-1a over words in four lanes: as fast as memory.
void mix(uint64_t (&lanes)[4], const Tensor& tensor) {
  const Tensor whole = tensor.contiguous();
  const float* values = whole.data_ptr<float>();
  for (int64_t i = 0; i < whole.numel(); ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, values + i, sizeof bits);
    lanes[i % 4] = (lanes[i % 4] ^ bits) * 1099511628211ULL;
  }
}

}  // namespace

uint64_t digest_of(const NetworkWeights& weights) {
  uint64_t lanes[4] = {1469598103934665603ULL, 2, 3, 4};
  for (const Tensors* all : {&weights.realizer, &weights.answerer})
    for (const Tensor& tensor : *all) mix(lanes, tensor);
  return lanes[0] ^ lanes[1] * 3 ^ lanes[2] * 5 ^ lanes[3] * 7;
}

std::string to_json(const NetworkRanges& ranges, const Shape& shape, int64_t questions) {
  ordered_json out;
  out["weights"] = ranges.weights;
  out["realizer"] = network_json(RealizerNet(shape).layout(), ranges.realizer);
  out["answerer"] = network_json(Answerer(shape).layout(), ranges.answerer);
  out["measured"] = {{"questions", questions}};
  return out.dump(1) + "\n";
}

NetworkRanges ranges_from_json(const std::string& text, const Shape& shape, uint64_t weights) {
  NetworkRanges out;
  JsonFields fields = JsonFields::parse("ranges", text);
  fields.field("weights", out.weights);
  if (out.weights != weights) return out;
  const json* realizer = fields.take("realizer");
  out.realizer = network_ranges(realizer, RealizerNet(shape).layout());
  const json* answerer = fields.take("answerer");
  out.answerer = network_ranges(answerer, Answerer(shape).layout());
  fields.ignore("measured").done();
  return out;
}

}  // namespace arrcoc::tiny
