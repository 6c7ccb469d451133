// Questions about several pictures: which one is meant, and what is compared.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arrcoc/map.h"
#include "arrcoc/picture.h"
#include "arrcoc/query.h"

namespace arrcoc::asking {

// The picture that a question names ("in the second picture", "look at the first receipt"),
// counted from 0; none when it names none. It need not be there.
std::optional<size_t> named_picture(const Query& query);
std::string name_of_picture(size_t picture);  // "second picture"

// A question that compares pictures, as a question that each of them can answer by itself.
struct Comparison {
  enum class By { presence, smaller, larger, difference };
  By by = By::presence;
  std::string each;  // what every picture is asked; "" for difference: the question itself
  bool operator==(const Comparison&) const = default;
};
// "In which picture is the apple cheaper?", "Which picture shows the door?", "What disappeared?";
// none for a question that compares nothing or names a picture.
std::optional<Comparison> comparison_in(const Query& query);
// The first number of an answer ("RM 33.90" -> 33.9, "1,234" -> 1234); none without one.
std::optional<double> number_in(const std::string& answer);

// What one picture answered.
struct Said {
  std::string text;
  double confidence = 0;
};
// The picture that a comparison points to; none when no answer can be compared.
std::optional<size_t> compared(const Comparison& comparison, const std::vector<Said>& said);

// What `a` shows and `b` does not, on the cells of `shape`, stretched to [0,1]; another exposure or
// slowly changing light is no difference. Empty where sizes differ.
Map difference(const Picture& a, const Picture& b, const Map& shape);

}  // namespace arrcoc::asking
