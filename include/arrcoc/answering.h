// Answering: picture + question -> answer, with the bundled model and any way of choosing tokens.
//
//   auto answerer = arrcoc::answering::Answerer::load();       // once
//   auto reply = answerer->ask(picture, "What is the total?");  // many times
//
// What is looked at is decided by a policy, always for the same weights: so policies can be
// compared. Page features are computed once per picture and remembered for the last few.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrcoc/esper.h"
#include "arrcoc/realize.h"
#include "models/tiny/tiny.h"

namespace arrcoc::answering {

// What is fitted on generated scenes after training (models/tiny/calibration.json, written by
// `arrcoc eval --calibrate`).
struct Calibration {
  // confidence = sigmoid(slope * logit(likelihood) + offset); likelihood: product over characters.
  double slope = 1, offset = 0;
  double threshold = 0.5;  // an answer of less confidence is unsure
  // Budget "auto": with e = (expected tokens of the tier head - 64) / 336, times `complex` for a
  // question that looks complex: tokens = 64 + 336 min(1, scale e)^power, 64 to 400.
  double scale = 1, power = 1, complex = 1;
  uint64_t weights = 0;  // fingerprint of the weights that it was fitted for; 0: unknown
  bool operator==(const Calibration&) const = default;
};
double calibrated(const Calibration& calibration, double likelihood);
// The range of "auto" ("learned" is the same) or "auto:LOW-HIGH"; none for any other rule.
// Error{bad_argument} for a range that cannot be (1 <= LOW < HIGH <= 4096).
struct AutoRange {
  int low = kMinBudget, high = kMaxBudget;
};
std::optional<AutoRange> auto_range(const std::string& rule);
// range: in place of 64 to 400; the share of it that a question gets stays the same.
Budget auto_budget(const Calibration& calibration, const tiny::Opinion& opinion, const Query& query,
                   const AutoRange& range = {});
// Error{bad_json} for unknown keys, wrong types and numbers that cannot be.
// What the network made of a question, as the map that tokens are spread by.
Relevance relevance_of(const tiny::Opinion& opinion);
Calibration calibration_from_json(const std::string& text);
std::string to_json(const Calibration& calibration);

// The rules of policy passes, chosen on held-out scenes.
esper::Rules passes_rules();

struct AskOptions {
  // realized  the bundled network looks, quadtree (default; "realizer" is the same)
  // passes    the same, and looks again while unsure: the budget is that of a single look
  // oracle    quadtree on the evidence boxes: an upper bound
  // native    every patch at native detail, whatever the budget
  // resize    the whole picture shrunk to the budget
  // slices    an overview and slices of the picture (LLaVA-UHD)
  // tome, visionzip, fastv, cdpruner: every patch is encoded, a Reducer leaves the budget
  // qformer   every patch is encoded, 64 learned queries are what is left, whatever the budget
  // random, breadth-first, uniform: without any relevance
  // reader, lexical, ...: a policy of arrcoc::policies()
  // top-k, diverse, ...: the network's map, another allocator
  std::string policy = "realized";
  // Budget ("auto" unless given: the learned tier head), allocator, frame, canvas, enlarge, seed
  // ...
  Options look;
  std::optional<double> threshold;  // instead of the calibrated one
  // Policy passes: how looking again goes, the confidence from which on it does not, tokens of all
  // passes together (0: no limit but the rules), and where a person looked (may be empty).
  esper::Rules rules = passes_rules();
  double confident = 0.75;
  int total_budget = 0;
  Map gaze;
  std::optional<esper::Policy> learned;  // instead of the rules and the calibrated confidence
};

// The options that a policy's name stands for, budget "auto". Error{not_found} lists the names.
AskOptions options_for(const std::string& policy);
std::vector<std::pair<std::string, std::string>> policies();  // name, one line for people

struct Inquiry {
  std::string question;
  std::vector<Box> evidence;  // picture pixels; policy oracle needs it, no other reads it
  std::shared_ptr<const tiny::Opinion> opinion;  // when known already: the network is not asked
};

struct Reply {
  Query query;
  std::string answer;
  std::vector<float> probabilities;  // of each character, and of the end mark last
  double likelihood = 0;             // their product
  double confidence = 0;             // calibrated: how often such an answer is right
  bool unsure = false;
  std::optional<Box> box;  // where the answer was read, picture pixels; none for "none"
  Relevance relevance;     // empty map when nobody looked (native, resize, random ...)
  Allocation allocation;   // leaves of its own geometry; resize: of the shrunk picture
  int tokens = 0;
  int64_t native_tokens = 0;
  // page (only when its features were not remembered), looking, attending, realizing, answering;
  // of a batch each question's share.
  std::vector<Stage> stages;
  std::vector<std::string> fallbacks;
  std::shared_ptr<const tiny::Opinion> opinion;  // what the network made of it, if it was asked
  // Policy passes: the history; `tokens` are of all passes, all else is the best one's.
  std::shared_ptr<const esper::Result> passes;
  double milliseconds() const;  // of all stages
};

// Among the fallbacks of a reply.
inline constexpr const char* kStaleCalibration =
    "calibration.json was fitted for other weights: run arrcoc eval --calibrate FOLDER";
inline constexpr const char* kShortened =
    "the question is long: its first 128 and last 64 characters";

class Answerer {
 public:
  // A folder with weights and, if it has been fitted, calibration.json; "" is the one that was
  // installed (tiny::install), else the bundled one.
  // Error{not_found, bad_weights, bad_json}.
  static std::shared_ptr<const Answerer> load(const std::string& folder = "");
  Answerer(std::shared_ptr<const tiny::TinyModel> model, Calibration calibration);
  ~Answerer();

  const tiny::TinyModel& model() const { return *model_; }
  const Calibration& calibration() const { return calibration_; }
  bool stale() const { return stale_; }  // the calibration was fitted for other weights

  // Error{bad_argument, too_large} for bad questions, Error{unsupported} for an allocator that
  // gives no leaves. May be called from several threads.
  Reply ask(const Picture& picture, const std::string& question,
            const AskOptions& options = {}) const;
  // Several questions about one picture, read together.
  std::vector<Reply> ask(const Picture& picture, const std::vector<Inquiry>& inquiries,
                         const AskOptions& options = {}) const;
  // What the network makes of the questions, without reading.
  std::vector<tiny::Opinion> look(const Picture& picture, const std::vector<std::string>& questions,
                                  int frame = 1024) const;

 private:
  struct Pages;
  std::shared_ptr<const tiny::TinyModel> model_;
  Calibration calibration_;
  bool stale_;
  std::unique_ptr<Pages> pages_;
};

}  // namespace arrcoc::answering
