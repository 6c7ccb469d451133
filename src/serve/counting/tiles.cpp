// Families that cut a picture into tiles of one size.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "serve/counting/rules.h"

namespace arrcoc::serving {

namespace {

struct Tiling {
  int cols = 1, rows = 1;
  int count() const { return cols * rows; }
};

// Calls f(cols, rows) for every grid of least to most tiles, by number of tiles, then columns.
template <class F>
void each_tiling(int least, int most, F&& f) {
  for (int count = std::max(1, least); count <= most; ++count)
    for (int cols = 1; cols <= count; ++cols)
      if (count % cols == 0) f(Tiling{cols, count / cols});
}

// transformers: got_ocr2/image_processing_got_ocr2.py get_optimal_tiled_canvas: the grid nearest in
// shape; of equal ones the larger while it is less than twice as large as the picture.
Tiling nearest_tiling(int width, int height, int tile, int least, int most) {
  const double wanted = static_cast<double>(width) / height;
  const double area = static_cast<double>(width) * height;
  Tiling best;
  double nearest = HUGE_VAL;
  each_tiling(least, most, [&](const Tiling& grid) {
    const double off = std::abs(wanted - static_cast<double>(grid.cols) / grid.rows);
    const bool larger = area > 0.5 * tile * tile * grid.count();
    if (off < nearest || (off == nearest && larger)) best = grid;
    nearest = std::min(nearest, off);
  });
  return best;
}

// transformers: ovis2/image_processing_ovis2.py compute_patch_covering_area, summed over the cells
// of split_image_into_grid: pixels that remain when each cell is fitted into a tile.
double covered(int width, int height, const Tiling& grid, int tile) {
  const int cell_width = width / grid.rows, cell_height = height / grid.cols;
  double sum = 0;
  for (int row = 0; row < grid.cols; ++row)
    for (int col = 0; col < grid.rows; ++col) {
      const int w = col == grid.rows - 1 ? width - col * cell_width : cell_width;
      const int h = row == grid.cols - 1 ? height - row * cell_height : cell_height;
      double longer = std::max(w, h), shorter = std::min(w, h);
      if (longer > tile) {
        shorter = shorter / longer * tile;
        longer = tile;
      }
      sum += longer * shorter;
    }
  return sum;
}

// The first grid that keeps over nine tenths of the pixels, of those of equal count the one that
// keeps most; the one that keeps most where none does. (get_min_tile_covering_grid)
Tiling covering_tiling(int width, int height, int tile, int most) {
  const double area = static_cast<double>(width) * height;
  Tiling best, fallback;
  double best_share = -1, fallback_share = -1;
  each_tiling(1, most, [&](const Tiling& grid) {
    const double share = covered(width, height, grid, tile) / area;
    if (share > fallback_share) {
      fallback_share = share;
      fallback = grid;
    }
    const bool first = best_share < 0;
    if (share > 0.9 && (first || (grid.count() == best.count() && share > best_share))) {
      best_share = share;
      best = grid;
    }
  });
  return best_share < 0 ? fallback : best;
}

// Python's int(round(x, 7)).
int64_t whole_of(double x) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, x, std::chars_format::fixed, 7).ptr;
  double rounded = x;
  std::from_chars(text, end, rounded);
  return static_cast<int64_t>(rounded);
}

// Python's a // b of floats.
double floor_divide(double a, double b) {
  const double quotient = (a - std::fmod(a, b)) / b;
  const double below = std::floor(quotient);
  return quotient - below > 0.5 ? below + 1 : below;
}

// transformers: image_processing_utils.py select_best_resolution; height, width.
std::pair<int, int> best_size(const std::vector<std::pair<int, int>>& sizes, int width,
                              int height) {
  std::pair<int, int> best;
  int64_t most = 0, least_wasted = INT64_MAX;
  for (const auto& [high, wide] : sizes) {
    const double scale =
        std::min(static_cast<double>(wide) / width, static_cast<double>(high) / height);
    const auto w = static_cast<int64_t>(width * scale), h = static_cast<int64_t>(height * scale);
    const int64_t effective = std::min(w * h, int64_t{width} * height);
    const int64_t wasted = int64_t{wide} * high - effective;
    if (effective > most || (effective == most && wasted < least_wasted)) {
      most = effective;
      least_wasted = wasted;
      best = {high, wide};
    }
  }
  return best;
}

}  // namespace

// InternVL. transformers: internvl/processing_internvl.py: <img> and </img> are counted (extra); a
// thumbnail goes along with two tiles and more.
int64_t count_tiles(const Family& family, int width, int height, Detail) {
  const CountingRule& rule = family.rule;
  const int64_t tiles =
      rule.max_tiles <= 1
          ? 1
          : nearest_tiling(width, height, rule.tile, rule.min_tiles, rule.max_tiles).count();
  return rule.tile_tokens * (tiles > 1 ? tiles + 1 : 1) + rule.extra;
}

// Ovis2. transformers: ovis2/processing_ovis2.py replace_image_token: <IMG_START>, <IMG_GRID>,
// <IMG_END> (extra) and a separator between tiles are counted.
int64_t count_covering(const Family& family, int width, int height, Detail) {
  const CountingRule& rule = family.rule;
  const int64_t tiles = covering_tiling(width, height, rule.tile, rule.max_tiles).count();
  return rule.tile_tokens + rule.extra + (tiles > 1 ? tiles * rule.tile_tokens + tiles - 1 : 0);
}

// LLaVA-NeXT and -OneVision. transformers: llava_next/processing_llava_next.py and
// llava_onevision/processing_llava_onevision.py _get_unpadded_features: the whole, the tiles
// without their padding, a token after every row. max_tiles > 0: shrunk to about so many tiles.
int64_t count_anyres(const Family& family, int width, int height, Detail) {
  const CountingRule& rule = family.rule;
  const auto [high, wide] = best_size(rule.sizes, width, height);
  const int64_t side = rule.tile / rule.patch;
  int64_t rows = side * (high / rule.tile), cols = side * (wide / rule.tile);
  const double w = width, h = height;
  if (w / h > static_cast<double>(cols) / static_cast<double>(rows)) {
    rows -= (rows - whole_of(h * (static_cast<double>(cols) / w))) / 2 * 2;
  } else {
    cols -= (cols - whole_of(w * (static_cast<double>(rows) / h))) / 2 * 2;
  }
  if (rule.max_tiles > 0) {
    const auto r = static_cast<double>(rows), c = static_cast<double>(cols);
    const double ratio = std::sqrt(r * c / static_cast<double>(rule.max_tiles * side * side));
    if (ratio > 1.1) {
      rows = static_cast<int64_t>(floor_divide(r, ratio));
      cols = static_cast<int64_t>(floor_divide(c, ratio));
    }
  }
  return side * side + rows * cols + rows + rule.extra;
}

// Idefics3 and SmolVLM. transformers: idefics3/image_processing_idefics3.py
// get_number_of_image_patches, processing_idefics3.py _get_num_multimodal_tokens: every picture is
// enlarged to the longest edge; tags of tiles and line breaks are counted.
int64_t count_split(const Family& family, int width, int height, Detail) {
  const CountingRule& rule = family.rule;
  constexpr int kLargest = 4096;  // MAX_IMAGE_SIZE
  const double aspect = static_cast<double>(width) / height;
  int64_t w = rule.longest_edge, h = rule.longest_edge;
  if (width >= height) {
    h = static_cast<int64_t>(static_cast<double>(w) / aspect);
    h = std::max<int64_t>(1, h + h % 2);
  } else {
    w = static_cast<int64_t>(static_cast<double>(h) * aspect);
    w = std::max<int64_t>(1, w + w % 2);
  }
  const double again = static_cast<double>(w) / static_cast<double>(h);
  if (w >= h && w > kLargest) {
    w = kLargest;
    h = std::max<int64_t>(1, static_cast<int64_t>(kLargest / again));
  } else if (h > w && h > kLargest) {
    h = kLargest;
    w = std::max<int64_t>(1, static_cast<int64_t>(kLargest * again));
  }
  int64_t cols = (w + rule.tile - 1) / rule.tile, rows = (h + rule.tile - 1) / rule.tile;
  if (cols * rows <= 1 || rule.max_tiles == 1) cols = rows = 0;
  return rule.tile_tokens + rule.extra + rows * ((rule.tile_tokens + 2) * cols + 1);
}

// DeepSeek-OCR ("global-and-rows": a token after every row) and -OCR-2. vLLM:
// model_executor/models/deepseek_ocr.py and deepseek_ocr2.py get_num_image_tokens: a view of the
// whole (longest_edge), tiles of larger pictures, a separator (extra).
int64_t count_global_and_tiles(const Family& family, int width, int height, Detail) {
  const CountingRule& rule = family.rule;
  const int unit = rule.patch * rule.merge;
  const int64_t global = (rule.longest_edge + unit - 1) / unit;
  const int64_t local = (rule.tile + unit - 1) / unit;
  const int64_t end = rule.kind == "global-and-rows" ? 1 : 0;
  int64_t out = global * (global + end) + rule.extra;
  if (rule.max_tiles > 1 && (width > rule.tile || height > rule.tile)) {
    const Tiling grid = nearest_tiling(width, height, rule.tile, rule.min_tiles, rule.max_tiles);
    if (grid.count() > 1) out += grid.rows * local * (grid.cols * local + end);
  }
  return out;
}

// Gemma 3 with do_pan_and_scan. transformers: gemma3/image_processing_gemma3.py pan_and_scan: long
// pictures are seen whole and in max_tiles pieces of at least `tile` pixels; factor: from which
// ratio of the sides. The English around the crops is about 20 tokens and a space between crops.
int64_t count_pan_and_scan(const Family& family, int width, int height, Detail) {
  const CountingRule& rule = family.rule;
  const int longer = std::max(width, height), shorter = std::min(width, height);
  const double ratio = static_cast<double>(longer) / shorter;
  const int64_t one = rule.tile_tokens + rule.extra;
  if (ratio < rule.factor) return one;
  int crops = std::min(longer / rule.tile, static_cast<int>(std::floor(ratio + 0.5)));
  crops = std::min(rule.max_tiles, std::max(2, crops));
  if (std::min((longer + crops - 1) / crops, shorter) < rule.tile) return one;
  return one * (crops + 1) + 20 + crops - 1;
}

}  // namespace arrcoc::serving
