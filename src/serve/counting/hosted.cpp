// APIs whose models nobody else can run: from their documents, so always estimated.
#include <algorithm>
#include <cmath>

#include "serve/counting/rules.h"

namespace arrcoc::serving {

namespace {

int64_t cells(double length, int unit) {  // the rest of a rounding error makes no cell
  return std::max<int64_t>(1, static_cast<int64_t>(std::ceil(length / unit - 1e-9)));
}

}  // namespace

bool is_hosted(const Family& family) {
  const std::string& kind = family.rule.kind;
  return kind == "gpt-tiles" || kind == "gpt-patches" || kind == "claude" || kind == "gemini";
}

// OpenAI, guides/images-vision, "GPT-4o, GPT-4.1, ...": fitted into 2048x2048, the shorter side
// into 768, base_tokens and tile_tokens a tile of 512; detail low: base_tokens.
int64_t count_gpt_tiles(const Family& family, int width, int height, Detail detail) {
  const CountingRule& rule = family.rule;
  if (detail == Detail::low) return rule.base_tokens;
  double scale = std::min(1.0, 2048.0 / std::max(width, height));
  scale *= std::min(1.0, 768.0 / (scale * std::min(width, height)));
  return rule.base_tokens +
         rule.tile_tokens * cells(width * scale, rule.tile) * cells(height * scale, rule.tile);
}

// OpenAI, guides/images-vision, "GPT-4.1-mini, ...": patches of 32 pixels, shrunk to at most
// max_tiles of them in whole patches, times a factor. detail changes nothing: what is said of low
// differs from what is charged, and this is the larger.
int64_t count_gpt_patches(const Family& family, int width, int height, Detail) {
  const CountingRule& rule = family.rule;
  const double w = width, h = height, unit = rule.patch;
  int64_t count = cells(w, rule.patch) * cells(h, rule.patch);
  if (count > rule.max_tiles) {
    double scale = std::sqrt(unit * unit * rule.max_tiles / (w * h));
    const double cols = w * scale / unit, rows = h * scale / unit;
    scale *=
        std::min(std::max(1.0, std::floor(cols)) / cols, std::max(1.0, std::floor(rows)) / rows);
    count = std::min<int64_t>(rule.max_tiles,
                              cells(w * scale, rule.patch) * cells(h * scale, rule.patch));
  }
  return static_cast<int64_t>(std::ceil(static_cast<double>(count) * rule.factor - 1e-9));
}

// Anthropic, build-with-claude/vision: patches of 28 pixels of the largest size of the same shape
// with at most longest_edge pixels and max_tiles patches.
int64_t count_claude(const Family& family, int width, int height, Detail) {
  const CountingRule& rule = family.rule;
  const int longer = std::max(width, height), shorter = std::min(width, height);
  const auto tokens = [&](int edge) {
    const double other = std::max(1.0, std::round(static_cast<double>(edge) * shorter / longer));
    return cells(edge, rule.patch) * cells(other, rule.patch);
  };
  int fits = 1, edge = std::min(longer, rule.longest_edge);
  if (tokens(edge) <= rule.max_tiles) return tokens(edge);
  while (edge - fits > 1) {
    const int middle = (fits + edge) / 2;
    (tokens(middle) <= rule.max_tiles ? fits : edge) = middle;
  }
  return tokens(fits);
}

// Google, gemini-api/docs/image-understanding and Vertex AI's: up to 384x384 one tile, else tiles
// of the shorter side / 1.5, of 256 to 768 pixels. Gemini 3 and later (max_tiles 1): one number for
// every picture, media_resolution; low: base_tokens.
int64_t count_gemini(const Family& family, int width, int height, Detail detail) {
  const CountingRule& rule = family.rule;
  if (rule.max_tiles == 1) return detail == Detail::low ? rule.base_tokens : rule.tile_tokens;
  if (width <= 384 && height <= 384) return rule.tile_tokens;
  const int unit = std::clamp(static_cast<int>(std::min(width, height) / 1.5), 256, rule.tile);
  return rule.tile_tokens * cells(width, unit) * cells(height, unit);
}

}  // namespace arrcoc::serving
