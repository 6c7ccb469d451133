#include "lab/measure/gaze.h"

#include <algorithm>
#include <cmath>

namespace arrcoc::measuring {

namespace {

struct Moments {
  double mean = 0, deviation = 0;
};
Moments moments(const std::vector<float>& values) {
  double sum = 0, squares = 0;
  for (double v : values) sum += v;
  const double mean = sum / static_cast<double>(std::max<size_t>(1, values.size()));
  for (double v : values) squares += (v - mean) * (v - mean);
  return {mean, std::sqrt(squares / static_cast<double>(std::max<size_t>(1, values.size())))};
}

// A number of cells around a pixel's middle: the two between whose middles it lies.
struct Between {
  int low = 0, high = 0;
  float share = 0;  // of the higher one
};
std::vector<Between> between(int pixels, float cell, int cells) {
  std::vector<Between> out;
  for (int p = 0; p < pixels; ++p) {
    const float at = std::clamp((static_cast<float>(p) + 0.5F) / cell - 0.5F, 0.0F,
                                static_cast<float>(cells - 1));
    const int low = static_cast<int>(at);
    out.push_back({low, std::min(low + 1, cells - 1), at - static_cast<float>(low)});
  }
  return out;
}

}  // namespace

Field field_of(const Map& map, int width, int height) {
  Field out{width, height, std::vector<float>(static_cast<size_t>(width) * height)};
  if (map.empty()) return out;
  const auto rows = between(height, map.cell_height, map.rows);
  const auto cols = between(width, map.cell_width, map.cols);
  auto value = out.values.begin();
  for (const Between& r : rows)
    for (const Between& c : cols) {
      const float above = map.at(r.low, c.low) * (1 - c.share) + map.at(r.low, c.high) * c.share;
      const float below = map.at(r.high, c.low) * (1 - c.share) + map.at(r.high, c.high) * c.share;
      *value++ = above * (1 - r.share) + below * r.share;
    }
  return out;
}

Field centred(int width, int height, double sigma) {
  Field out{width, height, {}};
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const double dx = ((x + 0.5) / width - 0.5) / sigma, dy = ((y + 0.5) / height - 0.5) / sigma;
      out.values.push_back(static_cast<float>(std::exp(-(dx * dx + dy * dy) / 2)));
    }
  return out;
}

Field painted(const GazeItem& item) {
  Field out{item.width, item.height,
            std::vector<float>(static_cast<size_t>(item.width) * item.height)};
  for (const auto& [box, score] : item.boxes) {
    // Pixels whose middle lies in the box.
    const auto from = [](float edge, int most) {
      return std::clamp(static_cast<int>(std::ceil(edge - 0.5F)), 0, most);
    };
    for (int y = from(box.y0, item.height); y < from(box.y1, item.height); ++y)
      for (int x = from(box.x0, item.width); x < from(box.x1, item.width); ++x) {
        float& value = out.values[static_cast<size_t>(y) * item.width + x];
        value = std::max(value, score);
      }
  }
  return out;
}

Field fixated(const GazeItem& item) {
  Field out{item.width, item.height,
            std::vector<float>(static_cast<size_t>(item.width) * item.height)};
  for (const auto& [x, y] : item.fixations)
    if (x >= 0 && y >= 0 && x < static_cast<float>(item.width) &&
        y < static_cast<float>(item.height))
      out.values[static_cast<size_t>(y) * item.width + static_cast<size_t>(x)] = 1;
  return out;
}

double nss(const Field& field, const Field& looked) {
  const Moments m = moments(field.values);
  double sum = 0, weight = 0;
  for (size_t i = 0; i < looked.values.size(); ++i) {
    sum += looked.values[i] * (field.values[i] - m.mean);
    weight += looked.values[i];
  }
  return weight > 0 && m.deviation > 0 ? sum / weight / m.deviation : 0;
}

double auc_judd(const Field& field, const Field& looked) {
  std::vector<float> at, others;
  for (size_t i = 0; i < looked.values.size(); ++i)
    (looked.values[i] > 0 ? at : others).push_back(field.values[i]);
  if (at.empty() || others.empty()) return 0.5;
  std::sort(at.begin(), at.end(), std::greater<>());
  std::sort(others.begin(), others.end(), std::greater<>());
  double area = 0, hits = 0, alarms = 0;  // of the threshold before
  size_t above = 0;
  for (size_t i = 0; i < at.size(); ++i) {
    if (i + 1 < at.size() && at[i + 1] == at[i]) continue;
    while (above < others.size() && others[above] >= at[i]) ++above;
    const double now_hits = static_cast<double>(i + 1) / static_cast<double>(at.size());
    const double now_alarms = static_cast<double>(above) / static_cast<double>(others.size());
    area += (now_alarms - alarms) * (hits + now_hits) / 2;
    hits = now_hits;
    alarms = now_alarms;
  }
  return area + (1 - alarms);  // below the last threshold every look is hit
}

double correlation(const Field& a, const Field& b) {
  return correlation(std::vector<double>(a.values.begin(), a.values.end()),
                     std::vector<double>(b.values.begin(), b.values.end()));
}

}  // namespace arrcoc::measuring
