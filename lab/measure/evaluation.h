// Measuring: folders of pictures with questions and boxes, and how well tokens cover the answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arrcoc/allocate.h"
#include "arrcoc/map.h"
#include "lab/measure/metrics.h"

namespace arrcoc::measuring {

// Something printed on a picture, a word or a line.
struct Text {
  Box box;
  std::string text;
};

// Where a picture stands as base64 inside a file of questions.
struct Embedded {
  int64_t at = 0, length = 0;  // bytes
};

// One question; boxes in pixels of the stored picture.
struct Item {
  std::string id;
  std::string image;                 // path, the folder's name in front
  std::optional<Embedded> embedded;  // in `image` up to '#'; none: `image` is the picture's file
  int frames = 0;                    // above 0: `image` is a film, of which so many are shown
  int width = 0, height = 0;         // 0: nobody says
  std::string question;
  std::optional<std::string> answer;
  std::vector<std::string> accepted;  // other answers that are right as well
  Metric metric = Metric::exact;      // the set's own
  std::vector<std::string> options;   // of a choice, A first
  // Told to models that follow instructions, behind the question; nobody looks for it.
  std::string after;
  std::string kind;
  std::vector<Box> answer_boxes;     // all belong to the answer
  std::vector<Box> evidence_boxes;   // what a reader needs besides
  std::vector<Box> alternate_boxes;  // other places that show the same answer
  std::vector<Text> texts;           // all known text of the picture; empty: nobody knows
};

// Every items*.jsonl of the folder, sorted by file name, but for pictures without a question ("");
// or a published set (sets.h), "docvqa:FILE". Error{not_found} without such a file or question,
// Error{bad_json} with file and line for a line that does not fit.
std::vector<Item> load_items(const std::string& folder);

// Share of the box under leaves whose side is at most `largest` (in the pixels of the allocation),
// or under crops whose patches are that fine.
double covered(const Allocation& allocation, const Box& box, double largest);

// Share of the tokens whose centre lies in the boxes / share of the picture that the boxes cover.
double lift(const Allocation& allocation, const std::vector<Box>& boxes);

// Tokens of every cell of a grid over the picture [rows*cols], each spread evenly over its box, as
// shares of all tokens.
std::vector<double> token_density(const Allocation& allocation, int rows, int cols);
// Share of every cell that lies in the boxes (pixels of a picture of width x height).
std::vector<double> box_cover(const std::vector<Box>& boxes, double width, double height, int rows,
                              int cols);
// Pearson's; 0 when one of them does not vary.
double correlation(const std::vector<double>& a, const std::vector<double>& b);

// Lloyd's algorithm from k-means++ seeds; the same for the same seed. Points all have one length.
struct Clusters {
  std::vector<int> of;                       // cluster of every point
  std::vector<std::vector<double>> centres;  // largest cluster first; none is empty
  std::vector<size_t> nearest(const std::vector<std::vector<double>>& points, int cluster,
                              size_t count) const;  // members closest to the centre, closest first
};
Clusters k_means(const std::vector<std::vector<double>>& points, int k, uint64_t seed = 1);

// Answers are compared in lower case, with white space trimmed and runs of it made one space.
std::string normalised(const std::string& answer);
bool exact_match(const std::string& given, const std::string& wanted);
// Average normalised Levenshtein similarity of one pair: 1 - distance / longer length (in code
// points, normalised), 0 when that is below 0.5.
double anls(const std::string& given, const std::string& wanted);
// Charts: a number within 5 % of a wanted number ("," "%" "$" and spaces left out), else an exact
// match.
bool relaxed_match(const std::string& given, const std::string& wanted);

// Answers that are right: `answer` and those accepted besides, each once.
std::vector<std::string> right_answers(const Item& item);
// The item's own metric of an answer, 0 to 1.
double score(const Item& item, const std::string& given);

// Area under the ROC curve of right against wrong by confidence, ties half; 0.5 where all are
// alike.
double auroc(const std::vector<double>& right, const std::vector<double>& wrong);

// A mean and its 95 % interval.
struct Interval {
  double mean = 0, low = 0, high = 0;
  bool operator==(const Interval&) const = default;
};
// Percentile bootstrap with 1000 draws from a seed. Values of one group (questions about one
// picture) are drawn together: they are not independent. groups: one number a value.
Interval bootstrap(const std::vector<double>& values, const std::vector<int>& groups,
                   uint64_t seed = 1);

inline constexpr int kFrame = 1024;  // answer-region recall is taken on this longer side
inline constexpr double kFine = 32;  // leaves of at most so many frame pixels count

// Sums over questions; recall is the mean over boxes.
struct Tally {
  int questions = 0;
  int boxes = 0;
  double covered = 0;  // sum over answer boxes
  double lenient = 0;  // the same, but each box of a question has the best alternate if better
  double tokens = 0;
  double lift = 0;
  int most_tokens = 0;

  void add(const Allocation& allocation, const Item& item);
  double recall() const { return boxes > 0 ? covered / boxes : 0; }
  double recall_with_alternates() const { return boxes > 0 ? lenient / boxes : 0; }
  double mean_tokens() const { return questions > 0 ? tokens / questions : 0; }
  double mean_lift() const { return questions > 0 ? lift / questions : 0; }
};

}  // namespace arrcoc::measuring
