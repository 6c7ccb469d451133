// Participatory knowing without a model: words of the question that name something visible.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "look/scorers/lexicon.h"
#include "look/scorers/maps.h"

namespace arrcoc::scoring {

namespace {

constexpr int64_t kColourGrid = 256;  // colours are judged on a frame shrunk to this longer side

float smoothstep(float low, float high, float v) {
  const float t = std::clamp((v - low) / (high - low), 0.0F, 1.0F);
  return t * t * (3 - 2 * t);
}

at::Tensor small_lab(const Sight& sight) {
  const int64_t h = sight.frame.size(1);
  const int64_t w = sight.frame.size(2);
  const int64_t cell = std::max<int64_t>(1, (std::max(h, w) + kColourGrid - 1) / kColourGrid);
  const at::Tensor rgb =
      texture::area_pool(sight.frame.unsqueeze(0), (h + cell - 1) / cell, (w + cell - 1) / cell);
  return texture::rgb_to_lab(rgb).squeeze(0);
}

// exp(-d^2 / 2 sigma^2) of the distance to a prototype, with lightness counting `light` times.
at::Tensor colour_fit(const at::Tensor& lab, const Colour& colour, double light, double sigma) {
  const at::Tensor l = (lab[0] - colour.lightness) * light;
  const at::Tensor a = lab[1] - colour.a;
  const at::Tensor b = lab[2] - colour.b;
  return ((l * l + a * a + b * b) / (-2 * sigma * sigma)).exp();
}

// Judged on small pixels and then pooled: a thin red line in a cell still counts.
void add_colours(const Sight& sight, std::vector<Map>& aspects) {
  at::Tensor best;
  at::Tensor lab;
  for (const std::string& word : sight.query.words) {
    const Colour* colour = find_colour(word);
    if (colour == nullptr) continue;
    if (!lab.defined()) lab = small_lab(sight);
    const at::Tensor fit = colour_fit(lab, *colour, 0.5 * colour->tightness, 0.16);
    best = best.defined() ? at::max(best, fit) : fit;
  }
  if (best.defined()) aspects.push_back(to_map(best, sight.shape));
}

Map brightness(const Sight& sight, bool bright) {
  Map light = to_map(small_lab(sight)[0], sight.shape);
  for (float& v : light.values) v = bright ? smoothstep(.5F, 1.F, v) : 1 - smoothstep(0.F, .5F, v);
  return light;
}

Map vividness(const Sight& sight) {
  const at::Tensor lab = small_lab(sight);
  return to_map(((lab[1] * lab[1] + lab[2] * lab[2]).sqrt() / 0.6).clamp_max(1), sight.shape);
}

// The face fully, and the body that hangs below it at half strength.
void paint_person(const Box& face, Map& out) {
  const Box body{face.x0 - face.width(), face.y1, face.x1 + face.width(),
                 face.y1 + 3 * face.height()};
  for (int r = 0; r < out.rows; ++r) {
    for (int c = 0; c < out.cols; ++c) {
      const auto x = static_cast<float>(c);
      const auto y = static_cast<float>(r);
      const Box cell{x * out.cell_width, y * out.cell_height, (x + 1) * out.cell_width,
                     (y + 1) * out.cell_height};
      if (intersect(cell, face).area() > 0) out.at(r, c) = 1.0F;
      if (intersect(cell, body).area() > 0) out.at(r, c) = std::max(out.at(r, c), 0.5F);
    }
  }
}

Map people(const Sight& sight, const std::vector<Box>& faces) {
  Map out = like(sight.shape, 0.0F);
  for (const Box& face : faces) paint_person(face, out);
  const Map tone =
      to_map(colour_fit(small_lab(sight), *find_colour("skin"), 0.8, 0.09), sight.shape);
  for (size_t i = 0; i < out.size(); ++i) {
    out.values[i] = std::max(out.values[i], (faces.empty() ? 0.8F : 0.3F) * tone.values[i]);
  }
  return out;
}

// Geometric mean: "red text" is where both hold. One aspect stays as it is.
Map combine(const std::vector<Map>& aspects, const Map& shape) {
  Map out = like(shape, 1.0F);
  if (aspects.empty()) return out;
  for (const Map& aspect : aspects) {
    for (size_t i = 0; i < out.size(); ++i) out.values[i] *= std::max(0.02F, aspect.values[i]);
  }
  const float power = 1.0F / static_cast<float>(aspects.size());
  for (float& v : out.values) v = std::pow(v, power);
  return out;
}

// 1 in the middle of a range of half width `width`, 0 well outside; 1 for a width of 0.
float within(float at, float centre, float width) {
  return width > 0 ? 1 - smoothstep(0.4F * width, 1.2F * width, std::abs(at - centre)) : 1;
}

void apply_places(const std::vector<std::string>& words, bool alone, Map& out) {
  const std::vector<Place> places = find_places(words);
  if (places.empty()) {
    if (alone) out = like(out, 0.0F);  // nothing in the question is visible to this scorer
    return;
  }
  for (int r = 0; r < out.rows; ++r) {
    for (int c = 0; c < out.cols; ++c) {
      const float x = (static_cast<float>(c) + 0.5F) / static_cast<float>(out.cols);
      const float y = (static_cast<float>(r) + 0.5F) / static_cast<float>(out.rows);
      float best = 0;
      for (const Place& p : places)
        best = std::max(best, within(x, p.x, p.x_width) * within(y, p.y, p.y_width));
      out.at(r, c) *= alone ? best : 0.15F + 0.85F * best;
    }
  }
}

bool wants_reading(AnswerKind kind) {
  return kind != AnswerKind::any && kind != AnswerKind::colour && kind != AnswerKind::place;
}

Map lexical(const Sight& sight, const FaceFinder& find_faces) {
  const VisibleWords& visible = visible_words();
  const auto names = [&](const WordSet& set) { return has_any(sight.query.words, set); };
  std::vector<Map> aspects;  // what the thing looks like: all of them should hold
  add_colours(sight, aspects);
  if (names(visible.dark)) aspects.push_back(brightness(sight, false));
  if (names(visible.bright)) aspects.push_back(brightness(sight, true));
  if (names(visible.vivid)) aspects.push_back(vividness(sight));
  if (names(visible.round)) aspects.push_back(radial_symmetry(sight));
  if (names(visible.person))
    aspects.push_back(people(sight, find_faces ? find_faces(sight.picture) : std::vector<Box>{}));
  if (names(visible.text) || wants_reading(sight.query.answer)) {
    aspects.push_back(print_map(sight));
  } else if (names(visible.small)) {
    const bool edges = sight.texture.has(Channel::edges);
    aspects.push_back(
        min_max(channel_map(sight, edges ? Channel::edges : Channel::gradient_magnitude)));
  }
  Map out = combine(aspects, sight.shape);
  apply_places(sight.query.words, aspects.empty(), out);
  return out;
}

}  // namespace

std::unique_ptr<Scorer> make_lexical(FaceFinder find_faces) {
  return scorer_of([find = std::move(find_faces)](const Sight& s) { return lexical(s, find); },
                   true);
}

}  // namespace arrcoc::scoring
