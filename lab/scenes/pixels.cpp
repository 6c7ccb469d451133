#include "lab/scenes/pixels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace arrcoc::scenes {
namespace {

// Fixed grain that all pictures share, entered at random places: one table costs less than drawing
// a number for every pixel. Sums of four uniform bytes are near enough to a bell curve.
constexpr int kTile = 1 << 18;
constexpr int kReach = 3 * 8192;  // longest row in bytes

struct Tables {
  std::vector<int8_t> coloured, grey, soft;
  Tables() : coloured(kTile + kReach), grey(kTile + kReach), soft(kTile + kReach) {
    Random r(0x5CE4E5);
    auto bell = [&r] {
      const uint64_t bits = r.next();
      const int sum = static_cast<int>((bits & 63) + ((bits >> 8) & 63) + ((bits >> 16) & 63) +
                                       ((bits >> 24) & 63));
      return static_cast<int8_t>(sum - 126);
    };
    for (auto& v : coloured) v = bell();
    for (size_t i = 0; i + 2 < grey.size(); i += 3) grey[i] = grey[i + 1] = grey[i + 2] = bell();
    float slow = 0;
    for (size_t i = 0; i + 2 < soft.size(); i += 3) {
      slow = slow * 0.86F + bell() * 0.5F;
      soft[i] = soft[i + 1] = soft[i + 2] = static_cast<int8_t>(std::clamp(slow, -126.0F, 126.0F));
    }
  }
};

const Tables& tables() {
  static const Tables made;
  return made;
}

inline uint8_t clamp8(int v) { return static_cast<uint8_t>(std::clamp(v, 0, 255)); }

}  // namespace

Light::Light() {
  for (auto& line : grid)
    for (int& v : line) v = 256;
}

void tone(Canvas& canvas, const Tone& t, const Light& light, Random& random) {
  const Tables& grain = tables();
  const int width = canvas.width, bytes = width * 3;
  std::vector<int> factor(static_cast<size_t>(bytes));
  std::vector<int> lift(static_cast<size_t>(bytes)), column(static_cast<size_t>(width), 256);
  for (int i = 0; i < bytes; ++i) lift[static_cast<size_t>(i)] = t.lift[i % 3];
  if (!light.column.empty()) column = light.column;
  const auto& noise = t.coloured_noise ? grain.coloured : grain.grey;
  constexpr int kCells = Light::kGrid - 1;
  for (int y = 0; y < canvas.height; ++y) {
    // The light of this row: coarse grid interpolated, times the folds.
    const float v = static_cast<float>(y) / canvas.height * kCells;
    const int gy = std::min(static_cast<int>(v), kCells - 1);
    const float fy = v - gy;
    int coarse[Light::kGrid];
    for (int i = 0; i <= kCells; ++i)
      coarse[i] = static_cast<int>(
          (light.grid[gy][i] + (light.grid[gy + 1][i] - light.grid[gy][i]) * fy) * 256);
    const int fold = light.row.empty() ? 256 : light.row[static_cast<size_t>(y)];
    for (int cell = 0; cell < kCells; ++cell) {
      const int x0 = width * cell / kCells, x1 = width * (cell + 1) / kCells;
      const int step = x1 > x0 ? (coarse[cell + 1] - coarse[cell]) / (x1 - x0) : 0;
      for (int x = x0; x < x1; ++x) {
        const int value = ((coarse[cell] + step * (x - x0)) >> 8) * fold >> 8;
        const int lit = value * column[static_cast<size_t>(x)] >> 8;
        factor[static_cast<size_t>(x) * 3] = lit * t.gain[0] >> 8;
        factor[static_cast<size_t>(x) * 3 + 1] = lit * t.gain[1] >> 8;
        factor[static_cast<size_t>(x) * 3 + 2] = lit * t.gain[2] >> 8;
      }
    }
    const uint64_t draw = random.next();
    const int8_t* n = noise.data() + (draw % (kTile / 3)) * 3;
    // Neighbouring rows share the structure in blocks of two, so that it is soft both ways.
    const int8_t* s =
        grain.soft.data() + ((static_cast<uint64_t>(y / 2) * 7919 * 3) % (kTile / 3)) * 3;
    uint8_t* p = canvas.at(0, y);
    const int na = t.noise, sa = t.texture;
    const int *f = factor.data(), *l = lift.data();
    for (int i = 0; i < bytes; ++i)
      p[i] = clamp8((p[i] * f[i] >> 8) + l[i] + ((n[i] * na + s[i] * sa) >> 7));
  }
}

void to_grey(Canvas& canvas) {
  uint8_t* p = canvas.rgb.data();
  for (size_t i = 0; i < canvas.rgb.size(); i += 3)
    p[i] = p[i + 1] = p[i + 2] =
        static_cast<uint8_t>((p[i] * 77 + p[i + 1] * 150 + p[i + 2] * 29) >> 8);
}

void threshold(Canvas& canvas, int level, int ragged, Random& random) {
  const Tables& grain = tables();
  const int bytes = canvas.width * 3;
  for (int y = 0; y < canvas.height; ++y) {
    const int8_t* n = grain.grey.data() + (random.next() % (kTile / 3)) * 3;
    uint8_t* p = canvas.at(0, y);
    for (int i = 0; i < bytes; ++i) p[i] = p[i] + (n[i] * ragged >> 7) < level ? 0 : 255;
  }
}

void blur_rows(Canvas& canvas) {
  const int bytes = canvas.width * 3;
  std::vector<uint8_t> copy(static_cast<size_t>(bytes) + 6);
  for (int y = 0; y < canvas.height; ++y) {
    uint8_t* p = canvas.at(0, y);
    std::memcpy(copy.data() + 3, p, static_cast<size_t>(bytes));
    std::memcpy(copy.data(), p, 3);
    std::memcpy(copy.data() + 3 + bytes, p + bytes - 3, 3);
    const uint8_t* q = copy.data();
    for (int i = 0; i < bytes; ++i)
      p[i] = static_cast<uint8_t>((q[i] + 2 * q[i + 3] + q[i + 6] + 2) >> 2);
  }
}

void blur_columns(Canvas& canvas) {
  const int bytes = canvas.width * 3;
  std::vector<uint8_t> above(canvas.at(0, 0), canvas.at(0, 0) + bytes),
      here(static_cast<size_t>(bytes));
  for (int y = 0; y < canvas.height; ++y) {
    uint8_t* p = canvas.at(0, y);
    const uint8_t* below = canvas.at(0, std::min(y + 1, canvas.height - 1));
    std::memcpy(here.data(), p, static_cast<size_t>(bytes));
    const uint8_t *a = above.data(), *h = here.data();
    for (int i = 0; i < bytes; ++i)
      p[i] = static_cast<uint8_t>((a[i] + 2 * h[i] + below[i] + 2) >> 2);
    std::swap(above, here);
  }
}

void blur(Canvas& canvas) {
  blur_rows(canvas);
  blur_columns(canvas);
}

void sharpen(Canvas& canvas) {
  Canvas soft = canvas;
  blur(soft);
  uint8_t* p = canvas.rgb.data();
  const uint8_t* s = soft.rgb.data();
  for (size_t i = 0; i < canvas.rgb.size(); ++i) p[i] = clamp8(2 * p[i] - s[i]);
}

void thicken(Canvas& canvas) {
  const int bytes = canvas.width * 3 - 3;
  for (int y = 0; y < canvas.height; ++y) {
    uint8_t* p = canvas.at(0, y);
    for (int i = 0; i < bytes; ++i) p[i] = std::min(p[i], p[i + 3]);
  }
}

void thin(Canvas& canvas) {
  const int bytes = canvas.width * 3 - 3;
  for (int y = 0; y < canvas.height; ++y) {
    uint8_t* p = canvas.at(0, y);
    for (int i = 0; i < bytes; ++i)
      p[i] = static_cast<uint8_t>((p[i] + std::max(p[i], p[i + 3])) >> 1);
  }
}

void wear_print(Canvas& canvas, Random& random, float strength) {
  const int width = canvas.width, bytes = width * 3;
  std::vector<int> column(static_cast<size_t>(width), 256);
  for (int i = random.between(0, static_cast<int>(10 * strength)); i > 0; --i)
    column[static_cast<size_t>(random.between(0, width - 1))] = random.between(30, 190);
  float slow = 1;
  std::vector<int> wide(static_cast<size_t>(bytes));
  for (int x = 0; x < width; ++x) {
    slow = std::clamp(slow + random.real(-0.02F, 0.02F), 1 - 0.45F * strength, 1.0F);
    const int value = static_cast<int>(column[static_cast<size_t>(x)] * slow);
    wide[static_cast<size_t>(x) * 3] = wide[static_cast<size_t>(x) * 3 + 1] =
        wide[static_cast<size_t>(x) * 3 + 2] = value;
  }
  const Tables& grain = tables();
  const int dots = static_cast<int>(strength * 150);
  float band = 1;
  for (int y = 0; y < canvas.height; ++y) {
    band = std::clamp(band + random.real(-0.05F, 0.05F), 1 - 0.5F * strength, 1.0F);
    const int row = static_cast<int>(band * 256 * (random.chance(0.03F * strength) ? 0.5F : 1.0F));
    const int8_t* n = grain.grey.data() + (random.next() % (kTile / 3)) * 3;
    uint8_t* p = canvas.at(0, y);
    const int* w = wide.data();
    for (int i = 0; i < bytes; ++i) {
      const int keep = std::min(256, (row * w[i] >> 8) + (n[i] * dots >> 7));
      p[i] = clamp8(255 - ((255 - p[i]) * keep >> 8));
    }
  }
}

void specks(Canvas& canvas, Random& random, int count, Color color) {
  for (int i = 0; i < count; ++i) {
    const int x = random.between(0, canvas.width - 1), y = random.between(0, canvas.height - 1);
    const int size = random.chance(0.9F) ? 1 : random.between(1, 3);
    for (int dy = 0; dy < size; ++dy)
      for (int dx = 0; dx < size; ++dx)
        canvas.blend(x + dx, y + dy, color, random.between(90, 255));
  }
}

Mapping quad_map(float width, float height, const Point t[4]) {
  // Heckbert's unit square to quadrilateral, then scaled.
  const float dx1 = t[1].x - t[2].x, dx2 = t[3].x - t[2].x, sx = t[0].x - t[1].x + t[2].x - t[3].x;
  const float dy1 = t[1].y - t[2].y, dy2 = t[3].y - t[2].y, sy = t[0].y - t[1].y + t[2].y - t[3].y;
  const float det = dx1 * dy2 - dx2 * dy1;
  const float g = (sx * dy2 - dx2 * sy) / det, h = (dx1 * sy - sx * dy1) / det;
  Mapping m;
  m.m[0] = (t[1].x - t[0].x + g * t[1].x) / width;
  m.m[1] = (t[3].x - t[0].x + h * t[3].x) / height;
  m.m[2] = t[0].x;
  m.m[3] = (t[1].y - t[0].y + g * t[1].y) / width;
  m.m[4] = (t[3].y - t[0].y + h * t[3].y) / height;
  m.m[5] = t[0].y;
  m.m[6] = g / width;
  m.m[7] = h / height;
  m.m[8] = 1;
  return m;
}

Mapping inverse(const Mapping& map) {
  const float* a = map.m;
  Mapping out;
  out.m[0] = a[4] * a[8] - a[5] * a[7];
  out.m[1] = a[2] * a[7] - a[1] * a[8];
  out.m[2] = a[1] * a[5] - a[2] * a[4];
  out.m[3] = a[5] * a[6] - a[3] * a[8];
  out.m[4] = a[0] * a[8] - a[2] * a[6];
  out.m[5] = a[2] * a[3] - a[0] * a[5];
  out.m[6] = a[3] * a[7] - a[4] * a[6];
  out.m[7] = a[1] * a[6] - a[0] * a[7];
  out.m[8] = a[0] * a[4] - a[1] * a[3];
  return out;
}

Canvas warp(const Canvas& source, const Mapping& map, int width, int height, Color ground) {
  Canvas out(width, height, ground);
  const Mapping back = inverse(map);
  constexpr int kSpan = 16;  // exact every 16 pixels, linear between
  const int sw = source.width, sh = source.height;
  for (int y = 0; y < height; ++y) {
    uint8_t* p = out.at(0, y);
    Point next = back(Point{0.5F, y + 0.5F});
    for (int x = 0; x < width; x += kSpan) {
      const Point from = next;
      next = back(Point{x + kSpan + 0.5F, y + 0.5F});
      // 16.16 fixed point; pixel centres lie at .5.
      int u = static_cast<int>((from.x - 0.5F) * 65536),
          v = static_cast<int>((from.y - 0.5F) * 65536);
      const int du = static_cast<int>((next.x - from.x) * (65536.0F / kSpan));
      const int dv = static_cast<int>((next.y - from.y) * (65536.0F / kSpan));
      const int end = std::min(x + kSpan, width);
      for (int i = x; i < end; ++i, p += 3, u += du, v += dv) {
        const int iu = u >> 16, iv = v >> 16;
        if (iu < -1 || iv < -1 || iu >= sw || iv >= sh) continue;
        const int fu = (u >> 8) & 255, fv = (v >> 8) & 255;
        if (iu >= 0 && iv >= 0 && iu < sw - 1 && iv < sh - 1) {
          const uint8_t* a = source.at(iu, iv);
          const uint8_t* b = a + static_cast<size_t>(sw) * 3;
          for (int c = 0; c < 3; ++c) {
            const int top = (a[c] << 8) + (a[c + 3] - a[c]) * fu,
                      low = (b[c] << 8) + (b[c + 3] - b[c]) * fu;
            p[c] = static_cast<uint8_t>(((top << 8) + (low - top) * fv + 32768) >> 16);
          }
        } else {
          const int x0 = std::clamp(iu, 0, sw - 1), y0 = std::clamp(iv, 0, sh - 1);
          std::memcpy(p, source.at(x0, y0), 3);
        }
      }
    }
  }
  return out;
}

}  // namespace arrcoc::scenes
