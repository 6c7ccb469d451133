// Questions over time on generated films whose answers are known.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "arrcoc/moments.h"
#include "lab/measure/films.h"
#include "lab/measure/measure.h"

namespace arrcoc::measuring {

// What answers a question about a film.
enum class Answerer {
  moments,  // arrcoc/moments.h; where there is no plan, as `best`
  best,     // the most relevant frame alone, with as many tokens
  middle,   // the middle frame alone, with as many
  today,    // the most relevant frame with its own budget: `arrcoc watch` without a plan
};
inline constexpr int kAnswerers = 4;

struct FilmRecord {
  int group = 0;  // the film
  std::string intent, question, wanted;
  std::string asks;  // of the plan; "": none
  struct Said {
    std::string text;
    bool right = false;
    int64_t tokens = 0;
  };
  std::array<Said, kAnswerers> said;         // in the order of Answerer
  std::vector<filming::MomentAnswer> asked;  // by moments
  double confidence = 0, milliseconds = 0;   // of moments
};

struct FilmAsking {
  FilmLook look;  // of following
  filming::Options timing;
  FilmSources sources;
  filming::TimeOptions time;  // of answering
};

// Follows the film once a question.
std::vector<FilmRecord> answer_film(const Asker& asker, const scenes::Scene& scene, int group,
                                    const FilmAsking& asking);

}  // namespace arrcoc::measuring
