// Several pictures under one budget.
#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <queue>
#include <string_view>

#include "allocate/tree.h"
#include "arrcoc/error.h"
#include "arrcoc/esper.h"

namespace arrcoc::esper {

namespace {

using allocating::Candidate;
using allocating::Cell;
using allocating::Children;
using allocating::Field;
using allocating::Forest;

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
    out.push_back(
        allocating::finish(trees[i].leaves, trees[i].field, geometry[i], own, "quadtree"));
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

namespace {

constexpr std::array<const char*, 6> kNthNames = {"first",  "second", "third",
                                                  "fourth", "fifth",  "sixth"};

std::string name_of(int picture) {
  if (picture < static_cast<int>(kNthNames.size()))
    return std::string(kNthNames[static_cast<size_t>(picture)]) + " picture";
  return "picture " + std::to_string(picture + 1);
}

// Where two pictures of one size differ, on the cells of `shape`; nothing where sizes differ.
Map difference(const Picture& a, const Picture& b, const Map& shape) {
  if (a.width() != b.width() || a.height() != b.height()) return {};
  const at::Tensor apart =
      (a.rgb.to(at::kFloat) - b.rgb.to(at::kFloat)).abs().amax(0).div(255.0).unsqueeze(0);
  const at::Tensor cells =
      texture::area_pool(apart.unsqueeze(0), shape.rows, shape.cols).contiguous();
  Map out = shape;
  out.values.assign(cells.data_ptr<float>(), cells.data_ptr<float>() + cells.numel());
  return min_max(out);
}

// The picture that a comparison points to, from what each picture answered.
int compared(const Comparison& comparison, const PicturesResult& r) {
  using By = Comparison::By;
  if (comparison.by == By::difference) return 0;  // what the first shows and the second does not
  int best = -1;
  double best_value = 0;
  for (size_t i = 0; i < r.replies.size(); ++i) {
    double value = 0;
    if (comparison.by == By::presence) {
      const double sure = 1 - r.uncertainty[i];
      value = r.replies[i].text == "none" ? -sure : sure;
    } else {
      const auto number = number_in(r.replies[i].text);
      if (!number) continue;
      value = comparison.by == By::larger ? *number : -*number;
    }
    if (best < 0 || value > best_value) {
      best = static_cast<int>(i);
      best_value = value;
    }
  }
  return best;
}

}  // namespace

PicturesResult ask_pictures(const std::vector<Picture>& pictures, const std::string& question,
                            const Backend& backend, const arrcoc::Options& look, int minimum) {
  if (pictures.empty()) throw Error(ErrorCode::bad_argument, "there is no picture to ask about");
  PicturesResult out;
  std::vector<Pyramid> pyramids;
  std::vector<Relevance> relevance;
  std::vector<Geometry> geometry;
  const Query query = parse_query(question);
  if (pictures.size() > 1) out.comparison = comparison_in(query);
  std::optional<int> named;
  if (!out.comparison) named = named_picture(query, static_cast<int>(pictures.size()));
  const bool apart = out.comparison && out.comparison->by == Comparison::By::difference;
  const std::string asked = out.comparison && !apart ? out.comparison->each : question;
  for (size_t i = 0; i < pictures.size(); ++i) {
    pyramids.push_back(pyramid_of(pictures[i], look));
    out.seen.push_back(realize(pictures[i], pyramids.back(), asked, look));
    relevance.push_back(out.seen.back().relevance);
    Map& map = relevance.back().map;
    // A picture that the question does not mean keeps its minimum and what nobody else needs.
    if (named && *named != static_cast<int>(i))
      for (float& v : map.values) v *= 0.25F;
    if (apart)
      if (const Map other = difference(pictures[i], pictures[i == 0 ? 1 : 0], map); !other.empty())
        map = other;
    geometry.push_back(pyramids.back().geometry());
  }
  // The budget is that of one picture's question: all pictures share it.
  const auto shares =
      allocate_union(relevance, geometry, out.seen[0].allocation.budget, minimum, look.allocate);
  for (size_t i = 0; i < pictures.size(); ++i) {
    out.seen[i].allocation = shares[i];
    out.seen[i].tokens = cutting::realize(pyramids[i], shares[i]);
    out.tokens += shares[i].tokens();
    out.replies.push_back(backend.answer(out.seen[i].tokens, geometry[i], out.seen[i].query.text));
    out.uncertainty.push_back(uncertainty(out.replies.back().probabilities));
  }
  const auto surest = std::min_element(out.uncertainty.begin(), out.uncertainty.end());
  const auto sure = static_cast<int>(surest - out.uncertainty.begin());
  const int found = out.comparison ? compared(*out.comparison, out) : -1;
  out.picture = found >= 0 ? found : named ? *named : sure;
  out.text =
      found >= 0 && !apart ? name_of(found) : out.replies[static_cast<size_t>(out.picture)].text;
  return out;
}

}  // namespace arrcoc::esper
