#include <ATen/ATen.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "arrcoc/error.h"
#include "arrcoc/esper.h"

namespace arrcoc::esper {

namespace {

constexpr int kFineLevel = 1;  // seen finely: leaves of this level or below

void check(const Options& options) {
  if (options.rules.passes < 1 || options.rules.passes > 16)
    throw Error(ErrorCode::bad_argument,
                "there may be 1 to 16 passes, not " + std::to_string(options.rules.passes));
  if (options.total_budget < 0)
    throw Error(ErrorCode::bad_argument, "the total budget is a number of tokens");
}

// Calls back with every cell of the map whose middle lies under the leaf.
template <class Visit>
void under(const Geometry& geometry, const Leaf& leaf, const Map& map, const Visit& visit) {
  const Box box = attending::box_of(geometry, leaf);
  for (int r = std::max(0, static_cast<int>(box.y0 / map.cell_height)); r < map.rows; ++r) {
    const float y = (static_cast<float>(r) + 0.5F) * map.cell_height;
    if (y >= box.y1) break;
    if (y < box.y0) continue;
    for (int c = std::max(0, static_cast<int>(box.x0 / map.cell_width)); c < map.cols; ++c) {
      const float x = (static_cast<float>(c) + 0.5F) * map.cell_width;
      if (x >= box.x1) break;
      if (x >= box.x0) visit(static_cast<size_t>(r) * map.cols + c);
    }
  }
}

Map read_from(const Allocation& allocation, const Map& shape, const Map& reported) {
  Map out = like(shape, 0);
  if (!reported.empty()) {
    out.values = resample(reported, shape.rows, shape.cols).values;
    return out;
  }
  float most = 1e-6F;
  for (const Leaf& leaf : allocation.leaves) most = std::max(most, leaf.relevance);
  for (const Leaf& leaf : allocation.leaves)
    if (leaf.level <= kFineLevel)
      under(allocation.geometry, leaf, out, [&](size_t i) {
        out.values[i] = 0.5F + 0.5F * std::clamp(leaf.relevance / most, 0.0F, 1.0F);
      });
  return out;
}

// Patches that were cut once, by cell; the next pass gathers only what is new.
class Cuttings {
 public:
  explicit Cuttings(const Pyramid& pyramid) : pyramid_(pyramid) {}

  TokenSequence cut(const Allocation& allocation, int& reused) {
    Allocation fresh = allocation;
    std::erase_if(fresh.leaves, [&](const Leaf& l) { return rows_.count(key(l)) != 0; });
    reused = static_cast<int>(allocation.leaves.size() - fresh.leaves.size());
    TokenSequence out;
    if (!fresh.leaves.empty()) out = realizing::realize(pyramid_, fresh);
    for (size_t i = 0; i < fresh.leaves.size(); ++i)
      rows_[key(fresh.leaves[i])] = out.pixels[static_cast<int64_t>(i)];
    return reused == 0 ? out : assembled(allocation);
  }

 private:
  using Key = std::tuple<int, int, int>;
  static Key key(const Leaf& leaf) { return {leaf.level, leaf.row, leaf.col}; }

  // As realizing::realize would give it, raster order.
  TokenSequence assembled(const Allocation& allocation) const {
    std::vector<at::Tensor> pixels;
    TokenSequence out;
    const auto n = static_cast<int64_t>(allocation.leaves.size());
    out.centre = at::empty({n, 2});
    out.level = at::empty({n}, at::kLong);
    out.relevance = at::empty({n});
    const Geometry& g = allocation.geometry;
    for (int64_t i = 0; i < n; ++i) {
      const Leaf& leaf = allocation.leaves[static_cast<size_t>(i)];
      const auto side = static_cast<double>(Geometry::side(leaf.level));
      pixels.push_back(rows_.at(key(leaf)));
      float* centre = out.centre.data_ptr<float>() + 2 * i;
      centre[0] = static_cast<float>((leaf.col + 0.5) * side / g.width);
      centre[1] = static_cast<float>((leaf.row + 0.5) * side / g.height);
      out.level.data_ptr<int64_t>()[i] = leaf.level;
      out.relevance.data_ptr<float>()[i] = leaf.relevance;
    }
    out.pixels = at::stack(pixels);
    out.scale = out.level.to(at::kFloat);
    return out;
  }

  const Pyramid& pyramid_;
  std::map<Key, at::Tensor> rows_;
};

// Tokens of the next pass, 0 when they would not be worth it.
int affordable(const Options& options, int wanted, int spent) {
  if (options.total_budget == 0) return wanted;
  const int left = options.total_budget - spent;
  if (spent == 0) return std::min(wanted, options.total_budget);
  return left >= std::min(kMinBudget, wanted) ? std::min(wanted, left) : 0;
}

}  // namespace

Map remember(Trace& trace, const Allocation& allocation, const Map& shape, const Map& attention) {
  Map read = read_from(allocation, shape, attention);
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
      under(allocation.geometry, leaf, trace.seen, [&](size_t i) { trace.seen.values[i] = 1; });
  trace.attention_previous = read;
  return read;
}

std::string why_stop(size_t passes, double uncertainty, const Rules& rules) {
  if (uncertainty < (passes == 1 ? rules.sure_at_once : rules.sure)) return "sure";
  return passes >= static_cast<size_t>(rules.passes) ? "passes" : "";
}

Result ask(const Picture& picture, const std::string& question, const Backend& backend,
           const Options& options) {
  check(options);
  Result out;
  const Pyramid pyramid = pyramid_of(picture, options.look);
  // The first look gives the question's map, the query-free one, and the budget of a pass.
  const Realization first = realize(picture, pyramid, question, options.look);
  if (first.tokens.size() == 0)
    throw Error(ErrorCode::unsupported, "looking again needs leaves, allocator '" +
                                            options.look.allocator + "' gives none");
  out.query = first.query;
  out.fallbacks = first.fallbacks;
  const Map interest =
      resample(first.knowledge.information, first.relevance.map.rows, first.relevance.map.cols);
  Trace trace;
  Cuttings cuttings(pyramid);
  double last = 0;
  while (out.stopped.empty()) {
    const auto number = static_cast<int>(out.passes.size());
    Budget budget = first.allocation.budget;
    budget.tokens = affordable(options, budget.tokens, out.tokens);
    if (budget.tokens == 0) {
      out.stopped = "budget";
      break;
    }
    Pass pass;
    // A single pass has no second chance to use what exploring finds.
    pass.explore = options.rules.passes == 1 ? 0 : exploration(number, last);
    Relevance tempered = first.relevance;
    tempered.map = temper(first.relevance.map, interest, trace, pass.explore, last, options.rules,
                          options.seed + static_cast<uint64_t>(number));
    pass.allocation = attending::allocate(tempered, pyramid.geometry(), budget,
                                          options.look.allocator, options.look.allocate);
    pass.relevance = std::move(tempered.map);
    pass.tokens = pass.allocation.tokens();
    Reply reply = backend.answer(cuttings.cut(pass.allocation, pass.reused), pyramid.geometry(),
                                 out.query.text);
    pass.answer = std::move(reply.text);
    pass.probabilities = std::move(reply.probabilities);
    pass.uncertainty = last = uncertainty(pass.probabilities);
    pass.attention = remember(trace, pass.allocation, pass.relevance, reply.attention);
    out.tokens += pass.tokens;
    out.passes.push_back(std::move(pass));
    if (out.passes.back().uncertainty < out.passes[out.best].uncertainty)
      out.best = out.passes.size() - 1;
    out.stopped = why_stop(out.passes.size(), last, options.rules);
  }
  return out;
}

}  // namespace arrcoc::esper
