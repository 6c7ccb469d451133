// An 8-bit RGB picture and the few shapes that scenes are made of. Shapes are anti-aliased where
// they are slanted or round; everything clips at the edge.
#pragma once

#include <cstdint>
#include <vector>

#include "arrcoc/map.h"

namespace arrcoc::scenes {

struct Color {
  uint8_t r = 0, g = 0, b = 0;
  bool operator==(const Color&) const = default;
};
constexpr Color kWhite{255, 255, 255}, kBlack{0, 0, 0};
Color mix(Color a, Color b, float share_of_b);
inline int luma(Color c) { return (c.r * 77 + c.g * 150 + c.b * 29) >> 8; }

struct Point {
  float x = 0, y = 0;
};

struct Canvas {
  int width = 0, height = 0;
  std::vector<uint8_t> rgb;

  Canvas() = default;
  Canvas(int width, int height, Color fill);

  uint8_t* at(int x, int y) { return rgb.data() + (static_cast<size_t>(y) * width + x) * 3; }
  const uint8_t* at(int x, int y) const {
    return rgb.data() + (static_cast<size_t>(y) * width + x) * 3;
  }
  Color get(int x, int y) const;
  void blend(int x, int y, Color color, int alpha);  // alpha 0..255; outside: nothing

  void rect(float x0, float y0, float x1, float y1, Color color);
  void rect(const Box& b, Color color) { rect(b.x0, b.y0, b.x1, b.y1, color); }
  void frame(float x0, float y0, float x1, float y1, float thickness, Color color);
  void hline(float x0, float x1, float y, float thickness, Color color);
  void vline(float x, float y0, float y1, float thickness, Color color);
  void dashed(float x0, float x1, float y, float dash, float gap, float thickness, Color color);
  void line(Point a, Point b, float thickness, Color color);
  void polyline(const std::vector<Point>& points, float thickness, Color color);
  void polygon(const std::vector<Point>& points, Color color, int alpha = 255);
  void ellipse(float cx, float cy, float rx, float ry, Color color, int alpha = 255);
  void ring(float cx, float cy, float rx, float ry, float thickness, Color color);
  // Pie piece between two angles in turns, clockwise from twelve o'clock.
  void wedge(float cx, float cy, float radius, float from, float to, Color color);
  void round_rect(float x0, float y0, float x1, float y1, float radius, Color color);
  void gradient(float x0, float y0, float x1, float y1, Color top, Color bottom);
};

}  // namespace arrcoc::scenes
