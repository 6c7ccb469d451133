// Which cells become tokens, fast: plain loops over one question's map of 16-pixel cells.
//
// quadtree() follows the splitting rule of the allocator of that name for maps whose cells are
// level-0 patches, without its care for the very last splits; a test says how close the two are.
#pragma once

#include <vector>

#include "arrcoc/map.h"
#include "lab/train/dice.h"
#include "lab/train/sample.h"

namespace arrcoc::training {

struct Cell {
  int level = 0, row = 0, col = 0;
  float relevance = 0;
};

// map [..][stride], cell (r,c) at r*stride+c; only the geometry's cells are read. finest: weight of
// splits into native patches; 0: the allocator's own.
std::vector<Cell> quadtree(const float* map, int stride, const Geometry& geometry, int budget,
                           float finest = 0);

// A map of the frame's 16-pixel cells as one of the native picture's: each native cell has the
// largest value that it overlaps, by the rule of the allocators (attending/field.h). out
// [native rows][native cols].
void to_native(const float* map, int stride, const Geometry& frame, const Geometry& native,
               float* out);

// Level-0 cells of the answer's boxes, then of the evidence, at most `most`.
std::vector<Cell> reading_cells(const Ask& ask, const Geometry& geometry, int most);

// All level-0 cells.
std::vector<Cell> dense_cells(const Geometry& geometry);

// The boxes as a map: 1 in answer cells, 0.9 in evidence.
void oracle_map(const Ask& ask, const Geometry& geometry, int stride, float* map);
// The same blurred and weakened, with distractors and noise: what a realizer may get wrong.
void noisy_map(const Ask& ask, const Geometry& geometry, int stride, Dice& dice, float* map);

// Share of the answer's boxes under cells of at most 32 pixels; -1 without a box.
float recall(const std::vector<Cell>& cells, const Ask& ask);

}  // namespace arrcoc::training
