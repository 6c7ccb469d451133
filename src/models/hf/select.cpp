#include "models/hf/select.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "arrcoc/error.h"

namespace arrcoc::hf {
namespace {

struct Target {
  Box box;  // source pixels
  float relevance = 0;
};

// Leaves in source pixels, the most relevant first (finer first among equals).
std::vector<Target> targets(const Features& features, const Allocation& allocation) {
  const Geometry& geometry = allocation.geometry;
  float x = static_cast<float>(features.width) / static_cast<float>(geometry.width);
  float y = static_cast<float>(features.height) / static_cast<float>(geometry.height);
  std::vector<Target> out;
  for (const Leaf& leaf : allocation.leaves) {
    Box box = allocating::box_of(geometry, leaf);
    out.push_back({{box.x0 * x, box.y0 * y, box.x1 * x, box.y1 * y}, leaf.relevance});
  }
  std::stable_sort(out.begin(), out.end(), [](const Target& a, const Target& b) {
    return a.relevance != b.relevance ? a.relevance > b.relevance : a.box.area() < b.box.area();
  });
  return out;
}

float middle_x(const Box& box) { return (box.x0 + box.x1) / 2; }
float middle_y(const Box& box) { return (box.y0 + box.y1) / 2; }

bool inside(const Box& box, float x, float y) {
  return x >= box.x0 && x < box.x1 && y >= box.y0 && y < box.y1;
}

// Tokens beside each other, one after another: as high, at the same height.
struct Row {
  size_t begin, end;
  float y0, y1;
};

std::vector<Row> rows_of(const std::vector<Box>& boxes) {
  std::vector<Row> out;
  for (size_t i = 0; i < boxes.size(); ++i) {
    const Box& box = boxes[i];
    if (out.empty() || out.back().y0 != box.y0 || out.back().y1 != box.y1)
      out.push_back({i, i, box.y0, box.y1});
    out.back().end = i + 1;
  }
  return out;
}

// Tokens that stand for a leaf: those with their middle in it, or the one its middle lies in.
std::vector<int64_t> candidates(const std::vector<Box>& boxes, const std::vector<Row>& rows,
                                const Box& leaf) {
  std::vector<int64_t> out;
  const float middle = middle_y(leaf);
  for (const Row& row : rows) {
    const float y = (row.y0 + row.y1) / 2;
    if ((y < leaf.y0 || y >= leaf.y1) && (middle < row.y0 || middle >= row.y1)) continue;
    for (size_t i = row.begin; i < row.end; ++i)
      if (inside(leaf, middle_x(boxes[i]), middle_y(boxes[i])) ||
          inside(boxes[i], middle_x(leaf), middle))
        out.push_back(static_cast<int64_t>(i));
  }
  return out;
}

// Smaller is better: first the size, in octaves of area, then the distance of the middles.
std::pair<int, float> fitness(const Box& token, const Box& leaf) {
  float octaves = std::abs(std::log2(token.area() / std::max(leaf.area(), 1e-6F)));
  float dx = middle_x(token) - middle_x(leaf);
  float dy = middle_y(token) - middle_y(leaf);
  return {static_cast<int>(std::lround(octaves)), dx * dx + dy * dy};
}

int64_t best_free(const std::vector<Box>& boxes, const std::vector<int64_t>& among,
                  const std::vector<bool>& taken, const Box& leaf) {
  int64_t best = -1;
  std::pair<int, float> least;
  for (int64_t token : among) {
    auto at = static_cast<size_t>(token);
    if (taken[at]) continue;
    auto fit = fitness(boxes[at], leaf);
    if (best < 0 || fit < least) {
      best = token;
      least = fit;
    }
  }
  return best;
}

// Leaf density per token: how much of the budget the allocation spent on its place.
void fill(const std::vector<Box>& boxes, const std::vector<Target>& leaves, size_t budget,
          std::vector<bool>& taken, Choice& choice) {
  struct Rest {
    int64_t token;
    float area, relevance;
  };
  std::vector<Rest> rest;
  if (choice.groups.size() >= budget) return;
  for (size_t i = 0; i < boxes.size(); ++i) {
    if (taken[i]) continue;
    Rest one{static_cast<int64_t>(i), std::numeric_limits<float>::max(), 0};
    for (const Target& leaf : leaves) {
      if (!inside(leaf.box, middle_x(boxes[i]), middle_y(boxes[i]))) continue;
      one.area = leaf.box.area();
      one.relevance = leaf.relevance;
      break;
    }
    rest.push_back(one);
  }
  std::stable_sort(rest.begin(), rest.end(), [](const Rest& a, const Rest& b) {
    return a.area != b.area ? a.area < b.area : a.relevance > b.relevance;
  });
  for (const Rest& one : rest) {
    if (choice.groups.size() >= budget) return;
    choice.groups.push_back({one.token});
    choice.relevance.push_back(one.relevance);
    taken[static_cast<size_t>(one.token)] = true;
  }
}

void sort_by_place(Choice& choice) {
  std::vector<size_t> order(choice.groups.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return choice.groups[a].front() < choice.groups[b].front();
  });
  Choice sorted;
  for (size_t i : order) {
    sorted.groups.push_back(std::move(choice.groups[i]));
    sorted.relevance.push_back(choice.relevance[i]);
  }
  choice = std::move(sorted);
}

}  // namespace

Choice choose(const Features& features, const Allocation& allocation, bool merge) {
  if (allocation.leaves.empty())
    throw Error(ErrorCode::bad_argument,
                "the allocation has no leaves to keep tokens by (allocator '" +
                    allocation.allocator + "')");
  if (allocation.budget.tokens < 1 || allocation.geometry.width < 1 ||
      allocation.geometry.height < 1)
    throw Error(ErrorCode::bad_argument, "the allocation has no budget or no picture");
  std::vector<Target> leaves = targets(features, allocation);
  auto budget = std::min(static_cast<size_t>(allocation.budget.tokens), features.boxes.size());
  std::vector<bool> taken(features.boxes.size(), false);
  const std::vector<Row> rows = rows_of(features.boxes);
  Choice choice;
  for (const Target& leaf : leaves) {
    if (choice.groups.size() >= budget) break;
    std::vector<int64_t> among = candidates(features.boxes, rows, leaf.box);
    int64_t best = best_free(features.boxes, among, taken, leaf.box);
    if (best < 0) continue;
    std::vector<int64_t> group = {best};
    float size = features.boxes[static_cast<size_t>(best)].area();
    for (int64_t token : among) {
      auto at = static_cast<size_t>(token);
      bool alike = std::abs(std::log2(features.boxes[at].area() / size)) < 0.5F;
      if (merge && alike && token != best && !taken[at]) group.push_back(token);
    }
    std::sort(group.begin(), group.end());
    for (int64_t token : group) taken[static_cast<size_t>(token)] = true;
    choice.groups.push_back(std::move(group));
    choice.relevance.push_back(leaf.relevance);
  }
  if (!merge) fill(features.boxes, leaves, budget, taken, choice);
  if (choice.groups.empty())
    throw Error(ErrorCode::bad_argument, "no visual token lies where the allocation looks");
  sort_by_place(choice);
  return choice;
}

std::vector<int64_t> choose_tiles(const Features& features, const Allocation& allocation) {
  struct Tile {
    int64_t view;
    float worth;
  };
  std::vector<Tile> tiles;
  std::vector<int64_t> out;
  const std::vector<Target> leaves = targets(features, allocation);
  for (size_t i = 0; i < features.views.size(); ++i) {
    const Features::View& view = features.views[i];
    if (view.tile_row == 0) {
      out.push_back(static_cast<int64_t>(i));
      continue;
    }
    Tile tile{static_cast<int64_t>(i), 0};
    for (const Target& leaf : leaves) {
      const float x = std::min(leaf.box.x1, view.box.x1) - std::max(leaf.box.x0, view.box.x0);
      const float y = std::min(leaf.box.y1, view.box.y1) - std::max(leaf.box.y0, view.box.y0);
      if (x > 0 && y > 0) tile.worth += leaf.relevance * x * y / std::max(leaf.box.area(), 1e-6F);
    }
    tiles.push_back(tile);
  }
  std::stable_sort(tiles.begin(), tiles.end(),
                   [](const Tile& a, const Tile& b) { return a.worth > b.worth; });
  const auto tokens = [&](int64_t view) {
    const Features::View& at = features.views[static_cast<size_t>(view)];
    return at.rows * at.cols;
  };
  int64_t spent = 0;
  for (int64_t view : out) spent += tokens(view);
  for (const Tile& tile : tiles) {
    spent += tokens(tile.view);
    if (spent > allocation.budget.tokens) break;
    out.push_back(tile.view);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<at::Tensor> tiered(const std::vector<at::Tensor>& deepstack,
                               const std::vector<float>& relevance) {
  std::vector<at::Tensor> out;
  for (size_t level = 0; level < deepstack.size(); ++level) {
    std::vector<float> mask;
    for (float r : relevance) {
      size_t only = r > 0.4F ? deepstack.size() / 2 : deepstack.size() - 1;
      mask.push_back(r > 0.7F || level == only ? 1.0F : 0.0F);
    }
    out.push_back(deepstack[level] *
                  at::tensor(mask, at::kFloat).unsqueeze(1).to(deepstack[level].options()));
  }
  return out;
}

}  // namespace arrcoc::hf
