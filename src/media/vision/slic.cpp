// SLIC superpixels (Achanta et al. 2012): k-means in (L, a, b, x, y) with a window of two grid
// steps. Written out because ximgproc's takes 40 ms for 320x320 on two cores.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <opencv2/imgproc.hpp>

#include "arrcoc/texture.h"
#include "base/clones.h"
#include "media/mats.h"
#include "media/vision/vision.h"

namespace arrcoc::media {

namespace {

struct Centre {
  double l = 0, a = 0, b = 0, x = 0, y = 0;
};

constexpr int kRounds = 6;

// Pixels x0 .. x1 of a row that are closer to centre k than to theirs.
struct LabRow {
  const float *l, *a, *b;
};
ARRCOC_CLONES void claim(LabRow row, float cl, float ca, float cb, float cx, float weight,
                         float down, int k, int x0, int x1, float* __restrict nearest,
                         int* __restrict label) {
  const float* __restrict l = row.l;
  const float* __restrict a = row.a;
  const float* __restrict b = row.b;
  for (int x = x0; x < x1; ++x) {
    const float dl = l[x] - cl;
    const float da = a[x] - ca;
    const float db = b[x] - cb;
    const float dx = static_cast<float>(x) - cx;
    const float d = dl * dl + da * da + db * db + weight * (dx * dx + down);
    const bool closer = d < nearest[x];
    label[x] = closer ? k : label[x];
    nearest[x] = closer ? d : nearest[x];
  }
}

// Labels of the rows in `band`: each pixel takes the centre with the smallest colour^2 +
// (distance/step)^2 compactness^2.
void assign(const cv::Mat (&lab)[3], const std::vector<Centre>& centres, double step,
            float compactness, const cv::Range& band, cv::Mat& labels, cv::Mat& best) {
  const auto weight = static_cast<float>(compactness * compactness / (step * step));
  const int reach = static_cast<int>(std::ceil(step));
  best.rowRange(band.start, band.end).setTo(std::numeric_limits<float>::max());
  for (size_t k = 0; k < centres.size(); ++k) {
    const Centre& centre = centres[k];
    const int x0 = std::max(0, static_cast<int>(centre.x) - reach);
    const int x1 = std::min(labels.cols, static_cast<int>(centre.x) + reach + 1);
    const int y0 = std::max(band.start, static_cast<int>(centre.y) - reach);
    const int y1 = std::min(band.end, static_cast<int>(centre.y) + reach + 1);
    const auto cl = static_cast<float>(centre.l);
    const auto ca = static_cast<float>(centre.a);
    const auto cb = static_cast<float>(centre.b);
    const auto cx = static_cast<float>(centre.x);
    for (int y = y0; y < y1; ++y) {
      const auto dy = static_cast<float>(y - centre.y);
      claim({lab[0].ptr<float>(y), lab[1].ptr<float>(y), lab[2].ptr<float>(y)}, cl, ca, cb, cx,
            weight, dy * dy, static_cast<int>(k), x0, x1, best.ptr<float>(y), labels.ptr<int>(y));
    }
  }
}

void move(const cv::Mat (&lab)[3], const cv::Mat& labels, std::vector<Centre>& centres) {
  std::vector<Centre> sum(centres.size());
  std::vector<int> count(centres.size(), 0);
  for (int y = 0; y < labels.rows; ++y) {
    const int* label = labels.ptr<int>(y);
    const float* l = lab[0].ptr<float>(y);
    const float* a = lab[1].ptr<float>(y);
    const float* b = lab[2].ptr<float>(y);
    for (int x = 0; x < labels.cols; ++x) {
      Centre& s = sum[label[x]];
      s.l += l[x], s.a += a[x], s.b += b[x], s.x += x, s.y += y;
      ++count[label[x]];
    }
  }
  for (size_t k = 0; k < centres.size(); ++k) {
    if (count[k] == 0) continue;  // an empty cluster waits where it is
    const double n = count[k];
    centres[k] = {sum[k].l / n, sum[k].a / n, sum[k].b / n, sum[k].x / n, sum[k].y / n};
  }
}

constexpr int kDirections[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};

// Calls visit(neighbour) for the pixels beside one.
template <class Visit>
void beside(const cv::Mat& picture, cv::Point p, Visit visit) {
  for (const auto& d : kDirections) {
    const cv::Point q(p.x + d[0], p.y + d[1]);
    if (q.x >= 0 && q.y >= 0 && q.x < picture.cols && q.y < picture.rows) visit(q);
  }
}

// The largest 4-connected piece of every label stays and grows, breadth first, over the other
// pieces: every label is one region then, also in noise, where nearly all pieces are crumbs.
Segments connect(const cv::Mat& labels, int count) {
  std::vector<std::vector<cv::Point>> largest(count);
  cv::Mat seen = cv::Mat::zeros(labels.size(), CV_8UC1);
  std::vector<cv::Point> piece;
  for (int y = 0; y < labels.rows; ++y) {
    for (int x = 0; x < labels.cols; ++x) {
      if (seen.at<uint8_t>(y, x) != 0) continue;
      const int label = labels.at<int>(y, x);
      piece.assign(1, {x, y});
      seen.at<uint8_t>(y, x) = 1;
      for (size_t i = 0; i < piece.size(); ++i) {
        beside(labels, piece[i], [&](cv::Point q) {
          if (seen.at<uint8_t>(q) != 0 || labels.at<int>(q) != label) return;
          seen.at<uint8_t>(q) = 1;
          piece.push_back(q);
        });
      }
      if (piece.size() > largest[label].size()) largest[label].swap(piece);
    }
  }
  Segments out;
  out.labels = cv::Mat(labels.size(), CV_32SC1, cv::Scalar(-1));
  std::vector<cv::Point> front;
  for (const auto& kept : largest) {
    if (kept.empty()) continue;
    for (const cv::Point& p : kept) out.labels.at<int>(p) = out.count;
    front.insert(front.end(), kept.begin(), kept.end());
    ++out.count;
  }
  for (size_t i = 0; i < front.size(); ++i) {
    const int label = out.labels.at<int>(front[i]);
    beside(labels, front[i], [&](cv::Point q) {
      if (out.labels.at<int>(q) >= 0) return;
      out.labels.at<int>(q) = label;
      front.push_back(q);
    });
  }
  return out;
}

}  // namespace

Segments slic(const cv::Mat (&rgb)[3], int wanted, float compactness) {
  const int h = rgb[0].rows;
  const int w = rgb[0].cols;
  at::Tensor planes = at::empty({1, 3, h, w}, at::kFloat);
  cv::Mat lab[3];  // headers on the tensor
  for (int c = 0; c < 3; ++c) rgb[c].copyTo(plane_of(planes[0], c));
  planes = texture::rgb_to_lab(planes);
  planes.narrow(1, 0, 1).mul_(100);  // L 0..100, a and b likewise
  planes.narrow(1, 1, 2).mul_(128);
  for (int c = 0; c < 3; ++c) lab[c] = plane_of(planes[0], c);

  // A grid of whole cells, as square as the picture allows.
  const double step = std::max(1.0, std::sqrt(static_cast<double>(w) * h / wanted));
  const int across = std::clamp(static_cast<int>(std::lround(w / step)), 1, w);
  const int down = std::clamp(static_cast<int>(std::lround(h / step)), 1, h);
  std::vector<Centre> centres;
  cv::Mat labels(h, w, CV_32SC1);
  for (int r = 0; r < down; ++r) {
    for (int c = 0; c < across; ++c) {
      const int x = static_cast<int>((c + 0.5) * w / across);
      const int y = static_cast<int>((r + 0.5) * h / down);
      centres.push_back({lab[0].at<float>(y, x), lab[1].at<float>(y, x), lab[2].at<float>(y, x),
                         static_cast<double>(x), static_cast<double>(y)});
    }
  }
  // Pixels that no window reaches keep the label of their grid cell.
  for (int y = 0; y < h; ++y) {
    for (int x = 0; x < w; ++x) labels.at<int>(y, x) = y * down / h * across + x * across / w;
  }
  const double cell = std::max(static_cast<double>(w) / across, static_cast<double>(h) / down);
  cv::Mat best(h, w, CV_32FC1);
  for (int round = 0; round < kRounds; ++round) {
    // Rows are independent of each other, so bands of them may run at once.
    cv::parallel_for_(cv::Range(0, h), [&](const cv::Range& band) {
      assign(lab, centres, cell, compactness, band, labels, best);
    });
    if (round + 1 < kRounds) move(lab, labels, centres);
  }
  return connect(labels, static_cast<int>(centres.size()));
}

}  // namespace arrcoc::media
