#include <algorithm>
#include <cmath>

#include "training/scenes/draft.h"

namespace arrcoc::scenes {

Point Mapping::operator()(Point p) const {
  const float w = m[6] * p.x + m[7] * p.y + m[8];
  return {(m[0] * p.x + m[1] * p.y + m[2]) / w, (m[3] * p.x + m[4] * p.y + m[5]) / w};
}

Box Mapping::operator()(const Box& b) const {
  const Point corners[4] = {(*this)(Point{b.x0, b.y0}), (*this)(Point{b.x1, b.y0}),
                            (*this)(Point{b.x1, b.y1}), (*this)(Point{b.x0, b.y1})};
  Box out{corners[0].x, corners[0].y, corners[0].x, corners[0].y};
  for (const Point& p : corners) {
    out.x0 = std::min(out.x0, p.x);
    out.y0 = std::min(out.y0, p.y);
    out.x1 = std::max(out.x1, p.x);
    out.y1 = std::max(out.y1, p.y);
  }
  return out;
}

Image finish(Context&, Page& page, Finish, Random, Mapping& mapping) {
  Image image;
  image.width = page.canvas.width;
  image.height = page.canvas.height;
  image.rgb = std::move(page.canvas.rgb);
  for (Glyph g : page.glyphs) {
    const Point p = mapping(Point{g.x, g.y});
    g.x = p.x;
    g.y = p.y;
    image.glyphs.push_back(g);
  }
  for (const TextBox& t : page.texts) image.texts.push_back({mapping(t.box), t.text});
  return image;
}

}  // namespace arrcoc::scenes
