// Grounds behind scenes and objects.
#pragma once

#include "lab/scenes/page.h"

namespace arrcoc::scenes {

// Sky and ground, wall, bricks, grass, wood, blobs: something for the eye to be distracted by.
void backdrop(Page& page, Random& random);
void street(Page& page, Random& random);  // sky, houses with windows, road
Color vivid(Random& random);
Color muted(Random& random);
Color readable_on(Color ground);

struct Named {
  const char* name;
  Color color;
};
const std::vector<Named>& plain_colors();

// Where things may lie without touching: keeps what is taken.
class Places {
 public:
  Places(float width, float height, float margin)
      : width_(width), height_(height), margin_(margin) {}
  void take(const Box& box) { taken_.push_back(box); }
  bool find(Random& random, float w, float h, Box& out, float y0 = 0, float y1 = 1);

 private:
  float width_, height_, margin_;
  std::vector<Box> taken_;
};

}  // namespace arrcoc::scenes
