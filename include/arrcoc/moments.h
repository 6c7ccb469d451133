// Questions over time: what no single frame of a film can answer.
//
//   const Query query = parse_query("Which way does the tiger move?");
//   if (const auto plan = filming::plan_of(query)) {
//     filming::Moments moments;
//     for (each frame)  // as it is followed: its Step says what is a cut and what is new
//       moments.add(follower.step(...), seconds, [frame] { return frame.picture(); });
//     filming::TimeAnswer answer = filming::answer(asker, *plan, moments);
//   }
//
// The question is taken apart into one that a picture can answer ("Where is the tiger?"), which is
// asked of a bounded number of moments under one budget of tokens; the answer is put together from
// what was read there. Neither memory nor reading grows with the film. Nothing here is random.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrcoc/ask.h"
#include "arrcoc/film.h"

namespace arrcoc::filming {

// ---- What is asked of time

enum class Asks {
  direction,   // which way a thing moves: "left", "right", "up", "down"
  first,       // which of two or more things comes first
  last,        // which comes last
  before,      // does the first of two things come before the second? "yes", "no"
  after,       // does it come after it?
  comes,       // when a thing comes: "4 s"
  goes,        // when it is no longer there
  appears,     // what comes
  disappears,  // what goes
  changed,     // what came or went
  count,       // how many of a sort there are over time, whether together or not
  part,        // a question for pictures about one part of the film
  shot,        // in which shot a thing is: "second shot"
  shots,       // how many shots there are
  cuts,        // how many cuts between them
};

struct Plan {
  Asks asks = Asks::part;
  std::vector<std::string> things;  // that the question names, without articles
  std::string each;                 // Asks::part: what the moments of that part are asked
  // Asks::part: a shot, counted from 0, or from the end as -1, -2, ...; none: the first frame, or
  // the last one where `end` is set.
  std::optional<int> shot;
  bool end = false;
  bool operator==(const Plan&) const = default;
};
// None for a question that one frame can answer, and for one that names no thing where it should.
std::optional<Plan> plan_of(const Query& query);

// ---- Moments

// A frame that is kept.
struct Moment {
  int64_t frame = 0;
  double seconds = 0;
  int shot = 0;     // counted from 0
  double jump = 0;  // share of pixels that flow does not explain since the frame before
  std::function<Picture()> picture;
};

// Which frames of a film are kept, however long it is: evenly spaced ones (every second is dropped
// when there are too many), the frames around the first and the last cuts and around the largest
// jumps, the first and the last.
class Moments {
 public:
  static constexpr size_t kEven = 16, kCuts = 4, kJumps = 6;  // cuts: of both ends
  static constexpr size_t kMost = kEven + 2 * (2 * kCuts + kJumps) + 1;

  // The next frame; frames that could not be read are left out. `picture` must stay valid and is
  // called when the film is asked, a few times at most.
  void add(const Step& step, double seconds, std::function<Picture()> picture);

  std::vector<Moment> kept() const;  // in order, each once
  int shots() const { return shots_; }
  bool empty() const { return shots_ == 0; }

 private:
  using Pair = std::pair<Moment, Moment>;  // before and after
  void keep_even(const Moment& moment);
  void keep_jump(const Moment& moment);

  std::vector<Moment> even_;
  std::vector<Pair> first_cuts_, last_cuts_, jumps_;
  std::optional<Moment> last_;
  int64_t stride_ = 1, count_ = 0;
  int shots_ = 0;
};

// ---- The answer

struct TimeOptions {
  AskOptions ask;       // how moments are read; its budget is not
  int tokens = 1536;    // of all moments together, never passed
  int most_each = 128;  // of one question to one moment, at most
};

// What one moment was asked.
struct MomentAnswer {
  int64_t frame = 0;
  double seconds = 0;
  int shot = 0;
  std::string asked, text;
  double confidence = 0;   // calibrated where the model is
  std::optional<Box> box;  // where it was read, pixels of the frame
  int64_t tokens = 0;
};

struct TimeAnswer {
  Plan plan;
  std::string text;       // "none" where nothing was found
  double confidence = 0;  // mean over the moments that the answer rests on
  int shots = 0;
  int64_t tokens = 0;                 // of all moments
  std::vector<MomentAnswer> moments;  // in order of time, then as they were asked
};
// Error{bad_argument} without any moments or with too few tokens for one.
TimeAnswer answer(const Asker& asker, const Plan& plan, const Moments& moments,
                  const TimeOptions& options = {});

}  // namespace arrcoc::filming

namespace arrcoc {
template <>
struct EnumNames<filming::Asks> {
  using enum filming::Asks;
  static constexpr const char* kWhat = "question over time";
  static constexpr std::pair<filming::Asks, const char*> kNames[] = {
      {direction, "direction"}, {first, "first"},     {last, "last"},
      {before, "before"},       {after, "after"},     {comes, "comes"},
      {goes, "goes"},           {appears, "appears"}, {disappears, "disappears"},
      {changed, "changed"},     {count, "count"},     {part, "part"},
      {shot, "shot"},           {shots, "shots"},     {cuts, "cuts"}};
};
}  // namespace arrcoc
