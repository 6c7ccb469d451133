#include "lab/scenes/backdrop.h"

#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"

namespace arrcoc::scenes {

Color vivid(Random& r) {
  static const std::vector<Color> list = {
      {200, 40, 40}, {35, 80, 170}, {30, 130, 70},  {230, 160, 30}, {110, 50, 140},
      {20, 20, 25},  {220, 90, 30}, {15, 120, 140}, {180, 30, 100}, {90, 60, 30}};
  return r.pick(list);
}

Color random_color(Random& r, Color low, Color high) {
  auto part = [&r](int from, int to) { return static_cast<uint8_t>(r.between(from, to)); };
  return {part(low.r, high.r), part(low.g, high.g), part(low.b, high.b)};
}

Color muted(Random& r) { return random_color(r, {90, 90, 90}, {220, 220, 220}); }

Color readable_on(Color ground) {
  return luma(ground) > 130 ? Color{15, 15, 20} : Color{250, 250, 245};
}

NamedColor named_color(const std::string& field) {
  NamedColor out{field, {}};
  for (uint8_t* part : {&out.color.b, &out.color.g, &out.color.r}) {
    const size_t blank = out.name.rfind(' ');
    if (blank == std::string::npos)
      throw Error(ErrorCode::bad_json, "not a colour in the word lists: " + field);
    *part = static_cast<uint8_t>(to_number(out.name.substr(blank + 1)));
    out.name.resize(blank);
  }
  return out;
}

std::vector<NamedColor> plain_colors(const Random& r) {
  std::vector<NamedColor> list;
  for (const std::string& field : r.list<"color.plain">()) list.push_back(named_color(field));
  return list;
}

bool Places::find(Random& r, float w, float h, Box& out, float y0, float y1) {
  for (int tries = 0; tries < 40; ++tries) {
    const float x = r.real(margin_, std::max(margin_, width_ - w - margin_));
    const float low = std::max(margin_, height_ * y0),
                high = std::max(low, height_ * y1 - h - margin_);
    const float y = std::floor(r.real(low, high));
    const Box box{std::floor(x), y, std::floor(x) + w, y + h};
    const Box wide{box.x0 - margin_, box.y0 - margin_, box.x1 + margin_, box.y1 + margin_};
    if (std::any_of(taken_.begin(), taken_.end(),
                    [&](const Box& t) { return intersect(t, wide).area() > 0; }))
      continue;
    taken_.push_back(box);
    out = box;
    return true;
  }
  return false;
}

void street(Page& page, Random& r) {
  Canvas& c = page;
  const float w = static_cast<float>(c.width), h = static_cast<float>(c.height);
  const float horizon = h * r.real(0.55F, 0.75F);
  const Color sky =
      r.pick(std::vector<Color>{{150, 190, 230}, {200, 205, 212}, {240, 200, 160}, {60, 70, 110}});
  c.gradient(0, 0, w, horizon, sky, mix(sky, kWhite, 0.5F));
  for (float x = -20; x < w;) {
    const float bw = r.real(0.08F, 0.2F) * w, top = horizon - r.real(0.15F, 0.55F) * h;
    const Color wall = mix(muted(r), sky, 0.25F),
                glass = mix(wall, r.chance(0.5F) ? Color{30, 40, 60} : Color{250, 230, 160}, 0.6F);
    c.rect(x, top, x + bw, horizon, wall);
    const float step = r.real(0.02F, 0.035F) * w;
    for (float wy = top + step; wy < horizon - step; wy += step * 1.6F)
      for (float wx = x + step * 0.5F; wx < x + bw - step * 0.6F; wx += step * 1.3F)
        c.rect(wx, wy, wx + step * 0.6F, wy + step * 0.9F, glass);
    x += bw + r.real(-2, 10);
  }
  const Color road{95, 95, 98};
  c.gradient(0, horizon, w, h, mix(road, {170, 170, 165}, 0.5F), road);
  for (float x = 0; x < w; x += w / 8) c.rect(x, h * 0.9F, x + w / 16, h * 0.91F, {235, 235, 225});
}

void backdrop(Page& page, Random& r) {
  Canvas& c = page;
  const float w = static_cast<float>(c.width), h = static_cast<float>(c.height);
  switch (r.between(0, 5)) {
    case 0:
      street(page, r);
      break;
    case 1: {  // field under the sky
      const float horizon = h * r.real(0.35F, 0.6F);
      c.gradient(0, 0, w, horizon, {110, 165, 225}, {210, 230, 245});
      c.gradient(0, horizon, w, h, {110, 160, 70}, {70, 120, 50});
      for (int i = r.between(2, 6); i > 0; --i)
        c.ellipse(r.real(0, w), r.real(0, horizon * 0.6F), w * r.real(0.04F, 0.1F),
                  h * r.real(0.015F, 0.04F), {250, 250, 250}, 180);
      for (int i = r.between(4, 14); i > 0; --i) {
        const float x = r.real(0, w), y = r.real(horizon, h), s = (y - horizon + 20) * 0.25F;
        c.rect(x - s * 0.1F, y - s, x + s * 0.1F, y, {95, 65, 40});
        c.ellipse(x, y - s * 1.5F, s * 0.6F, s * 0.8F,
                  {static_cast<uint8_t>(r.between(30, 80)),
                   static_cast<uint8_t>(r.between(90, 140)), 50});
      }
      break;
    }
    case 2: {  // bricks
      const Color brick = mix({165, 85, 65}, muted(r), 0.3F);
      c.rect(0, 0, w, h, mix(brick, {220, 215, 205}, 0.7F));
      const float bh = h / r.between(18, 34), bw = bh * 2.3F;
      int row = 0;
      for (float y = 0; y < h; y += bh, ++row)
        for (float x = row % 2 ? -bw / 2 : 0; x < w; x += bw)
          c.rect(x, y, x + bw - 2, y + bh - 2, mix(brick, kBlack, r.real(0, 0.25F)));
      break;
    }
    case 3: {  // planks
      const Color wood = mix({160, 115, 70}, muted(r), 0.25F);
      const float step = w / r.between(5, 12);
      for (float x = 0; x < w; x += step) {
        const Color plank = mix(wood, {60, 40, 20}, r.real(0, 0.35F));
        c.rect(x, 0, x + step - 2, h, plank);
        for (int i = 0; i < 6; ++i) {
          const float gx = x + r.real(0.05F, 0.9F) * step;
          c.vline(gx, r.real(0, h * 0.4F), r.real(h * 0.5F, h), 1, mix(plank, {40, 25, 10}, 0.3F));
        }
      }
      break;
    }
    case 4: {  // soft blobs, as out of focus
      c.gradient(0, 0, w, h, muted(r), muted(r));
      for (int i = r.between(8, 24); i > 0; --i)
        c.ellipse(r.real(0, w), r.real(0, h), w * r.real(0.03F, 0.16F), w * r.real(0.03F, 0.16F),
                  muted(r), r.between(60, 160));
      break;
    }
    default: {  // plain wall
      const Color wall = mix(muted(r), {235, 232, 225}, 0.5F);
      c.gradient(0, 0, w, h, wall, mix(wall, kBlack, r.real(0, 0.2F)));
    }
  }
}

}  // namespace arrcoc::scenes
