// How models cut a picture into tiles of one size.
#pragma once

#include <cstdint>

namespace arrcoc {

struct TileGrid {
  int64_t rows = 1;
  int64_t cols = 1;
  int64_t count() const { return rows * cols; }
};

// The fewest tiles of `side` pixels that keep more than nine tenths of the picture's area; the best
// covering when none does.
TileGrid covering_grid(int64_t height, int64_t width, int64_t side, int64_t max_tiles);

// The grid whose shape is closest to the picture's; of equal ones the larger while it is less than
// twice as large as the picture.
TileGrid canvas_grid(int64_t height, int64_t width, int64_t tile_height, int64_t tile_width,
                     int64_t min_tiles, int64_t max_tiles);

// Idefics3 and SmolVLM: what a picture is enlarged or shrunk to.
struct PixelSize {
  int64_t height = 1;
  int64_t width = 1;
};
// The longer side as wanted (never over 4096), the shorter one even.
PixelSize longest_edge_size(PixelSize picture, int64_t longest);
// Both sides rounded up to whole tiles.
PixelSize whole_tiles_size(PixelSize picture, int64_t tile);

}  // namespace arrcoc
