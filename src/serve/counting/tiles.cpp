// Families that cut a picture into tiles of one size.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/tiling.h"
#include "serve/counting/rules.h"

namespace arrcoc::serving {

namespace {

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
  const int64_t tiles = rule.max_tiles <= 1 ? 1
                                            : canvas_grid(height, width, rule.tile, rule.tile,
                                                          rule.min_tiles, rule.max_tiles)
                                                  .count();
  return rule.tile_tokens * (tiles > 1 ? tiles + 1 : 1) + rule.extra;
}

// Ovis2. transformers: ovis2/processing_ovis2.py replace_image_token: <IMG_START>, <IMG_GRID>,
// <IMG_END> (extra) and a separator between tiles are counted.
int64_t count_covering(const Family& family, int width, int height, Detail) {
  const CountingRule& rule = family.rule;
  const int64_t tiles = covering_grid(height, width, rule.tile, rule.max_tiles).count();
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
  const PixelSize canvas =
      whole_tiles_size(longest_edge_size({height, width}, rule.longest_edge), rule.tile);
  int64_t cols = canvas.width / rule.tile, rows = canvas.height / rule.tile;
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
    const TileGrid grid =
        canvas_grid(height, width, rule.tile, rule.tile, rule.min_tiles, rule.max_tiles);
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
