#include "look/scorers/scorers.h"

namespace arrcoc {

template <>
Registry<Scorer>& registry<Scorer>() {
  static Registry<Scorer> scorers = [] {
    using namespace scoring;
    Registry<Scorer> r;
    r.add("shannon", "information: entropy of the luminance histogram", make_shannon);
    r.add("spectrum", "information: entropy of the magnitude spectrum", make_spectrum);
    r.add("points", "information: edges, high frequencies, nearness to edges", make_points);
    r.add("saliency", "salience: centre-surround and motion, fading outwards", make_saliency);
    r.add("print", "salience: anything that looks like print", make_print);
    r.add("lexical", "coupling: colours, shapes, places and text that the question names",
          [] { return make_lexical(); });
    r.add("features", "coupling: features x question tokens (embeddings, else colours)",
          make_features);
    r.add("attention", "salience: what earlier passes read and where somebody looked",
          make_attention);
    r.add("none", "a map of zeros", make_nothing);
    return r;
  }();
  return scorers;
}

}  // namespace arrcoc
