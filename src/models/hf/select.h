// Which visual tokens an allocation asks for.
#pragma once

#include <cstdint>
#include <vector>

#include "arrcoc/allocate.h"
#include "models/hf/hf.h"

namespace arrcoc::hf {

// Appends the boxes of a view's tokens, row by row.
void add_boxes(const Features::View& view, std::vector<Box>& boxes);

struct Choice {
  std::vector<std::vector<int64_t>> groups;  // ascending by their first member
  std::vector<float> relevance;              // of each group
};

// One token (or, merging, one group) for every leaf of the allocation: of the size closest to the
// leaf's, nearest to its middle. Without merging the rest of the budget goes to further tokens of
// the finest, most relevant leaves. Never more than the budget.
Choice choose(const Features& features, const Allocation& allocation, bool merge);

// Of a picture in tiles and the whole: the whole, and as many tiles as the budget has room for, the
// first where most of the allocation's relevance lies (finer leaves weigh more). Ascending views.
std::vector<int64_t> choose_tiles(const Features& features, const Allocation& allocation);

// Relevance-tiered DeepStack: zeroes the rows of levels that a token's relevance does not earn.
std::vector<at::Tensor> tiered(const std::vector<at::Tensor>& deepstack,
                               const std::vector<float>& relevance);

}  // namespace arrcoc::hf
