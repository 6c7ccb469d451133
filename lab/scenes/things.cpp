#include "lab/scenes/things.h"

#include <algorithm>
#include <map>
#include <set>

namespace arrcoc::scenes {
namespace {

bool ends(const std::string& text, const std::string& tail) {
  return text.size() >= tail.size() &&
         text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
}

// The last word, pluralised.
std::string plural_word(const std::string& word) {
  static const std::map<std::string, std::string> odd = {
      {"mouse", "mice"},         {"goose", "geese"},     {"ox", "oxen"},
      {"knife", "knives"},       {"wolf", "wolves"},     {"leaf", "leaves"},
      {"deer", "deer"},          {"bison", "bison"},     {"moose", "moose"},
      {"shrimp", "shrimp"},      {"squid", "squid"},     {"fish", "fish"},
      {"blowfish", "blowfish"},  {"scarf", "scarves"},   {"jellyfish", "jellyfish"},
      {"potato", "potatoes"},    {"tomato", "tomatoes"}, {"mango", "mangoes"},
      {"mosquito", "mosquitoes"}};
  if (const auto found = odd.find(word); found != odd.end()) return found->second;
  for (const char* tail : {"s", "x", "sh", "ch"})
    if (ends(word, tail)) return word + "es";
  if (ends(word, "y") && word.size() > 2 &&
      std::string("aeiou").find(word[word.size() - 2]) == std::string::npos)
    return word.substr(0, word.size() - 1) + "ies";
  return word + "s";
}

const std::vector<std::vector<std::string>>& look_alikes() {
  static const std::vector<std::vector<std::string>> list = {
      {"dog", "poodle", "wolf", "fox"},
      {"mouse", "rat", "hamster", "chipmunk", "computer mouse"},
      {"cow", "ox", "bison"},
      {"ram", "ewe", "goat"},
      {"bird", "dove", "eagle", "duck", "swan", "goose", "turkey", "chicken", "rooster", "penguin",
       "owl", "dodo", "flamingo", "peacock", "parrot", "wing"},
      {"fish", "tropical fish", "blowfish", "shark", "dolphin", "whale"},
      {"pen", "pencil", "fountain pen", "paintbrush"},
      {"train", "tram", "locomotive", "bus", "trolleybus", "minibus"},
      {"red car", "blue car", "taxi", "police car", "racing car", "police car light"},
      {"red apple", "green apple", "peach", "tomato", "cherries"},
      {"lemon", "mango", "potato", "roasted sweet potato"},
      {"green book", "blue book", "orange book", "books", "notebook",
       "notebook with decorative cover"},
      {"cherry blossom", "hibiscus", "blossom", "sunflower", "lotus", "rose", "tulip", "bouquet",
       "hyacinth"},
      {"running shoe", "hiking boot", "flat shoe", "ballet shoes", "thong sandal", "ice skate",
       "roller skate", "high-heeled shoe"},
      {"purse", "handbag", "clutch bag", "shopping bags", "backpack", "luggage", "money bag"},
      {"pie", "pancakes", "custard", "shortcake", "cupcake", "birthday cake"},
      {"american football", "rugby football"},
      {"soccer ball", "volleyball", "baseball", "basketball", "tennis racket", "crystal ball"},
      {"lion", "tiger", "leopard", "cat"},
      {"donkey", "horse", "unicorn", "zebra", "deer", "moose"},
      {"mammoth", "elephant"},
      {"fly", "mosquito", "bug", "ant", "cricket", "cockroach", "spider", "scorpion"},
      {"gorilla", "orangutan", "monkey"},
      {"raccoon", "badger", "skunk", "otter", "beaver"},
      {"bear", "panda", "koala", "teddy bear"},
      {"pig", "boar"},
      {"snake", "lizard", "dragon", "crocodile"},
      {"bell pepper", "hot pepper"},
      {"shrimp", "fried shrimp", "lobster", "crab"},
      {"fireworks", "sparkler", "sparkles", "confetti ball", "party popper", "firecracker"},
      {"violin", "guitar", "banjo"},
      {"drum", "long drum"},
      {"castle", "japanese castle", "tokyo tower"},
      {"house", "house with garden", "school", "hospital", "factory"},
      {"coat", "lab coat", "safety vest", "kimono", "sari", "dress", "martial arts uniform"},
      {"camera", "video camera", "movie camera", "film projector"},
      {"meat on bone", "poultry leg", "cut of meat", "bacon"},
      {"floppy disk", "optical disk", "flying disc"},
      {"wine glass", "cocktail glass", "tropical drink", "glass of milk", "bubble tea", "beer mug"},
      {"spoon", "bowl with spoon", "fork and knife", "fork and knife with plate", "kitchen knife",
       "dagger", "chopsticks"},
      {"maple leaf", "fallen leaf", "lettuce", "four leaf clover"},
      {"melon", "watermelon", "kiwi fruit"},
      {"burrito", "taco", "tamale", "falafel"},
      {"star", "shooting star", "sparkles", "milky way"},
      {"airplane", "small airplane"},
      {"horizontal traffic light", "vertical traffic light"},
      {"hockey stick", "ice hockey stick", "lacrosse stick"},
      {"candle", "light bulb", "flashlight", "red paper lantern"},
      {"chain link", "chains", "hook"},
      {"telephone", "mobile phone"},
      {"soft ice cream", "ice cream"}};
  return list;
}

}  // namespace

std::string plural(const std::string& name) {
  for (const char* joint : {" of ", " with ", " on "}) {
    const size_t at = name.find(joint);
    if (at != std::string::npos) return plural(name.substr(0, at)) + name.substr(at);
  }
  const size_t last = name.rfind(' ');
  if (last == std::string::npos) return plural_word(name);
  return name.substr(0, last + 1) + plural_word(name.substr(last + 1));
}

bool countable(const std::string& name) {
  static const std::set<std::string> not_one = {
      "grapes",         "cherries",      "blueberries",    "peanuts",
      "beans",          "pancakes",      "french fries",   "glasses",
      "sunglasses",     "goggles",       "jeans",          "gloves",
      "socks",          "shopping bags", "ballet shoes",   "gem stone",
      "chopsticks",     "fireworks",     "sparkles",       "books",
      "scissors",       "skis",          "maracas",        "crossed swords",
      "bow and arrow",  "nut and bolt",  "fork and knife", "fork and knife with plate",
      "couch and lamp", "chains",        "garlic",         "bread",
      "baguette bread", "bacon",         "popcorn",        "butter",
      "salt",           "canned food",   "spaghetti",      "sushi",
      "luggage",        "soap",          "coral",          "sake",
      "fire",           "thread",        "milky way",      "broccoli",
      "fondue",         "custard",       "ginger root",    "confetti ball",
      "bikini",
  };
  return not_one.count(name) == 0;
}

bool confusable(const std::string& a, const std::string& b) {
  if (a == b || a.find(b) != std::string::npos || b.find(a) != std::string::npos) return true;
  for (const auto& set : look_alikes())
    if (std::find(set.begin(), set.end(), a) != set.end() &&
        std::find(set.begin(), set.end(), b) != set.end())
      return true;
  return false;
}

Belongs belongs(const Cutout& cutout, const std::string& group) {
  static const std::map<std::string, std::set<std::string>> perhaps = {
      {"animal", {"teddy bear", "nest with eggs", "poultry leg", "seafood"}},
      {"food", {"mushroom", "seafood", "drink", "plant", "animal"}},
      {"vehicle", {"sled", "roller skate", "ice skate", "shopping cart", "sport"}},
      {"clothing", {"accessory", "sport"}},
      {"plant", {"food", "mushroom", "nest with eggs", "jack-o-lantern"}},
      {"instrument", {"bell", "megaphone", "microphone", "toy"}}};
  if (cutout.group == group) return Belongs::yes;
  const auto found = perhaps.find(group);
  if (found == perhaps.end()) return Belongs::no;
  return found->second.count(cutout.name) || found->second.count(cutout.group) ? Belongs::perhaps
                                                                               : Belongs::no;
}

std::vector<const Cutout*> unlike_cutouts(Context& c, size_t most, const std::string& group) {
  std::vector<int> order = c.library.usable(c.options.held_back);
  c.random.shuffle(order);
  std::vector<const Cutout*> chosen;
  for (int i : order) {
    const Cutout& cut = c.library.cutouts()[static_cast<size_t>(i)];
    if (chosen.size() >= most) break;
    if (!group.empty() && cut.group != group) continue;
    if (std::none_of(chosen.begin(), chosen.end(),
                     [&](const Cutout* other) { return confusable(other->name, cut.name); }))
      chosen.push_back(&cut);
  }
  return chosen;
}

std::string absent_cutout(Context& c, const std::vector<std::string>& present,
                          const std::string& group) {
  const auto& usable = c.library.usable(c.options.held_back);
  for (int tries = 0; tries < 200; ++tries) {
    const Cutout& cut = c.library.cutouts()[static_cast<size_t>(c.random.pick(usable))];
    if (!group.empty() && cut.group != group) continue;
    if (std::none_of(present.begin(), present.end(),
                     [&](const std::string& name) { return confusable(name, cut.name); }))
      return cut.name;
  }
  return "zeppelin";
}

}  // namespace arrcoc::scenes
