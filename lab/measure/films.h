// Films whose truth is known: how well the leaves follow, and which constants follow best.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "arrcoc/film.h"
#include "arrcoc/realize.h"

namespace arrcoc::filming {

// A film with one question, ready to be realized many times: the dear part, a close look at every
// frame, is done once.
struct Film {
  std::vector<Thumb> thumbs;
  std::vector<Map> looks;
  std::vector<Box> boxes;  // per frame, pixels of `geometry`; no area: nothing to be seen
  std::vector<bool> cuts;  // true where a shot begins, but for the first
  Geometry geometry;       // of the tokens
  std::string question;
  std::string layout;  // of generated films
  void add(const Picture& picture, const std::string& question, const arrcoc::Options& options,
           const Box& box, bool cut);
};

// Sums over frames of several films.
struct Score {
  int64_t frames = 0, boxes = 0;
  double covered = 0, alone = 0, even = 0;  // this, per-frame allocation, breadth-first
  double coherence = 0;                     // outside cuts
  int64_t pairs = 0, low = 0;               // pairs outside cuts, and those of at most 0.8
  float least = 1;                          // lowest coherence outside cuts
  int64_t hits = 0, false_cuts = 0, missed = 0;
  int64_t tokens = 0, most = 0, looks = 0;

  double coverage() const { return boxes > 0 ? covered / static_cast<double>(boxes) : 0; }
  double coverage_alone() const { return boxes > 0 ? alone / static_cast<double>(boxes) : 0; }
  double coverage_even() const { return boxes > 0 ? even / static_cast<double>(boxes) : 0; }
  double mean_coherence() const { return pairs > 0 ? coherence / static_cast<double>(pairs) : 1; }
  double f1() const;
};

inline constexpr double kFine = 16;  // frame pixels (longer side 1024) of a leaf that counts

// baselines: also what per-frame allocation and breadth-first would cover with the same tokens.
void measure(const Film& film, const Options& options, FlowSource* flow, SegmentSource* segments,
             bool baselines, Score& score);

// What a setting is worth: coverage, less what coherence lacks.
double worth(const Score& score);
// The constants (see constants_json) that are worth most on these films, found one after the other.
// report: a line for every setting that was tried; may be empty.
Options fit(const std::vector<Film>& films, const Options& start, FlowSource* flow,
            SegmentSource* segments, const std::function<void(const std::string&)>& report);

}  // namespace arrcoc::filming
