// Logistic regression by Newton's method, for a few features.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace arrcoc::fitting {

template <size_t N>
struct Example {
  std::array<double, N> x;
  bool yes;
  double weight = 1;
};

template <size_t N>
double chance(const std::array<double, N>& w, const std::array<double, N>& x) {
  double z = 0;
  for (size_t i = 0; i < N; ++i) z += w[i] * x[i];
  return 1 / (1 + std::exp(-z));
}

// Solves H x = g (Gauss with pivoting); H is positive definite but for rounding.
template <size_t N>
std::array<double, N> solve(std::array<std::array<double, N>, N> h, std::array<double, N> g) {
  for (size_t i = 0; i < N; ++i) {
    size_t pivot = i;
    for (size_t r = i + 1; r < N; ++r)
      if (std::abs(h[r][i]) > std::abs(h[pivot][i])) pivot = r;
    std::swap(h[i], h[pivot]);
    std::swap(g[i], g[pivot]);
    for (size_t r = i + 1; r < N; ++r) {
      const double f = h[r][i] / h[i][i];
      for (size_t c = i; c < N; ++c) h[r][c] -= f * h[i][c];
      g[r] -= f * g[i];
    }
  }
  for (size_t i = N; i-- > 0;) {
    for (size_t c = i + 1; c < N; ++c) g[i] -= h[i][c] * g[c];
    g[i] /= h[i][i];
  }
  return g;
}

// Weighted logistic loss, and the pull of every weight to `start`.
template <size_t N>
double loss(const std::vector<Example<N>>& examples, const std::array<double, N>& w,
            const std::array<double, N>& start, double pull) {
  double out = 0;
  for (size_t i = 0; i < N; ++i) out += pull * (w[i] - start[i]) * (w[i] - start[i]) / 2;
  for (const Example<N>& e : examples) {
    const double p = chance(w, e.x);
    out -= e.weight * std::log(std::max(1e-300, e.yes ? p : 1 - p));
  }
  return out;
}

// pull: of every weight to `start`, as strong as so many examples. A step that makes the loss worse
// is halved.
template <size_t N>
std::array<double, N> regress(const std::vector<Example<N>>& examples,
                              const std::array<double, N>& start = {}, double pull = 1) {
  std::array<double, N> w = start;
  for (int step = 0; step < 25; ++step) {
    std::array<double, N> g{};
    std::array<std::array<double, N>, N> h{};
    for (size_t i = 0; i < N; ++i) {
      g[i] = pull * (w[i] - start[i]);
      h[i][i] = pull;
    }
    for (const Example<N>& e : examples) {
      const double p = chance(w, e.x), error = e.weight * (p - (e.yes ? 1 : 0));
      const double slope = e.weight * std::max(1e-6, p * (1 - p));
      for (size_t i = 0; i < N; ++i) {
        g[i] += error * e.x[i];
        for (size_t k = 0; k < N; ++k) h[i][k] += slope * e.x[i] * e.x[k];
      }
    }
    const std::array<double, N> move = solve(h, g);
    const double before = loss(examples, w, start, pull);
    for (double share = 1; share > 1e-3; share /= 2) {
      std::array<double, N> next = w;
      for (size_t i = 0; i < N; ++i) next[i] -= share * move[i];
      if (!(loss(examples, next, start, pull) <= before)) continue;
      w = next;
      break;
    }
  }
  return w;
}

}  // namespace arrcoc::fitting
