// Esper: look again while unsure. Relevance -> temper -> allocate -> answer -> uncertainty, up to
// four times, with any backend that says how likely its answer's tokens were.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrcoc/realize.h"

namespace arrcoc::tiny {
class TinyModel;
}

namespace arrcoc::esper {

struct Reply {
  std::string text;
  std::vector<float> probabilities;  // of each token of the answer, the end mark last
  // Where the backend read, 0..1 over the whole picture; empty when it cannot tell.
  Map attention;
};

// Something that reads tokens of mixed levels. Shared by threads.
class Backend {
 public:
  virtual ~Backend() = default;
  // geometry: of the picture that the tokens were cut from.
  virtual Reply answer(const TokenSequence& tokens, const Geometry& geometry,
                       const std::string& question) const = 0;
};
// The bundled model (arrcoc_tiny). It does not report attention.
std::shared_ptr<const Backend> tiny_backend(std::shared_ptr<const tiny::TinyModel> model);

// 1 - geometric mean of the probabilities; 1 without any. Error{numeric} outside [0,1].
double uncertainty(const std::vector<float>& probabilities);

struct Rules {
  int passes = 4;              // at most
  double sure_at_once = 0.05;  // below this uncertainty the first pass is the last
  double sure = 0.15;          // and from the second pass on below this
  double inhibition = 0.6;     // how far places that were read in vain fall back
  bool operator==(const Rules&) const = default;
};

// Share of exploration of a pass: 0.1 for the first; then 0.5 above an uncertainty of 0.7, 0.3
// above 0.4, else 0.05.
double exploration(int pass, double last_uncertainty);

// All that earlier passes leave behind; maps share one grid.
struct Trace {
  Map attention_previous;     // texture channel 37: where the last pass read
  Map attention_accumulated;  // 38: the sum over passes, at most 1
  Map seen;                   // 1 where an earlier pass had leaves of level 1 or finer
};
// The next map. What was read in vain falls back (inhibition x uncertainty); cells never seen
// finely are lifted by explore x interest, with a seeded grain of 1 % so that equal cells are not
// taken in raster order. interest: query-free (information).
Map temper(const Map& relevance, const Map& interest, const Trace& trace, double explore,
           double last_uncertainty, const Rules& rules, uint64_t seed);

// Adds what a pass saw to the trace; maps get that shape. attention: where the backend
// read, or empty: then what it was shown finely counts, half for being shown, half by relevance.
// Returns where it read.
Map remember(Trace& trace, const Allocation& allocation, const Map& shape,
             const Map& attention = {});
// Why no pass follows the one of that number (from 1) and uncertainty: "sure", "passes" or "".
std::string why_stop(size_t passes, double uncertainty, const Rules& rules);

struct Pass {
  Map relevance;  // as tempered
  double explore = 0;
  Allocation allocation;
  int tokens = 0;
  int reused = 0;  // leaves whose patches an earlier pass had already cut
  std::string answer;
  std::vector<float> probabilities;
  double uncertainty = 1;
  Map attention;  // the backend's, or the fine leaves by relevance where it has none
};

struct Options {
  arrcoc::Options look;  // budget: of one pass
  Rules rules;
  int total_budget = 0;  // tokens of all passes together; 0: no limit
  uint64_t seed = 0;
};

struct Result {
  std::vector<Pass> passes;  // at least one
  size_t best = 0;           // the pass of least uncertainty; the earlier one of equals
  int tokens = 0;            // of all passes
  std::string stopped;       // why no further pass: "sure", "passes", "budget"
  Query query;
  std::vector<std::string> fallbacks;
  const Pass& answer() const { return passes[best]; }
};

// The loop. The picture is looked at once; the question's map is the same for every pass, what
// earlier passes saw and read changes it. Error{bad_argument} for rules that cannot be,
// Error{unsupported} for an allocator without leaves.
Result ask(const Picture& picture, const std::string& question, const Backend& backend,
           const Options& options);

// Several pictures, one budget: each gets at least `minimum` tokens and its own root cells, the
// rest goes to the splits of largest gain wherever they are (the quadtree's rule over the union).
// Error{bad_argument} when the budget cannot give every picture one token.
std::vector<Allocation> allocate_union(const std::vector<Relevance>& relevance,
                                       const std::vector<Geometry>& geometry, const Budget& budget,
                                       int minimum, const AllocateOptions& options = {});

// The picture that a question names ("in the second picture", "look at the first receipt"),
// counted from 0; none when it names none or one that is not there.
std::optional<int> named_picture(const Query& query, int count);

struct PicturesResult {
  std::vector<Realization> seen;  // one a picture; allocations share the budget
  std::vector<Reply> replies;     // one a picture
  std::vector<double> uncertainty;
  int picture = 0;  // whose answer it is: the named one, else the one of least uncertainty
  int tokens = 0;   // of all pictures
  const Reply& answer() const { return replies[static_cast<size_t>(picture)]; }
};
// The bundled model was trained on the tokens of one picture at a time (for pairs: of the one that
// holds the answer), so every picture is read by itself and the surest answer is taken.
PicturesResult ask_pictures(const std::vector<Picture>& pictures, const std::string& question,
                            const Backend& backend, const arrcoc::Options& look, int minimum = 16);

}  // namespace arrcoc::esper
