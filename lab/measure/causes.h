// Why a wrong answer is wrong.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "arrcoc/registry.h"
#include "lab/measure/evaluation.h"

namespace arrcoc::measuring {

struct Record;

enum class Cause {
  looked_elsewhere,  // the answer's place is known and was seen coarsely at most
  misread,           // it was seen finely, and other letters were read there
  misunderstood,     // it was seen finely, and something else was answered
  unanswerable,      // the picture does not tell ("none" is right), and something was answered
  unknown_place,     // nobody knows where the answer stands: no cause is guessed
};

}  // namespace arrcoc::measuring

namespace arrcoc {
template <>
struct EnumNames<measuring::Cause> {
  static constexpr const char* kWhat = "cause";
  static constexpr std::pair<measuring::Cause, const char*> kNames[] = {
      {measuring::Cause::looked_elsewhere, "looked elsewhere"},
      {measuring::Cause::misread, "misread"},
      {measuring::Cause::misunderstood, "misunderstood"},
      {measuring::Cause::unanswerable, "unanswerable"},
      {measuring::Cause::unknown_place, "not known where"}};
};
}  // namespace arrcoc

namespace arrcoc::measuring {

inline constexpr double kSeen = 0.5;  // least recall of the answer's boxes, or of an alternate

// The first of these that holds:
//   unanswerable      "none" is right
//   unknown_place     no box of the answer is known
//   looked elsewhere  recall with alternates is below kSeen
//   misunderstood     the answer stands, letter by letter, in a text outside of the right places
//   misread           ANLS above 0 (half of the letters) with an accepted answer, or with a text in
//                     the right places that it does not equal
//   misread           the answer was read inside an answer box
//   misunderstood     all else, "none" among it
// record: of a wrong answer. texts: of the picture, may be empty; right: answer and alternate
// boxes.
Cause cause_of(const Record& record, const std::vector<Text>& texts, const std::vector<Box>& right);
// What can be said from the record alone, for lines of runs that kept no cause.
Cause cause_of(const Record& record);

}  // namespace arrcoc::measuring
