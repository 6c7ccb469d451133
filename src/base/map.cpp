#include "arrcoc/map.h"

#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"

namespace arrcoc {

Map like(const Map& map, float value) {
  Map out = map;
  out.values.assign(static_cast<size_t>(map.rows) * map.cols, value);
  return out;
}

Map min_max(const Map& map) {
  if (map.empty()) return map;
  auto [low, high] = std::minmax_element(map.values.begin(), map.values.end());
  const float base = *low;
  const float span = *high - base;
  Map out = map;
  for (float& v : out.values) v = span > 1e-7F ? (v - base) / span : 0.0F;
  return out;
}

float mean(const Map& map) {
  if (map.empty()) return 0;
  double sum = 0;
  for (float v : map.values) sum += v;
  return static_cast<float>(sum / static_cast<double>(map.size()));
}

float variance(const Map& map) {
  if (map.empty()) return 0;
  const double m = mean(map);
  double sum = 0;
  for (float v : map.values) sum += (v - m) * (v - m);
  return static_cast<float>(sum / static_cast<double>(map.size()));
}

float maximum(const Map& map) {
  return map.empty() ? 0.0F : *std::max_element(map.values.begin(), map.values.end());
}

namespace {

// Row i of the result is a weighted sum of source rows: overlap of [i, i+1) * from/to with each.
struct Span {
  int first;
  std::vector<float> weight;
};

std::vector<Span> spans(int from, int to) {
  std::vector<Span> out(to);
  const double step = static_cast<double>(from) / to;
  for (int i = 0; i < to; ++i) {
    const double a = i * step;
    const double b = (i + 1) * step;
    const int first = std::min(from - 1, static_cast<int>(a));
    const int last = std::min(from, static_cast<int>(std::ceil(b - 1e-9)));
    out[i].first = first;
    for (int s = first; s < std::max(last, first + 1); ++s) {
      const double overlap = std::min<double>(b, s + 1) - std::max<double>(a, s);
      out[i].weight.push_back(static_cast<float>(std::max(0.0, overlap) / step));
    }
  }
  return out;
}

}  // namespace

Map resample(const Map& map, int rows, int cols) {
  if (rows < 1 || cols < 1 || map.empty()) {
    throw Error(ErrorCode::bad_argument, "[resample] empty map or empty target grid");
  }
  if (rows == map.rows && cols == map.cols) return map;
  const std::vector<Span> across = spans(map.cols, cols);
  const std::vector<Span> down = spans(map.rows, rows);
  std::vector<float> wide(static_cast<size_t>(map.rows) * cols, 0.0F);
  for (int r = 0; r < map.rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      float sum = 0;
      for (size_t k = 0; k < across[c].weight.size(); ++k) {
        sum += across[c].weight[k] * map.at(r, across[c].first + static_cast<int>(k));
      }
      wide[static_cast<size_t>(r) * cols + c] = sum;
    }
  }
  Map out{rows, cols, map.cell_width * map.cols / cols, map.cell_height * map.rows / rows, {}};
  out.values.assign(static_cast<size_t>(rows) * cols, 0.0F);
  for (int r = 0; r < rows; ++r) {
    for (size_t k = 0; k < down[r].weight.size(); ++k) {
      const float* from = &wide[(static_cast<size_t>(down[r].first) + k) * cols];
      for (int c = 0; c < cols; ++c) out.at(r, c) += down[r].weight[k] * from[c];
    }
  }
  return out;
}

float cosine_distance(const Map& a, const Map& b) {
  if (a.rows != b.rows || a.cols != b.cols) {
    throw Error(ErrorCode::bad_argument, "[cosine_distance] maps of different shape");
  }
  double dot = 0;
  double aa = 0;
  double bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    dot += static_cast<double>(a.values[i]) * b.values[i];
    aa += static_cast<double>(a.values[i]) * a.values[i];
    bb += static_cast<double>(b.values[i]) * b.values[i];
  }
  if (aa == 0 && bb == 0) return 0;
  if (aa == 0 || bb == 0) return 1;
  return static_cast<float>(1.0 - dot / std::sqrt(aa * bb));
}

void require_finite(const Map& map, const std::string& stage) {
  for (size_t i = 0; i < map.size(); ++i) {
    if (!std::isfinite(map.values[i])) {
      throw Error(ErrorCode::numeric,
                  "[" + stage + "] value " + std::to_string(i) + " of the map is NaN or infinite");
    }
  }
}

Box intersect(const Box& a, const Box& b) {
  return Box{std::max(a.x0, b.x0), std::max(a.y0, b.y0), std::min(a.x1, b.x1),
             std::min(a.y1, b.y1)};
}

}  // namespace arrcoc
