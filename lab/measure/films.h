// Films whose truth is known: how well the leaves follow them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "arrcoc/ask.h"
#include "arrcoc/film.h"
#include "lab/measure/evaluation.h"

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
  int clip = 0;        // films of one clip show the same frames; -1: there is one film only
  void add(const Picture& picture, const FilmLook& look, const Box& box, bool cut);
};

// Coverage: the share of a box under fine leaves, mean over frames that have a box. Shown: the same
// where the leaves still show what is there, that is the frame that they were paid for on looks
// alike; what is bought anew on every frame covers and shows the same.
//
// Per-frame allocation looks closely at every frame and spends as many tokens on a film as
// following did, dealt out evenly (`even`), or as many on every frame as following did on that one,
// keeping its leaves where that was none (`same`).
struct FilmBox {
  int group = 0;    // of what is drawn together
  double paid = 0;  // tokens a frame of this film
  double covered = 0, shown = 0;
  double alone = 0, same = 0, same_shown = 0, breadth = 0;  // what the others cover
};

// Sums over frames of several films.
struct FilmScore {
  int64_t frames = 0;
  std::vector<FilmBox> boxes;
  double coherence = 0;        // outside cuts
  int64_t pairs = 0, low = 0;  // pairs outside cuts, and those of at most 0.8
  float least = 1;             // lowest coherence outside cuts
  int64_t hits = 0, false_cuts = 0, missed = 0;
  int64_t tokens = 0, most = 0, looks = 0;
  int64_t alone_tokens = 0;  // what `alone` spent
  int64_t furthest = 0;      // largest difference of the two on one film

  double mean(double FilmBox::*what) const;
  // Mean and 95 % interval of what less other, in pairs; films of one clip are drawn together.
  Interval less(double FilmBox::*what, double FilmBox::*other) const;
  double coverage() const { return mean(&FilmBox::covered); }
  double mean_coherence() const { return pairs > 0 ? coherence / static_cast<double>(pairs) : 1; }
  double per_frame(int64_t sum) const {
    return static_cast<double>(sum) / static_cast<double>(std::max<int64_t>(1, frames));
  }
  double f1() const;
};

// What following needs of a frame; both depend on the frames alone.
struct FilmSources {
  std::shared_ptr<filming::FlowSource> flow;
  std::shared_ptr<filming::SegmentSource> segments;
};

inline constexpr double kFilmFine = 16;  // frame pixels (longer side 1024) of a leaf that counts
inline constexpr int kFilmBlock = 10;    // frames that are drawn together where there is one film

enum class FilmBaselines {
  none,
  all,  // also what per-frame allocation and breadth-first cover with the same tokens
};
// What the first has more than the second, as FilmScore::less; both of the same films.
Interval gain(const FilmScore& now, const FilmScore& before,
              const std::function<double(const FilmBox&)>& what);
FilmScore follow(const std::vector<Film>& films, const filming::Options& options,
                 const FilmSources& sources, FilmBaselines baselines);

}  // namespace arrcoc::measuring
