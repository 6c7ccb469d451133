// How Ovis2 cuts a picture into tiles of one size.
#pragma once

#include <cstdint>

namespace arrcoc::hf {

struct TileGrid {
  int64_t rows = 1;
  int64_t cols = 1;
};

// The fewest tiles of `side` pixels that keep more than nine tenths of the picture's area; the best
// covering when none does.
TileGrid covering_grid(int64_t height, int64_t width, int64_t side, int64_t max_tiles);

// The grid whose shape is closest to the picture's.
TileGrid canvas_grid(int64_t height, int64_t width, int64_t tile_height, int64_t tile_width,
                     int64_t min_tiles, int64_t max_tiles);

}  // namespace arrcoc::hf
