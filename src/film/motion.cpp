// What moved, what changed, and whether the film was cut.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "arrcoc/error.h"
#include "base/clones.h"
#include "film/squares.h"

namespace arrcoc::filming {

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

// Squares are compared where only the order matters: roots are taken once at the end.
constexpr float kSquare = kScale * kScale;

float squared(const uint8_t* a, const uint8_t* b) {
  const int r = a[0] - b[0], g = a[1] - b[1], s = a[2] - b[2];
  return static_cast<float>(r * r + g * g + s * s) * kSquare;
}

ARRCOC_CLONES void square_all(const uint8_t* __restrict a, const uint8_t* __restrict b, size_t n,
                              float* __restrict out) {
  for (size_t i = 0; i < n; ++i) {
    const int r = a[3 * i] - b[3 * i], g = a[3 * i + 1] - b[3 * i + 1],
              s = a[3 * i + 2] - b[3 * i + 2];
    out[i] = static_cast<float>(r * r + g * g + s * s) * kSquare;
  }
}

// The larger of `least` and three times the median of the roots of every third square: plenty for
// a floor. Where most of them lie below a third of `least`, the median does not matter.
float floor_of(const std::vector<float>& squares, float least) {
  std::vector<float> some;
  some.reserve(squares.size() / 3 + 1);
  for (size_t i = 0; i < squares.size(); i += 3) some.push_back(squares[i]);
  const size_t middle = some.size() / 2;
  const float low = least * least / 9;
  const auto below = std::count_if(some.begin(), some.end(), [&](float v) { return v < low; });
  if (static_cast<size_t>(below) > middle) return least;
  std::nth_element(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(middle), some.end());
  return std::max(least, 3 * std::sqrt(some[middle]));
}

// out = max(out, min(near, far))
ARRCOC_CLONES void take_nearer(const float* __restrict near, const float* __restrict far, size_t n,
                               float* __restrict out) {
  for (size_t i = 0; i < n; ++i) {
    const float less = far[i] < near[i] ? far[i] : near[i];
    out[i] = out[i] < less ? less : out[i];
  }
}

// The roots between `floor` and `full` as 0 to 1.
ARRCOC_CLONES void stretch_roots(float floor, float full, size_t n, float* __restrict values) {
  const float span = full - floor;
  for (size_t i = 0; i < n; ++i) {
    float v = (std::sqrt(values[i]) - floor) / span;
    v = v > 0 ? v : 0;
    values[i] = v < 1 ? v : 1;
  }
}

// Four sums side by side: one alone would have to add in order.
float sum_of(const std::vector<float>& values) {
  float sums[4] = {};
  const size_t n = values.size() / 4 * 4;
  for (size_t i = 0; i < n; i += 4)
    for (size_t k = 0; k < 4; ++k) sums[k] += values[i + k];
  for (size_t i = n; i < values.size(); ++i) sums[0] += values[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Pixels of each of 64 colours. Four tables: the same colour in a row would wait for its own sum.
using Histogram = std::array<int, 64>;
ARRCOC_CLONES void colours_of(const uint8_t* __restrict rgb, size_t n, uint8_t* __restrict out) {
  for (size_t i = 0; i < n; ++i)
    out[i] = static_cast<uint8_t>((rgb[3 * i] >> 6) * 16 + (rgb[3 * i + 1] >> 6) * 4 +
                                  (rgb[3 * i + 2] >> 6));
}
Histogram histogram(const Thumb& thumb) {
  std::vector<uint8_t> colours(thumb.rgb.size() / 3);
  colours_of(thumb.rgb.data(), colours.size(), colours.data());
  std::array<Histogram, 4> tables{};
  const size_t n = colours.size() / 4 * 4;
  for (size_t i = 0; i < n; i += 4)
    for (size_t k = 0; k < 4; ++k) ++tables[k][colours[i + k]];
  for (size_t i = n; i < colours.size(); ++i) ++tables[0][colours[i]];
  for (size_t k = 1; k < 4; ++k)
    for (size_t i = 0; i < 64; ++i) tables[0][i] += tables[k][i];
  return tables[0];
}

// Mean over channels of the area between the cumulative histograms.
double apart_in_any_light(const Thumb& current, const Thumb& previous) {
  const double light =
      std::accumulate(current.rgb.begin(), current.rgb.end(), 0.0) /
      std::max(1.0, std::accumulate(previous.rgb.begin(), previous.rgb.end(), 0.0));
  std::array<std::array<int, 256>, 3> more{};
  for (size_t i = 0; i < current.rgb.size(); ++i) {
    ++more[i % 3][current.rgb[i]];
    --more[i % 3][static_cast<size_t>(std::min(255L, std::lround(previous.rgb[i] * light)))];
  }
  int64_t area = 0;
  for (const auto& channel : more) {
    int64_t sum = 0;
    for (int n : channel) area += std::abs(sum += n);
  }
  return static_cast<double>(area) / (255.0 * static_cast<double>(current.rgb.size()));
}

}  // namespace

std::vector<float> squares(const Thumb& a, const Thumb& b) {
  require_same_size(a, b);
  std::vector<float> out(a.rgb.size() / 3);
  square_all(a.rgb.data(), b.rgb.data(), out.size(), out.data());
  return out;
}

std::vector<float> unexplained(const Thumb& current, const Thumb& previous, const Flow& flow) {
  return unexplained(current, previous, flow, squares(current, previous));
}

std::vector<float> unexplained(const Thumb& current, const Thumb& previous, const Flow& flow,
                               const std::vector<float>& apart) {
  constexpr float kFar = kExplained * kExplained;
  std::vector<float> out = apart;
  for (int y = 0; y < current.height; ++y) {
    for (int x = 0; x < current.width; ++x) {
      const size_t i = static_cast<size_t>(y) * current.width + x;
      bool lost = out[i] >= kFar;
      if (lost && !flow.empty()) {
        const int u = static_cast<int>(std::lround(static_cast<float>(x) + flow.dx[i]));
        const int v = static_cast<int>(std::lround(static_cast<float>(y) + flow.dy[i]));
        lost = u < 0 || v < 0 || u >= current.width || v >= current.height ||
               squared(&current.rgb[3 * i],
                       &previous.rgb[3 * (static_cast<size_t>(v) * current.width + u)]) >= kFar;
      }
      out[i] = lost ? 1.0F : 0.0F;
    }
  }
  return out;
}

Change compare(const Thumb& current, const Thumb& previous, const std::vector<float>& lost,
               const Tuning& tuning) {
  return compare(current, previous, lost, tuning, squares(current, previous));
}

Change compare(const Thumb& current, const Thumb& previous, const std::vector<float>& lost,
               const Tuning& tuning, const std::vector<float>& apart) {
  const double n = static_cast<double>(apart.size());
  Change out;
  const float strong = tuning.cut_motion * tuning.cut_motion;
  out.share = static_cast<double>(
                  std::count_if(apart.begin(), apart.end(), [&](float d) { return d > strong; })) /
              n;
  const Histogram a = histogram(current), b = histogram(previous);
  for (size_t i = 0; i < a.size(); ++i) out.histogram += std::abs(a[i] - b[i]);
  out.histogram /= 2 * n;
  out.residual = static_cast<double>(sum_of(lost)) / n;
  if (out.histogram > tuning.cut_colours) out.light = apart_in_any_light(current, previous);
  out.cut = out.share > tuning.cut_share ||
            (out.histogram > tuning.cut_histogram && out.residual > tuning.cut_residual) ||
            out.light > tuning.cut_light;
  return out;
}

std::vector<float> motion_of(const Thumb& current, const std::deque<Thumb>& recent,
                             const Tuning& tuning) {
  return motion_of(current, recent, tuning,
                   recent.empty() ? std::vector<float>() : squares(current, recent.front()));
}

std::vector<float> motion_of(const Thumb& current, const std::deque<Thumb>& recent,
                             const Tuning& tuning, const std::vector<float>& apart) {
  std::vector<float> out(current.rgb.size() / 3, 0.0F);
  if (recent.empty()) return out;
  // Lags 2 and 4 serve twice, once as the nearer frame and once as the farther one.
  std::array<std::vector<float>, 9> known;
  const auto since = [&](size_t lag) -> const std::vector<float>& {
    if (lag == 1) return apart;
    if (known[lag].empty()) known[lag] = squares(current, recent[lag - 1]);
    return known[lag];
  };
  for (size_t lag = 1; lag <= 4; lag *= 2) {
    if (lag > recent.size()) break;
    const bool both = 2 * lag <= recent.size();
    if (!both && lag > 1) break;  // too few frames to tell a thing from the place it left
    const std::vector<float>& near = since(lag);
    const std::vector<float>& far = both ? since(2 * lag) : near;
    take_nearer(near.data(), far.data(), out.size(), out.data());
  }
  const float floor = floor_of(out, tuning.noise);
  stretch_roots(floor, std::max(tuning.moving, 2 * floor), out.size(), out.data());
  return out;
}

}  // namespace arrcoc::filming
