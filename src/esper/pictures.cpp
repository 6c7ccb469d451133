// Several pictures under one budget.
#include <algorithm>
#include <array>
#include <queue>
#include <string_view>

#include "arrcoc/error.h"
#include "arrcoc/esper.h"
#include "attending/tree.h"

namespace arrcoc::esper {

namespace {

using attending::Candidate;
using attending::Cell;
using attending::Children;
using attending::Field;
using attending::Forest;

// One picture's tree while tokens are being shared out.
struct Tree {
  Field field;
  Forest forest;
  std::priority_queue<Candidate> waiting;
  std::vector<Cell> leaves;  // that stay whole
  int tokens = 0;

  Tree(const Map& map, const Geometry& geometry, int roots_for)
      : field(map, geometry), forest(geometry, geometry.root_level(roots_for)) {}

  void place(Cell cell, const AllocateOptions& options) {
    Children below = forest.children(cell);
    while (below.count == 1) {  // the split costs nothing
      cell = below.cells[0];
      below = forest.children(cell);
    }
    if (below.count == 0) {
      leaves.push_back(cell);
      return;
    }
    const double weight = cell.level >= 2   ? 1.0
                          : cell.level == 1 ? options.finest_weight
                                            : options.enlarge_weight;
    waiting.push({std::max(0.0, field.peak(cell) * weight), cell});
  }
  // Splits the best cell if that costs at most `spare`; else leaves it whole. Returns the cost.
  int split(int spare, const AllocateOptions& options) {
    const Cell cell = waiting.top().cell;
    waiting.pop();
    const Children below = forest.children(cell);
    if (below.count - 1 > spare) {
      leaves.push_back(cell);
      return 0;
    }
    for (int i = 0; i < below.count; ++i) place(below.cells[static_cast<size_t>(i)], options);
    tokens += below.count - 1;
    return below.count - 1;
  }
};

Tree* best_of(std::vector<Tree>& trees) {
  Tree* best = nullptr;
  for (Tree& tree : trees)
    if (!tree.waiting.empty() && (!best || tree.waiting.top().gain > best->waiting.top().gain))
      best = &tree;
  return best;
}

}  // namespace

std::vector<Allocation> allocate_union(const std::vector<Relevance>& relevance,
                                       const std::vector<Geometry>& geometry, const Budget& budget,
                                       int minimum, const AllocateOptions& options) {
  const auto n = static_cast<int>(relevance.size());
  if (n == 0 || relevance.size() != geometry.size())
    throw Error(ErrorCode::bad_argument, "every picture needs its map and its geometry");
  if (budget.tokens < n)
    throw Error(ErrorCode::bad_argument, std::to_string(budget.tokens) + " tokens cannot show " +
                                             std::to_string(n) + " pictures");
  const int share = budget.tokens / n;
  std::vector<Tree> trees;
  trees.reserve(relevance.size());
  int spare = budget.tokens;
  for (size_t i = 0; i < relevance.size(); ++i) {
    Tree& tree = trees.emplace_back(relevance[i].map, geometry[i], share);
    const std::vector<Cell> roots = tree.forest.roots();
    tree.tokens = static_cast<int>(roots.size());
    spare -= tree.tokens;
    for (const Cell& root : roots) tree.place(root, options);
  }
  // First everybody's minimum, then the best splits wherever they are.
  const int least = std::min(minimum, share);
  for (Tree& tree : trees)
    while (tree.tokens < least && !tree.waiting.empty()) spare -= tree.split(spare, options);
  while (Tree* best = best_of(trees)) spare -= best->split(spare, options);
  std::vector<Allocation> out;
  for (size_t i = 0; i < trees.size(); ++i) {
    Budget own = budget;
    own.tokens = trees[i].tokens;
    own.why = "a share of " + std::to_string(budget.tokens) + " tokens for " + std::to_string(n) +
              " pictures";
    out.push_back(attending::finish(trees[i].leaves, trees[i].field, geometry[i], own, "quadtree"));
  }
  return out;
}

std::optional<int> named_picture(const Query& query, int count) {
  static constexpr std::array<std::string_view, 6> kNth = {"first",  "second", "third",
                                                           "fourth", "fifth",  "sixth"};
  static constexpr std::array<std::string_view, 8> kThings = {
      "picture", "image", "photo", "receipt", "form", "page", "document", "shelf"};
  for (size_t i = 0; i + 1 < query.words.size(); ++i) {
    const auto nth = std::find(kNth.begin(), kNth.end(), query.words[i]);
    if (nth == kNth.end()) continue;
    const auto which = static_cast<int>(nth - kNth.begin());
    if (which < count &&
        std::find(kThings.begin(), kThings.end(), query.words[i + 1]) != kThings.end())
      return which;
  }
  return std::nullopt;
}

PicturesResult ask_pictures(const std::vector<Picture>& pictures, const std::string& question,
                            const Backend& backend, const arrcoc::Options& look, int minimum) {
  if (pictures.empty()) throw Error(ErrorCode::bad_argument, "there is no picture to ask about");
  PicturesResult out;
  std::vector<Pyramid> pyramids;
  std::vector<Relevance> relevance;
  std::vector<Geometry> geometry;
  const auto named = named_picture(parse_query(question), static_cast<int>(pictures.size()));
  for (size_t i = 0; i < pictures.size(); ++i) {
    pyramids.push_back(pyramid_of(pictures[i], look));
    out.seen.push_back(realize(pictures[i], pyramids.back(), question, look));
    relevance.push_back(out.seen.back().relevance);
    // A picture that the question does not mean keeps its minimum and what nobody else needs.
    if (named && *named != static_cast<int>(i))
      for (float& v : relevance.back().map.values) v *= 0.25F;
    geometry.push_back(pyramids.back().geometry());
  }
  // The budget is that of one picture's question: all pictures share it.
  const auto shares =
      allocate_union(relevance, geometry, out.seen[0].allocation.budget, minimum, look.allocate);
  for (size_t i = 0; i < pictures.size(); ++i) {
    out.seen[i].allocation = shares[i];
    out.seen[i].tokens = realizing::realize(pyramids[i], shares[i]);
    out.tokens += shares[i].tokens();
    out.replies.push_back(backend.answer(out.seen[i].tokens, geometry[i], out.seen[i].query.text));
    out.uncertainty.push_back(uncertainty(out.replies.back().probabilities));
  }
  const auto surest = std::min_element(out.uncertainty.begin(), out.uncertainty.end());
  out.picture = named.value_or(static_cast<int>(surest - out.uncertainty.begin()));
  return out;
}

}  // namespace arrcoc::esper
