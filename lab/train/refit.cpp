#include "lab/train/refit.h"

#include <ATen/ATen.h>

#include <map>

#include "arrcoc/error.h"
#include "models/tiny/history.h"

namespace arrcoc::training {
namespace {

using at::Tensor;
using tiny::Layout;
using tiny::Tensors;

constexpr const char* kIn = ".mlp.in.weight";

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

Tensors refit(const Layout& old_layout, const Tensors& old, const Layout& layout, uint64_t seed) {
  std::map<std::string, Tensor> named;
  for (size_t i = 0; i < old.size(); ++i) named[old_layout.specs()[i].name] = old[i];
  // Narrower MLPs: a unit is worth the product of what it takes in and what it gives out.
  for (const tiny::TensorSpec& spec : layout.specs()) {
    const auto found = named.find(spec.name);
    if (!ends_with(spec.name, kIn) || found == named.end()) continue;
    const int64_t units = spec.shape[0];
    if (found->second.size(0) <= units) continue;
    const std::string name = spec.name.substr(0, spec.name.size() - std::string(kIn).size());
    Tensor& bias = named.at(name + ".mlp.in.bias");
    Tensor& out = named.at(name + ".mlp.out.weight");
    const Tensor worth = found->second.norm(2, {1}) * out.norm(2, {0});
    const Tensor kept = std::get<0>(std::get<1>(worth.topk(units)).sort());
    found->second = found->second.index_select(0, kept);
    bias = bias.index_select(0, kept);
    out = out.index_select(1, kept);
  }
  Tensors all = layout.initial(seed);
  for (size_t i = 0; i < all.size(); ++i) {
    const tiny::TensorSpec& spec = layout.specs()[i];
    const auto found = named.find(spec.name);
    if (found == named.end()) continue;
    if (found->second.sizes() != at::IntArrayRef(spec.shape))
      throw Error(ErrorCode::bad_argument, "refit: tensor '" + spec.name +
                                               "' has another size in the weights to start from");
    all[i] = found->second.clone();
    named.erase(found);
  }
  if (!named.empty())
    throw Error(ErrorCode::bad_argument,
                "refit: tensor '" + named.begin()->first + "' would be lost");
  return all;
}

}  // namespace

tiny::NetworkWeights refit(const tiny::NetworkWeights& from, const tiny::Shape& shape,
                           uint64_t seed) {
  // No tensor shows it, but heads would get other channels than they were trained with.
  if (from.shape.heads != shape.heads)
    throw Error(ErrorCode::bad_argument, "refit: heads cannot change (" +
                                             std::to_string(from.shape.heads) + " to " +
                                             std::to_string(shape.heads) + ")");
  tiny::NetworkWeights to;
  to.shape = shape;
  to.realizer = refit(tiny::RealizerNet(from.shape).layout(), from.realizer,
                      tiny::RealizerNet(shape).layout(), seed * 2);
  to.answerer = refit(tiny::Answerer(from.shape).layout(), from.answerer,
                      tiny::Answerer(shape).layout(), seed * 2 + 1);
  if (!from.history.empty())
    to.history = refit(tiny::HistoryNet(from.shape).layout(), from.history,
                       tiny::HistoryNet(shape).layout(), seed * 2 + 3);
  return to;
}

}  // namespace arrcoc::training
