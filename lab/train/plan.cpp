#include "lab/train/plan.h"

#include <algorithm>
#include <cmath>

namespace arrcoc::training {

namespace {
constexpr float kReadingAfterwards = 0.08F;  // share of reading steps in the full stage
}  // namespace

Plan plan_of(const Options& o, double progress, int64_t step, Dice& dice) {
  Plan plan;
  const bool in_turn = o.alternate > 0, first = in_turn && step / o.alternate % 2 == 0;
  plan.realizer_learns = !o.freeze_realizer && (!in_turn || first);
  plan.answerer_learns = !o.freeze_answerer && !(in_turn && first);
  const float p = static_cast<float>(std::clamp(progress, 0.0, 1.0));
  const float cosine = 0.5F * (1 + std::cos(static_cast<float>(M_PI) * p));
  plan.rate =
      std::min(1.0F, p / std::max(1e-6F, o.warmup)) * (o.final_rate + (1 - o.final_rate) * cosine);
  if (p > o.joint) plan.rate *= 0.5F;
  plan.rate = std::max(plan.rate, 1e-3F);
  const float low = static_cast<float>(o.budget_low), most = static_cast<float>(o.budget_high);
  plan.page_budget = static_cast<int>(dice.uniform(std::min(2 * low, most), most));
  plan.photo_budget = static_cast<int>(dice.uniform(low, std::max(low, 0.5F * most)));
  if (o.history > 0 && p >= o.reading && dice.chance(o.history)) {
    plan.mode = Plan::full;
    plan.again = true;
    plan.budget = static_cast<int>(dice.uniform(low, most));
    return plan;
  }
  if (p < o.reading || dice.chance(kReadingAfterwards)) return plan;
  plan.mode = dice.chance(o.dense) ? Plan::dense : Plan::full;
  plan.outcome = plan.mode == Plan::full && o.outcome > 0 && dice.chance(o.outcome);
  const float through = (p - o.reading) / std::max(1e-6F, 1 - o.reading);
  plan.own_maps =
      o.own_maps_start + (o.own_maps - o.own_maps_start) * std::min(1.0F, through * 1.5F);
  // Half of the steps near the usual budgets, half from a range that widens along the way.
  const float top = static_cast<float>(o.budget_high);
  const float high =
      dice.chance(0.5F) ? 0.5F * top : (0.5F + 0.5F * std::min(1.0F, 1.5F * through)) * top;
  plan.budget = static_cast<int>(dice.uniform(static_cast<float>(o.budget_low),
                                              std::max(high, static_cast<float>(o.budget_low))));
  return plan;
}

}  // namespace arrcoc::training
