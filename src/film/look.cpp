#include "arrcoc/film.h"

namespace arrcoc::filming {

Map look_at(const Looker& looker, const Picture& picture, const Query& question,
            const Map& motion) {
  History history;
  history.motion = motion;
  return min_max(looker.look(*looker.see(picture), {&question, 1}, history).front().relevance.map);
}

Options defaults(const FilmConstants& constants) {
  Options out;
  out.allocate.finest_weight = 1;
  static_cast<FilmConstants&>(out.tuning) = constants;
  out.allowance.novelty = constants.novelty;
  return out;
}

}  // namespace arrcoc::filming
