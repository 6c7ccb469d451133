// Films whose truth is known: how well the leaves follow them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "arrcoc/ask.h"
#include "arrcoc/film.h"

namespace arrcoc::measuring {

// Close looks at frames, and the geometry of their tokens.
struct FilmLook {
  std::shared_ptr<const Looker> looker;
  AskOptions options;
};

// A film with one question, ready to be followed many times: the dear part, a close look at every
// frame, is done once.
struct Film {
  std::vector<filming::Thumb> thumbs;
  std::vector<Map> looks;
  std::vector<Box> boxes;  // per frame, pixels of `geometry`; no area: nothing to be seen
  std::vector<bool> cuts;  // true where a shot begins, but for the first
  Geometry geometry;       // of the tokens
  Query question;
  std::string layout;  // of generated films
  void add(const Picture& picture, const FilmLook& look, const Box& box, bool cut);
};

// Sums over frames of several films.
struct FilmScore {
  int64_t frames = 0, boxes = 0;
  double covered = 0, alone = 0, even = 0;  // this, per-frame allocation, breadth-first
  double coherence = 0;                     // outside cuts
  int64_t pairs = 0, low = 0;               // pairs outside cuts, and those of at most 0.8
  float least = 1;                          // lowest coherence outside cuts
  int64_t hits = 0, false_cuts = 0, missed = 0;
  int64_t tokens = 0, most = 0, looks = 0;

  double coverage() const { return per_box(covered); }
  double coverage_alone() const { return per_box(alone); }
  double coverage_even() const { return per_box(even); }
  double mean_coherence() const { return pairs > 0 ? coherence / static_cast<double>(pairs) : 1; }
  double f1() const;

 private:
  double per_box(double sum) const { return boxes > 0 ? sum / static_cast<double>(boxes) : 0; }
};

// What following needs of a frame; both depend on the frames alone.
struct FilmSources {
  std::shared_ptr<filming::FlowSource> flow;
  std::shared_ptr<filming::SegmentSource> segments;
};

inline constexpr double kFilmFine = 16;  // frame pixels (longer side 1024) of a leaf that counts

enum class FilmBaselines {
  none,
  all,  // also what per-frame allocation and breadth-first would cover with the same tokens
};
FilmScore follow(const std::vector<Film>& films, const filming::Options& options,
                 const FilmSources& sources, FilmBaselines baselines);

}  // namespace arrcoc::measuring
