// Where patches lie: the grids of all mip levels of a picture, without its pixels.
//
// A patch is 16x16 pixels of one mip level. Level 0 is native detail, level l is the picture halved
// l times, so a patch of level l covers a square of 16*2^l native pixels. Level -1 is the picture
// enlarged twice (a patch covers 8x8 native pixels). Cells wholly outside the picture do not exist:
// the grid of level l has ceil(height / side(l)) rows and ceil(width / side(l)) columns.
#pragma once

#include <cstdint>

namespace arrcoc {

inline constexpr int kPatch = 16;       // pixels along a patch, at its own level
inline constexpr int kMaxRoots = 64;    // root cells of one allocation, at most
inline constexpr int kFinestEver = -1;  // the finest level that exists at all

struct Grid {
  int rows = 0;
  int cols = 0;
  int64_t cells() const { return static_cast<int64_t>(rows) * cols; }
  bool operator==(const Grid&) const = default;
};

struct Geometry {
  int width = 0;   // native pixels
  int height = 0;  // native pixels
  int finest = 0;  // 0, or -1 when small print may be enlarged

  // Native pixels along one cell of `level`: 8, 16, 32, ... A power of two.
  static int64_t side(int level) { return int64_t{8} << (level + 1); }
  Grid grid(int level) const;
  bool exists(int level, int row, int col) const;
  // The first level whose grid is a single cell.
  int coarsest() const;
  // Patches of the whole picture at level 0: what a native encoder would get.
  int64_t native_tokens() const { return grid(0).cells(); }
  // The coarsest start for a budget: the finest level with at most max(1, budget/4) and at most
  // kMaxRoots real cells. 1024x1024: level 4 (16 roots) for 64..255 tokens, level 3 (64) from 256.
  int root_level(int budget) const;
  bool operator==(const Geometry&) const = default;
};

}  // namespace arrcoc
