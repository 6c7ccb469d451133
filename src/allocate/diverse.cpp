#include <algorithm>
#include <cmath>
#include <queue>
#include <utility>

#include "allocate/selection.h"
#include "allocate/strategies.h"
#include "allocate/tree.h"

namespace arrcoc::allocating {

namespace {

constexpr size_t kMaxCandidates = 4096;
constexpr double kExhausted = 1e-9;
// Distance, in neighbourhoods, between relevance 0 and 1: cells of different relevance are
// different.
constexpr double kRelevanceSpan = 1.0;

struct Point {
  double x, y, relevance;
};

// Greedy maximum of det(L) for the kernel L_ij = q_i q_j exp(-|f_i - f_j|^2 / 2), where q is the
// relevance and f = (position / neighbourhood, relevance), by incremental Cholesky factors. What a
// point adds only shrinks as others are chosen, so factors are brought up to date only for the
// point that leads: O(k^2 n) at worst, usually far less.
class GreedyDeterminant {
 public:
  explicit GreedyDeterminant(std::vector<Point> points)
      : points_(std::move(points)), factors_(points_.size()) {
    for (size_t i = 0; i < points_.size(); ++i) {
      leaders_.push({points_[i].relevance * points_[i].relevance, i});
    }
  }

  // Indices in order of choice; fewer than `count` when the rest repeats what is chosen.
  std::vector<size_t> choose(size_t count) {
    while (chosen_.size() < count && !leaders_.empty()) {
      Leader leader = leaders_.top();
      leaders_.pop();
      if (factors_[leader.index].size() == chosen_.size()) {
        if (leader.gain < kExhausted) break;
        roots_.push_back(std::sqrt(leader.gain));
        chosen_.push_back(leader.index);
      } else {
        refresh(leader);
        leaders_.push(leader);
      }
    }
    return chosen_;
  }

 private:
  struct Leader {
    double gain;  // squared diagonal of the Cholesky factor: what the point would add
    size_t index;
    bool operator<(const Leader& other) const {
      return gain != other.gain ? gain < other.gain : index > other.index;
    }
  };

  double kernel(const Point& a, const Point& b) const {
    const double dx = a.x - b.x;
    const double dy = a.y - b.y;
    const double dr = (a.relevance - b.relevance) * kRelevanceSpan;
    return a.relevance * b.relevance * std::exp(-0.5 * (dx * dx + dy * dy + dr * dr));
  }

  void refresh(Leader& leader) {
    std::vector<double>& own = factors_[leader.index];
    while (own.size() < chosen_.size()) {
      const size_t step = own.size();
      const std::vector<double>& other = factors_[chosen_[step]];
      double value = kernel(points_[leader.index], points_[chosen_[step]]);
      for (size_t k = 0; k < step; ++k) value -= own[k] * other[k];
      own.push_back(value / roots_[step]);
      leader.gain -= own.back() * own.back();
    }
  }

  std::vector<Point> points_;
  std::vector<std::vector<double>> factors_;
  std::vector<size_t> chosen_;
  std::vector<double> roots_;
  std::priority_queue<Leader> leaders_;
};

// Relevant and unlike each other, at most 400 cells: the cost grows with the square of their
// number.
class Diverse : public Allocator {
 public:
  bool tiles() const override { return false; }
  Allocation allocate(const Relevance& relevance, const Geometry& geometry, const Budget& budget,
                      const AllocateOptions&) const override {
    const Field field(relevance.map, geometry);
    const auto count = static_cast<size_t>(std::min(kMaxBudget, budget.tokens));
    const Selection from = selection(field, geometry, static_cast<int>(count));
    const auto candidates = top(from.relevance, std::max(kMaxCandidates, count));
    // Half the distance between `count` points spread evenly over the candidates.
    const double reach = std::max(
        0.5, 0.5 * std::sqrt(static_cast<double>(candidates.size()) / static_cast<double>(count)));
    std::vector<Point> points;
    points.reserve(candidates.size());
    for (size_t index : candidates) {
      const Cell cell = from.cell(index);
      points.push_back({cell.col / reach, cell.row / reach,
                        std::max(0.0, static_cast<double>(from.relevance[index]))});
    }
    std::vector<size_t> chosen;
    std::vector<char> taken(candidates.size(), 0);
    for (size_t i : GreedyDeterminant(std::move(points)).choose(count)) {
      chosen.push_back(candidates[i]);
      taken[i] = 1;
    }
    // When nothing new is left, the most relevant of the rest.
    for (size_t i = 0; i < candidates.size() && chosen.size() < count; ++i) {
      if (taken[i] == 0) chosen.push_back(candidates[i]);
    }
    return finish(cells_of(from, chosen), field, geometry, budget, "diverse");
  }
};

}  // namespace

std::unique_ptr<Allocator> make_diverse() { return std::make_unique<Diverse>(); }

}  // namespace arrcoc::allocating
