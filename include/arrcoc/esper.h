// Esper: look again while unsure. Relevance -> temper -> allocate -> answer -> uncertainty, up to
// four times, with any backend that says how likely its answer's tokens were.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
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
  // Where the backend read: a share for every token it was given, or a map of 0..1 over the whole
  // picture. Both empty when it cannot tell.
  std::vector<float> focus;
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
// The bundled model (arrcoc_tiny). It reports its focus.
std::shared_ptr<const Backend> tiny_backend(std::shared_ptr<const tiny::TinyModel> model);

// 1 - geometric mean of the probabilities; 1 without any. Error{numeric} outside [0,1].
double uncertainty(const std::vector<float>& probabilities);
double likelihood(const std::vector<float>& probabilities);  // their product; 0 without any

struct Rules {
  int passes = 4;              // at most
  double sure_at_once = 0.05;  // below this uncertainty the first pass is the last
  double sure = 0.15;          // and from the second pass on below this
  // Tokens of the first and of every later pass, as shares of what a single look would get.
  double first = 0.7;
  double later = 0.6;
  // Above this uncertainty the next pass looks elsewhere: places that were read in vain fall back
  // by `inhibition` x uncertainty. Below it, it looks closer where the answer was read, if that was
  // one place: the four tokens that were read most hold at least the share `gathered` of all
  // attention. An answer gathered from all over (a count, a comparison) does not gain by looking
  // closer.
  double lost = 0.7;
  double inhibition = 0.6;
  double gathered = 0.4;
  bool wander = true;  // unsure and not read from one place: look elsewhere; false: stop
  // Unsure and not read from one place, or still unsure after looking closer: one pass with the
  // question's own map and this share of the budget, more than the first. 1 is the very look that a
  // single pass would have had, so whoever saves on the first pass loses nothing. 0: never.
  double wider = 0;
  // A closer look shows less of the rest and is easily sure of it: unless it is sure outright
  // (Options::confident), its confidence counts less by this where passes are compared.
  double doubt = 0;
  double apart = 0.3;   // looking closer: what is left of relevance that nobody read
  bool enlarge = true;  // looking closer: 8x8 native pixels may fill a token
  bool operator==(const Rules&) const = default;
};

// Share of exploration of a pass: 0.1 for the first; then 0.5 above an uncertainty of 0.7, 0.3
// above 0.4, else 0.05.
double exploration(int pass, double last_uncertainty);

// All that earlier passes leave behind; maps share one grid.
struct Trace {
  Map attention_previous;     // texture channel 37: where the last pass read
  Map attention_accumulated;  // 38: the sum over passes, at most 1
  Map gaze;                   // 39: where somebody else looked; may be given before the first pass
  Map seen;                   // 1 where an earlier pass had leaves of level 1 or finer
};
// Channels 37 to 39 of a texture, on the grid of the trace; absent maps are zeros. The scorer
// "attention" reads them.
Texture texture_of(const Trace& trace, const Geometry& geometry);

// The next map. manner, how a pass looks:
//   first      relevance, lifted to the gaze where there is one
//   wider      relevance as it is (and the gaze), with more tokens: see Rules::wider
//   closer     relevance x (apart + (1 - apart) x attention)
//   elsewhere  relevance x (1 - inhibition x uncertainty x accumulated attention)
// But for `closer` and `wider`, cells never seen finely are lifted by explore x interest, with a
// seeded grain of 1 % so that equal cells are not taken in raster order. interest: query-free
// (information).
Map temper(const Map& relevance, const Map& interest, const Trace& trace, const std::string& manner,
           double explore, double last_uncertainty, const Rules& rules, uint64_t seed);

// For callers with a loop of their own. remember() adds what a pass saw and read to the trace; maps
// get that shape. A backend that does not say where it read has read what it was shown finely, half
// for being shown, half by relevance. Returns where it read.
Map remember(Trace& trace, const Allocation& allocation, const Map& shape, const Reply& reply);
// Share of the focus on the four tokens that were read most; -1 when the backend cannot tell.
double gathered(const std::vector<float>& focus);
// How to look after a pass that was not sure: "closer", "elsewhere", or "" for not at all.
std::string manner_after(double gathered, double uncertainty, const Rules& rules);
// Why no pass follows the one of that number (from 1) and uncertainty: "sure", "passes" or "".
std::string why_stop(size_t passes, double uncertainty, const Rules& rules);

struct Pass {
  Map relevance;       // as tempered
  std::string manner;  // first, closer, wider, elsewhere
  double explore = 0;
  Allocation allocation;
  int tokens = 0;
  int reused = 0;  // leaves whose patches an earlier pass had already cut
  std::string answer;
  std::vector<float> probabilities;
  double uncertainty = 1;
  double confidence = 0;     // what the passes are compared by: see Options
  Map attention;             // the backend's, or the fine leaves by relevance where it has none
  std::vector<float> focus;  // as the backend gave it
  double gathered = -1;  // share of the focus on the four tokens that were read most; -1 unknown
  double detail = 0;     // mean level of the tokens that were read, weighted by focus
};

// How to go on, learned from logged passes (`arrcoc passes --fit`): four logistic models of the
// same features of the pass that was just read.
struct Policy {
  static constexpr int kFeatures = 7;
  using Features = std::array<double, kFeatures>;
  static const std::array<const char*, kFeatures> kNames;
  Features right{};      // is this answer right?
  Features closer{};     // would looking closer make a wrong answer right?
  Features wider{};      // would looking with all of the budget?
  Features elsewhere{};  // would looking elsewhere?
  double worth = 0.08;   // least probability of that for a further pass
  uint64_t weights = 0;  // fingerprint of the model that it was fitted for; 0: unknown
  bool operator==(const Policy&) const = default;
};
Policy::Features features_of(const Pass& pass, bool first);
double chance(const Policy::Features& model, const Policy::Features& features);
// Error{bad_json} for unknown keys, wrong types and numbers that cannot be.
Policy policy_from_json(const std::string& text);
std::string to_json(const Policy& policy);

// One question whose first pass was followed by every manner of a second one.
struct Logged {
  Policy::Features first{}, closer{}, wider{}, elsewhere{};  // of the four passes
  bool first_right = false, closer_right = false, wider_right = false, elsewhere_right = false;
};
// Logistic regression by Newton's method with a weak pull to zero. Error{bad_argument} without
// questions.
Policy fit(const std::vector<Logged>& logged);

struct Options {
  arrcoc::Options look;  // budget: of a single look; passes take shares of it (Rules)
  Rules rules;
  int total_budget = 0;  // tokens of all passes together; 0: no limit
  uint64_t seed = 0;
  Map gaze;  // where a person looked, 0..1 over the whole picture; may be empty
  // How likely an answer is right, from its pass. Without one: the product of the probabilities,
  // and the stop rules are those of uncertainty.
  std::function<double(const Pass&)> confidence;
  double confident = 0.75;        // with `confidence`: from here on no further pass
  std::optional<Policy> learned;  // decides instead of the rules and of `confidence`
};

struct Result {
  std::vector<Pass> passes;  // at least one
  size_t best = 0;           // the pass of most confidence (Rules::doubt); the earlier of equals
  int tokens = 0;            // of all passes: what each was given, whether cut afresh or reused
  // Why no further pass: "sure", "spread" (unsure, but not read from one place), "not worth it"
  // (the learned policy), "passes", "budget".
  std::string stopped;
  Query query;
  std::vector<std::string> fallbacks;
  const Pass& answer() const { return passes[best]; }
};

// The passes over one question, for callers who cut and read the tokens themselves (in batches).
//   Loop loop(...);
//   while (const auto where = loop.next()) loop.hear(read(*where));
class Loop {
 public:
  // relevance: the question's map in pixels of `geometry`. interest: query-free, the same grid; may
  // be empty. single: what a single look would get. Error{bad_argument} for rules that cannot be.
  Loop(Relevance relevance, Map interest, const Geometry& geometry, Budget single,
       const Options& options);
  // Where to look now; nothing when the passes are over. After each, hear() is due.
  std::optional<Allocation> next();
  void hear(Reply reply, int reused = 0);
  const Result& result() const { return result_; }
  Result finish() { return std::move(result_); }

 private:
  int affordable() const;
  void decide();  // how to go on after a pass, or why not
  double believed(const Pass& pass) const;
  bool widened() const;

  Relevance relevance_;
  Map interest_;
  Geometry geometry_;
  Budget single_;
  Options options_;
  Trace trace_;
  Pass open_;
  std::string manner_ = "first";  // of the next pass
  Result result_;
};

// The loop with a backend. The picture is looked at once; the question's map is the same for every
// pass, what earlier passes saw and read changes it. Error{bad_argument} for rules that cannot be,
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

// A question that compares pictures, as a question that each of them can answer by itself.
struct Comparison {
  enum class By { presence, smaller, larger, difference };
  By by = By::presence;
  std::string each;  // what every picture is asked; "" for difference: the question itself
  bool operator==(const Comparison&) const = default;
};
// "In which picture is the apple cheaper?", "Which picture shows the door?", "What disappeared?";
// none for a question that compares nothing or names a picture.
std::optional<Comparison> comparison_in(const Query& query);
// The first number of an answer ("RM 33.90" -> 33.9, "1,234" -> 1234); none without one.
std::optional<double> number_in(const std::string& answer);

struct PicturesResult {
  std::vector<Realization> seen;  // one a picture; allocations share the budget
  std::vector<Reply> replies;     // one a picture
  std::vector<double> uncertainty;
  int picture = 0;  // whose answer it is: the named one, else the one of least uncertainty
  int tokens = 0;   // of all pictures
  std::optional<Comparison> comparison;
  std::string text;  // the answer: that picture's, or "second picture" where pictures are compared
};
// The bundled model was trained on the tokens of one picture at a time (for pairs: of the one that
// holds the answer), so every picture is read by itself and the surest answer is taken. Pictures
// that the question compares are asked for what is compared. Differences are looked for where two
// pictures of one size differ.
PicturesResult ask_pictures(const std::vector<Picture>& pictures, const std::string& question,
                            const Backend& backend, const arrcoc::Options& look, int minimum = 16);

}  // namespace arrcoc::esper
