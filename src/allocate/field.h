// The relevance map as seen by cells of the mip levels, whose grids need not align with the map's.
#pragma once

#include <compare>
#include <vector>

#include "arrcoc/map.h"

namespace arrcoc::allocating {

// A patch of a mip level.
struct Cell {
  int level = 0;
  int row = 0;
  int col = 0;
  bool operator==(const Cell&) const = default;
};

// Answers questions about the map under a cell without visiting the finest cells below it.
class Field {
 public:
  // Throws Error{bad_argument} for an empty map and Error{numeric} for NaN or infinity. `sums`
  // prepares mass() and variance().
  Field(const Map& map, const Geometry& geometry, bool sums = false);

  // The largest value under the cell: a finest-level cell takes the largest of the map cells that
  // it overlaps by more than a sliver, a coarser one the largest of its finest-level cells.
  float peak(const Cell& cell) const;
  // Integral of the map over the real part of the cell, in finest-level cell areas: value 1
  // throughout one whole finest-level cell is 1.
  double mass(const Cell& cell) const;
  // Variance of the map over the real part of the cell.
  double variance(const Cell& cell) const;

  bool constant() const { return constant_; }
  // The finest-level cell at the middle of the first map cell with the highest value.
  Cell top() const { return top_; }
  const Map& map() const { return maxima_.front(); }

 private:
  struct Range {  // map rows or columns, both ends included
    int first;
    int last;
  };
  struct Extent {  // native pixels
    double x0, y0, x1, y1;
    double area() const { return (x1 - x0) * (y1 - y0); }
  };
  Range overlapped(int64_t first, int64_t last, int pixels, double step, int count) const;
  void descend(int level, int row, int col, const Range& rows, const Range& cols,
               float& best) const;
  Extent extent(const Cell& cell) const;
  double integral(const std::vector<double>& table, double x, double y) const;
  double integral(const std::vector<double>& table, const Extent& area) const;
  void build_maxima();
  void build_sums();
  void find_top();

  Geometry geometry_;
  Grid finest_;
  std::vector<Map> maxima_;     // [0] is the map, [k] the largest value of 2^k x 2^k cells
  std::vector<double> values_;  // summed-area tables, (rows + 1) x (cols + 1), in map cells
  std::vector<double> squares_;
  bool constant_ = true;
  Cell top_;
};

}  // namespace arrcoc::allocating
