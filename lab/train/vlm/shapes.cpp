#include "lab/train/vlm/shapes.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "lab/train/dice.h"

namespace arrcoc::training {
namespace {

struct Colour {
  const char* name;
  int r, g, b;
};
constexpr std::array<Colour, 6> kColours = {{{"red", 210, 40, 40},
                                             {"green", 40, 150, 60},
                                             {"blue", 50, 80, 200},
                                             {"yellow", 225, 200, 40},
                                             {"purple", 140, 60, 160},
                                             {"black", 20, 20, 20}}};
constexpr std::array<const char*, 4> kShapes = {"circle", "square", "triangle", "cross"};

// Whether a point of the square [-1,1] x [-1,1] lies in the shape.
bool inside(int shape, float x, float y) {
  switch (shape) {
    case 0:
      return x * x + y * y < 1;
    case 1:
      return std::max(std::abs(x), std::abs(y)) < 0.9F;
    case 2:
      return y < 0.9F && std::abs(x) < (y + 1) / 2;
    default:
      return std::min(std::abs(x), std::abs(y)) < 0.35F;
  }
}

struct Placed {
  int shape, colour;
  float x, y, radius;
};

void paint(const Placed& one, int side, uint8_t* rgb) {
  const Colour& colour = kColours[static_cast<size_t>(one.colour)];
  const int area = side * side;
  for (int row = 0; row < side; ++row)
    for (int col = 0; col < side; ++col) {
      const float x = (static_cast<float>(col) + 0.5F - one.x) / one.radius;
      const float y = (static_cast<float>(row) + 0.5F - one.y) / one.radius;
      if (std::max(std::abs(x), std::abs(y)) >= 1 || !inside(one.shape, x, y)) continue;
      uint8_t* at = rgb + row * side + col;
      at[0] = static_cast<uint8_t>(colour.r);
      at[area] = static_cast<uint8_t>(colour.g);
      at[2 * area] = static_cast<uint8_t>(colour.b);
    }
}

}  // namespace

ShapeScene make_shapes(uint64_t seed, int side, int shapes) {
  Dice dice(seed, 0x5a9e5);
  at::Tensor rgb = at::empty({3, side, side}, at::kByte);
  auto* pixels = rgb.data_ptr<uint8_t>();
  const int ground = 215 + dice.below(30);
  for (int64_t i = 0; i < rgb.numel(); ++i)
    pixels[i] = static_cast<uint8_t>(ground + dice.below(11) - 5);
  const float half = static_cast<float>(side) / 2;
  const int first = dice.below(4), second = (first + 1 + dice.below(3)) % 4;
  std::array<Placed, 2> placed{};
  for (size_t i = 0; i < placed.size(); ++i) {
    const int quarter = i == 0 ? first : second;
    Placed& one = placed[i];
    one.radius = half * dice.uniform(0.28F, 0.44F);
    const float room = half - 2 * one.radius;
    one.x = static_cast<float>(quarter % 2) * half + one.radius + room * dice.uniform();
    one.y = static_cast<float>(quarter / 2) * half + one.radius + room * dice.uniform();
    one.shape = dice.below(static_cast<int>(kShapes.size()));
    one.colour = dice.below(static_cast<int>(kColours.size()));
  }
  if (placed[1].shape == placed[0].shape) placed[1].shape = (placed[0].shape + 1) % 4;
  if (placed[1].colour == placed[0].colour) placed[1].colour = (placed[0].colour + 1) % 6;
  for (int i = 0; i < shapes; ++i) paint(placed[static_cast<size_t>(i)], side, pixels);
  const Placed& asked = placed[static_cast<size_t>(dice.below(shapes))];
  ShapeScene out;
  out.asks_colour = dice.chance(0.5F);
  const std::string colour = kColours[static_cast<size_t>(asked.colour)].name;
  const std::string shape = kShapes[static_cast<size_t>(asked.shape)];
  out.question =
      out.asks_colour ? "What colour is the " + shape + "?" : "What shape is " + colour + "?";
  out.answer = out.asks_colour ? colour : shape;
  out.box = {asked.x - asked.radius, asked.y - asked.radius, asked.x + asked.radius,
             asked.y + asked.radius};
  out.picture = make_picture(rgb, "shapes");
  return out;
}

}  // namespace arrcoc::training
