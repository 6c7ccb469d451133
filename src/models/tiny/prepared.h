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
#include "models/tiny/row_kernels.h"

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
// from one to the next. The `inner` sequences of a page begin `gap` rows apart, pages `page` rows
// apart.
struct Sequences {
  int64_t count, length, step, gap, inner, page;
  int64_t row(int64_t sequence, int64_t i) const {
    return sequence / inner * page + sequence % inner * gap + i * step;
  }
};

// What rows go through together, in this order; null: not that.
struct Sublayers {
  struct Other {  // all rows of page i look at memory i
    const Norm* norm = nullptr;
    const Attention* attention = nullptr;
    const KeysValues* past = nullptr;
    Tensor mask;  // [pages,1,1,S]
  } other;
  struct Self {  // rows look at those of their sequence
    const Norm* norm = nullptr;
    const Attention* attention = nullptr;
    Tensor mask;  // [count,1,1,length] or undefined
  } self;
  struct Inner {
    const Norm* norm = nullptr;
    const Mlp* mlp = nullptr;
  } inner;
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
  bool whole(int weight) const;   // in 8 bits
  const Dense& dense(int weight) const;
  // The same with other weights and scale than the network's, for a caller that folds its input;
  // read only until it is made.
  bool made(int weight) const;
  const Dense& dense(int weight, const Weights& own, const Scale& input) const;
  // Queries with the keys and values of the same attention, of the same input.
  const Dense& pair(int queries) const;
  const Convolution& convolution(int weight) const;

  Tensor linear(int weight, const Tensor& x) const;  // floats [..,inputs] -> [..,outputs]
  // What a product reads, with room, from rows [rows,width]: bytes or floats, normalised first
  // where norm is given.
  Tensor input(const Parameters& w, const Norm* norm, const Tensor& x, int weight) const;
  // Bytes for a product in 8 bits; what else is wanted of the rows.
  Tensor bytes(const Parameters& w, const Norm* norm, const Tensor& x, int weight,
               RowWork work = {}) const;

  // x [B,L,width] through transformer layers, mask [B,1,1,L].
  Tensor layers(const Parameters& w, const std::vector<const Layer*>& layers, const Tensor& x,
                const Tensor& mask) const;
  // y [rows,width], contiguous, each sublayer added to it. Threads take strips of sequences through
  // all sublayers, so that what lies between them stays in a core's cache (strips.cpp).
  void through(const Parameters& w, const Tensor& y, const Sequences& among,
               const Sublayers& sublayers) const;
  Tensor mlp(const Parameters& w, const Mlp& mlp, const Tensor& x) const;

 private:
  struct Slot;
  Slot& slot(int weight) const;
  void lay_side_by_side(int first, int second);
  const Layout& layout_;
  const Tensors& tensors_;
  std::map<int, std::unique_ptr<Slot>> slots_;
};

// [rows,width] with room from any shape [..,width].
Tensor with_room(const Tensor& x);

}  // namespace arrcoc::tiny
