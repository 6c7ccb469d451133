#include "lab/scenes/digest.h"

#include <cmath>

namespace arrcoc::scenes {
namespace {

struct Hash {
  uint64_t value = 1469598103934665603ULL;
  void byte(uint8_t b) { value = (value ^ b) * 1099511628211ULL; }
  void number(int64_t n) {
    for (int i = 0; i < 8; ++i) byte(static_cast<uint8_t>(n >> (8 * i)));
  }
  void text(const std::string& s) {
    number(static_cast<int64_t>(s.size()));
    for (char c : s) byte(static_cast<uint8_t>(c));
  }
  void box(const Box& b) {
    for (float v : {b.x0, b.y0, b.x1, b.y1}) number(std::lround(v));
  }
};

}  // namespace

uint64_t digest(const Scene& scene) {
  Hash hash;
  hash.text(scene.kind);
  hash.text(scene.layout);
  for (const Image& image : scene.images) {
    hash.number(image.width);
    hash.number(image.height);
    for (uint8_t b : image.rgb) hash.byte(b);
    for (const Glyph& g : image.glyphs) {
      hash.number(static_cast<int64_t>(g.code));
      hash.number(std::lround(g.x));
      hash.number(std::lround(g.y));
    }
    for (const Box& b : image.targets) hash.box(b);
  }
  for (const Question& q : scene.questions) {
    hash.text(q.text);
    hash.text(q.answer);
    hash.text(q.intent);
    hash.text(q.complexity);
    hash.number(q.picture);
    for (const Box& b : q.answer_boxes) hash.box(b);
    for (const Box& b : q.evidence_boxes) hash.box(b);
  }
  return hash.value;
}

uint64_t suite_digest(const Assets& assets, const std::string& name) {
  Hash hash;
  for (int i = 0; i < kSuiteScenes; ++i)
    hash.number(static_cast<int64_t>(digest(suite_scene(assets, name, i))));
  return hash.value;
}

}  // namespace arrcoc::scenes
