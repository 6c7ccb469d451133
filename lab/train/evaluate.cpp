#include "lab/train/evaluate.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

namespace arrcoc::training {
namespace {

using at::Tensor;

int right(const tiny::Answerer::Written& written, size_t i, const Ask& ask) {
  return written.symbols[i] == ask.answer ? 1 : 0;
}

double cosine_distance(const float* a, const float* b, int64_t n) {
  double ab = 0, aa = 0, bb = 0;
  for (int64_t i = 0; i < n; ++i) {
    ab += static_cast<double>(a[i]) * b[i];
    aa += static_cast<double>(a[i]) * a[i];
    bb += static_cast<double>(b[i]) * b[i];
  }
  return aa > 0 && bb > 0 ? 1 - ab / std::sqrt(aa * bb) : 0;
}

}  // namespace

at::Tensor visible_relevance(const at::Tensor& logits, const at::Tensor& inside) {
  constexpr double kNever = -30;  // cells beyond the picture were never taught anything
  return tiny::relevance_of(
      logits.detach().to(at::kFloat).masked_fill(inside.logical_not(), kNever));
}

std::vector<std::string> collapses(const Evaluation& e) {
  constexpr int kFew = 20;
  constexpr double kNearlyAll = 0.98, kNearlySame = 0.02;
  std::vector<std::string> out;
  if (e.all.questions < kFew) return out;
  for (size_t t = 0; t < e.tier_share.size(); ++t)
    if (e.tier_share[t] > kNearlyAll)
      out.push_back("nearly every question is given " + std::to_string(tiny::kTierTokens[t]) +
                    " tokens");
  if (e.distinct < kNearlySame) out.push_back("maps hardly depend on the question");
  const double simple = e.tokens_by_complexity[0], complex = e.tokens_by_complexity[2];
  if (simple > 0 && complex > 0 && simple >= complex)
    out.push_back("simple questions are given as many tokens as complex ones");
  return out;
}

Evaluation evaluate(const tiny::RealizerNet& realizer, const tiny::Tensors& look,
                    const tiny::Answerer& answerer, const tiny::Tensors& write, const Pool& pool,
                    at::ScalarType type, int budget) {
  at::NoGradGuard no_grad;
  Evaluation out;
  std::map<std::string, int> boxes;
  int all_boxes = 0, pairs = 0;
  double glyphs = 0, tier_tokens = 0;
  std::array<int, 3> of_complexity{};
  int chunks = 0;
  constexpr int kTogether = 16;
  const int g = pool.grid();
  for (int first = 0; first < pool.slots(); first += kTogether) {
    std::vector<int> slots;
    for (int s = first; s < std::min(pool.slots(), first + kTogether); ++s)
      if (pool.filled(s)) slots.push_back(s);
    const Batch batch = all_of(pool, slots, 8);
    if (batch.size() == 0) continue;
    Dice dice(1, static_cast<uint64_t>(first));
    const PageLabels labels = page_labels(pool, batch, dice);
    const tiny::PageFeatures features = realizer.read(look, pool.page(slots), type);
    const tiny::Judgement judged = realizer.judge(look, features, batch.question, batch.pages);
    const LookLosses losses = look_losses(realizer, look, features, judged, batch, labels);
    glyphs += losses.glyph_accuracy.item<double>();
    ++chunks;
    Tensor maps = visible_relevance(judged.relevance, labels.inside.index_select(0, batch.pages))
                      .to(at::kCPU)
                      .contiguous();
    const float* map = maps.data_ptr<float>();
    Tensor tiers = at::softmax(judged.tier.to(at::kFloat), 1).argmax(1).to(at::kCPU);

    const size_t q = batch.size();
    std::vector<std::vector<Cell>> realized(q), oracle(q);
    at::parallel_for(0, static_cast<int64_t>(q), 8, [&](int64_t begin, int64_t end) {
      std::vector<float> own(static_cast<size_t>(g) * g);
      for (int64_t i = begin; i < end; ++i) {
        const size_t n = static_cast<size_t>(i);
        const Geometry& geometry = pool.sample(batch.slot_of[n]).geometry;
        realized[n] = quadtree(map + i * g * g, g, geometry, budget);
        oracle_map(*batch.asks[n], geometry, g, own.data());
        oracle[n] = quadtree(own.data(), g, geometry, budget);
      }
    });
    std::vector<int> octaves(q, 0);
    const auto ask = [&](const std::vector<std::vector<Cell>>& cells) {
      tiny::Look seen = pool.look(batch.slot_of, cells, octaves, nullptr);
      seen.question = batch.question;
      return answerer.write_greedy(write, answerer.encode(write, seen, type), tiny::kMaxAnswer);
    };
    const auto by_realizer = ask(realized), by_oracle = ask(oracle);
    for (size_t i = 0; i < q; ++i) {
      const std::string& kind = pool.sample(batch.slot_of[i]).kind;
      const float found = recall(realized[i], *batch.asks[i]);
      for (Score* score : {&out.all, &out.kinds[kind]}) {
        ++score->questions;
        score->exact_realized += right(by_realizer, i, *batch.asks[i]);
        score->exact_oracle += right(by_oracle, i, *batch.asks[i]);
        if (found >= 0) score->recall += found;
      }
      if (found >= 0) ++boxes[kind], ++all_boxes;
      const auto tier = static_cast<size_t>(tiers[static_cast<int64_t>(i)].item<int64_t>());
      const auto complexity = static_cast<size_t>(std::clamp(batch.asks[i]->complexity, 0, 2));
      tier_tokens += tiny::kTierTokens[tier];
      out.tier_share[tier] += 1;
      out.tokens_by_complexity[complexity] += tiny::kTierTokens[tier];
      ++of_complexity[complexity];
      if (i > 0 && batch.page_of[i] == batch.page_of[i - 1]) {
        out.distinct += cosine_distance(map + static_cast<int64_t>(i) * g * g,
                                        map + static_cast<int64_t>(i - 1) * g * g, g * g);
        ++pairs;
      }
    }
  }
  const auto normalise = [](Score& score, int with_box) {
    score.exact_realized /= std::max(1, score.questions);
    score.exact_oracle /= std::max(1, score.questions);
    score.recall /= std::max(1, with_box);
  };
  normalise(out.all, all_boxes);
  for (auto& [kind, score] : out.kinds) normalise(score, boxes[kind]);
  int measured = 0;
  for (const char* kind : {"documents", "charts", "scenes", "objects"}) {
    const auto found = out.kinds.find(kind);
    if (found == out.kinds.end()) continue;
    out.suites_realized += found->second.exact_realized;
    out.suites_oracle += found->second.exact_oracle;
    ++measured;
  }
  out.suites_realized /= std::max(1, measured);
  out.suites_oracle /= std::max(1, measured);
  out.all.page_glyphs = glyphs / std::max(1, chunks);
  out.mean_tier_tokens = tier_tokens / std::max(1, out.all.questions);
  out.distinct /= std::max(1, pairs);
  for (double& share : out.tier_share) share /= std::max(1, out.all.questions);
  for (size_t c = 0; c < of_complexity.size(); ++c)
    out.tokens_by_complexity[c] /= std::max(1, of_complexity[c]);
  return out;
}

}  // namespace arrcoc::training
