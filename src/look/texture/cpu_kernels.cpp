#include "look/texture/cpu_kernels.h"
#include "arrcoc/texture.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <vector>

#include "look/texture/rows.h"

namespace arrcoc::texture {

bool has_cpu_kernel(const at::Tensor& maps) {
  return maps.is_cpu() && maps.scalar_type() == at::kFloat && !maps.requires_grad();
}

Cell whole_cells(int64_t h, int64_t w, int64_t rows, int64_t cols) {
  const Cell cell{(h + rows - 1) / rows, (w + cols - 1) / cols};
  const bool square = cell.height == cell.width || rows == 1 || cols == 1;
  const bool whole =
      (h + cell.height - 1) / cell.height == rows && (w + cell.width - 1) / cell.width == cols;
  return square && whole ? cell : Cell{};
}

namespace {

constexpr int64_t kBand = 16;  // rows of a plane that one task works on, at least

// Three padded rows around the current one; moving down a row makes one new row.
// make(y, out): writes row y (0 <= y < h) without padding.
template <class Make>
class Window {
 public:
  Window(int64_t h, int64_t w, Make make) : h_(h), w_(w), make_(make), rows_(3 * (w + 2)) {}

  void start(int64_t y) {
    for (int64_t d = -1; d <= 1; ++d) load(y + d);
    y_ = y;
  }
  void next() { load(++y_ + 1); }
  const float* up() const { return row(y_ - 1); }
  const float* at() const { return row(y_); }
  const float* down() const { return row(y_ + 1); }

 private:
  const float* row(int64_t y) const { return rows_.data() + ((y + 3) % 3) * (w_ + 2); }
  void load(int64_t y) {
    float* to = rows_.data() + ((y + 3) % 3) * (w_ + 2);
    make_(std::clamp<int64_t>(y, 0, h_ - 1), to + 1);
    to[0] = to[1];
    to[w_ + 1] = to[w_];
  }

  int64_t h_, w_, y_ = 0;
  Make make_;
  std::vector<float> rows_;
};

// Calls row(y, window) for the rows of [begin, end).
template <class Make, class Row>
void slide(int64_t h, int64_t w, int64_t begin, int64_t end, Make make, Row row) {
  Window<Make> window(h, w, make);
  window.start(begin);
  for (int64_t y = begin; y < end; ++y) {
    row(y, window);
    if (y + 1 < end) window.next();
  }
}

// make() for the luma of one picture's three planes.
auto luma_rows(const float* rgb, int64_t h, int64_t w) {
  return [=](int64_t y, float* out) {
    const float* r = rgb + y * w;
    rows::luma(r, r + h * w, r + 2 * h * w, w, out);
  };
}

// Sums of `planes` values per column over the rows of a cell, then means over its columns.
class Sums {
 public:
  Sums(int64_t planes, int64_t w) : w_(w), values_(planes * w) {}
  void clear() { std::fill(values_.begin(), values_.end(), 0.0F); }
  float* plane(int64_t p) { return values_.data() + p * w_; }
  void finish(int64_t p, Cell cell, int64_t rows, float* out) {
    rows::mean_of_cells(plane(p), w_, cell.width, rows, out);
  }

 private:
  int64_t w_;
  std::vector<float> values_;
};

// [B,in,h,w] -> [B,planes,rows,cols]. add(picture, y0, y1, sums) sums the rows of one row of cells.
template <class Add>
at::Tensor pooled(const at::Tensor& maps, int64_t planes, Cell cell, int64_t rows, int64_t cols,
                  Add add) {
  const at::Tensor in = maps.contiguous();
  const int64_t h = in.size(2);
  const int64_t w = in.size(3);
  at::Tensor out = at::empty({in.size(0), planes, rows, cols}, in.options());
  const float* source = in.data_ptr<float>();
  float* target = out.data_ptr<float>();
  const int64_t grain = std::max<int64_t>(1, kBand / cell.height);
  at::parallel_for(0, in.size(0) * rows, grain, [&](int64_t begin, int64_t end) {
    Sums sums(planes, w);
    for (int64_t k = begin; k < end; ++k) {
      const int64_t b = k / rows;
      const int64_t y0 = k % rows * cell.height;
      const int64_t y1 = std::min(h, y0 + cell.height);
      sums.clear();
      add(source + b * in.size(1) * h * w, y0, y1, sums);
      for (int64_t p = 0; p < planes; ++p) {
        sums.finish(p, cell, y1 - y0, target + ((b * planes + p) * rows + k % rows) * cols);
      }
    }
  });
  return out;
}

}  // namespace

at::Tensor stencils_cpu(const at::Tensor& gray) {
  const at::Tensor in = gray.contiguous();
  const int64_t h = in.size(2);
  const int64_t w = in.size(3);
  at::Tensor out = at::empty({in.size(0), 3, h, w}, in.options());
  for (int64_t b = 0; b < in.size(0); ++b) {
    const float* source = in.data_ptr<float>() + b * h * w;
    float* target = out.data_ptr<float>() + b * 3 * h * w;
    const auto make = [=](int64_t y, float* to) { std::copy_n(source + y * w, w, to); };
    at::parallel_for(0, h, kBand, [&](int64_t begin, int64_t end) {
      slide(h, w, begin, end, make, [&](int64_t y, const auto& window) {
        float* o = target + y * w;
        rows::stencils(window.up(), window.at(), window.down(), w, o, o + h * w, o + 2 * h * w);
      });
    });
  }
  return out;
}

at::Tensor pool_cpu(const at::Tensor& maps, Cell cell, int64_t rows, int64_t cols) {
  const int64_t planes = maps.size(1);
  const int64_t h = maps.size(2);
  const int64_t w = maps.size(3);
  return pooled(maps, planes, cell, rows, cols,
                [=](const float* picture, int64_t y0, int64_t y1, Sums& sums) {
                  for (int64_t p = 0; p < planes; ++p) {
                    const float* plane = picture + p * h * w;
                    for (int64_t y = y0; y < y1; ++y) rows::add(plane + y * w, w, sums.plane(p));
                  }
                });
}

at::Tensor pooled_outlines_cpu(const at::Tensor& rgb, Cell cell, int64_t rows, int64_t cols) {
  const int64_t h = rgb.size(2);
  const int64_t w = rgb.size(3);
  return pooled(rgb, 6, cell, rows, cols,
                [=](const float* picture, int64_t y0, int64_t y1, Sums& sums) {
                  slide(h, w, y0, y1, luma_rows(picture, h, w), [&](int64_t y, const auto& window) {
                    for (int64_t c = 0; c < 3; ++c)
                      rows::add(picture + (c * h + y) * w, w, sums.plane(c));
                    rows::add_gradients(window.up(), window.at(), window.down(), w, sums.plane(3),
                                        sums.plane(4), sums.plane(5));
                  });
                });
}

at::Tensor luma_cpu(const at::Tensor& rgb) {
  const at::Tensor in = rgb.contiguous();
  const int64_t h = in.size(2);
  const int64_t w = in.size(3);
  at::Tensor out = at::empty({in.size(0), 1, h, w}, in.options());
  at::parallel_for(0, in.size(0) * h, kBand, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      luma_rows(in.data_ptr<float>() + k / h * 3 * h * w, h, w)(k % h,
                                                                out.data_ptr<float>() + k * w);
    }
  });
  return out;
}

at::Tensor pooled_luma_cpu(const at::Tensor& rgb, Cell cell, int64_t rows, int64_t cols) {
  const int64_t h = rgb.size(2);
  const int64_t w = rgb.size(3);
  return pooled(rgb, 1, cell, rows, cols,
                [=](const float* picture, int64_t y0, int64_t y1, Sums& sums) {
                  std::vector<float> luma(w);
                  const auto make = luma_rows(picture, h, w);
                  for (int64_t y = y0; y < y1; ++y) {
                    make(y, luma.data());
                    rows::add(luma.data(), w, sums.plane(0));
                  }
                });
}

at::Tensor moments_cpu(const at::Tensor& gray, Cell cell, int64_t rows, int64_t cols) {
  const int64_t w = gray.size(3);
  return pooled(gray, 2, cell, rows, cols,
                [=](const float* plane, int64_t y0, int64_t y1, Sums& sums) {
                  for (int64_t y = y0; y < y1; ++y) {
                    rows::add_moments(plane + y * w, w, sums.plane(0), sums.plane(1));
                  }
                });
}

at::Tensor box_cpu(const at::Tensor& maps, int64_t size) {
  const at::Tensor in = maps.contiguous();
  const int64_t h = in.size(2);
  const int64_t w = in.size(3);
  const int64_t reach = size / 2;
  at::Tensor out = at::empty_like(in);
  at::parallel_for(0, in.size(0) * in.size(1) * h, kBand, [&](int64_t begin, int64_t end) {
    std::vector<float> sum(w);
    for (int64_t k = begin; k < end; ++k) {
      const float* plane = in.data_ptr<float>() + k / h * h * w;
      const int64_t y0 = std::max<int64_t>(0, k % h - reach);
      const int64_t y1 = std::min(h, k % h + reach + 1);
      std::fill(sum.begin(), sum.end(), 0.0F);
      for (int64_t y = y0; y < y1; ++y) rows::add(plane + y * w, w, sum.data());
      float* to = out.data_ptr<float>() + k * w;
      for (int64_t x = 0; x < w; ++x) {
        const int64_t x0 = std::max<int64_t>(0, x - reach);
        const int64_t x1 = std::min(w, x + reach + 1);
        float total = 0;
        for (int64_t i = x0; i < x1; ++i) total += sum[i];
        to[x] = total / static_cast<float>((y1 - y0) * (x1 - x0));
      }
    }
  });
  return out;
}

void outlines_cpu(const at::Tensor& rgb, const Outlines& out) {
  const at::Tensor in = rgb.contiguous();
  const int64_t h = in.size(1);
  const int64_t w = in.size(2);
  const float* source = in.data_ptr<float>();
  const auto place = [](int64_t i, int64_t n) {
    return n == 1 ? 0.5F : static_cast<float>(i) / static_cast<float>(n - 1);
  };
  std::vector<float> across(w);
  for (int64_t x = 0; x < w; ++x) across[x] = place(x, w);
  at::parallel_for(0, h, kBand, [&](int64_t begin, int64_t end) {
    slide(h, w, begin, end, luma_rows(source, h, w), [&](int64_t y, const auto& window) {
      const int64_t at = y * w;
      rows::eccentricity(across.data(), place(y, h) - 0.5F, w, out.eccentricity + at);
      rows::outlines(window.up(), window.at(), window.down(), w, out.edges + at, out.highpass + at);
    });
  });
}

namespace {

// Where the pixels of a stretched axis lie between its values, as upsample_bilinear2d (not aligned
// at the corners) has it: pixel i at (i + 0.5) from / to - 0.5, not before the first.
struct Places {
  std::vector<int32_t> left, right;
  std::vector<float> part;

  Places(int64_t from, int64_t to) : left(to), right(to), part(to) {
    const double scale = static_cast<double>(from) / static_cast<double>(to);
    for (int64_t i = 0; i < to; ++i) {
      const double at = std::max(0.0, (static_cast<double>(i) + 0.5) * scale - 0.5);
      left[i] = static_cast<int32_t>(std::min<int64_t>(static_cast<int64_t>(at), from - 1));
      right[i] = static_cast<int32_t>(std::min<int64_t>(left[i] + 1, from - 1));
      part[i] = static_cast<float>(std::clamp(at - left[i], 0.0, 1.0));
    }
  }
};

// Where the pixels of a rows x cols plane lie in one of h x w.
struct Stretch {
  int64_t cols;
  Places down, across;
  Stretch(int64_t rows, int64_t cols_, int64_t h, int64_t w)
      : cols(cols_), down(rows, h), across(cols_, w) {}
};

// Rows of one stretched plane, from top to bottom: a source row is widened once, not for every row
// that lies beside it.
class StretchedRows {
 public:
  StretchedRows(const Stretch& stretch, const float* plane)
      : stretch_(stretch), plane_(plane), w_(static_cast<int64_t>(stretch.across.part.size())) {
    for (Wide& wide : wide_) wide.values.resize(w_);
  }

  void row(int64_t y, float* out) {
    const float* above = widened(stretch_.down.left[y]);
    const float* below = widened(stretch_.down.right[y]);
    rows::blend(above, below, stretch_.down.part[y], w_, out);
  }

 private:
  struct Wide {
    int32_t source = -1;
    std::vector<float> values;
  };

  // Neighbouring source rows have different parities, so that one never evicts the other.
  const float* widened(int32_t source) {
    Wide& wide = wide_[source % 2];
    if (wide.source != source) {
      rows::spread(plane_ + source * stretch_.cols, stretch_.across.left.data(),
                   stretch_.across.right.data(), stretch_.across.part.data(), w_,
                   wide.values.data());
      wide.source = source;
    }
    return wide.values.data();
  }

  const Stretch& stretch_;
  const float* plane_;
  int64_t w_;
  Wide wide_[2];
};

}  // namespace

void normalised_edges_cpu(const float* gray, const at::Tensor& moments, int64_t h, int64_t w,
                          float* out) {
  const at::Tensor local = moments.contiguous();
  const int64_t rows = local.size(1);
  const int64_t cols = local.size(2);
  const float* mean = local.data_ptr<float>();
  const float* square = mean + rows * cols;
  const Stretch stretch(rows, cols, h, w);
  at::parallel_for(0, h, kBand, [&](int64_t begin, int64_t end) {
    StretchedRows means(stretch, mean);
    StretchedRows squares(stretch, square);
    std::vector<float> m(w);
    std::vector<float> s(w);
    const auto make = [&](int64_t y, float* to) {
      means.row(y, m.data());
      squares.row(y, s.data());
      rows::normalise(gray + y * w, m.data(), s.data(), w, to);
    };
    slide(h, w, begin, end, make, [&](int64_t y, const auto& window) {
      rows::soft_edges(window.up(), window.at(), window.down(), w, out + y * w);
    });
  });
}

void stretch_cpu(const at::Tensor& maps, int64_t h, int64_t w, float* out) {
  const at::Tensor in = maps.contiguous();
  const int64_t rows = in.size(1);
  const int64_t cols = in.size(2);
  const float* source = in.data_ptr<float>();
  const Stretch stretch(rows, cols, h, w);
  for (int64_t p = 0; p < in.size(0); ++p) {
    at::parallel_for(0, h, kBand, [&](int64_t begin, int64_t end) {
      StretchedRows stretched(stretch, source + p * rows * cols);
      for (int64_t y = begin; y < end; ++y) stretched.row(y, out + (p * h + y) * w);
    });
  }
}

at::Tensor peak_outlines_cpu(const at::Tensor& rgb, int64_t cell) {
  const at::Tensor in = rgb.contiguous();
  const int64_t h = in.size(1);
  const int64_t w = in.size(2);
  const int64_t rows = (h + cell - 1) / cell;
  const int64_t cols = (w + cell - 1) / cell;
  at::Tensor out = at::empty({rows, cols}, in.options());
  const float* source = in.data_ptr<float>();
  float* target = out.data_ptr<float>();
  at::parallel_for(0, rows, std::max<int64_t>(1, kBand / cell), [&](int64_t begin, int64_t end) {
    std::vector<float> size(w);
    std::vector<float> peak(w);
    for (int64_t r = begin; r < end; ++r) {
      std::fill(peak.begin(), peak.end(), 0.0F);
      slide(h, w, r * cell, std::min(h, (r + 1) * cell), luma_rows(source, h, w),
            [&](int64_t, const auto& window) {
              rows::sizes(window.up(), window.at(), window.down(), w, size.data());
              rows::larger(size.data(), w, peak.data());
            });
      for (int64_t c = 0; c < cols; ++c) {
        const auto first = peak.begin() + c * cell;
        target[r * cols + c] = *std::max_element(first, first + std::min(cell, w - c * cell));
      }
    }
  });
  return out;
}

void luma_bytes_cpu(const at::Tensor& rgb, uint8_t* out) {
  const at::Tensor in = rgb.contiguous();
  const int64_t h = in.size(1);
  const int64_t w = in.size(2);
  const float* red = in.data_ptr<float>();
  at::parallel_for(0, h, kBand, [&](int64_t begin, int64_t end) {
    const float* from = red + begin * w;
    rows::luma_bytes(from, from + h * w, from + 2 * h * w, (end - begin) * w, out + begin * w);
  });
}

}  // namespace arrcoc::texture
