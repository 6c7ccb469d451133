#include "arrcoc/allocate.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "allocate/curves.h"
#include "allocate/tree.h"

namespace arrcoc {

int Allocation::tokens() const {
  int sum = static_cast<int>(leaves.size());
  for (const Crop& crop : crops) sum += crop.tokens;
  return sum;
}

namespace allocating {

namespace {

constexpr int kLargestBudget = 65536;

// A whole number, or nothing when the text is something else (a rule's name).
std::optional<int64_t> parse_number(const std::string& text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (stop != end || text.empty() || error == std::errc::invalid_argument) return std::nullopt;
  return error == std::errc::result_out_of_range ? kLargestBudget + 1 : value;
}

void refuse(bool bad, const std::string& what) {
  if (bad) throw Error(ErrorCode::bad_argument, "[attending] " + what);
}

void check(const Geometry& geometry, const Budget& budget, const AllocateOptions& options) {
  refuse(geometry.width < 1 || geometry.height < 1, "the picture has no pixels");
  refuse(geometry.finest < kFinestEver || geometry.finest > 0, "the finest level is 0 or -1");
  refuse(budget.tokens < 1 || budget.tokens > kLargestBudget,
         "a budget of " + std::to_string(budget.tokens) + " tokens; give 1 to 65536");
  refuse(options.gain != "peak" && options.gain != "mass",
         "no gain named '" + options.gain + "'; known: peak, mass");
  // Written so that NaN is refused too.
  refuse(!(options.finest_weight >= 0 && options.finest_weight <= 1),
         "finest_weight must be in 0..1");
  refuse(!(options.enlarge_weight >= 0 && options.enlarge_weight <= options.finest_weight),
         "enlarge_weight must be in 0..finest_weight: gains never grow towards finer levels");
  refuse(!(options.falloff >= 0) || !std::isfinite(options.falloff),
         "falloff must be 0 or a distance in pixels");
  refuse(!(options.variance_threshold >= 0), "variance_threshold must not be negative");
  refuse(options.top_k < 1, "top_k must be at least 1");
  refuse(!(options.temperature > 0), "temperature must be above 0");
  refuse(options.max_crops < 0, "max_crops must not be negative");
  refuse(options.token_pixels < 1, "token_pixels must be at least 1");
  refuse(!std::isfinite(options.steepness), "steepness must be a number");
  curve(options.curve, 0);
}

void check_promise(const Allocation& allocation, const Budget& budget) {
  const std::string who = "allocator '" + allocation.allocator + "' broke its promise: ";
  refuse(allocation.tokens() > budget.tokens, who + std::to_string(allocation.tokens()) +
                                                  " tokens for a budget of " +
                                                  std::to_string(budget.tokens));
  for (const Leaf& leaf : allocation.leaves) {
    refuse(!allocation.geometry.exists(leaf.level, leaf.row, leaf.col),
           who + "a cell outside the picture");
  }
  refuse(!std::is_sorted(allocation.leaves.begin(), allocation.leaves.end(), raster_before),
         who + "leaves are not in raster order");
}

}  // namespace

Budget budget(const Relevance& relevance, const Query& query, const std::string& rule) {
  if (const auto number = parse_number(rule)) {
    if (*number < 1 || *number > kLargestBudget) {
      throw Error(ErrorCode::bad_argument,
                  "[budget] " + rule + " tokens; give 1 to 65536, or the name of a rule");
    }
    return Budget{static_cast<int>(*number), "", rule + " tokens were asked for"};
  }
  if (!registry<BudgetRule>().has(rule)) {
    std::string known;
    for (const auto& [name, summary] : registry<BudgetRule>().list())
      known += (known.empty() ? "" : ", ") + name;
    throw Error(ErrorCode::not_found,
                "a budget is a number of tokens or one of " + known + ", not '" + rule + "'");
  }
  return registry<BudgetRule>().make(rule)->decide(relevance, query);
}

Allocation allocate(const Relevance& relevance, const Geometry& geometry, const Budget& budget,
                    const std::string& allocator, const AllocateOptions& options) {
  check(geometry, budget, options);
  Allocation out =
      registry<Allocator>().make(allocator)->allocate(relevance, geometry, budget, options);
  out.allocator = allocator;
  check_promise(out, budget);
  return out;
}

Box box_of(const Geometry& geometry, const Leaf& leaf) {
  const int64_t side = Geometry::side(leaf.level);
  const auto clip = [](int64_t value, int limit) {
    return static_cast<float>(std::min<int64_t>(value, limit));
  };
  return Box{clip(leaf.col * side, geometry.width), clip(leaf.row * side, geometry.height),
             clip((leaf.col + int64_t{1}) * side, geometry.width),
             clip((leaf.row + int64_t{1}) * side, geometry.height)};
}

}  // namespace allocating
}  // namespace arrcoc
