#include "lab/measure/causes.h"

#include <algorithm>

#include "lab/measure/measure.h"

namespace arrcoc::measuring {

namespace {

bool lies_in(const Box& box, const std::vector<Box>& places) {
  const float x = (box.x0 + box.x1) / 2, y = (box.y0 + box.y1) / 2;
  return std::any_of(places.begin(), places.end(),
                     [&](const Box& p) { return x >= p.x0 && x < p.x1 && y >= p.y0 && y < p.y1; });
}

// The words of `part` stand in `whole` one after the other; both normalised.
bool stands_in(const std::string& part, const std::string& whole) {
  return !part.empty() && (" " + whole + " ").find(" " + part + " ") != std::string::npos;
}

}  // namespace

Cause cause_of(const Record& record, const std::vector<Text>& texts,
               const std::vector<Box>& right) {
  if (exact_match(record.wanted, "none")) return Cause::unanswerable;
  if (record.boxes == 0) return Cause::unknown_place;
  if (record.lenient < kSeen) return Cause::looked_elsewhere;
  const std::string answer = normalised(record.answer);
  bool close = record.anls > 0;
  for (const Text& text : texts) {
    const std::string printed = normalised(text.text);
    if (!lies_in(text.box, right)) {
      if (stands_in(answer, printed)) return Cause::misunderstood;
    } else if (printed != answer) {
      close = close || anls(answer, printed) > 0;
    }
  }
  return close || record.box_hit ? Cause::misread : Cause::misunderstood;
}

Cause cause_of(const Record& record) { return cause_of(record, {}, {}); }

}  // namespace arrcoc::measuring
