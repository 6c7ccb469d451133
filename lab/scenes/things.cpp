#include "lab/scenes/things.h"

#include <algorithm>

namespace arrcoc::scenes {
namespace {

bool ends(const std::string& text, const std::string& tail) {
  return text.size() >= tail.size() &&
         text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
}

std::string plural_word(const WordLists& words, const std::string& word) {
  for (const Row& row : words.table<"thing.plural", 2>())
    if (row[0] == word) return row[1];
  for (const char* tail : {"s", "x", "sh", "ch"})
    if (ends(word, tail)) return word + "es";
  if (ends(word, "y") && word.size() > 2 &&
      std::string("aeiou").find(word[word.size() - 2]) == std::string::npos)
    return word.substr(0, word.size() - 1) + "ies";
  return word + "s";
}

}  // namespace

std::string plural(const WordLists& words, const std::string& name) {
  for (const char* joint : {" of ", " with ", " on "}) {
    const size_t at = name.find(joint);
    if (at != std::string::npos) return plural(words, name.substr(0, at)) + name.substr(at);
  }
  const size_t last = name.rfind(' ');
  if (last == std::string::npos) return plural_word(words, name);
  return name.substr(0, last + 1) + plural_word(words, name.substr(last + 1));
}

bool countable(const WordLists& words, const std::string& name) {
  return !holds(words.list<"thing.uncountable">(), name);
}

bool confusable(const WordLists& words, const std::string& a, const std::string& b) {
  if (a == b || a.find(b) != std::string::npos || b.find(a) != std::string::npos) return true;
  for (const Row& set : words.table<"thing.alike">())
    if (holds(set, a) && holds(set, b)) return true;
  return false;
}

Belongs belongs(const WordLists& words, const Cutout& cutout, const std::string& group) {
  if (cutout.group == group) return Belongs::yes;
  for (const Row& row : words.table<"thing.doubtful">())
    if (row[0] == group && (holds(row, cutout.name) || holds(row, cutout.group)))
      return Belongs::perhaps;
  return Belongs::no;
}

std::vector<const Cutout*> unlike_cutouts(Context& c, size_t most, const std::string& group) {
  std::vector<int> order = c.library.usable(c.options.held_back);
  c.random.shuffle(order);
  std::vector<const Cutout*> chosen;
  for (int i : order) {
    const Cutout& cut = c.library.cutouts()[static_cast<size_t>(i)];
    if (chosen.size() >= most) break;
    if (!group.empty() && cut.group != group) continue;
    if (std::none_of(chosen.begin(), chosen.end(), [&](const Cutout* other) {
          return confusable(c.library.words(), other->name, cut.name);
        }))
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
    if (std::none_of(present.begin(), present.end(), [&](const std::string& name) {
          return confusable(c.library.words(), name, cut.name);
        }))
      return cut.name;
  }
  return "zeppelin";
}

}  // namespace arrcoc::scenes
