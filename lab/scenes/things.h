// How people name and count drawn things, and which of them cannot be told apart by name.
#pragma once

#include <string>
#include <vector>

#include "lab/scenes/page.h"

namespace arrcoc::scenes {

// "mouse" -> "mice", "ear of corn" -> "ears of corn".
std::string plural(const WordLists& words, const std::string& name);
// False for names of pairs and heaps ("cherries", "scissors") and of stuff ("bread", "tennis"): how
// many there are has no plain answer.
bool countable(const WordLists& words, const std::string& name);
// True when a question about one may mean the other: "dog" and "poodle", "pen" and "fountain pen".
bool confusable(const WordLists& words, const std::string& a, const std::string& b);
// How surely a cut-out belongs to a group one can ask for: "Which animal is in the picture?" has no
// plain answer beside a lobster.
enum class Belongs { no, perhaps, yes };
Belongs belongs(const WordLists& words, const Cutout& cutout, const std::string& group);

// Cut-outs in random order, no two of them confusable; at most `most`, of one group when it is
// named.
std::vector<const Cutout*> unlike_cutouts(Context& context, size_t most,
                                          const std::string& group = "");
// The name of a cut-out that one might expect in the picture and that is not there.
std::string absent_cutout(Context& context, const std::vector<std::string>& present,
                          const std::string& group = "");

}  // namespace arrcoc::scenes
