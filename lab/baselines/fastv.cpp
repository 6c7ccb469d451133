// FastV (Chen et al., 2024): after the second layer most tokens get little attention; they go.
//
// The paper prunes inside the language model. Here picture and question meet in the encoder, so its
// second layer takes that part, and the question's characters are the ones that look.
#include <ATen/ATen.h>

#include <algorithm>

#include "lab/baselines/reducers.h"

namespace arrcoc::reducing {

namespace {

constexpr int kLayer = 2;  // layers that see every token

class FastV : public Reducer {
 public:
  void after(const LayerSight& sight, Flow& flow, int64_t budget) const override {
    if (sight.layer != std::min(kLayer, sight.layers) - 1 || flow.tokens() <= budget) return;
    const int64_t n = sight.tokens, asked = sight.queries.size(1) - n;
    keep(flow, std::get<1>(attention_received(sight, n, asked).topk(budget)));
  }
};

}  // namespace

std::unique_ptr<Reducer> make_fastv() { return std::make_unique<FastV>(); }

}  // namespace arrcoc::reducing
