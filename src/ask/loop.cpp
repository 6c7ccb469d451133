// The passes over one question: where to look next, and when to stop.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "arrcoc/error.h"
#include "arrcoc/esper.h"

namespace arrcoc::esper {

namespace {

constexpr int kFineLevel = 1;     // seen finely: leaves of this level or below
constexpr int kLeastTokens = 32;  // a pass of fewer tokens shows too little of a picture
constexpr float kBeside = 0.7F;   // attention that the cells beside a read one get

// Calls back with every cell of the map that the leaf touches, or whose middle lies under it.
template <class Visit>
void under(const Geometry& geometry, const Leaf& leaf, const Map& map, bool touching,
           const Visit& visit) {
  const Box box = allocating::box_of(geometry, leaf);
  const float slack = touching ? 0.5F : 0.0F;
  for (int r = std::max(0, static_cast<int>(box.y0 / map.cell_height)); r < map.rows; ++r) {
    const float y = (static_cast<float>(r) + 0.5F) * map.cell_height;
    if (y - slack * map.cell_height >= box.y1) break;
    if (y + slack * map.cell_height <= box.y0) continue;
    for (int c = std::max(0, static_cast<int>(box.x0 / map.cell_width)); c < map.cols; ++c) {
      const float x = (static_cast<float>(c) + 0.5F) * map.cell_width;
      if (x - slack * map.cell_width >= box.x1) break;
      if (x + slack * map.cell_width > box.x0) visit(static_cast<size_t>(r) * map.cols + c);
    }
  }
}

// Shares of attention by token, 1 for the largest; a word goes on beside the place that was read.
Map from_focus(const Allocation& allocation, const Map& shape, const std::vector<float>& focus) {
  Map read = like(shape, 0);
  const size_t n = std::min(focus.size(), allocation.leaves.size());
  float most = 1e-9F;
  for (size_t i = 0; i < n; ++i) most = std::max(most, focus[i]);
  for (size_t i = 0; i < n; ++i)
    under(allocation.geometry, allocation.leaves[i], read, true,
          [&](size_t cell) { read.values[cell] = std::max(read.values[cell], focus[i] / most); });
  Map out = read;
  for (int r = 0; r < out.rows; ++r)
    for (int c = 0; c < out.cols; ++c)
      for (int d : {-1, 1})
        if (c + d >= 0 && c + d < out.cols)
          out.at(r, c) = std::max(out.at(r, c), kBeside * read.at(r, c + d));
  return out;
}

// A backend that cannot say where it read has read what it was shown finely: half for being shown,
// half by relevance.
Map read_from(const Allocation& allocation, const Map& shape, const Reply& reply) {
  if (!reply.focus.empty()) return from_focus(allocation, shape, reply.focus);
  Map out = like(shape, 0);
  if (!reply.attention.empty()) {
    out.values = resample(reply.attention, shape.rows, shape.cols).values;
    return out;
  }
  float most = 1e-6F;
  for (const Leaf& leaf : allocation.leaves) most = std::max(most, leaf.relevance);
  for (const Leaf& leaf : allocation.leaves)
    if (leaf.level <= kFineLevel)
      under(allocation.geometry, leaf, out, false, [&](size_t i) {
        out.values[i] = 0.5F + 0.5F * std::clamp(leaf.relevance / most, 0.0F, 1.0F);
      });
  return out;
}

void measure_focus(Pass& pass) {
  const size_t n = std::min(pass.focus.size(), pass.allocation.leaves.size());
  if (n == 0) return;
  double sum = 0, levels = 0;
  for (size_t i = 0; i < n; ++i) {
    sum += static_cast<double>(pass.focus[i]);
    levels += static_cast<double>(pass.focus[i]) * pass.allocation.leaves[i].level;
  }
  if (!(sum > 0)) return;
  pass.gathered =
      gathered({pass.focus.begin(), pass.focus.begin() + static_cast<std::ptrdiff_t>(n)});
  pass.detail = levels / sum;
}

void check(const Options& options) {
  const Rules& r = options.rules;
  if (r.passes < 1 || r.passes > 16)
    throw Error(ErrorCode::bad_argument,
                "there may be 1 to 16 passes, not " + std::to_string(r.passes));
  if (!(r.first > 0 && r.first <= 4 && r.later > 0 && r.later <= 4 && r.wider >= 0 && r.wider <= 4))
    throw Error(ErrorCode::bad_argument, "a pass takes more than 0 and at most 4 times the budget");
  if (options.total_budget < 0)
    throw Error(ErrorCode::bad_argument, "the total budget is a number of tokens");
}

}  // namespace

Map remember(Trace& trace, const Allocation& allocation, const Map& shape, const Reply& reply) {
  Map read = read_from(allocation, shape, reply);
  if (trace.seen.empty()) {
    trace.seen = like(shape, 0);
    trace.attention_accumulated = like(shape, 0);
  }
  for (size_t i = 0; i < trace.seen.size(); ++i) {
    float& sum = trace.attention_accumulated.values[i];
    sum = std::min(1.0F, sum + read.values[i]);
  }
  for (const Leaf& leaf : allocation.leaves)
    if (leaf.level <= kFineLevel)
      under(allocation.geometry, leaf, trace.seen, false,
            [&](size_t i) { trace.seen.values[i] = 1; });
  trace.attention_previous = read;
  return read;
}

double gathered(const std::vector<float>& focus) {
  const double sum = std::accumulate(focus.begin(), focus.end(), 0.0);
  if (!(sum > 0)) return -1;
  std::vector<float> most = focus;
  const auto top = static_cast<std::ptrdiff_t>(std::min<size_t>(4, most.size()));
  std::partial_sort(most.begin(), most.begin() + top, most.end(), std::greater<>());
  return std::accumulate(most.begin(), most.begin() + top, 0.0) / sum;
}

std::string manner_after(double gathered, double uncertainty, const Rules& rules) {
  if (gathered < 0 || uncertainty > rules.lost) return "elsewhere";
  if (gathered >= rules.gathered) return "closer";
  return rules.wander ? "elsewhere" : "";
}

std::string why_stop(size_t passes, double uncertainty, const Rules& rules) {
  if (uncertainty < (passes == 1 ? rules.sure_at_once : rules.sure)) return "sure";
  return passes >= static_cast<size_t>(rules.passes) ? "passes" : "";
}

Loop::Loop(Relevance relevance, Map interest, const Geometry& geometry, Budget single,
           const Options& options)
    : relevance_(std::move(relevance)),
      interest_(std::move(interest)),
      geometry_(geometry),
      single_(std::move(single)),
      options_(options) {
  check(options);
  if (!options.gaze.empty()) {
    trace_.gaze = like(relevance_.map, 0);
    trace_.gaze.values = resample(options.gaze, relevance_.map.rows, relevance_.map.cols).values;
  }
}

// Tokens of the next pass, 0 when they would not be worth it.
int Loop::affordable() const {
  const Rules& rules = options_.rules;
  const bool first = result_.passes.empty();
  // A single pass has all of its budget: there is nothing to save it for.
  const double share = rules.passes == 1    ? 1
                       : first              ? rules.first
                       : manner_ == "wider" ? rules.wider
                                            : rules.later;
  const int wanted = std::max(std::min(kLeastTokens, single_.tokens),
                              static_cast<int>(std::lround(share * single_.tokens)));
  if (options_.total_budget == 0) return wanted;
  const int left = options_.total_budget - result_.tokens;
  if (first) return std::min(wanted, options_.total_budget);
  // A wider look that is no wider than the first says nothing new.
  const int least = manner_ == "wider" ? result_.passes.front().tokens + 1 : kLeastTokens;
  return left >= std::min(least, wanted) ? std::min(wanted, left) : 0;
}

void Loop::decide() {
  const Pass& last = result_.passes.back();
  const auto n = static_cast<int>(result_.passes.size());
  const Rules& rules = options_.rules;
  manner_.clear();
  if (options_.learned) {
    const Policy::Features x = features_of(last, n == 1);
    const double closer = chance(options_.learned->closer, x);
    const double elsewhere = chance(options_.learned->elsewhere, x);
    const double wider = widened() ? 0 : chance(options_.learned->wider, x);
    const double most = std::max({closer, wider, elsewhere});
    if (most < options_.learned->worth) result_.stopped = "not worth it";
    manner_ = closer == most ? "closer" : wider == most ? "wider" : "elsewhere";
  } else {
    const bool sure = options_.confidence
                          ? result_.answer().confidence >= options_.confident
                          : last.uncertainty < (n == 1 ? rules.sure_at_once : rules.sure);
    if (!sure) manner_ = manner_after(last.gathered, last.uncertainty, rules);
    if (!sure && !widened() && (n > 1 || manner_ != "closer")) manner_ = "wider";
    if (manner_.empty()) result_.stopped = sure ? "sure" : "spread";
  }
  if (result_.stopped.empty() && n >= rules.passes) result_.stopped = "passes";
}

bool Loop::widened() const {
  return !(options_.rules.wider > 0) ||
         std::any_of(result_.passes.begin(), result_.passes.end(),
                     [](const Pass& p) { return p.manner == "wider"; });
}

double Loop::believed(const Pass& pass) const {
  const bool doubtful = pass.manner == "closer" && !options_.learned &&
                        !(options_.confidence && pass.confidence >= options_.confident);
  return doubtful ? pass.confidence - options_.rules.doubt : pass.confidence;
}

std::optional<Allocation> Loop::next() {
  if (!result_.stopped.empty()) return std::nullopt;
  Budget budget = single_;
  budget.tokens = affordable();
  if (budget.tokens == 0) {
    result_.stopped = "budget";
    return std::nullopt;
  }
  const auto number = static_cast<int>(result_.passes.size());
  const double last = number == 0 ? 0 : result_.passes.back().uncertainty;
  open_ = Pass{};
  open_.manner = manner_;
  // A single pass has no second chance to use what exploring finds.
  open_.explore = options_.rules.passes == 1 || manner_ == "wider" ? 0 : exploration(number, last);
  Relevance tempered = relevance_;
  tempered.map = temper(relevance_.map, interest_, trace_, open_.manner, open_.explore, last,
                        options_.rules, options_.seed + static_cast<uint64_t>(number));
  Geometry geometry = geometry_;
  if (options_.rules.enlarge && open_.manner == "closer") geometry.finest = kFinestEver;
  open_.allocation = allocating::allocate(tempered, geometry, budget, options_.look.allocator,
                                          options_.look.allocate);
  open_.relevance = std::move(tempered.map);
  open_.tokens = open_.allocation.tokens();
  return open_.allocation;
}

void Loop::hear(Reply reply, int reused) {
  Pass& pass = open_;
  pass.reused = reused;
  pass.uncertainty = uncertainty(reply.probabilities);
  pass.attention = remember(trace_, pass.allocation, pass.relevance, reply);
  pass.answer = std::move(reply.text);
  pass.probabilities = std::move(reply.probabilities);
  pass.focus = std::move(reply.focus);
  measure_focus(pass);
  result_.tokens += pass.tokens;
  result_.passes.push_back(std::move(pass));
  Pass& kept = result_.passes.back();
  if (options_.learned) {
    kept.confidence =
        chance(options_.learned->right, features_of(kept, result_.passes.size() == 1));
  } else {
    kept.confidence =
        options_.confidence ? options_.confidence(kept) : likelihood(kept.probabilities);
  }
  if (believed(kept) > believed(result_.passes[result_.best]))
    result_.best = result_.passes.size() - 1;
  decide();
}

}  // namespace arrcoc::esper
