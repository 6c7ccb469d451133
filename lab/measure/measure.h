// Measuring policies on questions whose answers are known.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "arrcoc/ask.h"
#include "lab/measure/causes.h"
#include "lab/measure/evaluation.h"
#include "lab/scenes/scenes.h"

namespace arrcoc::measuring {

// Questions about one picture.
struct Case {
  Item item;  // boxes in pixels of the picture; kind as in the suite or folder
  std::optional<Complexity> complexity;  // none when nobody said
  std::string reworded;                  // the same question in other words, or ""
};
struct Group {
  int number = 0;     // of all groups, from 0
  std::string suite;  // or the folder's name
  Picture picture;
  std::vector<Picture> frames;  // of a film, in order; `picture` is the first. Else none
  std::vector<Case> cases;
};
// Gives groups one after the other, then nothing.
using GroupSource = std::function<std::optional<Group>()>;

// `limit` questions of each suite at most (0: all), in the suites' order. Error{not_found} for an
// unknown suite, at once.
GroupSource suite_groups(const std::vector<std::string>& suites, int limit);
// Scenes that no suite and no training uses: `count` questions over the kinds that ask for text.
GroupSource held_out_groups(int count);
// Number of questions that suite_groups will give.
size_t suite_questions(const std::vector<std::string>& suites, int limit);
// Makes the groups of a source on a thread of its own, a few ahead.
GroupSource ahead(GroupSource source);
Picture picture_of(const scenes::Image& image, const std::string& name);

// What one policy did with one question.
struct Record {
  int group = 0;
  std::string policy, suite, kind;
  std::optional<Complexity> complexity;
  std::string question, wanted, answer;
  bool answered = false;  // false: nothing was read, or nobody knows the right answer
  bool right = false;
  double anls = 0;
  bool relaxed = false;  // right, or a number within 5 %
  double score = 0;      // by the set's own metric
  Metric metric = Metric::exact;
  std::optional<Cause> cause;  // of an answer that is not right
  int boxes = 0;               // of the answer
  double recall = -1;          // answer-region recall, mean over them; -1 without boxes
  double lenient = -1;         // with alternates
  double lift = 0;
  int tokens = 0;  // of all passes
  int passes = 1;
  int64_t native_tokens = 0;
  std::vector<int64_t> depths;  // tokens that left the encoder at each level; none: all at its end
  double milliseconds = 0;
  double likelihood = 0, confidence = 0;
  bool unsure = false;
  double overlap = -1;   // of the answer's box: intersection over union; -1 without either
  bool box_hit = false;  // its centre lies in an answer box
  bool pointed = false;  // the relevance map is largest inside an answer box
  // QC3: correlation of tokens per cell with the cells of answer and evidence, on a grid of
  // kDensity x kDensity cells; kNoBoxes without boxes.
  double qc3 = kNoBoxes;
  std::vector<double> density;  // those tokens per cell, as shares
  static constexpr int kDensity = 12;
  static constexpr double kNoBoxes = -2;
};
// An answer that was only looked for counts as not answered. Right, ANLS and relaxed are the best
// over all accepted answers.
Record judge(const Group& group, const Case& one, const Answer& answer);

// The questions of the group. Allocator oracle is told the evidence.
std::vector<Inquiry> inquiries_of(const Group& group, const AskOptions& options);
// Asks them: together where the same is said besides, one by one about a film.
std::vector<Answer> answers_to(const Asker& asker, const Group& group, const AskOptions& options);
// Is told every answer before it becomes a record; may be empty.
using Hearer = std::function<void(const Group&, const Case&, const Answer&)>;
// Asks one policy every question of the group, together.
std::vector<Record> measure(const Asker& asker, const Group& group, const AskOptions& options,
                            const Hearer& hearer = {});
// Only where the tokens go: nothing is read.
std::vector<Record> measure_looking(const Asker& asker, const Group& group,
                                    const AskOptions& options, const Hearer& hearer = {});

// Error{bad_argument} that names the policy when a record spent more tokens than `budget`.
void check_budget(const std::string& policy, int budget, const std::vector<Record>& records);

struct Summary {
  int questions = 0;
  int answered = 0;  // of those, with a known answer
  Interval exact_match, anls, relaxed;
  Interval score;      // by the sets' own metrics
  std::string metric;  // its name; "own" where sets differ
  Interval recall;
  Interval pointing;  // share of the questions with boxes whose map is largest inside one
  int boxes = 0;
  double mean_tokens = 0, mean_passes = 0, lenient = 0, lift = 0;
  int most_tokens = 0;
  std::vector<double> depths;  // mean tokens that left the encoder at each level; none: see Record
  double p50 = 0, p95 = 0;     // milliseconds
  double unsure = 0;           // share
  double right_when_sure = 0;
  double calibration_error = 0;  // expected, 10 bins
  double auroc = 0.5;            // of right against wrong answers by confidence
  double box_hit = 0, overlap = 0;
  double worst_decile = 0;  // mean anls of the tenth of the pictures where it is lowest
  Interval qc3;
  int placed = 0;      // questions with boxes, of qc3
  double starved = 0;  // share of complex questions given fewer than 160 tokens
};
using Records = std::vector<const Record*>;
Records all_of(const std::vector<Record>& records);
Summary summarise(const Records& records);

// How often answers are right, by how sure they are.
struct Reliability {
  struct Bin {
    int count = 0;
    double confidence = 0, right = 0;  // means; 0 in an empty bin
  };
  std::array<Bin, 10> bins;  // [0,0.1), [0.1,0.2), ..., [0.9,1]
  int answered = 0;
  double error = 0;    // expected calibration error: mean |confidence - right|, weighted by count
  double auroc = 0.5;  // of right against wrong answers
};
Reliability reliability(const Records& records);

// What one policy gets right more often than another on the same questions (in the same order).
struct Difference {
  int questions = 0;
  Interval exact_match, anls, score;         // second - first, pictures drawn together
  int only_first = 0, only_second = 0;       // right with one of them alone
  double first_right = 0, second_right = 0;  // shares
  double first_score = 0, second_score = 0;  // by the sets' own metrics
  double first_tokens = 0, second_tokens = 0;
};
Difference compare(const Records& first, const Records& second);

}  // namespace arrcoc::measuring
