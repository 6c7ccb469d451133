#include "look/scorers/lexicon.h"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace arrcoc::scoring {

namespace {

using WordSet = std::unordered_set<std::string>;
bool in(const WordSet& set, const std::string& word) { return set.count(word) != 0; }

const std::map<std::string, Colour>& colours() {
  static const std::map<std::string, Colour> table = [] {
    const Colour red{.50F, .55F, .42F, 1.2F};
    const Colour orange{.66F, .34F, .52F, 1.5F};
    const Colour yellow{.86F, -.05F, .62F, 1.5F};
    const Colour green{.50F, -.40F, .32F, 1.0F};
    const Colour blue{.42F, .08F, -.45F, 1.0F};
    const Colour cyan{.78F, -.28F, -.14F, 1.5F};
    const Colour purple{.38F, .36F, -.36F, 1.5F};
    const Colour pink{.74F, .36F, -.02F, 2.0F};
    const Colour brown{.38F, .14F, .24F, 2.5F};
    const Colour beige{.86F, .01F, .12F, 3.0F};
    const Colour black{.08F, 0, 0, 4.0F};
    const Colour white{.97F, 0, 0, 4.0F};
    const Colour grey{.55F, 0, 0, 2.0F};
    const Colour skin{.68F, .12F, .16F, 2.0F};
    std::map<std::string, Colour> t = {{"red", red},
                                       {"crimson", red},
                                       {"scarlet", red},
                                       {"maroon", {.28F, .35F, .2F, 2}},
                                       {"orange", orange},
                                       {"yellow", yellow},
                                       {"gold", yellow},
                                       {"golden", yellow},
                                       {"green", green},
                                       {"lime", green},
                                       {"olive", {.5F, -.1F, .4F, 2}},
                                       {"blue", blue},
                                       {"navy", {.2F, .1F, -.3F, 2}},
                                       {"cyan", cyan},
                                       {"turquoise", cyan},
                                       {"teal", {.48F, -.22F, -.08F, 2}},
                                       {"purple", purple},
                                       {"violet", purple},
                                       {"magenta", {.6F, .7F, -.4F, 1.5F}},
                                       {"pink", pink},
                                       {"brown", brown},
                                       {"tan", {.7F, .06F, .2F, 2.5F}},
                                       {"beige", beige},
                                       {"black", black},
                                       {"white", white},
                                       {"grey", grey},
                                       {"gray", grey},
                                       {"silver", grey},
                                       {"grass", green},
                                       {"tree", green},
                                       {"trees", green},
                                       {"plant", green},
                                       {"leaf", green},
                                       {"leaves", green},
                                       {"snow", white},
                                       {"cloud", white},
                                       {"clouds", white},
                                       {"sky", {.72F, -.03F, -.22F, 1.5F}},
                                       {"sea", blue},
                                       {"ocean", blue},
                                       {"banana", yellow},
                                       {"lemon", yellow},
                                       {"fire", orange},
                                       {"carrot", orange},
                                       {"tomato", red},
                                       {"strawberry", red},
                                       {"blood", red},
                                       {"chocolate", brown},
                                       {"wood", brown},
                                       {"skin", skin}};
    return t;
  }();
  return table;
}

}  // namespace

const Colour* find_colour(const std::string& word) {
  auto found = colours().find(word);
  return found == colours().end() ? nullptr : &found->second;
}

std::vector<Place> find_places(const std::vector<std::string>& words) {
  static const WordSet kTop = {"top", "upper", "above", "header", "uppermost"};
  static const WordSet kBottom = {"bottom", "lower", "below", "footer", "lowest", "underneath"};
  static const WordSet kLeft = {"left", "lefthand", "leftmost"};
  static const WordSet kRight = {"right", "righthand", "rightmost"};
  static const WordSet kMiddle = {"middle", "center", "centre", "central"};
  static const WordSet kJoin = {"most", "hand", "-", "the", "side", "of", "in", "far"};
  std::vector<Place> out;
  bool open = false;  // the last place may still take its other axis
  for (const std::string& word : words) {
    const bool vertical = in(kTop, word) || in(kBottom, word);
    const bool horizontal = in(kLeft, word) || in(kRight, word);
    if (in(kMiddle, word)) {
      if (open && out.back().x_width == 0) {
        out.back().x = .5F;
        out.back().x_width = .3F;
      } else {
        out.push_back({.5F, .5F, .3F, .3F});
      }
      open = false;
    } else if (word == "corner" || word == "corners") {
      if (!open && out.empty()) {
        for (float x : {0.F, 1.F}) {
          for (float y : {0.F, 1.F}) out.push_back({x, y, .35F, .35F});
        }
      }
    } else if (vertical) {
      const float y = in(kTop, word) ? 0.F : 1.F;
      if (open && out.back().y_width == 0) {
        out.back().y = y;
        out.back().y_width = .5F;
      } else {
        out.push_back({0, y, 0, .5F});
        open = true;
      }
    } else if (horizontal) {
      const float x = in(kLeft, word) ? 0.F : 1.F;
      if (open && out.back().x_width == 0) {
        out.back().x = x;
        out.back().x_width = .5F;
      } else {
        out.push_back({x, 0, .5F, 0});
        open = true;
      }
    } else if (!in(kJoin, word)) {
      open = false;
    }
  }
  return out;
}

bool names_text(const std::string& word) {
  static const WordSet set = {
      "text",    "word",      "words",    "letter",   "letters", "written",     "write",
      "read",    "reads",     "say",      "says",     "sign",    "signs",       "label",
      "labels",  "title",     "name",     "names",    "number",  "numbers",     "digit",
      "digits",  "price",     "prices",   "total",    "amount",  "date",        "address",
      "phone",   "telephone", "email",    "caption",  "heading", "header",      "logo",
      "brand",   "formula",   "equation", "value",    "percent", "percentage",  "invoice",
      "receipt", "menu",      "plate",    "license",  "licence", "ingredients", "print",
      "printed", "company",   "code",     "signature"};
  return in(set, word);
}

bool names_person(const std::string& word) {
  static const WordSet set = {"face",    "faces", "person",   "people",   "man",  "men",
                              "woman",   "women", "boy",      "boys",     "girl", "girls",
                              "kid",     "kids",  "child",    "children", "baby", "lady",
                              "guy",     "guys",  "dude",     "player",   "who",  "smile",
                              "smiling", "eyes",  "portrait", "crowd"};
  return in(set, word);
}

bool names_round(const std::string& word) {
  static const WordSet set = {"round",  "circle", "circles", "circular", "ball",  "balls", "wheel",
                              "wheels", "clock",  "coin",    "coins",    "disc",  "disk",  "ring",
                              "plate",  "moon",   "sun",     "orange",   "button"};
  return in(set, word);
}

bool names_dark(const std::string& word) {
  static const WordSet set = {"dark", "darkest", "shadow", "shade", "night", "silhouette"};
  return in(set, word);
}

bool names_bright(const std::string& word) {
  static const WordSet set = {"bright", "brightest", "light", "lit", "lamp", "glowing", "shiny"};
  return in(set, word);
}

bool names_vivid(const std::string& word) {
  static const WordSet set = {"colorful", "colourful", "vivid", "coloured", "colored", "saturated"};
  return in(set, word);
}

bool names_small(const std::string& word) {
  static const WordSet set = {"tiny", "small", "smallest", "fine", "little", "detail", "details"};
  return in(set, word);
}

}  // namespace arrcoc::scoring
