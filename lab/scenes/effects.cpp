// Ageing: what happens to a page between the printer and the file.
#include <algorithm>
#include <cmath>

#include "lab/scenes/draft.h"
#include "lab/scenes/pixels.h"

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

namespace {

struct Pose {
  float turn = 0;         // degrees
  float inset = 0;        // share of the width left free around the page
  float perspective = 0;  // share of the width by which corners move
};

// A pose that keeps all text inside the picture: the wish is halved until it does.
Mapping place(const Page& page, Pose pose, Random& r, int width, int height) {
  float jitter[8];
  for (float& j : jitter) j = r.real(-1, 1);
  const float ox = r.real(-1, 1), oy = r.real(-1, 1);
  for (int tries = 0; tries < 6; ++tries) {
    const float a = pose.turn * 0.01745329252F, cs = std::cos(a), sn = std::sin(a);
    const float scale = 1 - 2 * pose.inset;
    const float w = width * scale, h = height * scale;
    const float cx = width / 2.0F + ox * pose.inset * width * 0.8F,
                cy = height / 2.0F + oy * pose.inset * height * 0.8F;
    const Point corners[4] = {{-w / 2, -h / 2}, {w / 2, -h / 2}, {w / 2, h / 2}, {-w / 2, h / 2}};
    Point target[4];
    for (int i = 0; i < 4; ++i) {
      target[i].x =
          cx + corners[i].x * cs - corners[i].y * sn + jitter[i * 2] * pose.perspective * width;
      target[i].y = cy + corners[i].x * sn + corners[i].y * cs +
                    jitter[i * 2 + 1] * pose.perspective * height;
    }
    const Mapping map =
        quad_map(static_cast<float>(page.width), static_cast<float>(page.height), target);
    bool inside = true;
    std::vector<Box> boxes = page.things;
    for (const TextBox& t : page.texts) boxes.push_back(t.box);
    for (const Box& drawn : boxes) {
      const Box box = map(drawn),
                whole{0, 0, static_cast<float>(page.width), static_cast<float>(page.height)};
      if (intersect(drawn, whole).area() < drawn.area()) continue;  // was cut off before
      inside = inside && box.x0 >= 1 && box.y0 >= 1 && box.x1 <= width - 1 && box.y1 <= height - 1;
    }
    if (inside) return map;
    pose.turn /= 2;
    pose.perspective /= 2;
  }
  const Point plain[4] = {{0, 0},
                          {static_cast<float>(width), 0},
                          {static_cast<float>(width), static_cast<float>(height)},
                          {0, static_cast<float>(height)}};
  return quad_map(static_cast<float>(page.width), static_cast<float>(page.height), plain);
}

void pose_page(Page& page, const Pose& pose, Random& r, Color ground, Mapping& mapping) {
  mapping = place(page, pose, r, page.width, page.height);
  static_cast<Canvas&>(page) = warp(page, mapping, page.width, page.height, ground);
}

// A slope of light over the page, now and then a shadow from one side.
Light uneven_light(Random& r, float strength) {
  Light light;
  const float dx = r.real(-1, 1) * strength, dy = r.real(-1, 1) * strength,
              vignette = r.chance(0.3F) ? r.real(0, strength) : 0.0F;
  const bool shadow = r.chance(0.25F);
  const float sa = r.real(0, 6.2831853F), sd = r.real(-0.5F, 0.6F),
              depth = r.real(0.1F, 0.45F) * std::min(1.0F, strength * 5);
  for (int y = 0; y < Light::kGrid; ++y)
    for (int x = 0; x < Light::kGrid; ++x) {
      const float u = x / (Light::kGrid - 1.0F) - 0.5F, v = y / (Light::kGrid - 1.0F) - 0.5F;
      float f = 1 + dx * u + dy * v - vignette * (u * u + v * v) * 2;
      if (shadow) {
        const float side = (u * std::cos(sa) + v * std::sin(sa) - sd) * 5;
        f *= 1 - depth * std::clamp(side + 0.5F, 0.0F, 1.0F);
      }
      light.grid[y][x] = static_cast<int>(std::clamp(f, 0.25F, 1.15F) * 256);
    }
  return light;
}

// A fold: a thin dark line beside a thin light one, and one side a little darker.
void fold(std::vector<int>& factors, int length, Random& r) {
  if (factors.empty()) factors.assign(static_cast<size_t>(length), 256);
  const int at = r.between(length / 8, length * 7 / 8), wide = r.between(8, 60);
  const float deep = r.real(0.04F, 0.16F);
  for (int i = 0; i < wide; ++i) {
    const float f = 1 - deep * (1 - static_cast<float>(i) / wide);
    if (at + i < length)
      factors[static_cast<size_t>(at + i)] =
          static_cast<int>(factors[static_cast<size_t>(at + i)] * f);
    if (at - 1 - i >= 0 && i < wide / 4)
      factors[static_cast<size_t>(at - 1 - i)] =
          static_cast<int>(factors[static_cast<size_t>(at - 1 - i)] * (2 - f));
  }
}

void soften(Canvas& canvas, Random& r, float share, float twice) {
  if (!r.chance(share)) return;
  if (r.chance(0.15F)) {
    if (r.chance(0.5F))
      blur_rows(canvas);
    else
      blur_columns(canvas);
    return;
  }
  blur(canvas);
  if (r.chance(twice)) blur(canvas);
}

void age_receipt(Page& page, Random& r, Mapping& mapping) {
  Canvas& canvas = page;
  if (r.chance(0.6F)) wear_print(canvas, r, r.real(0.1F, 0.9F));
  if (r.chance(0.12F))
    thicken(canvas);
  else if (r.chance(0.12F))
    thin(canvas);
  const bool white_scan = r.chance(0.45F);  // levels stretched until the paper is white
  const Color ground = r.chance(0.5F)   ? kWhite
                       : r.chance(0.6F) ? Color{30, 30, 32}
                                        : Color{120, 104, 90};
  if (r.chance(0.5F))
    pose_page(page,
              {r.chance(0.85F) ? r.real(-1.6F, 1.6F) : r.real(-5, 5),
               r.chance(0.4F) ? r.real(0.005F, 0.04F) : 0.0F, r.chance(0.2F) ? 0.012F : 0.0F},
              r, ground, mapping);
  Tone t;
  Light light = white_scan ? Light() : uneven_light(r, r.real(0, 0.25F));
  const float paper = white_scan ? r.real(0.97F, 1.05F) : r.real(0.68F, 1.0F);
  const float warm = r.real(-0.03F, 0.05F);
  t.gain[0] = static_cast<int>(256 * paper * (1 + warm));
  t.gain[1] = static_cast<int>(256 * paper * (1 + warm * 0.5F));
  t.gain[2] = static_cast<int>(256 * paper * (1 - warm));
  if (r.chance(0.4F)) {
    const int lift = r.between(0, white_scan ? 50 : 70);
    for (int c = 0; c < 3; ++c) {
      t.gain[c] = t.gain[c] * (256 - lift) >> 8;
      t.lift[c] = lift;
    }
  }
  t.noise = r.between(0, white_scan ? 14 : 34);
  t.texture = white_scan ? 0 : r.between(0, 10);
  t.coloured_noise = r.chance(0.4F);
  if (!white_scan)
    for (int i = r.between(0, 2); i > 0; --i) {
      if (r.chance(0.7F))
        fold(light.row, canvas.height, r);
      else
        fold(light.column, canvas.width, r);
    }
  tone(canvas, t, light, r);
  if (r.chance(0.25F)) specks(canvas, r, r.between(5, 160), {40, 40, 40});
  soften(canvas, r, 0.45F, 0.15F);
  if (r.chance(0.15F)) sharpen(canvas);
}

void age_scan(Page& page, Random& r, Mapping& mapping) {
  Canvas& canvas = page;
  // Two tones, grey, coloured.
  const int look = static_cast<int>(r.weighted({page.halftones ? 0.0F : 3.0F, 4, 2.5F}));
  if (look < 2) to_grey(canvas);
  if (r.chance(0.15F))
    thicken(canvas);
  else if (look > 0 && r.chance(0.12F))
    thin(canvas);
  if (look > 0 && r.chance(0.15F)) wear_print(canvas, r, r.real(0.1F, 0.5F));
  // The lid of the scanner is dark more often than not, and shows around the page.
  const bool lid = r.chance(0.62F);
  const Color ground = !lid             ? Color{250, 250, 250}
                       : r.chance(0.4F) ? Color{12, 12, 12}
                                        : Color{62, 62, 62};
  if (lid || r.chance(0.4F))
    pose_page(page,
              {r.real(-1.4F, 1.4F),
               lid || r.chance(0.6F) ? r.real(0.004F, lid ? 0.045F : 0.025F) : 0.0F, 0.0F},
              r, ground, mapping);
  if (look == 0) {
    // Fax and photocopy: levels are chosen so that thin strokes survive.
    specks(canvas, r, r.between(0, 300), kBlack);
    threshold(canvas, r.between(165, 225), r.between(0, 60), r);
    if (r.chance(0.75F)) blur(canvas);
    return;
  }
  Tone t;
  const float paper = r.real(0.78F, 1.03F), warm = look == 2 ? r.real(0, 0.09F) : 0.0F;
  t.gain[0] = static_cast<int>(256 * paper * (1 + warm * 0.4F));
  t.gain[1] = static_cast<int>(256 * paper);
  t.gain[2] = static_cast<int>(256 * paper * (1 - warm));
  const int lift = r.between(0, 55);
  for (int c = 0; c < 3; ++c) {
    t.gain[c] = t.gain[c] * (256 - lift) >> 8;
    t.lift[c] = lift;
  }
  t.noise = r.between(0, 26);
  t.texture = r.between(0, 9);
  Light light = uneven_light(r, r.real(0, 0.12F));
  tone(canvas, t, light, r);
  if (r.chance(0.4F)) specks(canvas, r, r.between(5, 250), {30, 30, 30});
  soften(canvas, r, 0.45F, 0.2F);
}

void age_photo(Page& page, Random& r, Mapping& mapping) {
  Canvas& canvas = page;
  if (r.chance(0.45F))
    pose_page(page, {r.real(-4, 4), r.real(0, 0.02F), r.real(0, 0.025F)}, r, canvas.get(3, 3),
              mapping);
  Tone t;
  const float bright = r.real(0.7F, 1.05F);
  for (int c = 0; c < 3; ++c) t.gain[c] = static_cast<int>(256 * bright * r.real(0.93F, 1.05F));
  if (r.chance(0.3F)) t.lift[0] = t.lift[1] = t.lift[2] = r.between(0, 40);
  t.noise = r.between(0, 40);
  t.texture = r.between(0, 12);
  t.coloured_noise = r.chance(0.6F);
  Light light = uneven_light(r, r.real(0, 0.5F));
  tone(canvas, t, light, r);
  soften(canvas, r, 0.4F, 0.25F);
}

// Frames of one clip share the light and the colour; only the grain moves.
void age_clip(Page& page, Random& r, Random grain) {
  Tone t;
  const float bright = r.real(0.8F, 1.05F);
  for (int c = 0; c < 3; ++c) t.gain[c] = static_cast<int>(256 * bright * r.real(0.95F, 1.05F));
  t.noise = r.between(0, 30);
  t.coloured_noise = r.chance(0.6F);
  const Light light = uneven_light(r, r.real(0, 0.3F));
  tone(page, t, light, grain);
  if (r.chance(0.3F)) blur(page);
}

// Charts are published small and clean; shown larger, their letters are soft.
void enlarge(Page& page, Random& r, int longest, Mapping& mapping) {
  Canvas& canvas = page;
  const int side = std::max(canvas.width, canvas.height);
  if (side >= longest * 9 / 10 || !r.chance(0.65F)) return;
  const float scale = r.chance(0.7F) ? static_cast<float>(longest) / side
                                     : r.real(1.2F, static_cast<float>(longest) / side);
  const int w = std::min(longest, static_cast<int>(canvas.width * scale)),
            h = std::min(longest, static_cast<int>(canvas.height * scale));
  const Point corners[4] = {{0, 0},
                            {static_cast<float>(w), 0},
                            {static_cast<float>(w), static_cast<float>(h)},
                            {0, static_cast<float>(h)}};
  mapping = quad_map(static_cast<float>(canvas.width), static_cast<float>(canvas.height), corners);
  canvas = warp(canvas, mapping, w, h, kWhite);
}

}  // namespace

Image finish(Context& context, Page& page, Finish look, Random r, Mapping& mapping) {
  if (context.options.effects) {
    float coded = 0.35F;
    int low = 40, high = 92;
    switch (look) {
      case Finish::receipt:
        age_receipt(page, r, mapping);
        break;
      case Finish::scan:
        age_scan(page, r, mapping);
        break;
      case Finish::chart:
        if (r.chance(0.6F)) jpeg(page, r.between(60, 95));
        enlarge(page, r, context.options.longest, mapping);
        coded = 0;
        break;
      case Finish::photo:
        age_photo(page, r, mapping);
        break;
      case Finish::screen:
        if (r.chance(0.3F)) age_photo(page, r, mapping);
        low = 60;
        break;
      case Finish::object:
        if (r.chance(0.5F)) age_photo(page, r, mapping);
        break;
      case Finish::clip:
        age_clip(page, r, context.random);
        low = 60;
        break;
      case Finish::none:
        coded = 0;
        break;
    }
    if (r.chance(coded)) jpeg(page, r.between(low, high));
  }
  Image image;
  image.width = page.width;
  image.height = page.height;
  image.rgb = std::move(page.rgb);
  image.glyphs.reserve(page.glyphs.size());
  const float scale =
      std::sqrt(std::fabs(mapping.m[0] * mapping.m[4] - mapping.m[1] * mapping.m[3]));
  for (Glyph g : page.glyphs) {
    const Point p = mapping(Point{g.x, g.y});
    g.x = p.x;
    g.y = p.y;
    g.height *= scale;
    if (g.x >= 0 && g.y >= 0 && g.x < image.width && g.y < image.height) image.glyphs.push_back(g);
  }
  const Box whole{0, 0, static_cast<float>(image.width), static_cast<float>(image.height)};
  for (const TextBox& t : page.texts) {
    const Box box = intersect(mapping(t.box), whole);
    if (box.area() > 0) image.texts.push_back({box, t.text});
  }
  return image;
}

}  // namespace arrcoc::scenes
