#include "lab/train/evaluate.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

namespace arrcoc::training {
namespace {

using at::Tensor;

double cosine_distance(const float* a, const float* b, int64_t n) {
  double ab = 0, aa = 0, bb = 0;
  for (int64_t i = 0; i < n; ++i) {
    ab += static_cast<double>(a[i]) * b[i];
    aa += static_cast<double>(a[i]) * a[i];
    bb += static_cast<double>(b[i]) * b[i];
  }
  return aa > 0 && bb > 0 ? 1 - ab / std::sqrt(aa * bb) : 0;
}

// Allocations by the realizer's maps [Q,g,g] and by the boxes.
void allocate(const Batch& batch, const Tensor& maps, int budget,
              std::vector<std::vector<Cell>>& realized, std::vector<std::vector<Cell>>& oracle) {
  realized.resize(batch.size());
  oracle.resize(batch.size());
  const int g = batch.grid;
  const float* map = maps.data_ptr<float>();
  at::parallel_for(0, static_cast<int64_t>(batch.size()), 8, [&](int64_t begin, int64_t end) {
    std::vector<float> own(static_cast<size_t>(g) * g);
    for (int64_t i = begin; i < end; ++i) {
      const size_t n = static_cast<size_t>(i);
      const Geometry& geometry = batch.pool->sample(batch.slot_of[n]).geometry;
      realized[n] = quadtree(map + i * g * g, g, geometry, budget);
      oracle_map(*batch.asks[n], geometry, g, own.data());
      oracle[n] = quadtree(own.data(), g, geometry, budget);
    }
  });
}

// Sums over questions, made means at the end.
class Sums {
 public:
  void add_glyphs(double accuracy) {
    out_.all.page_glyphs += accuracy;
    ++chunks_;
  }
  void add_question(const std::string& kind, const Ask& ask, int64_t tier, bool realized,
                    bool oracle, float recall) {
    for (Score* score : {&out_.all, &out_.kinds[kind]}) {
      ++score->questions;
      score->exact_realized += realized;
      score->exact_oracle += oracle;
      if (recall >= 0) score->recall += recall;
    }
    if (recall >= 0) ++boxes_[kind], ++all_boxes_;
    const auto complexity = static_cast<size_t>(std::clamp(ask.complexity, 0, 2));
    const int tokens = tiny::kTierTokens[static_cast<size_t>(tier)];
    out_.mean_tier_tokens += tokens;
    out_.tier_share[static_cast<size_t>(tier)] += 1;
    out_.tokens_by_complexity[complexity] += tokens;
    ++of_complexity_[complexity];
  }
  // Maps of two questions about one picture.
  void add_pair(const Tensor& a, const Tensor& b) {
    out_.distinct += cosine_distance(a.data_ptr<float>(), b.data_ptr<float>(), a.numel());
    ++pairs_;
  }
  Evaluation means() {
    Evaluation out = out_;
    const auto normalise = [](Score& score, int with_box) {
      score.exact_realized /= std::max(1, score.questions);
      score.exact_oracle /= std::max(1, score.questions);
      score.recall /= std::max(1, with_box);
    };
    normalise(out.all, all_boxes_);
    for (auto& [kind, score] : out.kinds) normalise(score, boxes_[kind]);
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
    out.all.page_glyphs /= std::max(1, chunks_);
    out.mean_tier_tokens /= std::max(1, out.all.questions);
    out.distinct /= std::max(1, pairs_);
    for (double& share : out.tier_share) share /= std::max(1, out.all.questions);
    for (size_t c = 0; c < of_complexity_.size(); ++c)
      out.tokens_by_complexity[c] /= std::max(1, of_complexity_[c]);
    return out;
  }

 private:
  Evaluation out_;
  std::map<std::string, int> boxes_;
  int all_boxes_ = 0, pairs_ = 0, chunks_ = 0;
  std::array<int, 3> of_complexity_{};
};

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
  Sums sums;
  constexpr int kTogether = 16;
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
    sums.add_glyphs(losses.glyph_accuracy.item<double>());
    const Tensor maps =
        visible_relevance(judged.relevance, labels.inside.index_select(0, batch.pages))
            .to(at::kCPU)
            .contiguous();
    const Tensor tiers = at::softmax(judged.tier.to(at::kFloat), 1).argmax(1).to(at::kCPU);
    std::vector<std::vector<Cell>> realized, oracle;
    allocate(batch, maps, budget, realized, oracle);
    const auto ask = [&](const std::vector<std::vector<Cell>>& cells) {
      const std::vector<int> octaves(batch.size(), 0);
      tiny::AnswererInput seen = pool.look(batch.slot_of, cells, octaves, nullptr);
      seen.question = batch.question;
      return answerer.write_greedy(write, answerer.encode(write, seen, type), tiny::kMaxAnswer);
    };
    const auto by_realizer = ask(realized), by_oracle = ask(oracle);
    for (size_t i = 0; i < batch.size(); ++i) {
      const std::vector<uint8_t>& wanted = batch.asks[i]->answer;
      sums.add_question(pool.sample(batch.slot_of[i]).kind, *batch.asks[i],
                        tiers[static_cast<int64_t>(i)].item<int64_t>(),
                        by_realizer.symbols[i] == wanted, by_oracle.symbols[i] == wanted,
                        recall(realized[i], *batch.asks[i]));
      if (i > 0 && batch.page_of[i] == batch.page_of[i - 1])
        sums.add_pair(maps[static_cast<int64_t>(i)], maps[static_cast<int64_t>(i - 1)]);
    }
  }
  return sums.means();
}

}  // namespace arrcoc::training
