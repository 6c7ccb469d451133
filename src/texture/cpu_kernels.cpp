#include "texture/cpu_kernels.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <vector>

namespace arrcoc::texture {

bool has_cpu_kernel(const at::Tensor& maps) {
  return maps.is_cpu() && maps.scalar_type() == at::kFloat && !maps.requires_grad();
}

namespace {

// One row of all four stencils from the three padded rows above, at and below it.
void stencil_row(const float* up, const float* at, const float* down, int64_t w, float* gx,
                 float* gy, float* high, float* low) {
  for (int64_t x = 0; x < w; ++x) {
    const float left = up[x] + 2 * at[x] + down[x];
    const float right = up[x + 2] + 2 * at[x + 2] + down[x + 2];
    const float middle = up[x + 1] + 2 * at[x + 1] + down[x + 1];
    const float top = up[x] + 2 * up[x + 1] + up[x + 2];
    const float bottom = down[x] + 2 * down[x + 1] + down[x + 2];
    gx[x] = 0.25F * (right - left);
    gy[x] = 0.25F * (bottom - top);
    high[x] = up[x + 1] + down[x + 1] + at[x] + at[x + 2] - 4 * at[x + 1];
    low[x] = 0.0625F * (left + 2 * middle + right);
  }
}

void pad_row(const float* row, int64_t w, float* out) {
  out[0] = row[0];
  std::copy(row, row + w, out + 1);
  out[w + 1] = row[w - 1];
}

}  // namespace

at::Tensor stencils_cpu(const at::Tensor& gray) {
  const at::Tensor in = gray.contiguous();
  const int64_t batch = in.size(0);
  const int64_t h = in.size(2);
  const int64_t w = in.size(3);
  at::Tensor out = at::empty({batch, 4, h, w}, in.options());
  const float* source = in.data_ptr<float>();
  float* target = out.data_ptr<float>();
  at::parallel_for(0, batch * h, 32, [&](int64_t begin, int64_t end) {
    std::vector<float> rows(3 * (w + 2));
    for (int64_t k = begin; k < end; ++k) {
      const int64_t b = k / h;
      const int64_t y = k % h;
      for (int64_t d = -1; d <= 1; ++d) {
        const int64_t yy = std::clamp<int64_t>(y + d, 0, h - 1);
        pad_row(source + (b * h + yy) * w, w, &rows[(d + 1) * (w + 2)]);
      }
      float* o = target + (b * 4 * h + y) * w;
      stencil_row(&rows[0], &rows[w + 2], &rows[2 * (w + 2)], w, o, o + h * w, o + 2 * h * w,
                  o + 3 * h * w);
    }
  });
  return out;
}

at::Tensor pool_cpu(const at::Tensor& maps, int64_t cell_h, int64_t cell_w, int64_t rows,
                    int64_t cols) {
  const at::Tensor in = maps.contiguous();
  const int64_t planes = in.size(0) * in.size(1);
  const int64_t h = in.size(2);
  const int64_t w = in.size(3);
  at::Tensor out = at::empty({in.size(0), in.size(1), rows, cols}, in.options());
  const float* source = in.data_ptr<float>();
  float* target = out.data_ptr<float>();
  at::parallel_for(0, planes * rows, 8, [&](int64_t begin, int64_t end) {
    std::vector<float> sum(w);
    for (int64_t k = begin; k < end; ++k) {
      const int64_t y0 = (k % rows) * cell_h;
      const int64_t y1 = std::min(h, y0 + cell_h);
      std::fill(sum.begin(), sum.end(), 0.0F);
      for (int64_t y = y0; y < y1; ++y) {
        const float* row = source + ((k / rows) * h + y) * w;
        for (int64_t x = 0; x < w; ++x) sum[x] += row[x];
      }
      for (int64_t c = 0; c < cols; ++c) {
        const int64_t x1 = std::min(w, (c + 1) * cell_w);
        float total = 0;
        for (int64_t x = c * cell_w; x < x1; ++x) total += sum[x];
        target[k * cols + c] = total / static_cast<float>((y1 - y0) * (x1 - c * cell_w));
      }
    }
  });
  return out;
}

}  // namespace arrcoc::texture
