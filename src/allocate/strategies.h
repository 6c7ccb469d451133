// Every budget rule and allocator of the stage; strategies.cpp gives them their names.
#pragma once

#include <memory>

#include "arrcoc/allocate.h"

namespace arrcoc::allocating {

std::unique_ptr<BudgetRule> make_fixed(const char* level, int tokens);
std::unique_ptr<BudgetRule> make_tier_rule();
std::unique_ptr<BudgetRule> make_entropy_rule(float temperature);
std::unique_ptr<BudgetRule> make_expected_rule();
std::unique_ptr<BudgetRule> make_curve_rule(Curve curve, bool quantised);
std::unique_ptr<BudgetRule> make_auto_rule(int low = kMinBudget, int high = kMaxBudget);

std::unique_ptr<Allocator> make_quadtree();
std::unique_ptr<Allocator> make_experts();
std::unique_ptr<Allocator> make_variance_split();
std::unique_ptr<Allocator> make_breadth_first();
std::unique_ptr<Allocator> make_uniform();
std::unique_ptr<Allocator> make_random();
std::unique_ptr<Allocator> make_top_k();
std::unique_ptr<Allocator> make_window_top_k();
std::unique_ptr<Allocator> make_diverse();
std::unique_ptr<Allocator> make_cascade();
std::unique_ptr<Allocator> make_soft();
std::unique_ptr<Allocator> make_tiers();
std::unique_ptr<Allocator> make_positions();
std::unique_ptr<Allocator> make_bands();
std::unique_ptr<Allocator> make_zoom();
std::unique_ptr<Allocator> make_native();
std::unique_ptr<Allocator> make_resize();

}  // namespace arrcoc::allocating
