// How many tokens the next pass of a question has, and where they go.
#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "ask/passes.h"
#include "ask/road.h"

namespace arrcoc::asking {

namespace {

constexpr int kLeastTokens = 32;  // a pass of fewer tokens shows too little of a picture

}  // namespace

// Tokens of the next pass, 0 when they would not be worth it.
int Road::affordable() const {
  const PassRules& rules = options_.passes;
  const bool first = manner_ == Manner::first;
  // A single pass has all of its budget: there is nothing to save it for.
  const double share = rules.passes == 1          ? 1
                       : first                    ? rules.first
                       : manner_ == Manner::wider ? rules.wider
                                                  : rules.later;
  const bool all = first || takes_.several;
  const int pictures = all ? static_cast<int>(pictures_.size()) : 1;
  const int worthwhile = std::max(kLeastTokens, takes_.least_tokens * pictures);
  const int wanted = std::max(std::min(worthwhile, single_.tokens),
                              static_cast<int>(std::lround(share * single_.tokens)));
  if (rules.total_budget == 0) return wanted;
  if (first) return std::min(wanted, rules.total_budget);
  const int left = rules.total_budget - static_cast<int>(tokens_);
  // A wider look that is no wider than the first says nothing new.
  const int least = manner_ == Manner::wider
                        ? static_cast<int>(pictures_[chosen_].out.passes.front().tokens) + 1
                        : worthwhile;
  return left >= std::min(least, wanted) ? std::min(wanted, left) : 0;
}

bool Road::allocate() {
  Budget budget = single_;
  budget.tokens = affordable();
  if (budget.tokens == 0) {
    stop = Stop::budget;
    return false;
  }
  // Pictures that are read together are looked at again together.
  const bool first = manner_ == Manner::first;
  reading_.clear();
  std::vector<Relevance> maps;
  std::vector<double> explored;
  for (size_t i = 0; i < pictures_.size(); ++i) {
    if (!first && !takes_.several && i != chosen_) continue;
    reading_.push_back(i);
    maps.push_back(relevance_for(pictures_[i], explored.emplace_back(0)));
  }
  std::vector<Allocation> allocations = spread(maps, budget);
  if (!first) stop = useless(allocations);
  if (stop != Stop::open) return false;
  for (size_t k = 0; k < reading_.size(); ++k) {
    One& one = pictures_[reading_[k]];
    one.open = Pass{};
    one.open.manner = manner_;
    one.open.explore = explored[k];
    one.open.allocation = std::move(allocations[k]);
    one.open.relevance = std::move(maps[k].map);
    note(one.open.allocation.fallbacks);
    if (first) one.out.budget = one.open.allocation.budget;
  }
  return true;
}

// Tokens that an earlier pass had say nothing new, and views may cost more than is left.
Stop Road::useless(const std::vector<Allocation>& allocations) const {
  int64_t tokens = tokens_;
  bool seen = takes_.takes != TokenKind::patches;  // whose figures were measured without this rule
  for (size_t k = 0; k < allocations.size(); ++k) {
    const Allocation& next = allocations[k];
    tokens += next.tokens();
    const auto& passes = pictures_[reading_[k]].out.passes;
    seen = seen && std::any_of(passes.begin(), passes.end(), [&](const Pass& pass) {
             return pass.allocation.leaves == next.leaves && pass.allocation.crops == next.crops;
           });
  }
  const int most = options_.passes.total_budget;
  if (most > 0 && tokens > most) return Stop::budget;
  return seen ? Stop::seen : Stop::open;
}

Geometry Road::geometry(const One& one) const {
  Geometry out = one.seen->pyramid->geometry();
  // A grid of the model's own has nothing finer to show.
  const bool closer = (manner_ == Manner::closer || manner_ == Manner::again) &&
                      options_.passes.enlarge && takes_.takes != TokenKind::selection;
  out.finest = options_.enlarge || closer ? kFinestEver : 0;
  return out;
}

// The question's map, lifted to where somebody looked.
Map Road::first_map(const One& one) const {
  return temper(one.relevance.map, {}, one.history, Manner::first, 0, options_.passes, 0);
}

// Why the network does not compute the next map though that is wanted; "": it does.
std::string Road::why_no_history() const {
  const SeenPicture& seen = *pictures_[chosen_].seen;
  if (options_.pass_policy) return "a fitted policy says where to look again";
  if (pictures_.size() > 1) return "of one picture only";
  if (!options_.gaze.empty()) return "not where somebody else has looked";
  if (!seen.seen) return "nothing has looked at the picture";
  return seen.looker->recalls() ? "" : "who looks here makes nothing of it";
}
bool Road::recalls() const { return options_.passes.history && why_no_history().empty(); }

Relevance Road::relevance_for(const One& one, double& explored) {
  const PassRules& rules = options_.passes;
  Relevance out = one.relevance;
  if (manner_ == Manner::again) {
    Relevance next = look_at(one, one.history).relevance;
    note(next.fallbacks);
    move_to(one.seen->pyramid->geometry(), one.seen->picture, next.map);
    // A look that failed has one cell: the question's own map stands.
    const bool whole = next.map.rows == out.map.rows && next.map.cols == out.map.cols;
    return whole ? next : out;
  }
  const double explore =
      manner_ == Manner::elsewhere ? exploration(rules, one.history.uncertainty) : 0;
  const Map interest =
      explore > 0 && one.seen->seen ? one.seen->looker->interest(*one.seen->seen) : Map{};
  explored = interest.empty() ? 0 : explore;
  out.map = manner_ == Manner::first
                ? first_map(one)
                : temper(one.relevance.map, interest, one.history, manner_, explore, rules,
                         options_.allocate.seed + static_cast<uint64_t>(one.out.passes.size()));
  return out;
}

Allocation Road::spread(const One& one, const Relevance& relevance, const Budget& budget) const {
  const Geometry g = geometry(one);
  const auto view_tokens = [this](int width, int height) {
    return model_->view_tokens(width, height);
  };
  if (takes_.takes == TokenKind::views)
    return allocating::allocate_views(relevance, g, budget, options_.allocate, view_tokens);
  if (takes_.takes == TokenKind::native)
    return allocating::allocate_views(
        relevance, g, {static_cast<int>(one.out.native_tokens), "native", "the picture as it is"},
        options_.allocate, view_tokens);
  AllocateOptions allocate = options_.allocate;
  for (Box& box : allocate.evidence)
    box = scaled(box, static_cast<double>(g.width) / one.out.width,
                 static_cast<double>(g.height) / one.out.height);
  return allocating::allocate(relevance, g, budget, options_.allocator, allocate);
}

// One budget over all pictures that are read now.
std::vector<Allocation> Road::spread(const std::vector<Relevance>& maps,
                                     const Budget& budget) const {
  const auto count = static_cast<int>(reading_.size());
  if (budget.tokens < count)
    throw Error(ErrorCode::bad_argument, std::to_string(budget.tokens) + " tokens cannot show " +
                                             std::to_string(count) + " pictures");
  std::vector<Geometry> geometries;
  for (size_t i : reading_) geometries.push_back(geometry(pictures_[i]));
  if (count == 1 || takes_.takes == TokenKind::native) {
    std::vector<Allocation> out;
    for (size_t k = 0; k < maps.size(); ++k)
      out.push_back(spread(pictures_[reading_[k]], maps[k], budget));
    return out;
  }
  if (takes_.takes != TokenKind::views)
    return allocating::allocate_together(maps, geometries, budget,
                                         std::max(options_.minimum, takes_.least_tokens),
                                         options_.allocate);
  return allocating::allocate_views_together(
      maps, geometries, budget, options_.minimum, options_.allocate,
      [this](int width, int height) { return model_->view_tokens(width, height); });
}

}  // namespace arrcoc::asking
