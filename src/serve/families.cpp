// How families of models count the tokens of a picture.
#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "arrcoc/map.h"
#include "arrcoc/serve.h"

namespace arrcoc::serving {

namespace {

int64_t whole(double pixels, int unit) {
  return std::max<int64_t>(1, static_cast<int64_t>(std::lround(pixels / unit)));
}

// Both sides to the nearest multiple of a token, shrunk when that is more than `most` tokens.
int64_t grid(int width, int height, int unit, int64_t least, int64_t most) {
  int64_t cols = whole(width, unit), rows = whole(height, unit);
  if (cols * rows > most) {
    const double scale =
        std::sqrt(static_cast<double>(most) * unit * unit / (static_cast<double>(width) * height));
    cols = std::max<int64_t>(1, static_cast<int64_t>(width * scale / unit));
    rows = std::max<int64_t>(1, static_cast<int64_t>(height * scale / unit));
  }
  return std::max(least, cols * rows);
}

// Tiles of 448 pixels in the grid nearest to the picture's shape, 256 tokens each, and a thumbnail
// when there is more than one.
int64_t tiles_of_448(int width, int height, int most) {
  const double wanted = static_cast<double>(width) / height;
  int best_cols = 1, best_rows = 1;
  double best = 1e9;
  for (int cols = 1; cols <= most; ++cols)
    for (int rows = 1; cols * rows <= most; ++rows) {
      const double off = std::abs(wanted - static_cast<double>(cols) / rows);
      const bool larger =
          static_cast<double>(width) * height > 0.5 * 448 * 448 * static_cast<double>(cols) * rows;
      if (off < best - 1e-9 || (off < best + 1e-9 && larger)) {
        best = off;
        best_cols = cols;
        best_rows = rows;
      }
    }
  const int64_t tiles = int64_t{best_cols} * best_rows;
  return 256 * (tiles + (tiles > 1 ? 1 : 0));
}

// 85 and 170 for each 512-pixel tile, after fitting into 2048 and the shorter side into 768.
int64_t tiles_of_512(int width, int height) {
  double scale = std::min(1.0, 2048.0 / std::max(width, height));
  scale *= std::min(1.0, 768.0 / (scale * std::min(width, height)));
  return 85 + 170 * static_cast<int64_t>(std::ceil(width * scale / 512) *
                                         std::ceil(height * scale / 512));
}

int64_t patches(int width, int height) { return Geometry{width, height, 0}.native_tokens(); }

struct Entry {
  Family family;
  std::vector<const char*> marks;  // parts of model names, lower case
  int64_t (*count)(int width, int height);
};

const std::vector<Entry>& table() {
  static const std::vector<Entry> entries = {
      {{"arrcoc", "16x16 pixels a token", 16, false}, {"arrcoc"}, patches},
      {{"qwen3-vl", "32x32 pixels a token", 32, false},
       {"qwen3-vl", "qwen3vl", "qwen3.5"},
       [](int w, int h) { return grid(w, h, 32, 4, 16384); }},
      {{"qwen2-vl", "28x28 pixels a token (2 and 2.5)", 28, false},
       {"qwen2-vl", "qwen2.5-vl", "qwen2_vl", "qwen2_5_vl", "qwen2.5vl", "qwen-vl"},
       [](int w, int h) { return grid(w, h, 28, 4, 16384); }},
      {{"llava-1.5", "576 a picture, whatever its size", 0, false},
       {"llava-1.5", "llava-v1.5", "llava1.5"},
       [](int, int) { return int64_t{576}; }},
      {{"gemma3", "256 a picture, whatever its size", 0, false},
       {"gemma-3", "gemma3"},
       [](int, int) { return int64_t{256}; }},
      {{"ovis2", "256 a tile of 448x448 pixels, and one for the whole", 0, true},
       {"ovis2", "ovis"},
       [](int w, int h) { return tiles_of_448(w, h, 9); }},
      {{"internvl", "256 a tile of 448x448 pixels, and one for the whole", 0, true},
       {"internvl"},
       [](int w, int h) { return tiles_of_448(w, h, 12); }},
      {{"pixtral", "16x16 pixels a token and one a row", 16, false},
       {"pixtral"},
       [](int w, int h) {
         const int64_t most = 64 * 64, cols = whole(w, 16), rows = whole(h, 16);
         return std::min(most, cols * rows) + std::min<int64_t>(64, rows);
       }},
      {{"gpt-4o", "85 and 170 a tile of 512x512 pixels", 0, true},
       {"gpt-4o", "gpt-4-turbo", "gpt-4.1"},
       tiles_of_512},
      {{"claude", "width x height / 750", 27, true},
       {"claude"},
       [](int w, int h) {
         return std::max<int64_t>(1, static_cast<int64_t>(std::ceil(1.0 * w * h / 750)));
       }},
      {{"unknown", "28x28 pixels a token is assumed", 28, true},
       {},
       [](int w, int h) { return grid(w, h, 28, 1, 16384); }},
  };
  return entries;
}

const Entry& entry(const std::string& name) {
  for (const Entry& e : table())
    if (e.family.name == name) return e;
  std::string known;
  for (const Entry& e : table()) known += (known.empty() ? "" : ", ") + e.family.name;
  throw Error(ErrorCode::not_found, "no model family '" + name + "'; known: auto, " + known);
}

}  // namespace

std::vector<Family> families() {
  std::vector<Family> out;
  for (const Entry& e : table()) out.push_back(e.family);
  return out;
}

Family family_of(const std::string& model) {
  std::string lower = model;
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  for (const Entry& e : table())
    for (const char* mark : e.marks)
      if (lower.find(mark) != std::string::npos) return e.family;
  return entry("unknown").family;
}

Family family_named(const std::string& name) { return entry(name).family; }

int64_t picture_tokens(const Family& family, int width, int height, Detail) {
  return entry(family.name).count(width, height);
}

}  // namespace arrcoc::serving
