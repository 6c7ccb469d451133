// The quadtree of a film's frame of which some leaves are held from frames before.
#include <algorithm>
#include <limits>
#include <queue>

#include "allocate/tree.h"
#include "arrcoc/error.h"
#include "arrcoc/renew.h"

namespace arrcoc::allocating {

namespace {

constexpr int kNever = std::numeric_limits<int>::max();

// A cell, as it was held and as it is split now.
struct Node {
  int leaf = -1;                // its place among the held leaves
  int leaves = 0, current = 0;  // held ones at and below it
  int split = kNever;           // which split was this cell's
  float peak = -1;              // largest relevance under it; below 0: not known yet
  bool inner() const { return leaf < 0 && leaves > 0; }
  bool all_current() const { return leaves > 0 && current == leaves; }
};

class Nodes {
 public:
  explicit Nodes(const Forest& forest) : finest_(forest.finest()) {
    for (int level = finest_; level <= forest.root(); ++level) {
      cols_.push_back(forest.grid(level).cols);
      nodes_.emplace_back(static_cast<size_t>(forest.grid(level).cells()));
    }
  }
  Node& at(const Cell& cell) {
    const auto level = static_cast<size_t>(cell.level - finest_);
    return nodes_[level][static_cast<size_t>(cell.row) * cols_[level] + cell.col];
  }

 private:
  int finest_;
  std::vector<int> cols_;
  std::vector<std::vector<Node>> nodes_;  // finest first
};

// Splits in the order of their worth, and how many of them the tokens pay for.
class Renewing {
 public:
  Renewing(const Forest& forest, const Held& held, const Field& field, const RenewOptions& options,
           const AllocateOptions& how)
      : forest_(forest),
        nodes_(forest),
        field_(field),
        options_(options),
        how_(how),
        enough_(options.enough * maximum(field.map())) {
    for (size_t i = 0; i < held.allocation.leaves.size(); ++i) {
      const Leaf& leaf = held.allocation.leaves[i];
      Cell cell{leaf.level, leaf.row, leaf.col};
      nodes_.at(cell).leaf = static_cast<int>(i);
      for (; cell.level <= forest.root(); cell = {cell.level + 1, cell.row / 2, cell.col / 2}) {
        Node& node = nodes_.at(cell);
        open_ += node.leaf < 0 && node.leaves == 0;
        ++node.leaves;
        node.current += held.current[i];
      }
    }
  }

  // Leaves of the largest tree that costs at most `tokens`; none where there is no such tree.
  std::vector<Cell> run(int tokens) {
    const std::vector<Cell> roots = forest_.roots();
    leaves_ = static_cast<int>(roots.size());
    for (const Cell& root : roots) place(root);
    int paid = price_ <= tokens ? 0 : -1;
    // A split lowers the price by one at most, and only where the held tree is split as well.
    for (int splits = 0; !waiting_.empty() && price_ - open_ <= tokens;) {
      const Cell cell = waiting_.top().cell;
      waiting_.pop();
      if (!worth(cell)) continue;
      nodes_.at(cell).split = splits++;
      split(cell);
      if (price_ <= tokens) paid = splits;
    }
    std::vector<Cell> out;
    if (paid >= 0)
      for (const Cell& root : roots) gather(root, paid, out);
    return out;
  }

  float peak(const Cell& cell) {
    float& peak = nodes_.at(cell).peak;
    if (peak < 0) peak = field_.peak(cell);
    return peak;
  }

  // The held leaf that this cell is and stays; -1: it has to be bought.
  int held(const Cell& cell) {
    const Node& node = nodes_.at(cell);
    return node.leaf >= 0 && node.all_current() ? node.leaf : -1;
  }

 private:
  bool worth(const Cell& cell) {
    const int grown = leaves_ + forest_.children(cell).count - 1;
    if (grown > options_.most) return false;
    return grown <= options_.plain || nodes_.at(cell).inner() || peak(cell) >= enough_;
  }
  // Splits that cost nothing are always taken.
  Cell descended(Cell cell) const {
    for (Children below = forest_.children(cell); below.count == 1; below = forest_.children(cell))
      cell = below.cells[0];
    return cell;
  }
  void place(const Cell& at) {
    const Cell cell = descended(at);
    price_ += held(cell) < 0;
    if (forest_.children(cell).count == 0) return;
    double gain = peak(cell) * split_weight(cell.level, how_);
    const Node& node = nodes_.at(cell);
    if (node.inner() && node.all_current()) gain += static_cast<double>(options_.keep);
    waiting_.push({gain, cell});
  }
  void split(const Cell& cell) {
    const Children below = forest_.children(cell);
    open_ -= nodes_.at(cell).inner();
    price_ -= held(cell) < 0;
    for (int i = 0; i < below.count; ++i) place(below.cells[static_cast<size_t>(i)]);
    leaves_ += below.count - 1;
  }
  void gather(const Cell& at, int paid, std::vector<Cell>& out) {
    const Cell cell = descended(at);
    if (nodes_.at(cell).split >= paid) {
      out.push_back(cell);
      return;
    }
    const Children below = forest_.children(cell);
    for (int i = 0; i < below.count; ++i) gather(below.cells[static_cast<size_t>(i)], paid, out);
  }

  const Forest& forest_;
  Nodes nodes_;
  const Field& field_;
  const RenewOptions& options_;
  const AllocateOptions& how_;
  float enough_;
  std::priority_queue<Candidate> waiting_;
  int open_ = 0;  // cells that the held tree splits and this one does not yet
  int leaves_ = 0, price_ = 0;
};

// The held tree, its most relevant stale leaves bought again.
Renewal refreshed(const Held& held, const Field& field, int tokens) {
  Renewal out{held.allocation, {}, 0};
  std::vector<std::pair<float, int>> stale;
  for (size_t i = 0; i < held.current.size(); ++i) {
    Leaf& leaf = out.allocation.leaves[i];
    leaf.relevance = field.peak({leaf.level, leaf.row, leaf.col});
    out.held.push_back(static_cast<int>(i));
    if (!held.current[i]) stale.emplace_back(-leaf.relevance, static_cast<int>(i));
  }
  std::sort(stale.begin(), stale.end());
  stale.resize(std::min(stale.size(), static_cast<size_t>(std::max(0, tokens))));
  for (const auto& [relevance, i] : stale) out.held[static_cast<size_t>(i)] = -1;
  out.bought = static_cast<int>(stale.size());
  return out;
}

}  // namespace

Renewal renew(const Relevance& relevance, const Geometry& geometry, const Budget& budget,
              const Held& held, const RenewOptions& options, const AllocateOptions& how) {
  if (held.allocation.leaves.empty() || held.current.size() != held.allocation.leaves.size() ||
      !(held.allocation.geometry == geometry))
    throw Error(ErrorCode::bad_argument,
                "[renew] give the leaves of this geometry that are held, each current or not");
  const Field field(relevance.map, geometry);
  int root = geometry.root_level(options.plain);
  for (const Leaf& leaf : held.allocation.leaves) root = std::max(root, leaf.level);
  const Forest forest(geometry, root);
  Renewing renewing(forest, held, field, options, how);
  const std::vector<Cell> cells = renewing.run(budget.tokens);
  if (cells.empty()) return refreshed(held, field, budget.tokens);
  Budget own = budget;
  own.tokens = options.most;
  Renewal out{finish(cells, field, geometry, own, held.allocation.allocator), {}, 0};
  for (const Leaf& leaf : out.allocation.leaves) {
    out.held.push_back(renewing.held({leaf.level, leaf.row, leaf.col}));
    out.bought += out.held.back() < 0;
  }
  return out;
}

}  // namespace arrcoc::allocating
