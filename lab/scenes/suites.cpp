#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "lab/scenes/draft.h"
#include "lab/scenes/layouts.h"
#include "lab/scenes/suites.h"

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

const std::vector<std::string>& suites() {
  static const std::vector<std::string> list = [] {
    // Seeds depend on the place in this list: new ones go to its end.
    std::vector<std::string> names = kinds();
    names.insert(std::find(names.begin(), names.end(), "records"), "unseen");
    names.emplace_back(kTime);
    return names;
  }();
  return list;
}

namespace {

// Each index owns a block of seeds; the first whose scene is wanted.
template <class Wanted>
Scene scene_of_suite(const Assets& assets, const std::string& name, int index, Options options,
                     const std::string& what, const Wanted& wanted) {
  const std::string plain = name.rfind("suite:", 0) == 0 ? name.substr(6) : name;
  size_t number = 0;
  while (number < suites().size() && suites()[number] != plain) ++number;
  if (number == suites().size()) {
    std::string known;
    for (const auto& suite : suites()) known += " suite:" + suite;
    throw Error(ErrorCode::not_found, "no suite named " + name + "; there are:" + known);
  }
  if (index < 0 || index >= kSuiteScenes)
    throw Error(ErrorCode::bad_argument, "scene " + std::to_string(index) + " of suite " + name +
                                             ": there are " + std::to_string(kSuiteScenes));
  options.held_back = plain == "unseen";
  const uint64_t block =
      kSuiteSeedBase + (static_cast<uint64_t>(number) << 32) + static_cast<uint64_t>(index) * 64;
  for (uint64_t seed = block; seed < block + 64; ++seed) {
    Scene scene = make(assets, plain == "unseen" ? mixed_kind(seed) : plain, seed, options);
    if (wanted(scene)) return scene;
  }
  throw Error(ErrorCode::not_found,
              "suite " + name + " has no scene " + std::to_string(index) + what);
}

}  // namespace

Scene suite_scene(const Assets& assets, const std::string& name, int index) {
  Options options;
  options.questions = kSuiteQuestions;
  return scene_of_suite(assets, name, index, options, "", [](const Scene& scene) {
    return static_cast<int>(scene.questions.size()) >= kSuiteQuestions;
  });
}

Scene suite_scene_asking(const Assets& assets, const std::string& name, int index,
                         const std::string& intent) {
  Scene scene =
      scene_of_suite(assets, name, index, {}, " that asks '" + intent + "'", [&](Scene& made) {
        std::erase_if(made.questions, [&](const Question& q) { return q.intent != intent; });
        return !made.questions.empty();
      });
  scene.questions.resize(1);
  return scene;
}

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
    hash.text(to_string(q.complexity));
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
