// The relevance under a cell, against visiting every pixel or every finest cell.
#include "allocate/field.h"

#include <gtest/gtest.h>

#include "arrcoc/error.h"
#include "support.h"

namespace arrcoc::allocating {
namespace {

// The definition, spelled out: a finest cell takes the largest map value that it overlaps by more
// than an eighth of the smaller of the two, along both axes.
float slow_peak(const Map& map, const Geometry& geometry, const Cell& cell) {
  const double side = static_cast<double>(Geometry::side(geometry.finest));
  const int scale = 1 << (cell.level - geometry.finest);
  const Grid grid = geometry.grid(geometry.finest);
  float best = -1;
  for (int fr = cell.row * scale; fr < std::min(grid.rows, (cell.row + 1) * scale); ++fr) {
    for (int fc = cell.col * scale; fc < std::min(grid.cols, (cell.col + 1) * scale); ++fc) {
      const double x0 = fc * side;
      const double y0 = fr * side;
      const double x1 = std::min<double>(geometry.width, x0 + side);
      const double y1 = std::min<double>(geometry.height, y0 + side);
      for (int r = 0; r < map.rows; ++r) {
        const double tall = std::min<double>(y1, (r + 1) * static_cast<double>(map.cell_height)) -
                            std::max<double>(y0, r * static_cast<double>(map.cell_height));
        if (tall <= std::min<double>(y1 - y0, map.cell_height) / 8 + 1e-9) continue;
        for (int c = 0; c < map.cols; ++c) {
          const double wide = std::min<double>(x1, (c + 1) * static_cast<double>(map.cell_width)) -
                              std::max<double>(x0, c * static_cast<double>(map.cell_width));
          if (wide <= std::min<double>(x1 - x0, map.cell_width) / 8 + 1e-9) continue;
          best = std::max(best, map.at(r, c));
        }
      }
    }
  }
  return best;
}

float value_at(const Map& map, double x, double y) {
  const int r = std::min(static_cast<int>(y / map.cell_height), map.rows - 1);
  const int c = std::min(static_cast<int>(x / map.cell_width), map.cols - 1);
  return map.at(r, c);
}

TEST(Field, PeakIsTheLargestValueUnderTheFinestCells) {
  std::mt19937 random(1);
  for (int round = 0; round < 60; ++round) {
    Geometry geometry{1 + static_cast<int>(random() % 300), 1 + static_cast<int>(random() % 300),
                      round % 2 == 0 ? 0 : -1};
    Map map = map_over(geometry, 1 + static_cast<int>(random() % 23),
                       1 + static_cast<int>(random() % 23));
    fill_random(map, random);
    const Field field(map, geometry);
    for (int level = geometry.finest; level <= 5; ++level) {
      const Grid grid = geometry.grid(level);
      for (int r = 0; r < grid.rows; ++r) {
        for (int c = 0; c < grid.cols; ++c) {
          const Cell cell{level, r, c};
          ASSERT_EQ(field.peak(cell), slow_peak(map, geometry, cell))
              << geometry.width << "x" << geometry.height << " map " << map.cols << "x" << map.rows
              << " level " << level << " row " << r << " col " << c;
        }
      }
    }
  }
}

TEST(Field, AParentSeesExactlyWhatItsChildrenSee) {
  std::mt19937 random(2);
  const Geometry geometry{1000, 777, 0};
  Map map = map_over(geometry, 51, 37);
  fill_random(map, random);
  const Field field(map, geometry);
  for (int level = 1; level <= 5; ++level) {
    const Grid grid = geometry.grid(level);
    for (int r = 0; r < grid.rows; ++r) {
      for (int c = 0; c < grid.cols; ++c) {
        float children = -1;
        for (int i = 0; i < 4; ++i) {
          const Cell child{level - 1, 2 * r + i / 2, 2 * c + i % 2};
          if (!geometry.exists(child.level, child.row, child.col)) continue;
          children = std::max(children, field.peak(child));
        }
        ASSERT_EQ(field.peak(Cell{level, r, c}), children);
      }
    }
  }
}

TEST(Field, RoundedCellSizesDoNotLeakAValueIntoTheNextPatch) {
  const Geometry geometry{1024, 1024, 0};
  Map map{64, 64, 16.001F, 15.999F, {}};
  map = like(map, 0);
  map.at(10, 10) = 1;
  const Field field(map, geometry);
  for (int r = 0; r < 64; ++r) {
    for (int c = 0; c < 64; ++c) {
      ASSERT_EQ(field.peak(Cell{0, r, c}), r == 10 && c == 10 ? 1.0F : 0.0F) << r << "," << c;
    }
  }
}

TEST(Field, MassAndVarianceAreIntegralsOverTheRealPixels) {
  std::mt19937 random(3);
  const Geometry geometry{75, 53, 0};
  Map map{5, 9, 9.0F, 12.0F, {}};  // reaches past the right edge, ends at 60 > 53 below
  map.values.resize(45);
  fill_random(map, random);
  const Field field(map, geometry, true);
  for (int level = 0; level <= 3; ++level) {
    const int side = static_cast<int>(Geometry::side(level));
    const Grid grid = geometry.grid(level);
    for (int r = 0; r < grid.rows; ++r) {
      for (int c = 0; c < grid.cols; ++c) {
        double sum = 0;
        double square = 0;
        int count = 0;
        for (int y = r * side; y < std::min(geometry.height, (r + 1) * side); ++y) {
          for (int x = c * side; x < std::min(geometry.width, (c + 1) * side); ++x) {
            const double value = value_at(map, x + 0.5, y + 0.5);
            sum += value;
            square += value * value;
            ++count;
          }
        }
        const Cell cell{level, r, c};
        ASSERT_NEAR(field.mass(cell), sum / 256, 1e-4);
        ASSERT_NEAR(field.variance(cell), square / count - sum * sum / count / count, 1e-5);
      }
    }
  }
}

TEST(Field, TopIsUnderTheHighestMapCell) {
  const Geometry geometry{10000, 5000, 0};
  Map map = map_over(geometry, 32, 64);
  map.at(7, 40) = 0.5F;
  const Field field(map, geometry);
  EXPECT_FALSE(field.constant());
  EXPECT_EQ(field.top(),
            (Cell{0, static_cast<int>(7.5 * 156.25 / 16), static_cast<int>(40.5 * 156.25 / 16)}));
  EXPECT_EQ(field.peak(field.top()), 0.5F);
}

TEST(Field, RefusesEmptyAndBrokenMaps) {
  const Geometry geometry{64, 64, 0};
  Map map = map_over(geometry, 2, 2);
  map.at(1, 1) = NAN;
  const auto code = [&](const Map& bad) {
    try {
      Field field(bad, geometry);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::io;
  };
  EXPECT_EQ(code(map), ErrorCode::numeric);
  EXPECT_EQ(code(Map{}), ErrorCode::bad_argument);
  map.at(1, 1) = 0;
  map.cell_width = 0;
  EXPECT_EQ(code(map), ErrorCode::bad_argument);
}

}  // namespace
}  // namespace arrcoc::allocating
