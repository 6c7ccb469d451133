#include "arrcoc/allocate.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>

#include "allocate/strategies.h"
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
  if (bad) throw Error(ErrorCode::bad_argument, "[allocate] " + what);
}

void check(const Geometry& geometry, const Budget& budget, const AllocateOptions& options) {
  refuse(geometry.width < 1 || geometry.height < 1, "the picture has no pixels");
  refuse(geometry.finest < kFinestEver || geometry.finest > 0, "the finest level is 0 or -1");
  refuse(budget.tokens < 1 || budget.tokens > kLargestBudget,
         "a budget of " + std::to_string(budget.tokens) + " tokens; give 1 to 65536");
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

namespace {

// "auto:LOW-HIGH", or nothing for any other rule.
std::unique_ptr<BudgetRule> auto_in_range(const std::string& rule) {
  constexpr int kMost = 4096;
  if (rule.rfind("auto:", 0) != 0) return nullptr;
  int low = 0, high = 0;
  char rest = 0;
  if (std::sscanf(rule.c_str(), "auto:%5d-%5d%c", &low, &high, &rest) != 2 || low < 1 ||
      low >= high || high > kMost)
    throw Error(ErrorCode::bad_argument, "budget '" + rule +
                                             "': auto:LOW-HIGH takes two numbers, 1 <= LOW < HIGH "
                                             "<= 4096");
  return make_auto_rule(low, high);
}

}  // namespace

Budget budget(const Look& look, const Query& query, const std::string& rule) {
  if (const auto number = parse_number(rule)) {
    if (*number < 1 || *number > kLargestBudget) {
      throw Error(ErrorCode::bad_argument,
                  "[budget] " + rule + " tokens; give 1 to 65536, or the name of a rule");
    }
    return Budget{static_cast<int>(*number), "",
                  rule + (*number == 1 ? " token was asked for" : " tokens were asked for")};
  }
  if (const auto ranged = auto_in_range(rule)) return ranged->decide(look, query);
  if (!registry<BudgetRule>().has(rule)) {
    std::string known;
    for (const auto& [name, summary] : registry<BudgetRule>().list())
      known += (known.empty() ? "" : ", ") + name;
    throw Error(ErrorCode::not_found,
                "a budget is a number of tokens or one of " + known + ", not '" + rule + "'");
  }
  return registry<BudgetRule>().make(rule)->decide(look, query);
}

Allocation allocate(const Relevance& relevance, const Geometry& geometry, const Budget& budget,
                    const std::string& allocator, const AllocateOptions& options) {
  check(geometry, budget, options);
  const auto strategy = registry<Allocator>().make(allocator);
  Allocation out = strategy->allocate(relevance, geometry, budget, options);
  out.allocator = allocator;
  Budget promised = budget;
  if (!strategy->keeps_budget()) promised.tokens = std::max(budget.tokens, out.tokens());
  check_promise(out, promised);
  return out;
}

std::vector<Allocation> allocate_together(const std::vector<Relevance>& relevance,
                                          const std::vector<Geometry>& geometry,
                                          const Budget& budget, int least,
                                          const AllocateOptions& options) {
  const auto n = static_cast<int>(relevance.size());
  refuse(n == 0 || relevance.size() != geometry.size(),
         "every picture needs its map and its geometry");
  if (budget.tokens < n)
    throw Error(ErrorCode::bad_argument, std::to_string(budget.tokens) + " tokens cannot show " +
                                             std::to_string(n) + " pictures");
  const int share = budget.tokens / n;
  std::vector<Field> fields;
  std::vector<Tree> trees;
  fields.reserve(relevance.size());
  for (size_t i = 0; i < relevance.size(); ++i) {
    const Field& field = fields.emplace_back(relevance[i].map, geometry[i]);
    trees.push_back({Forest(geometry[i], geometry[i].root_level(share)),
                     [&field, &options](const Cell& cell) {
                       return std::max(0.0, field.peak(cell) * split_weight(cell.level, options));
                     },
                     std::min(least, share)});
  }
  const auto cells = split_greedily(trees, budget.tokens);
  std::vector<Allocation> out;
  for (size_t i = 0; i < cells.size(); ++i) {
    Budget own = budget;
    own.tokens = static_cast<int>(cells[i].size());
    own.why = "a share of " + std::to_string(budget.tokens) + " tokens for " + std::to_string(n) +
              " pictures";
    out.push_back(finish(cells[i], fields[i], geometry[i], own, "quadtree"));
  }
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

std::vector<Box> token_boxes(const Allocation& allocation) {
  std::vector<Box> out;
  for (const Leaf& leaf : allocation.leaves) out.push_back(box_of(allocation.geometry, leaf));
  for (const Crop& crop : allocation.crops) {
    const float x = kPatch * crop.box.width() / static_cast<float>(crop.width);
    const float y = kPatch * crop.box.height() / static_cast<float>(crop.height);
    const Grid grid = Geometry{crop.width, crop.height, 0}.grid(0);
    for (int r = 0; r < grid.rows; ++r)
      for (int c = 0; c < grid.cols; ++c) {
        const float left = crop.box.x0 + x * static_cast<float>(c);
        const float top = crop.box.y0 + y * static_cast<float>(r);
        out.push_back(intersect({left, top, left + x, top + y}, crop.box));
      }
  }
  return out;
}

}  // namespace allocating
}  // namespace arrcoc
