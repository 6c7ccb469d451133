// Families that resize a picture to whole tokens.
#include <algorithm>
#include <cmath>

#include "arrcoc/map.h"
#include "serve/counting/rules.h"

namespace arrcoc::serving {

namespace {

// llama.cpp's flags and its own bounds apply where it is what resizes.
bool by_llama_cpp(const Family& family) {
  return family.llama_cpp || family.limits.min_tokens > 0 || family.limits.max_tokens > 0;
}

}  // namespace

// llama.cpp: tools/mtmd/mtmd-image.cpp calc_size_preserved_ratio, bounds as set_limit_image_tokens
// in clip-model.h makes them. float, and halves away from zero.
TokenGrid llama_cpp_grid(const Family& family, int width, int height, int least, int most) {
  const int align = family.rule.patch * family.rule.merge;
  const PictureLimits& limits = family.limits;
  const auto floor = static_cast<float>(align);
  const int64_t area = int64_t{align} * align;
  const int64_t min_pixels = (limits.min_tokens > 0 ? limits.min_tokens : least) * area;
  const int64_t max_pixels = (limits.max_tokens > 0 ? limits.max_tokens : most) * area;
  const auto w = static_cast<float>(width), h = static_cast<float>(height);
  int64_t cols = std::max<int64_t>(1, static_cast<int64_t>(std::round(w / floor)));
  int64_t rows = std::max<int64_t>(1, static_cast<int64_t>(std::round(h / floor)));
  if (cols * rows * area > max_pixels) {
    const float beta = std::sqrt(h * w / static_cast<float>(max_pixels));
    rows = std::max<int64_t>(1, static_cast<int64_t>(std::floor(h / beta / floor)));
    cols = std::max<int64_t>(1, static_cast<int64_t>(std::floor(w / beta / floor)));
  } else if (cols * rows * area < min_pixels) {
    const float beta = std::sqrt(static_cast<float>(min_pixels) / (h * w));
    rows = static_cast<int64_t>(std::ceil(h * beta / floor));
    cols = static_cast<int64_t>(std::ceil(w * beta / floor));
  }
  return {cols, rows};
}

int64_t count_native(const Family&, int width, int height, Detail) {
  return Geometry{width, height, 0}.native_tokens();
}

// transformers: qwen2_vl/image_processing_qwen2_vl.py smart_resize (halves to even). Only the
// picture's own tokens: <|vision_start|> and <|vision_end|> belong to the chat template.
int64_t count_smart_resize(const Family& family, int width, int height, Detail) {
  const CountingRule& rule = family.rule;
  if (by_llama_cpp(family)) {  // bounds of PROJECTOR_TYPE_QWEN2VL, 25VL and 3VL in clip.cpp
    const TokenGrid grid = llama_cpp_grid(family, width, height, 8, 4096);
    return grid.cols * grid.rows + rule.extra;
  }
  const PictureLimits& limits = family.limits;
  const auto least =
      static_cast<double>(limits.min_pixels > 0 ? limits.min_pixels : rule.min_pixels);
  const auto most =
      static_cast<double>(limits.max_pixels > 0 ? limits.max_pixels : rule.max_pixels);
  const double unit = rule.patch * rule.merge, w = width, h = height;
  double rows = std::nearbyint(h / unit), cols = std::nearbyint(w / unit);
  const double pixels = rows * unit * cols * unit;
  if (pixels > most) {
    const double beta = std::sqrt(h * w / most);
    rows = std::max(1.0, std::floor(h / beta / unit));
    cols = std::max(1.0, std::floor(w / beta / unit));
  } else if (pixels < least) {
    const double beta = std::sqrt(least / (h * w));
    rows = std::ceil(h * beta / unit);
    cols = std::ceil(w * beta / unit);
  }
  return static_cast<int64_t>(rows * cols) + rule.extra;
}

// transformers: gemma4/image_processing_gemma4.py get_aspect_ratio_preserving_size: every picture
// is scaled, up or down, to just under the number of tokens. <boi> and <eoi> are counted (extra).
int64_t count_soft_tokens(const Family& family, int width, int height, Detail) {
  const CountingRule& rule = family.rule;
  if (by_llama_cpp(family)) {  // bounds of PROJECTOR_TYPE_GEMMA4V in clip.cpp
    const TokenGrid grid = llama_cpp_grid(family, width, height, 40, 280);
    return grid.cols * grid.rows + rule.extra;
  }
  const int64_t most = rule.tile_tokens;
  const double side = rule.patch * rule.merge, w = width, h = height;
  const auto pixels = static_cast<double>(most * rule.merge * rule.merge * rule.patch * rule.patch);
  const double scale = std::sqrt(pixels / (w * h));
  auto rows = static_cast<int64_t>(std::floor(scale * h / side));
  auto cols = static_cast<int64_t>(std::floor(scale * w / side));
  if (rows == 0) {  // a strip
    rows = 1;
    cols = std::min(static_cast<int64_t>(std::floor(w / h)), most);
  } else if (cols == 0) {
    cols = 1;
    rows = std::min(static_cast<int64_t>(std::floor(h / w)), most);
  }
  return rows * cols + rule.extra;
}

// transformers: pixtral/image_processing_pixtral.py get_resize_output_image_size and
// processing_pixtral.py: a token after every row, [IMG_BREAK] or [IMG_END], is counted.
int64_t count_rows(const Family& family, int width, int height, Detail) {
  const CountingRule& rule = family.rule;
  if (by_llama_cpp(family)) {  // bounds of PROJECTOR_TYPE_PIXTRAL in clip.cpp
    const TokenGrid grid = llama_cpp_grid(family, width, height, 8, 1024);
    return (grid.cols + 1) * grid.rows;
  }
  const double edge = rule.longest_edge;
  const double ratio = std::max(height / edge, width / edge);
  int64_t w = width, h = height;
  if (ratio > 1) {
    h = std::max<int64_t>(1, static_cast<int64_t>(std::floor(height / ratio)));
    w = std::max<int64_t>(1, static_cast<int64_t>(std::floor(width / ratio)));
  }
  const int unit = rule.patch * rule.merge;
  return ((w - 1) / unit + 2) * ((h - 1) / unit + 1);
}

int64_t count_fixed(const Family& family, int, int, Detail) {
  return family.rule.tile_tokens + family.rule.extra;
}

}  // namespace arrcoc::serving
