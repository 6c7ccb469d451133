#include <algorithm>

#include "arrcoc/error.h"
#include "lab/scenes/layouts.h"

namespace arrcoc::scenes {

const std::vector<std::string>& suites() {
  static const std::vector<std::string> list = [] {
    // Seeds depend on the place in this list: new ones go to its end.
    std::vector<std::string> names = kinds();
    names.insert(std::find(names.begin(), names.end(), "records"), "unseen");
    return names;
  }();
  return list;
}

Scene suite_scene(const Assets& assets, const std::string& name, int index) {
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
  Options options;
  options.questions = kSuiteQuestions;
  options.held_back = plain == "unseen";
  // Each index owns a block of seeds; the first that gives enough questions is the scene.
  const uint64_t block =
      kSuiteSeedBase + (static_cast<uint64_t>(number) << 32) + static_cast<uint64_t>(index) * 64;
  for (uint64_t seed = block; seed < block + 64; ++seed) {
    Scene scene = make(assets, plain == "unseen" ? mixed_kind(seed) : plain, seed, options);
    if (static_cast<int>(scene.questions.size()) >= kSuiteQuestions) return scene;
  }
  throw Error(ErrorCode::not_found, "suite " + name + " has no scene " + std::to_string(index));
}

}  // namespace arrcoc::scenes
