// Asking: picture + question -> answer, with the tokens that the question needs.
//
//   Asker asker(load_bundle());                                       // once
//   Answer answer = asker.ask(picture, "What is the total?");         // many times
//
// The road is the same for one picture and several, for one look and passes, for the bundled model,
// a Hugging Face folder and a server upstream: look, allocate, cut, read, again? `Asking` is that
// road as a machine that stops where something is to be read, so that callers with a queue
// (arrcoc serve) read the steps of many questions together.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arrcoc/allocate.h"
#include "arrcoc/bundle.h"
#include "arrcoc/look.h"
#include "arrcoc/model.h"
#include "arrcoc/tokens.h"

namespace arrcoc {

// ---- Passes: looking again while unsure

// How a pass looks.
enum class Manner {
  first,      // the question's map, lifted to the gaze where there is one
  closer,     // where the pass before read
  wider,      // the question's map with more tokens
  elsewhere,  // away from what was read in vain
  again,      // a map that the network made of the question and of what was read and answered
};
template <>
struct EnumNames<Manner> {
  static constexpr const char* kWhat = "manner";
  static constexpr std::pair<Manner, const char*> kNames[] = {{Manner::first, "first"},
                                                              {Manner::closer, "closer"},
                                                              {Manner::wider, "wider"},
                                                              {Manner::elsewhere, "elsewhere"},
                                                              {Manner::again, "again"}};
};

// Why no further pass followed.
enum class Stop {
  open,          // not over yet
  sure,          // confident enough
  passes,        // no more are allowed
  spread,        // unsure, but the answer was gathered from all over: looking closer gains nothing
  budget,        // what is left of total_budget is not worth a pass
  not_worth_it,  // the learned policy expects nothing of a further pass
  seen,          // a further pass would show what an earlier one has shown
};
template <>
struct EnumNames<Stop> {
  static constexpr const char* kWhat = "reason to stop";
  static constexpr std::pair<Stop, const char*> kNames[] = {
      {Stop::open, "open"},     {Stop::sure, "sure"},     {Stop::passes, "passes"},
      {Stop::spread, "spread"}, {Stop::budget, "budget"}, {Stop::not_worth_it, "not worth it"},
      {Stop::seen, "seen"}};
};

struct PassRules {
  int passes = 1;  // at most, 1 to 16
  // Tokens of the first and of every later pass, as shares of what a single look would get. A
  // single pass has all of it.
  double first = 0.9;
  double later = 0.6;
  // Above this uncertainty (1 - geometric mean of the probabilities) the next pass looks elsewhere:
  // places that were read in vain fall back by `inhibition` x uncertainty. Below it, it looks
  // closer, if the answer was read in one place: the four tokens that were read most hold at least
  // the share `gathered` of all attention.
  double lost = 0.7;
  double inhibition = 0.6;
  double gathered = 0.3;
  // Unsure and not read from one place: look elsewhere; false: stop. (On held-out scenes looking
  // elsewhere found nothing that the network's map had not shown.)
  bool wander = false;
  // Further maps are computed by the network from what earlier passes read and answered, however
  // the answer was read; a bundle without weights for that goes by the rules.
  bool history = false;
  // Unsure and not read from one place, or still unsure after looking closer: one pass with the
  // question's own map and this share of the budget. 0: never.
  double wider = 0;
  // A closer look shows less of the rest and is easily sure of it: unless it is sure outright, its
  // confidence counts less by this where passes are compared.
  double doubt = 0.15;
  double apart = 0.3;   // looking closer: what is left of relevance that nobody read
  bool enlarge = true;  // looking closer: 8x8 native pixels may fill a token
  // Looking elsewhere: cells never seen finely are lifted by this x their information; less below
  // an uncertainty of 0.7 (0.6 of it) and 0.4 (0.1).
  double explore = 0.5;
  double confident = 0.75;  // from this confidence on no further look
  int total_budget = 0;     // tokens of all passes together; 0: no limit but the shares above
  bool operator==(const PassRules&) const = default;
};

// How to go on, learned from logged passes (`arrcoc passes --fit`): logistic models of the same
// features of the pass that was just read.
struct PassPolicy {
  static constexpr int kFeatures = 7;
  using Features = std::array<double, kFeatures>;
  static const std::array<const char*, kFeatures> kNames;
  Features right{};      // is this answer right?
  Features closer{};     // would looking closer make a wrong answer right?
  Features wider{};      // would looking with all of the budget?
  Features elsewhere{};  // would looking elsewhere?
  double worth = 0.08;   // least probability of that for a further pass
  uint64_t weights = 0;  // fingerprint of the model that it was fitted for; 0: unknown
  bool operator==(const PassPolicy&) const = default;
};
// Error{bad_json} for unknown keys, wrong types and numbers that cannot be.
PassPolicy pass_policy_from_json(const std::string& text);
std::string to_json(const PassPolicy& policy);

// ---- Options

// Every choice along the road. Names of fields are also the keys of the JSON form and, with dashes,
// the command-line flags (json.h).
struct AskOptions {
  std::string policy = "realized";  // what was asked for, see policy()
  LookOptions look;
  std::string budget = "auto";  // number, fast/balanced/accurate, or a rule; of a single look
  std::string own_budget;       // of policies that have one whatever `budget` says; else ""
  std::string allocator = "experts";
  AllocateOptions allocate;
  bool enlarge = false;  // offer level -1 (8x8 native pixels a token)
  // >0: tokens are cut from the picture resampled to this longer side (up or down), and leaves
  // refer to that; the looker still sees the picture as it is. 0: see below.
  int canvas = 0;
  // Without a canvas, for a model that takes patches: pictures whose longer side is below
  // `least_side` are enlarged to it (four times at most: small print), those above `most_side` are
  // reduced to it (to a half at most: few tokens cover more of a page). 0: neither.
  int least_side = 1024, most_side = 1280;
  bool statistics = false;  // record shape and range at every stage boundary
  PassRules passes;
  std::optional<PassPolicy> pass_policy;  // instead of the rules and of the calibrated confidence
  std::optional<double> threshold;        // below it an answer is unsure; none: the calibrated one
  Map gaze;                  // where a person looked, over the whole picture; may be empty
  int minimum = 16;          // several pictures: tokens that each gets at least
  std::vector<Turn> before;  // earlier turns
  GenerateOptions generate;
};

// A policy is a named set of options: realized (default), lexical, reader, passes, ...
// Error{not_found} lists the names; underscores count as dashes.
AskOptions policy(const std::string& name);
struct Policy {
  std::string summary;  // one line for people
  void (*apply)(AskOptions&);
};
// Name and policy, in the order in which they are shown. The lab adds its baselines here, before
// any thread asks.
std::vector<std::pair<std::string, Policy>>& policies();
// The same with one line for each: also every allocator, over the network's map.
std::vector<std::pair<std::string, std::string>> policy_names();

// ---- What comes out

struct Pass {
  Manner manner = Manner::first;
  double explore = 0;  // that was added where nobody had looked
  Map relevance;       // as tempered by the history
  Allocation allocation;
  int64_t tokens = 0;  // that the model paid for
  int reused = 0;      // leaves whose patches an earlier pass had already cut
  Reply reply;
  double uncertainty = 1;  // 1 - geometric mean of the probabilities; 1 without any
  double confidence = 0;   // calibrated (or the learned policy's): what passes are compared by
  // Models that give no probabilities: the share of words that the answer has in common with that
  // of another pass, the most of them; stands for the probability. -1: there is none, or no need.
  double agreement = -1;
  Map attention;  // where it was read
  // Share of the focus on the four tokens that were read most, -1 unknown. Of Hugging Face models
  // what is above an even share counts: their attention leaves out no token.
  double gathered = -1;
  double detail = 0;  // mean level of the tokens that were read, weighted by focus
};

// One picture of an answer.
struct PictureAnswer {
  int width = 0, height = 0;
  Look look;      // relevance in pixels of the picture
  Budget budget;  // of a single look
  std::vector<Pass> passes;
  size_t best = 0;         // the pass whose answer counts
  std::optional<Box> box;  // where the answer was read, picture pixels; none for "none"
  int64_t tokens = 0;      // of all passes
  int64_t native_tokens = 0;
  const Pass& answer() const { return passes[best]; }
};

// How long a stage took: seeing, looking, allocating, cutting, reading.
struct Stage {
  std::string name;
  double milliseconds = 0;
};

struct Answer {
  Query query;
  std::string policy, model;
  std::string text;
  std::vector<float> probabilities;  // of each token of the answer, the end mark last
  double likelihood = 0;             // their product
  double confidence = 0;             // how often such an answer is right, see Reply::confidence
  bool calibrated = false;
  bool unsure = false;
  double uncertainty = 1;  // 1 - geometric mean of the probabilities
  Stop stop = Stop::open;
  size_t picture = 0;  // whose answer it is
  std::string each;    // pictures are compared: what each of them was asked; else ""
  std::vector<PictureAnswer> pictures;
  int64_t tokens = 0, native_tokens = 0;  // of all pictures and passes
  std::vector<Stage> stages;
  std::vector<StageStatistics> statistics;  // AskOptions::statistics
  std::vector<std::string> fallbacks;

  const PictureAnswer& from() const { return pictures[picture]; }
  const std::optional<Box>& box() const { return from().box; }
  double milliseconds() const;  // of all stages
};

// ---- The road

// A picture made ready for questions. Immutable; shared by threads and questions.
struct SeenPicture {
  Picture picture;
  std::shared_ptr<const Pyramid> pyramid;  // what tokens are cut from: native or on the canvas
  std::shared_ptr<const Looker> looker;
  std::shared_ptr<const Seen> seen;  // of `looker`; null when it failed
  std::string problem;               // why it failed
  double milliseconds = 0;           // that seeing took
  int64_t bytes() const;
};
std::shared_ptr<const SeenPicture> see(Picture picture, std::shared_ptr<const Looker> looker,
                                       const AskOptions& options);

// One question on its way.
//   Asking asking(...);
//   while (auto readings = asking.next(); !readings.empty()) asking.hear(read(readings));
//   Answer answer = asking.finish();
// Not shared by threads; may move between them.
class Asking {
 public:
  // looks: one a picture where they are known already, else empty. Error{bad_argument, too_large}
  // for bad questions and options, Error{unsupported} for an allocator that the model cannot read.
  Asking(std::vector<std::shared_ptr<const SeenPicture>> pictures,
         std::shared_ptr<const Model> model, const std::string& question, AskOptions options,
         std::vector<Look> looks = {});
  Asking(Asking&&) noexcept;
  ~Asking();

  // Looks, allocates and cuts: what is to be read now, together or one by one; nothing when the
  // question is answered. The readings point into this object and are valid until hear().
  std::vector<Reading> next();
  // One reply a reading, in order.
  void hear(std::vector<Reply> replies);
  // No further look is wanted: what was heard so far is the answer.
  void stop();
  // Time that the caller spent on this question: "reading", say.
  void spent(const std::string& stage, double milliseconds);
  // The answer; before anything was read, where the tokens of next() went.
  Answer finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Drives several questions to their end; those that go on are read together.
void read_all(const Model& model, std::vector<Asking>& questions);

// The pyramid that `options` ask for: native or on the canvas; with level -1 where a pass may use
// it.
Pyramid pyramid_of(const Picture& picture, const AskOptions& options);
// Its geometry, without any pixels.
Geometry geometry_of(int width, int height, const AskOptions& options);

// One question and what only measuring knows of it.
struct Inquiry {
  std::string question;
  std::vector<Box> evidence;  // picture pixels; allocator oracle reads it, no other does
};

// A bundle, a model (the bundle's own unless given) and a memory of the pictures seen last. Shared
// by threads.
class Asker {
 public:
  // bundle: null where only looking without the network is wanted. model: null, the bundle's own.
  // network: who couples instead of the bundle's network; null: that one. page_bytes: of what the
  // bundle's network saw of the last pictures; 0: nothing is remembered (for callers with a cache
  // of their own: this one goes by Picture::hash, which can be forged).
  explicit Asker(std::shared_ptr<const Bundle> bundle, std::shared_ptr<const Model> model = nullptr,
                 std::shared_ptr<const Looker> network = nullptr,
                 int64_t page_bytes = int64_t{64} << 20);
  ~Asker();

  const std::shared_ptr<const Bundle>& bundle() const;
  const std::shared_ptr<const Model>& model() const;
  // The options with the bundle's fitted parts (experts, learned balancing) where none are given.
  AskOptions fitted(AskOptions options) const;
  // The looker that these options stand for, and a picture as it sees it; both are remembered.
  std::shared_ptr<const Looker> looker(const AskOptions& options) const;
  std::shared_ptr<const SeenPicture> see(const Picture& picture, const AskOptions& options) const;

  Answer ask(const Picture& picture, const std::string& question,
             const AskOptions& options = {}) const;
  // Several pictures, one question: one budget over all of them.
  Answer ask(const std::vector<Picture>& pictures, const std::string& question,
             const AskOptions& options = {}) const;
  // Several questions about one picture, looked at and read together.
  std::vector<Answer> ask(const Picture& picture, const std::vector<Inquiry>& inquiries,
                          const AskOptions& options = {}) const;
  // Looks, allocates and cuts without reading: an Answer without text.
  Answer look(const Picture& picture, const std::string& question,
              const AskOptions& options = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace arrcoc
