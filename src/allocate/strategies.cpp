#include "allocate/strategies.h"

#include "allocate/budgets.h"

namespace arrcoc {

using namespace allocating;

template <>
Registry<BudgetRule>& registry<BudgetRule>() {
  static Registry<BudgetRule> rules = [] {
    Registry<BudgetRule> r;
    r.add("fast", "64 tokens", [] { return make_fixed("fast", 64); });
    r.add("balanced", "180 tokens", [] { return make_fixed("balanced", 180); });
    r.add("accurate", "400 tokens", [] { return make_fixed("accurate", 400); });
    r.add("tiers", "64/128/256/384/400 by how hard the question looks", make_tier_rule);
    r.add("entropy", "more tokens the wider the relevance is spread (softmax, temperature 0.05)",
          [] { return make_entropy_rule(kEntropyTemperature); });
    r.add("expected", "expected value over tier probabilities from question and map",
          make_expected_rule);
    r.add("linear", "64..400 along the mean relevance r",
          [] { return make_curve_rule(Curve::linear, false); });
    r.add("power", "64..400 along r^2.5", [] { return make_curve_rule(Curve::power, false); });
    r.add("exponential", "64..400 along r^2",
          [] { return make_curve_rule(Curve::exponential, false); });
    r.add("sigmoid", "64..400 along sigmoid(10 (r - 0.5))",
          [] { return make_curve_rule(Curve::sigmoid, false); });
    r.add("lod", "linear in the mean relevance, rounded to 64/128/256/384/400 by level order",
          [] { return make_curve_rule(Curve::linear, true); });
    r.add(
        "auto",
        "what the network expects; without it half tiers, half entropy, hard questions 160 or more",
        [] { return make_auto_rule(); });
    r.alias("learned", "auto");
    return r;
  }();
  return rules;
}

template <>
Registry<Allocator>& registry<Allocator>() {
  static Registry<Allocator> allocators = [] {
    Registry<Allocator> r;
    r.add("quadtree", "split where relevance is highest", make_quadtree);
    r.add("experts", "quadtree as four experts (text, chart, sparse, mixed) would split, gated",
          make_experts);
    r.add("variance-split", "split where relevance varies", make_variance_split);
    r.add("breadth-first", "split evenly, coarse to fine, without relevance", make_breadth_first);
    r.add("uniform", "one level for the whole picture, like shrinking it", make_uniform);
    r.add("random", "split cells drawn at random (seed)", make_random);
    r.add("top-k", "the most relevant cells alone, at most 200", make_top_k);
    r.add("window-topk", "top-k, chosen again after the chosen lift their neighbours",
          make_window_top_k);
    r.add("diverse", "relevant and unlike each other: greedy determinantal selection",
          make_diverse);
    r.add("cascade", "50 clusters, the best 10, 50 cells of each, the best 273", make_cascade);
    r.add("soft", "cells drawn from a temperature softmax without replacement (seed)", make_soft);
    r.add("tiers", "five bands of relevance, five levels of detail", make_tiers);
    r.add("positions", "positions with 64..400 each, which choose their mip level", make_positions);
    r.add("bands", "coarse below 0.3, medium below 0.7, fine above", make_bands);
    r.add("zoom", "a glance and a few enlarged rectangles, for models that take pictures",
          make_zoom);
    r.add("native", "every patch at native detail, whatever the budget", make_native);
    r.add("resize", "the whole picture shrunk to the budget", make_resize);
    return r;
  }();
  return allocators;
}

}  // namespace arrcoc
