// Maps, boxes and grids over a picture, without its pixels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace arrcoc {

// [rows, cols] values, row-major, y down, normally in [0,1]. Cell (r,c) covers the source pixels
// [c*cell_width, (c+1)*cell_width) x [r*cell_height, (r+1)*cell_height); the last row and column
// may reach past the picture's edge. Cell sizes need not be whole numbers.
struct Map {
  int rows = 0;
  int cols = 0;
  float cell_width = 0;   // source pixels
  float cell_height = 0;  // source pixels
  std::vector<float> values;

  float& at(int row, int col) { return values[static_cast<size_t>(row) * cols + col]; }
  float at(int row, int col) const { return values[static_cast<size_t>(row) * cols + col]; }
  bool empty() const { return values.empty(); }
  size_t size() const { return values.size(); }
  bool operator==(const Map&) const = default;
};

// A map of the same geometry filled with one value.
Map like(const Map& map, float value);

// (v - min) / (max - min) over this map alone; a constant map becomes all zeros.
Map min_max(const Map& map);

float mean(const Map& map);
float variance(const Map& map);  // population variance
float maximum(const Map& map);

// Same extent, other grid: area-weighted mean of the cells below each new cell.
Map resample(const Map& map, int rows, int cols);

// 1 - cosine of the two value vectors.
// Both maps must have one shape; two all-zero maps have distance 0.
float cosine_distance(const Map& a, const Map& b);

// Throws Error{numeric} naming `stage` when a value is NaN or infinite.
void require_finite(const Map& map, const std::string& stage);

// An axis-aligned rectangle in source pixels, [x0,x1) x [y0,y1).
struct Box {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  float width() const { return x1 - x0; }
  float height() const { return y1 - y0; }
  float area() const { return width() > 0 && height() > 0 ? width() * height() : 0.0F; }
  bool operator==(const Box&) const = default;
};
Box intersect(const Box& a, const Box& b);

// ---- Where patches lie: the grids of all mip levels of a picture, without its pixels.
//
// A patch is 16x16 pixels of one mip level. Level 0 is native detail, level l is the picture halved
// l times, so a patch of level l covers a square of 16*2^l native pixels. Level -1 is the picture
// enlarged twice (a patch covers 8x8 native pixels). Cells wholly outside the picture do not exist:
// the grid of level l has ceil(height / side(l)) rows and ceil(width / side(l)) columns.

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
