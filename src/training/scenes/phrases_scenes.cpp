#include <string>
#include <unordered_map>
#include <vector>

namespace arrcoc::scenes {

using Phrases = std::unordered_map<std::string, std::vector<const char*>>;
const Phrases& scene_phrases();

const Phrases& scene_phrases() {
  static const Phrases table = {
      {"scene.read", {"What does it say?", "Read the text."}},
  };
  return table;
}

}  // namespace arrcoc::scenes
