#include "look/scorers/lexicon.h"

namespace arrcoc::scoring {

namespace {

// data/words/visible.txt
struct Tables {
  WordFile file = word_file("visible");
  std::unordered_map<std::string_view, Colour> colours;
  WordSet top = file.set("top"), bottom = file.set("bottom"), left = file.set("left"),
          right = file.set("right"), middle = file.set("middle"), corner = file.set("corner"),
          between = file.set("between");
  VisibleWords visible{file.set("text"),   file.set("person"), file.set("round"), file.set("dark"),
                       file.set("bright"), file.set("vivid"),  file.set("small")};
  Tables() {
    for (const auto& [word, lab] : file.map("colours", 4))
      colours[word] = {lab[0], lab[1], lab[2], lab[3]};
  }
};

const Tables& tables() { return read_once<Tables>(); }

}  // namespace

const Colour* find_colour(std::string_view word) {
  const auto found = tables().colours.find(word);
  return found == tables().colours.end() ? nullptr : &found->second;
}

const VisibleWords& visible_words() { return tables().visible; }

std::vector<Place> find_places(const std::vector<std::string>& words) {
  const Tables& t = tables();
  std::vector<Place> out;
  bool open = false;  // the last place may still take its other axis
  const auto put = [&](float Place::*axis, float Place::*width, float at, float half,
                       const Place& alone) {
    if (open && out.back().*width == 0) {
      out.back().*axis = at;
      out.back().*width = half;
    } else {
      out.push_back(alone);
    }
    open = true;
  };
  for (const std::string& word : words) {
    if (t.middle.contains(word)) {
      put(&Place::x, &Place::x_width, .5F, .3F, {.5F, .5F, .3F, .3F});
      open = false;
    } else if (t.corner.contains(word)) {
      if (out.empty())
        for (float x : {0.F, 1.F})
          for (float y : {0.F, 1.F}) out.push_back({x, y, .35F, .35F});
    } else if (t.top.contains(word) || t.bottom.contains(word)) {
      const float y = t.top.contains(word) ? 0.F : 1.F;
      put(&Place::y, &Place::y_width, y, .5F, {0, y, 0, .5F});
    } else if (t.left.contains(word) || t.right.contains(word)) {
      const float x = t.left.contains(word) ? 0.F : 1.F;
      put(&Place::x, &Place::x_width, x, .5F, {x, 0, .5F, 0});
    } else if (!t.between.contains(word)) {
      open = false;
    }
  }
  return out;
}

}  // namespace arrcoc::scoring
