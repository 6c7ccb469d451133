// A picture ready to be scored, for the tests of knowing and of what follows it.
#pragma once

#include <ATen/ATen.h>

#include <string>

#include "arrcoc/look.h"

namespace arrcoc::test {

// rgb [3,h,w] float in [0,1]; keeps everything that a Sight refers to.
struct Scenery {
  Picture picture;
  at::Tensor frame;
  Texture texture;
  Query query;

  Scenery(const at::Tensor& rgb, const std::string& question,
          ChannelSet channels = ChannelSet::compact)
      : picture(make_picture((rgb * 255).round().to(at::kByte))),
        frame(frame_of(picture)),
        texture(texture::sense(picture, frame, {channels, 1024, 16, {}})),
        query(parse_query(question)) {}

  Sight sight() const {
    return {picture, frame, texture, query, scoring::map_shape(picture, frame, 16)};
  }
  Map score(const std::string& scorer) const {
    return registry<Scorer>().make(scorer)->score(sight());
  }
};

inline at::Tensor flat(double r, double g, double b, int64_t h = 256, int64_t w = 256) {
  return at::tensor({r, g, b}, at::kFloat).reshape({3, 1, 1}).expand({3, h, w}).clone();
}

inline void fill(at::Tensor& rgb, int y0, int x0, int y1, int x1, double r, double g, double b) {
  rgb.slice(1, y0, y1).slice(2, x0, x1).copy_(
      at::tensor({r, g, b}, at::kFloat).reshape({3, 1, 1}).expand({3, y1 - y0, x1 - x0}));
}

// Print-like strokes: letters of 3 px stems, 14 px high, on lines 20 px apart.
inline void scribble(at::Tensor& rgb, int y0, int x0, int y1, int x1, double grey) {
  uint32_t state = 12345;
  for (int y = y0; y + 14 <= y1; y += 20) {
    for (int x = x0; x + 9 <= x1; x += 11) {
      state = state * 1664525u + 1013904223u;
      fill(rgb, y, x, y + 14, x + 2, grey, grey, grey);
      if (state & 1u << 20) fill(rgb, y, x, y + 2, x + 8, grey, grey, grey);
      if (state & 1u << 21) fill(rgb, y + 6, x, y + 8, x + 8, grey, grey, grey);
      if (state & 1u << 22) fill(rgb, y, x + 6, y + 14, x + 8, grey, grey, grey);
    }
  }
}

// Mean of a map over native rectangle [x0,x1) x [y0,y1).
inline float mean_in(const Map& map, float x0, float y0, float x1, float y1) {
  double sum = 0;
  int n = 0;
  for (int r = 0; r < map.rows; ++r) {
    for (int c = 0; c < map.cols; ++c) {
      const float x = (static_cast<float>(c) + .5F) * map.cell_width;
      const float y = (static_cast<float>(r) + .5F) * map.cell_height;
      if (x >= x0 && x < x1 && y >= y0 && y < y1) {
        sum += map.at(r, c);
        ++n;
      }
    }
  }
  return n > 0 ? static_cast<float>(sum / n) : 0;
}

}  // namespace arrcoc::test
