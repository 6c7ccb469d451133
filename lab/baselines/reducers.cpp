#include "lab/baselines/reducers.h"

namespace arrcoc {

using namespace reducing;

template <>
Registry<Reducer>& registry<Reducer>() {
  static Registry<Reducer> reducers = [] {
    Registry<Reducer> r;
    r.add("tome", "similar tokens are merged in every layer of the encoder (ToMe)", make_tome);
    r.add("visionzip", "most looked-at tokens, the rest merged by their keys (VisionZip)",
          make_visionzip);
    r.add("fastv", "after two layers, what the question looks at most (FastV)", make_fastv);
    r.add("cdpruner", "after the encoder, relevant and unlike each other (CDPruner)",
          make_cdpruner);
    r.add("five-paths",
          "after the encoder, regions pooled by 4 to 64 as the question looks at them",
          make_five_paths);
    return r;
  }();
  return reducers;
}

}  // namespace arrcoc
