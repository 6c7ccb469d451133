// Which constants follow films best (FilmConstants).
#pragma once

#include "lab/measure/films.h"

namespace arrcoc::fitting {

// Sources that remember what they gave: every setting asks for the same.
measuring::FilmSources remembered(const measuring::FilmSources& sources);
// What a setting is worth: coverage, less what coherence lacks.
double worth(const measuring::FilmScore& score);
// `options` with these constants.
filming::Options with_constants(filming::Options options, const FilmConstants& constants);
inline constexpr int kAside = 4;  // every so manyth clip is held aside

struct FilmRows {
  std::vector<measuring::Film> clips;   // questions that the network understands
  std::vector<measuring::Film> movers;  // questions for whoever moves; may be empty
};
struct FilmFit {
  FilmConstants constants;
  // What is shown more than with the constants of `start`, less what more tokens it takes, on rows
  // held aside, in pairs.
  measuring::Interval clips, movers;
  bool better = false;  // on clips beyond chance, and not worse on movers: else keep the old ones
};
// The constants that are worth most on these films: the cross-entropy method around those of
// `start`. report: a line a round; may be empty.
FilmFit fit_film(const FilmRows& rows, const filming::Options& start,
                 const measuring::FilmSources& sources,
                 const std::function<void(const std::string&)>& report);

}  // namespace arrcoc::fitting
