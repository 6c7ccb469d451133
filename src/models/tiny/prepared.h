// A network's products made ready for 8 bits, and the parts of a network that run on them.
//
// Between products the states stay floats; what a product reads is made into bytes in the same pass
// that normalises it, what the MLP's first layer writes leaves as bytes, and the second layer and
// the attention's last add to the states where they are. Layers that are small, or that decide
// last, stay products of floats. The others' weights are kept as int8 only.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "models/tiny/kernels.h"
#include "models/tiny/layers.h"

namespace arrcoc::tiny {

// By the number of a product's weight tensor.
using Ranges = std::map<int, Range>;

// Inputs of all products of a network, as they pass.
class RangesSeen {
 public:
  void add(int weight, const Tensor& x);
  bool empty() const { return seen_.empty(); }
  // The ranges whose bytes come nearest to what was seen: a few values far out are cut off where
  // that makes the steps of all others finer.
  Ranges ranges() const;

 private:
  struct Seen {
    float low = 0, high = 0;
    float reach = 0;     // of the histogram, on both sides of zero; a power of two
    Tensor counts = {};  // [kBins] double
  };
  static Range best(const Seen& seen);
  std::map<int, Seen> seen_;
};

// Rows of [rows,width] that look at each other: `count` sequences of `length` rows, `step` rows
// from one to the next, the sequences' first rows `gap` rows apart, the first of all at `start`.
struct Sequences {
  int64_t count, length, step, gap, start = 0;
};

// Immutable for whoever calls; products are packed when they are first needed.
class Prepared {
 public:
  // The tensors must outlive it. Products without a range are products of floats; the weights of
  // all others are taken out of `tensors`, where nothing stands in their place.
  Prepared(const Layout& layout, Tensors& tensors, const Ranges& ranges);
  ~Prepared();

  bool has(int weight) const { return slots_.count(weight) > 0; }
  Scale scale(int weight) const;  // of a product's input
  const Dense& dense(int weight) const;
  // Queries with the keys and values of the same attention, of the same input.
  const Dense& pair(int queries) const;
  const Convolution& convolution(int weight) const;
  // The same with other weights and scale than the network's, for a caller that folds its input;
  // read only until it is made.
  bool made(int weight) const;
  const Convolution& convolution(int weight, const Weights& own, const Scale& input) const;

  Tensor linear(int weight, const Tensor& x) const;  // floats [..,inputs] -> [..,outputs]
  // What a product reads, with room, from rows [rows,width]: bytes or floats, normalised first
  // where norm is given.
  Tensor input(const Parameters& w, const Norm* norm, const Tensor& x, int weight) const;
  // Bytes for a product in 8 bits. floats (optional) gets what was normalised.
  Tensor bytes(const Parameters& w, const Norm* norm, const Tensor& x, int weight,
               bool gelu = false, float* floats = nullptr) const;

  Tensor layer(const Parameters& w, const Layer& layer, const Tensor& x, const Tensor& mask) const;
  // y [rows,width] with room: y += attention(norm(y)) within each sequence; mask
  // [count,1,1,length].
  void attend_self(const Parameters& w, const Norm& norm, const Attention& attention,
                   const Tensor& y, const std::vector<Sequences>& among,
                   const std::vector<Tensor>& masks) const;
  // The same where all rows of sequence i look at memory i.
  void attend_other(const Parameters& w, const Norm& norm, const Attention& attention,
                    const Tensor& y, const KeysValues& past, const Tensor& mask) const;
  // y += mlp(norm(y)); and mlp(x) alone.
  void mlp(const Parameters& w, const Norm& norm, const Mlp& mlp, const Tensor& y) const;
  Tensor mlp(const Parameters& w, const Mlp& mlp, const Tensor& x) const;

 private:
  struct Slot;
  Slot& slot(int weight) const;
  void lay_side_by_side(int first, int second);
  void mlp(const Mlp& mlp, const Tensor& in, float* out, bool add) const;
  const Layout& layout_;
  const Tensors& tensors_;
  std::map<int, std::unique_ptr<Slot>> slots_;
};

// [rows,width] with room from any shape [..,width].
Tensor with_room(const Tensor& x);

}  // namespace arrcoc::tiny
