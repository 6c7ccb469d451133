// CDPruner (Zhang et al., 2025): a determinantal process over tokens, conditioned on the question.
#include <ATen/ATen.h>

#include <algorithm>

#include "lab/baselines/reducers.h"

namespace arrcoc::reducing {

namespace {

constexpr double kLeast = 1e-10;  // of a squared Cholesky diagonal

}  // namespace

// Every step takes the row that adds most volume, by incremental Cholesky factors. O(k^2 n).
at::Tensor greedy_volume(const at::Tensor& features, const at::Tensor& quality, int64_t count) {
  const int64_t n = features.size(0);
  const at::Tensor rows = features * quality.unsqueeze(1);
  at::Tensor gain = rows.square().sum(1);
  at::Tensor factors = at::zeros({n, count}, features.options());
  at::Tensor chosen = at::empty({count}, features.options().dtype(at::kLong));
  for (int64_t k = 0; k < count; ++k) {
    const int64_t best = gain.argmax().item<int64_t>();
    chosen[k] = best;
    at::Tensor column = at::mm(rows, rows[best].unsqueeze(1));
    if (k > 0)
      column = column - at::mm(factors.narrow(1, 0, k), factors[best].narrow(0, 0, k).unsqueeze(1));
    column = (column / gain[best].clamp_min(kLeast).sqrt()).squeeze(1);
    factors.select(1, k).copy_(column);
    // Where rounding eats what is left, the most relevant of the rest come next, in order.
    gain = (gain - column.square()).clamp_min(0) + kLeast * quality;
    gain.index_fill_(0, chosen.narrow(0, 0, k + 1), -1);
  }
  return chosen;
}

namespace {

class CdPruner : public Reducer {
 public:
  // After the last layer. Likeness is the cosine of the encoder's states. The paper's relevance is
  // the cosine with a text embedding; these weights have no common space for it, so it is the
  // attention that the question's characters pay, stretched to 0..1 likewise.
  void after(const LayerSight& sight, Flow& flow, int64_t budget) const override {
    if (sight.layer != sight.layers - 1 || flow.tokens() <= budget) return;
    const int64_t n = sight.tokens;
    const at::Tensor asked = attention_received(sight, n, sight.queries.size(1) - n);
    const at::Tensor low = asked.min(), span = (asked.max() - low).clamp_min(1e-12);
    const at::Tensor states = flow.states.narrow(0, 0, n);
    const at::Tensor features = states / states.norm(2, 1, true).clamp_min(1e-6);
    keep(flow, greedy_volume(features, (asked - low) / span, budget));
  }
};

}  // namespace

std::unique_ptr<Reducer> make_cdpruner() { return std::make_unique<CdPruner>(); }

}  // namespace arrcoc::reducing
