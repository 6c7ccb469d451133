#include "lab/fit/film_movers.h"

#include <algorithm>
#include <cmath>

#include "lab/measure/measure.h"
#include "lab/scenes/random.h"

namespace arrcoc::fitting {

namespace {

constexpr int kWidth = 384, kHeight = 256;
constexpr const char* kCameras[] = {"still", "trembling", "panning"};
constexpr int kNoise = 4;  // of 255, either way

struct Walk {
  int width, height;  // of the cut
  float x0, x1, y;    // of its corner, in the frame
  int pan;            // frame pixels that the camera moves in all
};

Walk walk_of(scenes::Random& r, int camera) {
  Walk out{};
  out.width = r.between(14, 28);
  out.height = static_cast<int>(static_cast<float>(out.width) * r.real(1.8F, 2.8F));
  out.y = r.real(4, static_cast<float>(kHeight - out.height - 4));
  const float span = static_cast<float>(kWidth - out.width - 8);
  const float length = r.real(0.3F, 0.8F) * span;
  out.x0 = 4 + r.unit() * (span - length);
  out.x1 = out.x0 + length;
  if (r.chance(0.5F)) std::swap(out.x0, out.x1);
  out.pan = camera == 2 ? r.between(30, 90) : 0;
  return out;
}

scenes::Image picture(const scenes::Assets& assets, const char* kind, uint64_t seed) {
  scenes::Options making;
  making.questions = 1;
  return scenes::make(assets, kind, seed, making).images.front();
}

// A window of `from` with its upper left corner at (x, y); where it ends it begins again.
void copy(const scenes::Image& from, int x, int y, int width, int height, uint8_t* to, int stride) {
  for (int v = 0; v < height; ++v)
    for (int u = 0; u < width; ++u) {
      const int sx = (x + u) % from.width, sy = (y + v) % from.height;
      std::copy_n(&from.rgb[3 * (static_cast<size_t>(sy) * from.width + sx)], 3,
                  to + 3 * (static_cast<ptrdiff_t>(v) * stride + u));
    }
}

}  // namespace

std::vector<measuring::Film> mover_films(const scenes::Assets& assets, int count, uint64_t seed,
                                         const measuring::FilmLook& look) {
  std::vector<measuring::Film> out;
  for (int i = 0; i < count; ++i) {
    const int camera = i % 3;
    scenes::Random r(seed + static_cast<uint64_t>(i));
    const scenes::Image ground = picture(assets, "objects", seed + static_cast<uint64_t>(i));
    const scenes::Image cut = picture(assets, "scenes", seed + 5000 + static_cast<uint64_t>(i));
    const Walk walk = walk_of(r, camera);
    const int cut_x = r.between(0, cut.width - 1), cut_y = r.between(0, cut.height - 1);
    measuring::Film& film = out.emplace_back();
    film.clip = i;
    film.layout = kCameras[camera];
    film.question = parse_query("the person crossing the street");
    for (int k = 0; k < kMoverFrames; ++k) {
      const float time = static_cast<float>(k) / (kMoverFrames - 1);
      const int shift = static_cast<int>(time * static_cast<float>(walk.pan)) +
                        (camera == 1 ? r.between(0, 2) : 0);
      scenes::Image frame;
      frame.width = kWidth;
      frame.height = kHeight;
      frame.rgb.resize(static_cast<size_t>(3) * kWidth * kHeight);
      copy(ground, shift, 0, kWidth, kHeight, frame.rgb.data(), kWidth);
      const int x = static_cast<int>(walk.x0 + (walk.x1 - walk.x0) * time);
      const int y = static_cast<int>(walk.y);
      copy(cut, cut_x, cut_y, walk.width, walk.height,
           frame.rgb.data() + 3 * (static_cast<size_t>(y) * kWidth + x), kWidth);
      for (uint8_t& v : frame.rgb)
        v = static_cast<uint8_t>(std::clamp(v + r.between(-kNoise, kNoise), 0, 255));
      film.add(measuring::picture_of(frame, ""), look,
               {static_cast<float>(x), static_cast<float>(y), static_cast<float>(x + walk.width),
                static_cast<float>(y + walk.height)},
               false);
    }
  }
  return out;
}

}  // namespace arrcoc::fitting
