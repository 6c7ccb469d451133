#include <algorithm>

#include "allocate/clusters.h"
#include "allocate/strategies.h"
#include "allocate/tree.h"

namespace arrcoc::allocating {

namespace {

constexpr int kClusters = 50;
constexpr size_t kBestClusters = 10;
constexpr size_t kEach = 50;
constexpr int kKept = 273;

// Clusters first, then cells: 50 clusters -> the best 10 -> 50 cells of each -> the best 273. A
// cluster is worth (mean + largest relevance) / 2; the relevance carries the question, so the
// question decides which clusters are opened.
class Cascade : public Allocator {
 public:
  bool tiles() const override { return false; }
  Allocation allocate(const Relevance& relevance, const Geometry& geometry, const Budget& budget,
                      const AllocateOptions&) const override {
    const Field field(relevance.map, geometry);
    const int count = std::min(kKept, budget.tokens);
    const Selection from = selection(field, geometry, count);
    std::vector<std::vector<size_t>> clusters = members(cluster(from, kClusters));
    std::vector<float> worth;
    for (const auto& cells : clusters) worth.push_back(score(from, cells));
    std::vector<size_t> candidates;
    for (size_t which : top(worth, kBestClusters)) {
      std::vector<float> values;
      for (size_t index : clusters[which]) values.push_back(from.relevance[index]);
      for (size_t i : top(values, kEach)) candidates.push_back(clusters[which][i]);
    }
    std::sort(candidates.begin(), candidates.end());  // ties in raster order
    std::vector<float> values;
    for (size_t index : candidates) values.push_back(from.relevance[index]);
    std::vector<Cell> cells;
    for (size_t i : top(values, static_cast<size_t>(count))) {
      cells.push_back(from.cell(candidates[i]));
    }
    return finish(cells, field, geometry, budget, "cascade");
  }

 private:
  static std::vector<std::vector<size_t>> members(const std::vector<int>& labels) {
    std::vector<std::vector<size_t>> out(
        static_cast<size_t>(*std::max_element(labels.begin(), labels.end())) + 1);
    for (size_t i = 0; i < labels.size(); ++i) out[static_cast<size_t>(labels[i])].push_back(i);
    std::erase_if(out, [](const auto& cells) { return cells.empty(); });
    return out;
  }

  static float score(const Selection& from, const std::vector<size_t>& cells) {
    double sum = 0;
    float largest = from.relevance[cells.front()];
    for (size_t index : cells) {
      sum += from.relevance[index];
      largest = std::max(largest, from.relevance[index]);
    }
    return static_cast<float>(0.5 * sum / static_cast<double>(cells.size()) + 0.5 * largest);
  }
};

}  // namespace

std::unique_ptr<Allocator> make_cascade() { return std::make_unique<Cascade>(); }

}  // namespace arrcoc::allocating
