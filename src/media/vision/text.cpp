// A text detector without weights.
//
// Print is two-valued (ink and paper), changes often along a row, sometimes along a column, and
// does so whatever its contrast. For every pixel, the lowest and highest luma of its surroundings
// give a threshold halfway, which makes faint grey on grey as binary as black on white. From that
// come
//   across   changes of the binary picture per pixel along x: letters 0.1 to 0.4, an edge near 0
//   down     the same along y: 0 for vertical stripes
//   crisp    mean |2v - lo - hi| / (hi - lo): 1 for ink and paper, about 0.4 for noise and foliage
// and text = rise(across) rise(down) rise(crisp). Large print is found at a third of the size.
#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "base/clones.h"
#include "media/vision/vision.h"

namespace arrcoc::media {

namespace {

constexpr int kSurround = 9;      // pixels around a stroke that give ink and paper
constexpr int kContrast = 10;     // of 255: fainter than this is flat
constexpr int kCell = 4;          // pixels that are pooled before the windows are averaged
constexpr int kWindowAcross = 9;  // cells: a few letters
constexpr int kWindowDown = 3;    // cells: about a line
constexpr float kLargePrint = 3;  // the coarse scale

float rise(float low, float high, float x) {
  const float t = std::clamp((x - low) / (high - low), 0.0F, 1.0F);
  return t * t * (3 - 2 * t);
}

// Sums over kCell x kCell pixels, by rows of cells.
struct Sums {
  cv::Mat across, down, crisp, contrast;
};

// Sums of one row of cells, by columns of pixels.
struct Columns {
  std::vector<float> across, down, crisp, contrast;
  explicit Columns(int w) : across(w), down(w), crisp(w), contrast(w) {}
  void clear() {
    for (auto* v : {&across, &down, &crisp, &contrast}) std::fill(v->begin(), v->end(), 0.0F);
  }
};

ARRCOC_CLONES void ink_row(const uint8_t* __restrict v, const uint8_t* __restrict lo,
                           const uint8_t* __restrict hi, int w, uint8_t* __restrict ink) {
  for (int x = 0; x < w; ++x) ink[x] = 2 * v[x] > lo[x] + hi[x] ? 1 : 0;
}

// ink and above begin with a copy of their first pixel: ink[x] is the pixel left of ink[x + 1].
ARRCOC_CLONES void add_row(const uint8_t* __restrict v, const uint8_t* __restrict lo,
                           const uint8_t* __restrict hi, const uint8_t* __restrict ink,
                           const uint8_t* __restrict above, int w, float* __restrict across,
                           float* __restrict down, float* __restrict crisp,
                           float* __restrict contrast) {
  for (int x = 0; x < w; ++x) {
    const int range = hi[x] - lo[x];
    const float counts = range >= kContrast ? 1.0F : 0.0F;
    const int off = 2 * v[x] - lo[x] - hi[x];
    across[x] += counts * static_cast<float>(ink[x + 1] ^ ink[x]);
    down[x] += counts * static_cast<float>(ink[x + 1] ^ above[x + 1]);
    crisp[x] += counts * static_cast<float>(off < 0 ? -off : off) /
                static_cast<float>(range > 1 ? range : 1);
    contrast[x] += counts;
  }
}

void sum_cells(const std::vector<float>& columns, float* out) {
  for (size_t x = 0; x < columns.size(); ++x) out[x / kCell] += columns[x];
}

Sums measure(const cv::Mat& grey) {
  cv::Mat low;
  cv::Mat high;
  const cv::Mat kernel = cv::getStructuringElement(cv::MORPH_RECT, {kSurround, kSurround});
  cv::erode(grey, low, kernel, {-1, -1}, 1, cv::BORDER_REPLICATE);
  cv::dilate(grey, high, kernel, {-1, -1}, 1, cv::BORDER_REPLICATE);

  const int w = grey.cols;
  const cv::Size cells((w + kCell - 1) / kCell, (grey.rows + kCell - 1) / kCell);
  Sums out;
  for (cv::Mat* m : {&out.across, &out.down, &out.crisp, &out.contrast}) {
    *m = cv::Mat::zeros(cells, CV_32FC1);
  }
  cv::parallel_for_(cv::Range(0, cells.height), [&](const cv::Range& range) {
    std::vector<uint8_t> ink(w + 1);
    std::vector<uint8_t> above(w + 1);
    Columns columns(w);
    const auto read_ink = [&](int y, std::vector<uint8_t>& to) {
      ink_row(grey.ptr(y), low.ptr(y), high.ptr(y), w, to.data() + 1);
      to[0] = to[1];
    };
    read_ink(std::max(0, range.start * kCell - 1), above);
    for (int cy = range.start; cy < range.end; ++cy) {
      columns.clear();
      for (int y = cy * kCell; y < std::min(grey.rows, (cy + 1) * kCell); ++y) {
        read_ink(y, ink);
        add_row(grey.ptr(y), low.ptr(y), high.ptr(y), ink.data(), above.data(), w,
                columns.across.data(), columns.down.data(), columns.crisp.data(),
                columns.contrast.data());
        ink.swap(above);
      }
      sum_cells(columns.across, out.across.ptr<float>(cy));
      sum_cells(columns.down, out.down.ptr<float>(cy));
      sum_cells(columns.crisp, out.crisp.ptr<float>(cy));
      sum_cells(columns.contrast, out.contrast.ptr<float>(cy));
    }
  });
  return out;
}

cv::Mat at_scale(const cv::Mat& grey) {
  Sums sums = measure(grey);
  const cv::Size window(kWindowAcross, kWindowDown);
  for (cv::Mat* m : {&sums.across, &sums.down, &sums.crisp, &sums.contrast}) {
    cv::boxFilter(*m, *m, CV_32F, window, {-1, -1}, true, cv::BORDER_REPLICATE);
  }
  constexpr float kPixels = kCell * kCell;
  cv::Mat out(sums.across.size(), CV_32FC1);
  for (size_t i = 0; i < out.total(); ++i) {
    const float contrast = sums.contrast.ptr<float>()[i];
    const float across = sums.across.ptr<float>()[i] / kPixels;
    const float down = sums.down.ptr<float>()[i] / kPixels;
    const float crisp = contrast > 0 ? sums.crisp.ptr<float>()[i] / contrast : 0;
    out.ptr<float>()[i] =
        rise(0.04F, 0.12F, across) * rise(0.01F, 0.05F, down) * rise(0.55F, 0.75F, crisp);
  }
  return out;
}

}  // namespace

cv::Mat text_strength(const cv::Mat& grey) {
  cv::Mat fine = at_scale(grey);
  cv::Mat smaller;
  const cv::Size third(std::max(1, static_cast<int>(std::lround(grey.cols / kLargePrint))),
                       std::max(1, static_cast<int>(std::lround(grey.rows / kLargePrint))));
  cv::resize(grey, smaller, third, 0, 0, cv::INTER_AREA);
  cv::Mat coarse;
  cv::resize(at_scale(smaller), coarse, fine.size(), 0, 0, cv::INTER_LINEAR);
  cv::max(fine, coarse, fine);
  return fine;
}

}  // namespace arrcoc::media
