// The bundled model with all that was fitted for it, as one object that never changes.
//
//   std::shared_ptr<const Bundle> bundle = load_bundle();       // the one that is shipped
//   std::shared_ptr<const Bundle> mine = load_bundle("out/train/weights");
//
// Two bundles answer side by side in one process; nothing of them is global.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrcoc/allocate.h"
#include "arrcoc/look.h"
#include "arrcoc/model.h"
#include "arrcoc/registry.h"

namespace arrcoc {

// Fitted on questions that were held aside (calibration.json, `arrcoc eval --calibrate`).
struct Calibration {
  // confidence = sigmoid(offset + slope logit(likelihood) + least logit(least) + length ... ), with
  // the other terms of AnswerSigns.
  double slope = 1, offset = 0, least = 0, length = 0, repeats = 0, computes = 0, misfit = 0;
  double threshold = 0.5;  // an answer of less confidence is unsure
  // Budget "auto": with e = (expected tokens of the tier head - 64) / 336, times `complex` for a
  // question that looks complex: need = min(1, scale e)^power.
  double scale = 1, power = 1, complex = 1;
  uint64_t weights = 0;  // fingerprint of the weights that it was fitted for; 0: unknown
  bool operator==(const Calibration&) const = default;
};
// What tells right answers from wrong ones.
struct AnswerSigns {
  double likelihood = 0;  // product of the characters' probabilities
  double least = 0;       // of them
  double length = 0;      // logarithm of their number
  double repeats = 0;     // 1: the answer stands in the question
  double computes = 0;    // 1: the question asks for what has to be computed
  double misfit = 0;      // 1: a number is asked for and the answer has no digit, or a name, and it
                          // has nothing but digits
};
// probabilities: of each character of the answer, the end mark last; not empty.
AnswerSigns signs_of(const std::string& question, const std::string& answer,
                     const std::vector<float>& probabilities);
double calibrated(const Calibration& calibration, const AnswerSigns& signs);
// Look::need of a question with that e.
double calibrated_need(const Calibration& calibration, double e, const Query& query);
// Error{bad_json} for unknown keys, wrong types and numbers that cannot be.
Calibration calibration_from_json(const std::string& text);
std::string to_json(const Calibration& calibration);

// Constants of films that were fitted (film.json, `arrcoc clips --fit`); the film room reads them.
struct FilmConstants {
  float decay = 0.71F;         // share of the map before
  float renew = 1;             // of `decay`, on frames that were looked at closely
  float boost = 0.17F;         // added, of what is left up to 1, where something moves
  float mover = 0.5F;          // the same where the question asks for what moves
  float even = 0.5F;           // pull of every cell to the mean of its superpixel
  float keep = 0.04F;          // added to the worth of leaves that are held and still current
  float stale = 0.2F;          // change under a leaf x relevance from which it is bought again
  float enough = 0.5F;         // of the largest relevance: from here on leaves become ever finer
  float steady = 0.85F;        // least cosine of consecutive maps within a shot (a clamp)
  float unexplained = 0.015F;  // share of pixels not explained by flow that asks for a close look
  double novelty = 0.02;       // change that is worth new tokens
  bool operator==(const FilmConstants&) const = default;
};
FilmConstants film_constants_from_json(const std::string& text);  // Error{bad_json}
std::string to_json(const FilmConstants& constants);

// How the networks are computed on the CPU.
// automatic: $ARRCOC_KERNELS where that is set; else fast where oneDNN runs on this machine and the
// bundle has the ranges of its activations (ranges.json, `arrcoc eval --ranges`), else reference.
// fast: 8 bits (docs/kernels.md). reference: float32 by libtorch.
enum class Kernels { automatic, fast, reference };
template <>
struct EnumNames<Kernels> {
  static constexpr const char* kWhat = "kernels";
  static constexpr std::pair<Kernels, const char*> kNames[] = {
      {Kernels::automatic, "auto"}, {Kernels::fast, "fast"}, {Kernels::reference, "reference"}};
};

namespace tiny {
class TinyModel;
}

struct Bundle {
  std::string folder;
  std::shared_ptr<const tiny::TinyModel> networks;  // weights; models/tiny, for the lab
  std::shared_ptr<const Looker> looker;             // the network that looks
  std::shared_ptr<const Model> model;               // the network that reads and answers
  std::shared_ptr<const BalancePolicy> balancer;    // of balancer "learned"; null: none fitted
  std::shared_ptr<const Experts> experts;           // of allocator "experts"; null: none fitted
  Calibration calibration;
  FilmConstants film;
  bool stale = false;  // the calibration was fitted for other weights
};

// A folder with config.json, weights and, as far as they have been fitted, calibration.json,
// kinds.json, policies.json and film.json; "" is find_bundle(). Error{not_found, bad_weights,
// bad_json} with the file's name.
std::shared_ptr<const Bundle> load_bundle(const std::string& folder = "");
// With a choice of kernels. Error{unsupported} says why there are no fast ones.
std::shared_ptr<const Bundle> load_bundle(const std::string& folder, Kernels kernels);
// "fast (AVX512-VNNI)", or "reference (why)".
std::string kernels_of(const Bundle& bundle);
// The same around networks that are in memory already.
std::shared_ptr<const Bundle> make_bundle(std::shared_ptr<const tiny::TinyModel> networks,
                                          const Calibration& calibration = {});

// The folder of the bundled weights: $ARRCOC_MODELS/tiny, else models/tiny beside or above the
// executable, else share/arrcoc/models/tiny of its installation; "" when there is none.
std::string find_bundle();
// True when config.json there says that the folder holds weights of the bundled architecture.
bool holds_bundle(const std::string& folder);
// Reads all of the weights; a folder that cannot be loaded says why.
ModelInfo inspect_bundle(const std::string& folder);
// Weights present and finite, answers the same one by one and together.
std::vector<TensorCheck> check_bundle(const std::string& folder);

}  // namespace arrcoc
