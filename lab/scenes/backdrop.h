// Grounds behind scenes and objects.
#pragma once

#include "lab/scenes/page.h"

namespace arrcoc::scenes {

// Sky and ground, wall, bricks, grass, wood, blobs: something for the eye to be distracted by.
void backdrop(Page& page, Random& random);
void street(Page& page, Random& random);  // sky, houses with windows, road
// Each part between those of two colours.
Color random_color(Random& random, Color low, Color high);
Color vivid(Random& random);
Color muted(Random& random);
Color readable_on(Color ground);

struct NamedColor {
  std::string name;
  Color color;
};
NamedColor named_color(const std::string& field);  // "dark blue 34 76 132" of the word lists
std::vector<NamedColor> plain_colors(const Random& random);

// Where things may lie without touching: keeps what is taken.
class Places {
 public:
  Places(const Page& page, float margin) : width_(page.w()), height_(page.h()), margin_(margin) {}
  void take(const Box& box) { taken_.push_back(box); }
  bool find(Random& random, float w, float h, Box& out, float y0 = 0, float y1 = 1);

 private:
  float width_, height_, margin_;
  std::vector<Box> taken_;
};

}  // namespace arrcoc::scenes
