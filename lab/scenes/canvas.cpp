#include "lab/scenes/canvas.h"

#include <algorithm>
#include <cmath>

namespace arrcoc::scenes {
namespace {

constexpr float kTurn = 6.28318530718F;

void blend_row(uint8_t* p, int count, Color c) {
  for (int i = 0; i < count; ++i, p += 3) {
    p[0] = c.r;
    p[1] = c.g;
    p[2] = c.b;
  }
}

}  // namespace

Color mix(Color a, Color b, float t) {
  auto part = [t](uint8_t p, uint8_t q) {
    return static_cast<uint8_t>(std::clamp(p + (q - p) * t + 0.5F, 0.0F, 255.0F));
  };
  return {part(a.r, b.r), part(a.g, b.g), part(a.b, b.b)};
}

Canvas::Canvas(int w, int h, Color fill) : width(w), height(h) {
  rgb.resize(static_cast<size_t>(w) * h * 3);
  blend_row(rgb.data(), w * h, fill);
}

Color Canvas::get(int x, int y) const {
  x = std::clamp(x, 0, width - 1);
  y = std::clamp(y, 0, height - 1);
  const uint8_t* p = at(x, y);
  return {p[0], p[1], p[2]};
}

void Canvas::blend(int x, int y, Color c, int alpha) {
  if (x < 0 || y < 0 || x >= width || y >= height || alpha <= 0) return;
  uint8_t* p = at(x, y);
  const int keep = 255 - alpha;
  p[0] = static_cast<uint8_t>((p[0] * keep + c.r * alpha + 127) / 255);
  p[1] = static_cast<uint8_t>((p[1] * keep + c.g * alpha + 127) / 255);
  p[2] = static_cast<uint8_t>((p[2] * keep + c.b * alpha + 127) / 255);
}

void Canvas::rect(float fx0, float fy0, float fx1, float fy1, Color color) {
  const int x0 = std::max(0, static_cast<int>(std::lround(fx0)));
  const int x1 = std::min(width, static_cast<int>(std::lround(fx1)));
  const int y0 = std::max(0, static_cast<int>(std::lround(fy0)));
  const int y1 = std::min(height, static_cast<int>(std::lround(fy1)));
  if (x1 <= x0) return;
  for (int y = y0; y < y1; ++y) blend_row(at(x0, y), x1 - x0, color);
}

void Canvas::frame(float x0, float y0, float x1, float y1, float t, Color color) {
  rect(x0, y0, x1, y0 + t, color);
  rect(x0, y1 - t, x1, y1, color);
  rect(x0, y0, x0 + t, y1, color);
  rect(x1 - t, y0, x1, y1, color);
}

void Canvas::hline(float x0, float x1, float y, float t, Color color) {
  const float top = std::round(y - t / 2);
  rect(x0, top, x1, top + std::max(1.0F, std::round(t)), color);
}

void Canvas::vline(float x, float y0, float y1, float t, Color color) {
  const float left = std::round(x - t / 2);
  rect(left, y0, left + std::max(1.0F, std::round(t)), y1, color);
}

void Canvas::dashed(float x0, float x1, float y, float dash, float gap, float t, Color color) {
  for (float x = x0; x < x1; x += dash + gap) hline(x, std::min(x + dash, x1), y, t, color);
}

void Canvas::line(Point a, Point b, float t, Color color) {
  const float dx = b.x - a.x, dy = b.y - a.y;
  const float length = std::sqrt(dx * dx + dy * dy);
  const float half = std::max(t, 1.0F) / 2;
  const int x0 = std::max(0, static_cast<int>(std::floor(std::min(a.x, b.x) - half - 1)));
  const int x1 = std::min(width - 1, static_cast<int>(std::ceil(std::max(a.x, b.x) + half + 1)));
  const int y0 = std::max(0, static_cast<int>(std::floor(std::min(a.y, b.y) - half - 1)));
  const int y1 = std::min(height - 1, static_cast<int>(std::ceil(std::max(a.y, b.y) + half + 1)));
  for (int y = y0; y <= y1; ++y) {
    for (int x = x0; x <= x1; ++x) {
      const float px = x + 0.5F - a.x, py = y + 0.5F - a.y;
      const float s =
          length > 0 ? std::clamp((px * dx + py * dy) / (length * length), 0.0F, 1.0F) : 0.0F;
      const float ex = px - s * dx, ey = py - s * dy;
      const float cover = half + 0.5F - std::sqrt(ex * ex + ey * ey);
      if (cover > 0) blend(x, y, color, static_cast<int>(std::min(cover, 1.0F) * 255));
    }
  }
}

void Canvas::polyline(const std::vector<Point>& points, float t, Color color) {
  for (size_t i = 1; i < points.size(); ++i) line(points[i - 1], points[i], t, color);
}

// Scan conversion with four lines a pixel row and exact cover in x.
void Canvas::polygon(const std::vector<Point>& points, Color color, int alpha) {
  if (points.size() < 3) return;
  float top = points[0].y, bottom = points[0].y;
  for (const Point& p : points) {
    top = std::min(top, p.y);
    bottom = std::max(bottom, p.y);
  }
  const int y0 = std::max(0, static_cast<int>(std::floor(top)));
  const int y1 = std::min(height - 1, static_cast<int>(std::ceil(bottom)));
  std::vector<float> cover(static_cast<size_t>(width) + 2);
  std::vector<float> cuts;
  for (int y = y0; y <= y1; ++y) {
    int left = width, right = -1;
    for (int sub = 0; sub < 4; ++sub) {
      const float sy = y + (sub + 0.5F) / 4;
      cuts.clear();
      for (size_t i = 0; i < points.size(); ++i) {
        const Point& a = points[i];
        const Point& b = points[(i + 1) % points.size()];
        if ((a.y <= sy) != (b.y <= sy))
          cuts.push_back(a.x + (sy - a.y) / (b.y - a.y) * (b.x - a.x));
      }
      std::sort(cuts.begin(), cuts.end());
      for (size_t i = 0; i + 1 < cuts.size(); i += 2) {
        const float x0 = std::clamp(cuts[i], 0.0F, static_cast<float>(width));
        const float x1 = std::clamp(cuts[i + 1], 0.0F, static_cast<float>(width));
        if (x1 <= x0) continue;
        const int first = static_cast<int>(x0), last = std::min(width - 1, static_cast<int>(x1));
        left = std::min(left, first);
        right = std::max(right, last);
        for (int x = first; x <= last; ++x)
          cover[x] += (std::min(x1, x + 1.0F) - std::max(x0, static_cast<float>(x))) / 4;
      }
    }
    for (int x = left; x <= right; ++x) {
      blend(x, y, color, static_cast<int>(std::min(cover[x], 1.0F) * alpha));
      cover[x] = 0;
    }
  }
}

void Canvas::ellipse(float cx, float cy, float rx, float ry, Color color, int alpha) {
  const int y0 = std::max(0, static_cast<int>(std::floor(cy - ry)));
  const int y1 = std::min(height - 1, static_cast<int>(std::ceil(cy + ry)));
  for (int y = y0; y <= y1; ++y) {
    const float v = (y + 0.5F - cy) / ry;
    if (v * v >= 1) continue;
    const float half = rx * std::sqrt(1 - v * v);
    const float a = cx - half, b = cx + half;
    const int x0 = std::max(0, static_cast<int>(std::floor(a)));
    const int x1 = std::min(width - 1, static_cast<int>(std::floor(b)));
    for (int x = x0; x <= x1; ++x) {
      const float cover = std::min(b, x + 1.0F) - std::max(a, static_cast<float>(x));
      blend(x, y, color, static_cast<int>(std::clamp(cover, 0.0F, 1.0F) * alpha));
    }
  }
}

void Canvas::ring(float cx, float cy, float rx, float ry, float t, Color color) {
  const int steps = std::max(16, static_cast<int>((rx + ry) / 3));
  std::vector<Point> points;
  for (int i = 0; i <= steps; ++i) {
    const float a = kTurn * i / steps;
    points.push_back({cx + rx * std::cos(a), cy + ry * std::sin(a)});
  }
  polyline(points, t, color);
}

void Canvas::wedge(float cx, float cy, float radius, float from, float to, Color color) {
  std::vector<Point> points;
  const int steps = std::max(2, static_cast<int>((to - from) * 96));
  if (to - from < 0.9999F) points.push_back({cx, cy});
  for (int i = 0; i <= steps; ++i) {
    const float a = kTurn * (from + (to - from) * i / steps);
    points.push_back({cx + radius * std::sin(a), cy - radius * std::cos(a)});
  }
  polygon(points, color);
}

void Canvas::round_rect(float x0, float y0, float x1, float y1, float r, Color color) {
  r = std::min({r, (x1 - x0) / 2, (y1 - y0) / 2});
  std::vector<Point> points;
  const Point centres[4] = {{x1 - r, y0 + r}, {x1 - r, y1 - r}, {x0 + r, y1 - r}, {x0 + r, y0 + r}};
  for (int corner = 0; corner < 4; ++corner) {
    for (int i = 0; i <= 6; ++i) {
      const float a = kTurn * (corner - 1 + i / 6.0F) / 4;
      points.push_back({centres[corner].x + r * std::cos(a), centres[corner].y + r * std::sin(a)});
    }
  }
  polygon(points, color);
}

void Canvas::gradient(float x0, float y0, float x1, float y1, Color top, Color bottom) {
  for (float y = std::floor(y0); y < y1; ++y)
    rect(x0, y, x1, y + 1, mix(top, bottom, (y - y0) / std::max(1.0F, y1 - y0)));
}

}  // namespace arrcoc::scenes
