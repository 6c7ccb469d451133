// A scalar field over a picture: what the knowing and balancing stages hand on.
#pragma once

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

}  // namespace arrcoc
