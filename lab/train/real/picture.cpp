#include "lab/train/real/picture.h"

#include <algorithm>
#include <cmath>

#include "lab/scenes/pixels.h"
#include "lab/train/real/words.h"
#include "lab/train/sample.h"

namespace arrcoc::training::real {
namespace {

using scenes::Canvas;

// Along one axis: every new pixel is a weighted sum of `taps` old ones from `first` on.
struct Axis {
  int taps = 1;
  std::vector<int> first;
  std::vector<float> weights;  // [new pixels][taps]
};

// Area mean where it shrinks, linear interpolation where it grows.
Axis axis_of(float begin, float end, int count, int limit) {
  Axis axis;
  const float step = (end - begin) / static_cast<float>(count);
  const float reach = std::max(step, 1.0F);
  axis.taps = static_cast<int>(std::ceil(reach)) + 1;
  axis.first.resize(static_cast<size_t>(count));
  axis.weights.assign(static_cast<size_t>(count) * axis.taps, 0);
  for (int i = 0; i < count; ++i) {
    const float centre = begin + (static_cast<float>(i) + 0.5F) * step;
    const float low = centre - reach / 2, high = centre + reach / 2;
    const int start = static_cast<int>(std::floor(low));
    const int first = std::clamp(start, 0, std::max(0, limit - axis.taps));
    axis.first[static_cast<size_t>(i)] = first;
    float* w = &axis.weights[static_cast<size_t>(i) * axis.taps];
    float sum = 0;
    for (int k = start; k < start + axis.taps; ++k) {
      const float share =
          std::min(high, static_cast<float>(k + 1)) - std::max(low, static_cast<float>(k));
      if (share <= 0) continue;
      // Beyond the edge the last pixel goes on.
      const int at = std::clamp(std::clamp(k, 0, limit - 1) - first, 0, axis.taps - 1);
      w[at] += share;
      sum += share;
    }
    for (int k = 0; k < axis.taps; ++k) w[k] /= sum;
  }
  return axis;
}

struct Source {
  const uint8_t* bytes;
  int width, height, channels;
};

template <int kChannels>
void scale_row(const Source& from, const Axis& across, int row, float* out, int width) {
  const uint8_t* line = from.bytes + static_cast<size_t>(row) * from.width * kChannels;
  const int taps = std::min(across.taps, from.width);
  for (int x = 0; x < width; ++x) {
    const uint8_t* p = line + static_cast<size_t>(across.first[static_cast<size_t>(x)]) * kChannels;
    const float* w = &across.weights[static_cast<size_t>(x) * across.taps];
    float sum[kChannels] = {};
    for (int k = 0; k < taps; ++k)
      for (int c = 0; c < kChannels; ++c) sum[c] += w[k] * static_cast<float>(p[k * kChannels + c]);
    for (int c = 0; c < kChannels; ++c) out[x * kChannels + c] = sum[c];
  }
}

std::vector<uint8_t> scaled(const Source& from, const Box& crop, int width, int height) {
  std::vector<uint8_t> out(static_cast<size_t>(width) * height * 3);
  const Axis across = axis_of(crop.x0, crop.x1, width, from.width);
  const Axis down = axis_of(crop.y0, crop.y1, height, from.height);
  const size_t line = static_cast<size_t>(width) * from.channels;
  // Rows that are still needed, in a ring.
  const int ring = down.taps + 1;
  std::vector<float> rows(line * ring), sum(line);
  std::vector<int> held(static_cast<size_t>(ring), -1);
  for (int y = 0; y < height; ++y) {
    std::fill(sum.begin(), sum.end(), 0.5F);
    for (int k = 0; k < std::min(down.taps, from.height); ++k) {
      const float w = down.weights[static_cast<size_t>(y) * down.taps + k];
      if (w == 0) continue;
      const int row = down.first[static_cast<size_t>(y)] + k;
      float* kept = &rows[line * static_cast<size_t>(row % ring)];
      if (held[static_cast<size_t>(row % ring)] != row) {
        held[static_cast<size_t>(row % ring)] = row;
        if (from.channels == 1)
          scale_row<1>(from, across, row, kept, width);
        else
          scale_row<3>(from, across, row, kept, width);
      }
      for (size_t x = 0; x < line; ++x) sum[x] += w * kept[x];
    }
    uint8_t* to = &out[static_cast<size_t>(y) * width * 3];
    if (from.channels == 1) {
      for (int x = 0; x < width; ++x)
        to[3 * x] = to[3 * x + 1] = to[3 * x + 2] =
            static_cast<uint8_t>(std::min(255.0F, sum[static_cast<size_t>(x)]));
    } else {
      for (size_t x = 0; x < line; ++x) to[x] = static_cast<uint8_t>(std::min(255.0F, sum[x]));
    }
  }
  return out;
}

void mirror(Canvas& canvas) {
  for (int y = 0; y < canvas.height; ++y)
    for (int a = 0, b = canvas.width - 1; a < b; ++a, --b)
      std::swap_ranges(canvas.at(a, y), canvas.at(a, y) + 3, canvas.at(b, y));
}

scenes::Mapping rotation(float degrees, int width, int height) {
  const float a = degrees * 0.01745329252F, cs = std::cos(a), sn = std::sin(a);
  const float cx = static_cast<float>(width) / 2, cy = static_cast<float>(height) / 2;
  scenes::Mapping out;
  out.m[0] = cs, out.m[1] = -sn, out.m[2] = cx - cs * cx + sn * cy;
  out.m[3] = sn, out.m[4] = cs, out.m[5] = cy - sn * cx - cs * cy;
  return out;
}

float usual_em(const std::vector<Word>& words) {
  std::vector<float> ems;
  for (const Word& word : words) ems.push_back(em_of(word));
  return ems.size() < 4 ? 0 : median(std::move(ems));
}

void set_size(View& view, float scale, float stretch, int longest) {
  const float w = view.crop.width() * scale * std::sqrt(stretch);
  const float h = view.crop.height() * scale / std::sqrt(stretch);
  const float fit = std::min(1.0F, static_cast<float>(longest) / std::max(w, h));
  view.width = std::clamp(static_cast<int>(std::lround(w * fit)), 16, longest);
  view.height = std::clamp(static_cast<int>(std::lround(h * fit)), 16, longest);
}

Box piece(const Entry& entry, float low, float high, Dice& dice) {
  const float w = static_cast<float>(entry.width), h = static_cast<float>(entry.height);
  const float across = std::max(std::min(w, 128.0F), w * dice.uniform(low, high));
  const float down = std::max(std::min(h, 128.0F), h * dice.uniform(low, high));
  const float x = dice.uniform(0, w - across), y = dice.uniform(0, h - down);
  return {x, y, x + across, y + down};
}

float log_uniform(Dice& dice, float low, float high) {
  return high <= low ? low : low * std::exp(dice.uniform() * std::log(high / low));
}

View photo_view(const Entry& entry, int longest, Dice& dice) {
  View view;
  view.crop = {0, 0, static_cast<float>(entry.width), static_cast<float>(entry.height)};
  if (dice.chance(0.5F)) view.crop = piece(entry, 0.55F, 1.0F, dice);
  const float stretch = dice.chance(0.5F) ? std::exp(dice.uniform(-0.3F, 0.3F)) : 1.0F;
  set_size(view, log_uniform(dice, 0.8F, 1.5F), stretch, longest);
  view.flip = dice.chance(0.5F);
  if (dice.chance(0.25F)) {
    view.turned = true;
    view.turn = rotation(dice.uniform(-6, 6), view.width, view.height);
  }
  return view;
}

// Print is asked for from 9 to 44 pixels an em, which is what is read at all.
View print_view(const Entry& entry, int longest, Dice& dice) {
  View view;
  view.crop = {0, 0, static_cast<float>(entry.width), static_cast<float>(entry.height)};
  const float em = usual_em(entry.words);
  const float side = static_cast<float>(std::max(entry.width, entry.height));
  const float low = em > 0 ? std::clamp(9 / em, 0.5F, 1.0F) : 0.7F;
  const float high = em > 0 ? std::clamp(44 / em, 1.0F, 2.5F) : 1.5F;
  const float kind = dice.uniform();
  float scale = 1;
  if (kind < 0.5F) {  // about as it is; small charts also twice as large
    scale = dice.uniform(std::max(low, 0.85F), std::min(high, 1.1F));
    if (side < 700 && dice.chance(0.4F)) scale *= std::min(2.0F, high);
  } else if (kind < 0.75F) {
    scale = log_uniform(dice, std::max(low, 0.6F), std::min(high, side < 700 ? 2.5F : 1.6F));
  } else {
    view.crop = piece(entry, 0.35F, 0.85F, dice);
    scale = log_uniform(dice, std::max(low, 0.7F), std::min(high, 2.0F));
  }
  const float stretch = dice.chance(0.3F) ? std::exp(dice.uniform(-0.1F, 0.1F)) : 1.0F;
  set_size(view, scale, stretch, longest);
  if (dice.chance(0.4F)) {
    view.turned = true;
    view.turn = rotation(dice.uniform(-2, 2), view.width, view.height);
  }
  return view;
}

// v -> 255 (v/255)^gamma, then contrast around the middle and brightness.
void curve(Canvas& canvas, float gamma, float contrast, float bright, bool inverted) {
  uint8_t table[256];
  for (int v = 0; v < 256; ++v) {
    float t = std::pow(static_cast<float>(v) / 255, gamma);
    if (inverted) t = 1 - t;
    t = (t - 0.5F) * contrast + 0.5F + bright;
    table[v] = static_cast<uint8_t>(std::lround(std::clamp(t, 0.0F, 1.0F) * 255));
  }
  for (uint8_t& v : canvas.rgb) v = table[v];
}

}  // namespace

scenes::Point View::operator()(scenes::Point p) const {
  p = {(p.x - crop.x0) * static_cast<float>(width) / crop.width(),
       (p.y - crop.y0) * static_cast<float>(height) / crop.height()};
  if (flip) p.x = static_cast<float>(width) - p.x;
  return turned ? turn(p) : p;
}

Box View::operator()(const Box& b) const {
  Box out{1e9F, 1e9F, -1e9F, -1e9F};
  for (const scenes::Point& corner : {scenes::Point{b.x0, b.y0}, scenes::Point{b.x1, b.y0},
                                      scenes::Point{b.x1, b.y1}, scenes::Point{b.x0, b.y1}}) {
    const scenes::Point p = (*this)(corner);
    out = hull(out, {p.x, p.y, p.x, p.y});
  }
  return out;
}

View plain_view(const Entry& entry, int longest, int canvas) {
  View view;
  view.crop = {0, 0, static_cast<float>(entry.width), static_cast<float>(entry.height)};
  set_size(view, 1, 1, longest);
  view.canvas = std::max(view.width, view.height) > canvas ? 0 : canvas;
  return view;
}

View drawn_view(const Entry& entry, int longest, int canvas, Dice& dice) {
  View view = entry.photo ? photo_view(entry, longest, dice) : print_view(entry, longest, dice);
  const bool large = std::max(view.width, view.height) > canvas;
  view.canvas = large == dice.chance(0.15F) ? canvas : 0;
  return view;
}

Canvas render(const Pixels& pixels, const View& view) {
  Canvas canvas(view.width, view.height, {});
  canvas.rgb = scaled({pixels.bytes.data(), pixels.width, pixels.height, pixels.channels},
                      view.crop, view.width, view.height);
  if (view.flip) mirror(canvas);
  if (view.turned) {
    const scenes::Color ground = canvas.get(canvas.width / 2, 0);
    canvas = scenes::warp(canvas, view.turn, view.width, view.height, ground);
  }
  return canvas;
}

void resize_onto(const Canvas& canvas, int width, int height, int side, uint8_t* out) {
  if (width == canvas.width && height == canvas.height)
    return paint(canvas.rgb, width, height, side, out);
  const Box all{0, 0, static_cast<float>(canvas.width), static_cast<float>(canvas.height)};
  paint(scaled({canvas.rgb.data(), canvas.width, canvas.height, 3}, all, width, height), width,
        height, side, out);
}

void age(Canvas& canvas, const Entry& entry, Dice& dice) {
  scenes::Random random(dice.next());
  const float more = entry.digital ? 2.0F : 1.0F;
  const bool photo = entry.photo;
  if (!photo && random.chance(entry.digital ? 0.5F : 0.1F)) scenes::to_grey(canvas);
  if (!photo && random.chance(0.05F * more))
    random.chance(0.5F) ? scenes::thicken(canvas) : scenes::thin(canvas);
  if (random.chance(0.17F * more)) scenes::blur(canvas);
  if (random.chance(0.07F)) scenes::sharpen(canvas);
  if (random.chance(0.7F))
    curve(canvas, random.real(0.75F, 1.35F), random.real(0.7F, 1.15F), random.real(-0.08F, 0.08F),
          !photo && random.chance(0.03F));
  if (random.chance(std::min(0.9F, 0.45F * more))) {
    scenes::Tone tone;
    scenes::Light light;
    const bool tinted = photo || random.chance(0.4F);
    for (int& gain : tone.gain) gain = tinted ? random.between(218, 262) : 256;
    tone.noise = random.chance(0.6F) ? random.between(2, 32) : 0;
    tone.coloured_noise = random.chance(0.3F);
    if (random.chance(0.35F)) {
      const float dx = random.real(-0.3F, 0.3F), dy = random.real(-0.3F, 0.3F);
      for (int y = 0; y < scenes::Light::kGrid; ++y)
        for (int x = 0; x < scenes::Light::kGrid; ++x)
          light.grid[y][x] = static_cast<int>(
              256 * std::clamp(1 + dx * (x / (scenes::Light::kGrid - 1.0F) - 0.5F) +
                                   dy * (y / (scenes::Light::kGrid - 1.0F) - 0.5F),
                               0.4F, 1.15F));
    }
    scenes::tone(canvas, tone, light, random);
  }
  if (entry.digital && random.chance(0.07F))
    scenes::threshold(canvas, random.between(120, 190), random.between(8, 40), random);
  if (random.chance(0.15F * more)) scenes::jpeg(canvas, random.between(30, 85));
}

}  // namespace arrcoc::training::real
