#include "lab/train/outcome.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "arrcoc/allocate.h"
#include "lab/train/peaks.h"
#include "models/tiny/realizer.h"

namespace arrcoc::training {
namespace {

constexpr float kFaintest = 1e-9F;  // relevance below this counts as this

struct Open {
  double log_gain;
  int level, row, col, where;
};

}  // namespace

DrawnTree drawn_quadtree(const float* map, int stride, const Geometry& geometry, int budget,
                         float temperature, Dice& dice, float* score) {
  const int roots = std::max(0, geometry.root_level(budget));
  const Peaks peaks(map, stride, geometry, roots);
  DrawnTree out;
  std::vector<Open> open;
  const auto children = [&](int level, int row, int col) {
    int count = 0;
    if (level - 1 >= geometry.finest)
      for (int i = 0; i < 4; ++i)
        count += geometry.exists(level - 1, 2 * row + i / 2, 2 * col + i % 2) ? 1 : 0;
    return count;
  };
  const auto add = [&](int level, int row, int col) {
    const float peak = peaks.at(level, row, col);
    if (children(level, row, col) == 0) {
      out.cells.push_back({level, row, col, peak});
      return;
    }
    const double gain = std::max(peak, kFaintest) * split_weight(level);
    open.push_back({std::log(gain) / temperature, level, row, col, peaks.where(level, row, col)});
  };
  const Grid grid = geometry.grid(roots);
  int spent = static_cast<int>(grid.cells());
  for (int r = 0; r < grid.rows; ++r)
    for (int c = 0; c < grid.cols; ++c) add(roots, r, c);
  std::vector<double> chances;
  while (!open.empty()) {
    double top = -1e300;
    for (const Open& node : open) top = std::max(top, node.log_gain);
    chances.resize(open.size());
    double sum = 0;
    for (size_t i = 0; i < open.size(); ++i) sum += chances[i] = std::exp(open[i].log_gain - top);
    double left = dice.uniform() * sum;
    size_t pick = 0;
    while (pick + 1 < open.size() && left >= chances[pick]) left -= chances[pick++];
    const Open node = open[pick];
    const int more = children(node.level, node.row, node.col) - 1;
    if (spent + more > budget) break;  // the rest stays whole
    out.log_probability += std::log(chances[pick] / sum);
    for (size_t i = 0; i < open.size(); ++i)
      score[open[i].where] -= static_cast<float>(chances[i] / sum / temperature);
    score[node.where] += 1 / temperature;
    spent += more;
    open[pick] = open.back();
    open.pop_back();
    for (int i = 0; i < 4; ++i) {
      const int row = 2 * node.row + i / 2, col = 2 * node.col + i % 2;
      if (geometry.exists(node.level - 1, row, col)) add(node.level - 1, row, col);
    }
  }
  for (const Open& node : open)
    out.cells.push_back({node.level, node.row, node.col, peaks.at(node.level, node.row, node.col)});
  return out;
}

at::Tensor rewards(const at::Tensor& logits, const at::Tensor& expected) {
  const at::NoGradGuard no_grad;
  const at::Tensor asked = expected.ne(tiny::kPad);
  const at::Tensor right = logits.argmax(2).eq(expected).logical_and(asked).sum(1);
  const at::Tensor all = asked.sum(1);
  const at::Tensor partial = at::where(right.mul(2).gt(all), at::full({}, 0.5, logits.device()),
                                       at::full({}, -1.0, logits.device()));
  return at::where(right.eq(all), at::ones({}, partial.options()), partial);
}

at::Tensor outcome_loss(const at::Tensor& logits, const at::Tensor& scores,
                        const at::Tensor& rewards, int taught, int each) {
  at::Tensor credit;
  {
    const at::NoGradGuard no_grad;
    const int64_t pages = rewards.size(0) / each, g = scores.size(1);
    const at::Tensor group = rewards.view({pages, each / taught, taught});
    const at::Tensor advantage = group - group.mean(1, true);
    credit =
        (scores.view({pages, each / taught, taught, g, g}) * advantage.unsqueeze(3).unsqueeze(4))
            .sum(1)
            .view({pages * taught, g, g}) *
        (tiny::kSharpness / static_cast<double>(rewards.size(0)));
  }
  return -(credit * logits.to(at::kFloat)).sum();
}

}  // namespace arrcoc::training
