// Token merging (Bolya et al., 2023): bipartite soft matching in every layer.
#include <ATen/ATen.h>

#include <algorithm>

#include "lab/baselines/reducers.h"

namespace arrcoc::reducing {

namespace {

// Tokens that a layer merges away. The paper's rule is the same number in every layer; as one layer
// can at most halve the tokens, early layers take more where the last ones could not reach the
// budget otherwise.
int64_t merged_here(int64_t tokens, int64_t budget, int64_t layers_left) {
  if (tokens <= budget) return 0;
  const int64_t even = (tokens - budget + layers_left - 1) / layers_left;
  const int shift = static_cast<int>(std::min<int64_t>(layers_left - 1, 30));
  const int64_t needed = tokens - (budget << shift);
  return std::min(std::max(even, needed), tokens / 2);
}

class Tome : public Reducer {
 public:
  bool proportional() const override { return true; }
  // Tokens alternate between two sets. Each of the first finds the most similar of the second, by
  // the cosine of their keys; the r most similar pairs become their mean, weighted by how many
  // patches each stands for.
  void inside(const LayerSight& sight, Flow& flow, int64_t budget) const override {
    at::Tensor keys = token_keys(sight);
    const int64_t layers_left = sight.layers - sight.layer;
    match(keys, flow, merged_here(flow.tokens(), budget, layers_left));
    // Too many to be halved down to the budget in so few layers: the last one matches again.
    while (layers_left == 1 && flow.tokens() > budget)
      match(keys, flow, merged_here(flow.tokens(), budget, 1));
  }

 private:
  // keys [N,d] follow the tokens: a merged one keeps the key that it was found by.
  static void match(at::Tensor& keys, Flow& flow, int64_t r) {
    if (r <= 0) return;
    const int64_t n = flow.tokens();
    const at::Tensor all = at::arange(n, flow.first.options());
    // n / 2 of the first set, and the second is never smaller: it takes the even places.
    const at::Tensor first = all.slice(0, 1, n, 2), second = all.slice(0, 0, n, 2);
    const at::Tensor alike = at::mm(keys.index_select(0, first), keys.index_select(0, second).t());
    const auto [best, partner] = alike.max(1);
    const at::Tensor order = std::get<1>(at::sort(best, /*stable=*/true, 0, /*descending=*/true));
    const at::Tensor chosen = order.narrow(0, 0, r);
    const at::Tensor before = flow.first;
    merge(flow, first.index_select(0, chosen),
          second.index_select(0, partner.index_select(0, chosen)));
    keys = keys.index_select(0, at::searchsorted(before, flow.first));
  }
};

}  // namespace

std::unique_ptr<Reducer> make_tome() { return std::make_unique<Tome>(); }

}  // namespace arrcoc::reducing
