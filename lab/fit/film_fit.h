// Which constants follow films best (FilmConstants).
#pragma once

#include "lab/measure/films.h"

namespace arrcoc::fitting {

// What a setting is worth: coverage, less what coherence lacks.
double worth(const measuring::FilmScore& score);
// `options` with these constants.
filming::Options with_constants(filming::Options options, const FilmConstants& constants);
// The constants that are worth most on these films, found one after the other from those of
// `start`. report: a line for every setting that was tried; may be empty.
FilmConstants fit_film(const std::vector<measuring::Film>& films, const filming::Options& start,
                       const measuring::FilmSources& sources,
                       const std::function<void(const std::string&)>& report);

}  // namespace arrcoc::fitting
