#include "arrcoc/error.h"
#include "arrcoc/esper.h"
#include "ask/cuttings.h"

namespace arrcoc::esper {

Result ask(const Picture& picture, const std::string& question, const Backend& backend,
           const Options& options) {
  // Later passes may enlarge, so the pyramid offers it; the first look has its own geometry.
  arrcoc::Options cutting = options.look;
  cutting.enlarge = cutting.enlarge || options.rules.enlarge;
  const Pyramid pyramid = pyramid_of(picture, cutting);
  arrcoc::Options looking = options.look;
  Realization first = realize(picture, pyramid, question, looking);
  if (first.tokens.size() == 0)
    throw Error(ErrorCode::unsupported, "looking again needs leaves, allocator '" +
                                            options.look.allocator + "' gives none");
  Geometry geometry = pyramid.geometry();
  geometry.finest = options.look.enlarge ? kFinestEver : 0;
  const Map& map = first.relevance.map;
  Loop loop(first.relevance, resample(first.knowledge.information, map.rows, map.cols), geometry,
            first.allocation.budget, options);
  Cuttings cuttings(pyramid);
  while (const std::optional<Allocation> where = loop.next()) {
    int reused = 0;
    const TokenSequence tokens = cuttings.cut(*where, reused);
    loop.hear(backend.answer(tokens, geometry, first.query.text), reused);
  }
  Result out = loop.finish();
  out.query = std::move(first.query);
  out.fallbacks = std::move(first.fallbacks);
  return out;
}

}  // namespace arrcoc::esper
