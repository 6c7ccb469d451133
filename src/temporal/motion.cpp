// What moved, what changed, and whether the film was cut.
#include <algorithm>
#include <array>
#include <cmath>

#include "arrcoc/error.h"
#include "arrcoc/temporal.h"

namespace arrcoc::temporal {

namespace {

constexpr float kScale = 1.0F / (255.0F * 1.7320508F);  // RGB distance of black and white is 1
constexpr float kExplained = 0.12F;  // a pixel closer than this to where it came from is explained

void require_same_size(const Thumb& a, const Thumb& b) {
  if (a.width != b.width || a.height != b.height)
    throw Error(ErrorCode::bad_argument, "thumbs of " + std::to_string(a.width) + "x" +
                                             std::to_string(a.height) + " and " +
                                             std::to_string(b.width) + "x" +
                                             std::to_string(b.height) + " cannot be compared");
}

float distance(const uint8_t* a, const uint8_t* b) {
  const int r = a[0] - b[0], g = a[1] - b[1], s = a[2] - b[2];
  return std::sqrt(static_cast<float>(r * r + g * g + s * s)) * kScale;
}

std::vector<float> distances(const Thumb& a, const Thumb& b) {
  require_same_size(a, b);
  const size_t n = a.rgb.size() / 3;
  std::vector<float> out(n);
  for (size_t i = 0; i < n; ++i) out[i] = distance(&a.rgb[3 * i], &b.rgb[3 * i]);
  return out;
}

float median_of(const std::vector<float>& values) {
  // Every third pixel is plenty for a floor.
  std::vector<float> some;
  some.reserve(values.size() / 3 + 1);
  for (size_t i = 0; i < values.size(); i += 3) some.push_back(values[i]);
  const auto middle = some.begin() + static_cast<std::ptrdiff_t>(some.size() / 2);
  std::nth_element(some.begin(), middle, some.end());
  return *middle;
}

using Histogram = std::array<int, 64>;
Histogram histogram(const Thumb& thumb) {
  Histogram out{};
  for (size_t i = 0; i < thumb.rgb.size(); i += 3)
    ++out[static_cast<size_t>((thumb.rgb[i] >> 6) * 16 + (thumb.rgb[i + 1] >> 6) * 4 +
                              (thumb.rgb[i + 2] >> 6))];
  return out;
}

}  // namespace

std::vector<float> unexplained(const Thumb& current, const Thumb& previous, const Flow& flow) {
  std::vector<float> out = distances(current, previous);
  for (int y = 0; y < current.height; ++y) {
    for (int x = 0; x < current.width; ++x) {
      const size_t i = static_cast<size_t>(y) * current.width + x;
      bool lost = out[i] >= kExplained;
      if (lost && !flow.empty()) {
        const int u = static_cast<int>(std::lround(static_cast<float>(x) + flow.dx[i]));
        const int v = static_cast<int>(std::lround(static_cast<float>(y) + flow.dy[i]));
        lost =
            u < 0 || v < 0 || u >= current.width || v >= current.height ||
            distance(&current.rgb[3 * i],
                     &previous.rgb[3 * (static_cast<size_t>(v) * current.width + u)]) >= kExplained;
      }
      out[i] = lost ? 1.0F : 0.0F;
    }
  }
  return out;
}

Change compare(const Thumb& current, const Thumb& previous, const std::vector<float>& lost,
               const Tuning& tuning) {
  const std::vector<float> plain = distances(current, previous);
  const double n = static_cast<double>(plain.size());
  Change out;
  int64_t strong = 0;
  for (float d : plain) {
    out.moved += d;
    strong += d > tuning.cut_motion;
  }
  out.moved /= n;
  out.share = static_cast<double>(strong) / n;
  const Histogram a = histogram(current), b = histogram(previous);
  for (size_t i = 0; i < a.size(); ++i) out.histogram += std::abs(a[i] - b[i]);
  out.histogram /= 2 * n;
  for (float v : lost) out.residual += v;
  out.residual /= n;
  out.cut = out.share > tuning.cut_share ||
            (out.histogram > tuning.cut_histogram && out.residual > tuning.cut_residual);
  return out;
}

std::vector<float> motion_of(const Thumb& current, const std::deque<Thumb>& recent,
                             const Tuning& tuning) {
  std::vector<float> out(current.rgb.size() / 3, 0.0F);
  if (recent.empty()) return out;
  for (size_t lag = 1; lag <= 4; lag *= 2) {
    if (lag > recent.size()) break;
    std::vector<float> near = distances(current, recent[lag - 1]);
    if (2 * lag <= recent.size()) {
      const std::vector<float> far = distances(current, recent[2 * lag - 1]);
      for (size_t i = 0; i < near.size(); ++i) near[i] = std::min(near[i], far[i]);
    } else if (lag > 1) {
      break;  // the frames are too few to tell a thing from the place it left
    }
    for (size_t i = 0; i < near.size(); ++i) out[i] = std::max(out[i], near[i]);
  }
  const float floor = std::max(tuning.noise, 3 * median_of(out));
  const float full = std::max(tuning.moving, 2 * floor);
  for (float& v : out) v = std::clamp((v - floor) / (full - floor), 0.0F, 1.0F);
  return out;
}

}  // namespace arrcoc::temporal
