#include "allocate/tree.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <unordered_set>

namespace arrcoc::allocating {

Forest::Forest(const Geometry& geometry, int root_level)
    : finest_(geometry.finest), root_(root_level) {
  for (int level = finest_; level <= root_; ++level) grids_.push_back(geometry.grid(level));
}

std::vector<Cell> Forest::roots() const {
  std::vector<Cell> out;
  const Grid grid = this->grid(root_);
  for (int r = 0; r < grid.rows; ++r) {
    for (int c = 0; c < grid.cols; ++c) out.push_back(Cell{root_, r, c});
  }
  return out;
}

Children Forest::children(const Cell& cell) const {
  Children out;
  if (cell.level == finest_) return out;
  const Grid grid = this->grid(cell.level - 1);
  for (int r = 2 * cell.row; r < std::min(2 * cell.row + 2, grid.rows); ++r) {
    for (int c = 2 * cell.col; c < std::min(2 * cell.col + 2, grid.cols); ++c) {
      out.cells[out.count++] = Cell{cell.level - 1, r, c};
    }
  }
  return out;
}

bool Candidate::operator<(const Candidate& other) const {
  return std::tuple(gain, cell.level, -cell.row, -cell.col) <
         std::tuple(other.gain, other.cell.level, -other.cell.row, -other.cell.col);
}

namespace {

// One tree while tokens are being handed out.
class Growing {
 public:
  explicit Growing(const Tree& tree) : tree_(tree) {
    const std::vector<Cell> roots = tree.forest.roots();
    tokens_ = static_cast<int>(roots.size());
    for (const Cell& root : roots) place(root);
  }
  int tokens() const { return tokens_; }
  bool waits() const { return !waiting_.empty(); }
  double best() const { return waiting_.top().gain; }
  // Splits the best cell if that costs at most `spare`, else leaves it whole. Returns the cost.
  int split(int spare) {
    const Cell cell = waiting_.top().cell;
    waiting_.pop();
    const Children below = tree_.forest.children(cell);
    if (below.count - 1 > spare) {
      leaves_.push_back(cell);
      return 0;
    }
    for (int i = 0; i < below.count; ++i) place(below.cells[static_cast<size_t>(i)]);
    tokens_ += below.count - 1;
    return below.count - 1;
  }
  std::vector<Cell> leaves() { return std::move(leaves_); }

 private:
  void place(Cell cell) {
    Children below = tree_.forest.children(cell);
    while (below.count == 1) {  // the split costs nothing
      cell = below.cells[0];
      below = tree_.forest.children(cell);
    }
    const double worth = below.count == 0 ? kNoSplit : tree_.gain(cell);
    if (worth < 0) {
      leaves_.push_back(cell);
    } else {
      waiting_.push(Candidate{worth, cell});
    }
  }

  const Tree& tree_;
  std::priority_queue<Candidate> waiting_;
  std::vector<Cell> leaves_;
  int tokens_ = 0;
};

}  // namespace

std::vector<std::vector<Cell>> split_greedily(const std::vector<Tree>& trees, int budget) {
  std::vector<Growing> growing(trees.begin(), trees.end());
  int spare = budget;
  for (const Growing& tree : growing) spare -= tree.tokens();
  for (size_t i = 0; i < trees.size(); ++i)
    while (growing[i].tokens() < trees[i].least && growing[i].waits())
      spare -= growing[i].split(spare);
  for (;;) {
    Growing* best = nullptr;
    for (Growing& tree : growing)
      if (tree.waits() && (!best || tree.best() > best->best())) best = &tree;
    if (!best) break;
    spare -= best->split(spare);
  }
  std::vector<std::vector<Cell>> out;
  for (Growing& tree : growing) out.push_back(tree.leaves());
  return out;
}

std::vector<Cell> split_greedily(const Forest& forest, int budget, const Gain& gain) {
  return std::move(split_greedily({{forest, gain, 0}}, budget).front());
}

namespace {

// Keeps the one-level rule: a cell may be split only when each neighbour of its own level exists as
// a node, that is when the neighbour's parent has been split.
class BalancedSplitter {
 public:
  BalancedSplitter(const Forest& forest, int budget, const Gain& gain)
      : forest_(forest), gain_(gain) {
    const std::vector<Cell> roots = forest.roots();
    spare_ = budget - static_cast<int>(roots.size());
    for (const Cell& root : roots) offer(root);
  }

  std::vector<Cell> run() {
    while (!waiting_.empty()) {
      const Cell cell = waiting_.top().cell;
      waiting_.pop();
      if (!is_split(cell)) split_if_it_fits(cell, spare_);
    }
    take_free_splits();
    std::vector<Cell> leaves;
    for (const Cell& cell : nodes_) {
      if (!is_split(cell)) leaves.push_back(cell);
    }
    return leaves;
  }

 private:
  static uint64_t key(const Cell& cell) {
    // 28 bits for rows and columns each: pictures are at most 2^31 pixels wide, cells at least 8.
    return (static_cast<uint64_t>(cell.level + 1) << 56) | (static_cast<uint64_t>(cell.row) << 28) |
           static_cast<uint64_t>(cell.col);
  }
  bool is_split(const Cell& cell) const { return split_.count(key(cell)) != 0; }

  void offer(const Cell& cell) {
    nodes_.push_back(cell);
    if (forest_.children(cell).count == 0) return;
    const double worth = gain_(cell);
    if (worth >= 0) waiting_.push(Candidate{worth, cell});
  }

  // Appends the cell and all that its split forces, coarser cells before finer ones.
  void closure(const Cell& cell, std::vector<Cell>& out) const {
    if (std::find(out.begin(), out.end(), cell) != out.end()) return;
    if (cell.level < forest_.root()) {
      const Grid grid = forest_.grid(cell.level);
      constexpr int kSteps[4][2] = {{-1, 0}, {0, -1}, {0, 1}, {1, 0}};
      for (const auto& step : kSteps) {
        const int r = cell.row + step[0];
        const int c = cell.col + step[1];
        if (r < 0 || c < 0 || r >= grid.rows || c >= grid.cols) continue;
        const Cell parent{cell.level + 1, r / 2, c / 2};
        if (!is_split(parent)) closure(parent, out);
      }
    }
    out.push_back(cell);
  }

  bool split_if_it_fits(const Cell& cell, int allowed) {
    std::vector<Cell> forced;
    closure(cell, forced);
    int cost = 0;
    for (const Cell& each : forced) cost += forest_.children(each).count - 1;
    if (cost > allowed) return false;
    spare_ -= cost;
    for (const Cell& each : forced) {
      split_.insert(key(each));
      const Children below = forest_.children(each);
      for (int i = 0; i < below.count; ++i) offer(below.cells[i]);
    }
    return true;
  }

  // A free split may wait for a neighbour's, so pass over the leaves until nothing changes.
  void take_free_splits() {
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 0; i < nodes_.size(); ++i) {
        const Cell cell = nodes_[i];
        if (is_split(cell) || forest_.children(cell).count != 1) continue;
        changed |= split_if_it_fits(cell, 0);
      }
    }
  }

  const Forest& forest_;
  const Gain& gain_;
  int spare_ = 0;
  std::priority_queue<Candidate> waiting_;
  std::vector<Cell> nodes_;
  std::unordered_set<uint64_t> split_;
};

}  // namespace

std::vector<Cell> split_balanced(const Forest& forest, int budget, const Gain& gain) {
  return BalancedSplitter(forest, budget, gain).run();
}

bool raster_before(const Leaf& a, const Leaf& b) {
  const int64_t side_a = Geometry::side(a.level);
  const int64_t side_b = Geometry::side(b.level);
  return std::tuple(a.row * side_a, a.col * side_a, -a.level) <
         std::tuple(b.row * side_b, b.col * side_b, -b.level);
}

Allocation finish(const std::vector<Cell>& cells, const Field& field, const Geometry& geometry,
                  const Budget& budget, const std::string& allocator) {
  Allocation out;
  out.geometry = geometry;
  out.budget = budget;
  out.allocator = allocator;
  out.leaves.reserve(cells.size());
  for (const Cell& cell : cells) {
    out.leaves.push_back(Leaf{cell.level, cell.row, cell.col, field.peak(cell)});
  }
  std::sort(out.leaves.begin(), out.leaves.end(), raster_before);
  return out;
}

}  // namespace arrcoc::allocating
