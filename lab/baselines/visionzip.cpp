// VisionZip (Yang et al., 2025): dominant tokens as they are, the rest as a few contextual ones.
#include <ATen/ATen.h>

#include <algorithm>

#include "lab/baselines/reducers.h"

namespace arrcoc::reducing {

namespace {

// The paper's 54 dominant and 10 contextual of 64 tokens, in proportion.
int64_t contextual_of(int64_t budget) { return budget * 10 / 64; }

class VisionZip : public Reducer {
 public:
  // At the last layer but one. Dominant: most attention from all tokens of the picture (there is no
  // class token), whatever the question. Of the rest, evenly spaced ones are targets; each of the
  // others joins the target whose key is most similar.
  void after(const LayerSight& sight, Flow& flow, int64_t budget) const override {
    const int64_t n = flow.tokens();
    if (sight.layer != std::max(0, sight.layers - 2) || n <= budget) return;
    const int64_t contextual = contextual_of(budget), dominant = budget - contextual;
    const at::Tensor got = attention_received(sight, 0, n);
    const at::Tensor order = std::get<1>(at::sort(got, /*stable=*/true, 0, /*descending=*/true));
    const at::Tensor chosen = order.narrow(0, 0, dominant);
    if (contextual == 0) return keep(flow, chosen);
    const at::Tensor rest = std::get<0>(at::sort(order.narrow(0, dominant, n - dominant)));
    const at::Tensor target = at::zeros({rest.size(0)}, rest.options().dtype(at::kBool));
    const int64_t step = rest.size(0) / contextual;
    target.slice(0, 0, contextual * step, step).fill_(true);
    const at::Tensor targets = rest.masked_select(target);
    const at::Tensor others = rest.masked_select(target.logical_not());
    const at::Tensor keys = token_keys(sight);
    const at::Tensor alike =
        at::mm(keys.index_select(0, others), keys.index_select(0, targets).t());
    merge(flow, others, targets.index_select(0, alike.argmax(1)));
  }
};

}  // namespace

std::unique_ptr<Reducer> make_visionzip() { return std::make_unique<VisionZip>(); }

}  // namespace arrcoc::reducing
