#include <algorithm>
#include <cmath>
#include <cstring>

#include "lab/scenes/pixels.h"

namespace arrcoc::scenes {
namespace {

// ITU T.81 Annex K.1, as every common encoder scales it by quality.
constexpr int kLumaTable[64] = {16,  11,  10,  16,  24, 40, 51,  61,  12,  12,  14,  19,  26,
                                58,  60,  55,  14,  13, 16, 24,  40,  57,  69,  56,  14,  17,
                                22,  29,  51,  87,  80, 62, 18,  22,  37,  56,  68,  109, 103,
                                77,  24,  35,  55,  64, 81, 104, 113, 92,  49,  64,  78,  87,
                                103, 121, 120, 101, 72, 92, 95,  98,  112, 100, 103, 99};
constexpr int kChromaTable[64] = {17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99,
                                  24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99, 99, 99, 99, 99, 99,
                                  99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
                                  99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99};

struct Basis {
  float c[8][8];  // orthonormal DCT-II
  Basis() {
    for (int k = 0; k < 8; ++k)
      for (int n = 0; n < 8; ++n)
        c[k][n] = static_cast<float>((k == 0 ? std::sqrt(0.125) : 0.5) *
                                     std::cos((2 * n + 1) * k * 3.14159265358979323846 / 16));
  }
};

// One 8x8 block through transform, quantisation and back, eight columns at a time. The even and odd
// halves of the transform are folded first (half the products).
void code_block(float* b, const float* step, const float* one_over) {
  static const Basis basis;
  const auto& c = basis.c;
  float t[64], f[64];
  auto forward = [&c](const float* in, float* out) {  // along the slow index
    for (int x = 0; x < 8; ++x) {
      float s[4], d[4];
      for (int n = 0; n < 4; ++n) {
        s[n] = in[n * 8 + x] + in[(7 - n) * 8 + x];
        d[n] = in[n * 8 + x] - in[(7 - n) * 8 + x];
      }
      for (int k = 0; k < 8; k += 2) {
        out[k * 8 + x] = c[k][0] * s[0] + c[k][1] * s[1] + c[k][2] * s[2] + c[k][3] * s[3];
        out[(k + 1) * 8 + x] =
            c[k + 1][0] * d[0] + c[k + 1][1] * d[1] + c[k + 1][2] * d[2] + c[k + 1][3] * d[3];
      }
    }
  };
  auto back = [&c](const float* in, float* out) {
    for (int x = 0; x < 8; ++x) {
      for (int n = 0; n < 4; ++n) {
        const float even =
            c[0][n] * in[x] + c[2][n] * in[16 + x] + c[4][n] * in[32 + x] + c[6][n] * in[48 + x];
        const float odd = c[1][n] * in[8 + x] + c[3][n] * in[24 + x] + c[5][n] * in[40 + x] +
                          c[7][n] * in[56 + x];
        out[n * 8 + x] = even + odd;
        out[(7 - n) * 8 + x] = even - odd;
      }
    }
  };
  auto turn = [](const float* in, float* out) {
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) out[j * 8 + i] = in[i * 8 + j];
  };
  forward(b, t);
  turn(t, f);
  forward(f, t);  // t[u][v], transposed; the tables below are turned to match
  // Adding and taking away 1.5 * 2^23 rounds to the nearest whole number.
  constexpr float kRound = 12582912.0F;
  for (int i = 0; i < 64; ++i) t[i] = ((t[i] * one_over[i] + kRound) - kRound) * step[i];
  back(t, f);
  turn(f, t);
  back(t, b);
}

struct Plane {
  int width = 0, height = 0;
  std::vector<float> values;  // padded to whole blocks
  Plane(int w, int h)
      : width((w + 7) & ~7), height((h + 7) & ~7), values(static_cast<size_t>(width) * height) {}
  float* row(int y) { return values.data() + static_cast<size_t>(y) * width; }
};

void code_plane(Plane& plane, const int* table, int quality) {
  const int scale = quality < 50 ? 5000 / quality : 200 - 2 * quality;
  float step[64], one_over[64];
  for (int i = 0; i < 64; ++i) {
    const int at = (i % 8) * 8 + i / 8;
    step[i] = static_cast<float>(std::clamp((table[at] * scale + 50) / 100, 1, 255));
    one_over[i] = 1 / step[i];
  }
  float block[64];
  for (int y = 0; y < plane.height; y += 8) {
    for (int x = 0; x < plane.width; x += 8) {
      float low = 1e9F, high = -1e9F;
      for (int j = 0; j < 8; ++j) {
        const float* p = plane.row(y + j) + x;
        for (int i = 0; i < 8; ++i) {
          block[j * 8 + i] = p[i] - 128;
          low = std::min(low, p[i]);
          high = std::max(high, p[i]);
        }
      }
      if (high - low < 1.5F) continue;  // flat paper comes back as it was
      code_block(block, step, one_over);
      for (int j = 0; j < 8; ++j) {
        float* p = plane.row(y + j) + x;
        for (int i = 0; i < 8; ++i) p[i] = block[j * 8 + i] + 128;
      }
    }
  }
}

inline uint8_t clamp8(float v) { return static_cast<uint8_t>(std::clamp(v + 0.5F, 0.0F, 255.0F)); }

}  // namespace

void jpeg(Canvas& canvas, int quality) {
  const int w = canvas.width, h = canvas.height;
  Plane luma_plane(w, h), cb((w + 1) / 2, (h + 1) / 2), cr((w + 1) / 2, (h + 1) / 2);
  bool coloured = false;
  for (int y = 0; y < luma_plane.height; ++y) {
    const uint8_t* p = canvas.at(0, std::min(y, h - 1));
    float* to = luma_plane.row(y);
    int spread = 0;
    for (int x = 0; x < w; ++x) {
      const uint8_t* q = p + x * 3;
      to[x] = 0.299F * q[0] + 0.587F * q[1] + 0.114F * q[2];
      spread |= (q[0] ^ q[1]) | (q[1] ^ q[2]);
    }
    coloured = coloured || spread != 0;
    for (int x = w; x < luma_plane.width; ++x) to[x] = to[w - 1];
  }
  code_plane(luma_plane, kLumaTable, quality);
  if (!coloured) {
    for (int y = 0; y < h; ++y) {
      uint8_t* p = canvas.at(0, y);
      const float* from = luma_plane.row(y);
      for (int x = 0; x < w; ++x) p[x * 3] = p[x * 3 + 1] = p[x * 3 + 2] = clamp8(from[x]);
    }
    return;
  }
  for (int y = 0; y < cb.height; ++y) {
    const uint8_t* p = canvas.at(0, std::min(2 * y, h - 1));
    const uint8_t* q = canvas.at(0, std::min(2 * y + 1, h - 1));
    float *b = cb.row(y), *r = cr.row(y);
    for (int x = 0; x < cb.width; ++x) {
      const int x0 = std::min(2 * x, w - 1) * 3, x1 = std::min(2 * x + 1, w - 1) * 3;
      float sum[3];
      for (int c = 0; c < 3; ++c) sum[c] = (p[x0 + c] + p[x1 + c] + q[x0 + c] + q[x1 + c]) * 0.25F;
      b[x] = 128 - 0.168736F * sum[0] - 0.331264F * sum[1] + 0.5F * sum[2];
      r[x] = 128 + 0.5F * sum[0] - 0.418688F * sum[1] - 0.081312F * sum[2];
    }
  }
  code_plane(cb, kChromaTable, quality);
  code_plane(cr, kChromaTable, quality);
  for (int y = 0; y < h; ++y) {
    uint8_t* p = canvas.at(0, y);
    const float *l = luma_plane.row(y), *b = cb.row(y / 2), *r = cr.row(y / 2);
    for (int x = 0; x < w; ++x) {
      const float blue = b[x / 2] - 128, red = r[x / 2] - 128;
      p[x * 3] = clamp8(l[x] + 1.402F * red);
      p[x * 3 + 1] = clamp8(l[x] - 0.344136F * blue - 0.714136F * red);
      p[x * 3 + 2] = clamp8(l[x] + 1.772F * blue);
    }
  }
}

}  // namespace arrcoc::scenes
