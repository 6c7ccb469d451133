// Looking: where in a picture lies what a question needs? Know, then balance.
//
//   auto looker = make_looker({}, bundle->looker);             // the bundled network among the
//   scorers auto seen = looker->see(picture);                          // once a picture
//   std::vector<Look> looks = looker->look(*seen, questions);  // as often as there are questions
//
// Three scorers say how much information a cell holds, how salient it is and how tied to the
// question (coupling); a balancer makes one map of the three. With the balancer "fixed" and the
// weights (0, 0, 1) the map is the coupling scorer's own. What a Look says of weights and tensions
// is what made its map.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arrcoc/map.h"
#include "arrcoc/picture.h"
#include "arrcoc/query.h"
#include "arrcoc/registry.h"
#include "arrcoc/texture.h"

namespace arrcoc {

// ---- Know: three maps

// All that a scorer may look at; references live as long as the call.
struct Sight {
  const Picture& picture;
  const at::Tensor& frame;  // [3,h,w] float in [0,1], longer side at most LookOptions::frame
  const Texture& texture;
  const Query& query;
  Map shape;  // geometry of the map to return; values unused
};

// One way to score every cell of the map, values in [0,1]. Shared by threads.
class Scorer {
 public:
  static constexpr const char* kStage = "scorer";
  virtual ~Scorer() = default;
  // A map of the geometry `sight.shape`. Whoever calls clamps to [0,1]; NaN is Error{numeric}.
  virtual Map score(const Sight& sight) const = 0;
  // False: the map depends on the picture alone, and one serves all questions.
  virtual bool reads_question() const { return true; }
};
template <>
Registry<Scorer>& registry<Scorer>();

// A local maximum of query-free salience.
struct Hotspot {
  float x = 0, y = 0;  // source pixels
  float strength = 0;  // (0,1]
  bool operator==(const Hotspot&) const = default;
};

// The three maps of one question, all of one shape. A map that the balancer does not read is empty.
struct Knowledge {
  Map information;                // propositional: entropy
  Map salience;                   // perspectival: what stands out, whatever is asked
  Map coupling;                   // participatory: tied to the question
  std::vector<Hotspot> hotspots;  // of salience, strongest first
};

// Building blocks for scorers in other rooms.
namespace scoring {
// A scorer that is one function, thread-safe.
std::unique_ptr<Scorer> scorer_of(std::function<Map(const Sight&)> score, bool reads_question);
// The empty map that scores of this picture fill: cells of `cell` frame pixels.
Map map_shape(const Picture& picture, const at::Tensor& frame, int cell);
// A channel of the texture as a map; all zeros when the texture does not have it.
Map channel_map(const Sight& sight, Channel channel);
// Local maxima (3x3) of a map above `threshold`, strongest first.
std::vector<Hotspot> hotspots(const Map& salience, float threshold = 0.7F);
// Words of the question that name something visible. `find_faces` (media has one) serves words for
// people; without it skin colour stands in.
using FaceFinder = std::function<std::vector<Box>(const Picture&)>;
std::unique_ptr<Scorer> make_lexical(FaceFinder find_faces = {});
}  // namespace scoring

// ---- Balance: one map

// Where the three opponent processes stand, each in [0,1].
struct Tensions {
  float compress = 0.5F;  // 0 particularize .. 1 compress
  float exploit = 0.5F;   // 0 explore .. 1 exploit
  float focus = 0.5F;     // 0 diversify .. 1 focus
  bool operator==(const Tensions&) const = default;
};

// Shares of the three scores in the mix.
struct Weights {
  float information = 0.3F;
  float salience = 0.3F;
  float coupling = 0.4F;
  bool operator==(const Weights&) const = default;
};

// One map and how it was made.
struct Relevance {
  Map map;                             // in [0,1], source pixels
  Weights weights;                     // that were used
  std::optional<Tensions> tensions;    // that were used; none: the balancer has none
  std::vector<std::string> fallbacks;  // what was given up on the way, in words
};

// The weights of balancer "learned" as a linear rule over 13 features of question and maps
// (`arrcoc train --policies` fits one, a Bundle carries it).
struct BalancePolicy {
  static constexpr int kFeatures = 13;
  std::array<float, 3> bias{};  // information, salience, coupling
  std::array<std::array<float, kFeatures>, 3> rows{};
  bool operator==(const BalancePolicy&) const = default;
};
// Error{bad_json} for what is not finite or has another shape.
BalancePolicy balance_policy_from_json(const std::string& text);
std::string to_json(const BalancePolicy& policy);

struct BalanceOptions {
  std::string preset = "vervaeke";  // named Weights, see weight_preset_names()
  bool sigmoid_weights = false;     // adaptive, learned: sigmoid instead of softmax
  // Information even everywhere, and less variance than this in salience and coupling together:
  // the picture is a void or noise, and the map is uniform. (Noise has 0.002 to 0.005.)
  float void_variance = 0.008F;
  std::shared_ptr<const BalancePolicy> learned;  // balancer "learned"; null: the preset's weights
  bool operator==(const BalanceOptions&) const = default;
};

// "vervaeke" .3/.3/.4, "symbolic" .3/.2/.5, "query" 0/0/1, ...; Error{not_found} lists the names.
Weights weight_preset(const std::string& name);
std::vector<std::string> weight_preset_names();

class Balancer {
 public:
  static constexpr const char* kStage = "balancer";
  virtual ~Balancer() = default;
  // Which maps balance() reads: the others are not computed and come empty.
  struct Reads {
    bool information = true, salience = true, coupling = true;
  };
  virtual Reads reads(const BalanceOptions&) const { return {}; }
  virtual Relevance balance(const Knowledge& knowledge, const Query& query,
                            const BalanceOptions& options) const = 0;
};
template <>
Registry<Balancer>& registry<Balancer>();

// ---- Both together

// What earlier looks at a picture left behind, for the next one. All maps are over the whole
// picture, any grid; empty: nothing to say. Texture channels of the same names are made of the
// first four.
struct History {
  Map attention_previous;     // where the last pass read, 0..1
  Map attention_accumulated;  // the sum over passes, at most 1
  Map gaze;                   // where somebody else looked; may be given before the first look
  Map motion;                 // films: what moves, 0..1
  Map seen;                   // 1 where a pass had tokens of level 1 or finer
  int passes = 0;             // that were read
  double uncertainty = 1;     // of the last one
  std::string answer;         // that it gave
  Map detail;                 // 2^-level of the finest token that showed a cell, at most 1
};

// What a Looker makes of a picture before anybody asks. Immutable; shared by threads.
class Seen {
 public:
  virtual ~Seen() = default;
  virtual int64_t bytes() const = 0;  // that it holds, for caches
};

// What a Looker makes of one question.
struct Look {
  Relevance relevance;
  // Share of the range of budgets (64 to 400 unless said otherwise) that the question needs, in
  // [0,1]; none where nobody can say. Budget rule "auto" reads it.
  std::optional<float> need;
  Knowledge knowledge;
};

// Something that can say where to look. Immutable; every call may come from several threads.
class Looker {
 public:
  virtual ~Looker() = default;
  // frame: frame_of(picture, N) for whoever has it already, [3,h,w]; undefined: it is made here.
  virtual std::shared_ptr<const Seen> see(const Picture& picture,
                                          const at::Tensor& frame = {}) const = 0;
  // One Look a question, in order; maps speak of pixels of the picture that was seen. `seen` must
  // come from this looker's see(): Error{bad_argument} else. Error{numeric} with the scorer's name
  // for NaN or infinity.
  virtual std::vector<Look> look(const Seen& seen, std::span<const Query> questions,
                                 const History& history = {}) const = 0;
  // The same looker over frames of another size or other channels; null: this one does.
  virtual std::shared_ptr<const Looker> with(int /*frame*/, ChannelSet /*channels*/) const {
    return nullptr;
  }
  // Texture channels that it can fill (provider "network-print"); null: none.
  virtual std::shared_ptr<const Provider> provider() const { return nullptr; }
  // Whether look() makes a map of its own of what earlier passes read and answered.
  virtual bool recalls() const { return false; }
  // What is of interest whoever asks (information), for exploring; empty: this looker cannot say.
  virtual Map interest(const Seen&) const { return {}; }
};

inline constexpr const char* kNetwork = "network";

struct LookOptions {
  ChannelSet channels = ChannelSet::compact;
  std::vector<std::string> providers;   // extra texture channels, by name
  std::string information = "shannon";  // scorers, by name
  std::string salience = "saliency";
  std::string coupling = kNetwork;  // a scorer's name, or network: the looker given to make_looker
  std::string balancer = "fixed";
  BalanceOptions balance{.preset = "query"};
  int frame = 1024;        // longer side of the frame that is looked at, 16 to 16384
  int cell = 16;           // frame pixels along one cell of the map, 4 to 256
  bool every_map = false;  // compute all three maps, also those that the balancer does not read
  bool operator==(const LookOptions&) const = default;
};

// Know with the named scorers, then balance. network: who couples where options.coupling is
// "network" (the bundle's network; CLIP; a model's attention; a given map). Error{not_found} for
// unknown names and for "network" without one, Error{bad_argument} for sizes out of range.
std::shared_ptr<const Looker> make_looker(const LookOptions& options,
                                          std::shared_ptr<const Looker> network = nullptr);

// A looker for callers who have the map already: the same for every question, values in [0,1].
std::shared_ptr<const Looker> given_map(Map map);
// Several lookers' maps, each stretched to [0,1], as their mean on the grid of the finest.
std::shared_ptr<const Looker> mean_of(std::vector<std::shared_ptr<const Looker>> lookers);

// A looker whose looks have the network's need (Look::need) where they have none of their own, so
// that budget "auto" means the same under every policy.
std::shared_ptr<const Looker> with_need_of(std::shared_ptr<const Looker> looker,
                                           std::shared_ptr<const Looker> network);
// A looker that remembers what it saw of the pictures used last (by Picture::hash and frame size),
// as many as `bytes` hold, at least one.
std::shared_ptr<const Looker> remembering(std::shared_ptr<const Looker> looker, int64_t bytes);

namespace balancing {
// Runs the named balancer. When the maps tell nothing apart (see void_variance) the result is a
// uniform map and says so in `fallbacks`. Error{bad_argument} for maps of different shapes.
Relevance balance(const Knowledge& knowledge, const Query& query, const std::string& balancer,
                  const BalanceOptions& options = {});
// (compress, exploit, focus) for a question, interpolated between anchor questions.
Tensions tensions_for(const Query& query);
}  // namespace balancing

// ---- Reading words on the page (scorer "reader")

struct Word {
  std::string text;      // UTF-8, as read
  Box box;               // source pixels
  float confidence = 1;  // 0..1
  int line = -1;         // words of one printed line share a number; -1 unknown
  int block = -1;
};

// Something that finds words in a picture: Tesseract (arrcoc_media), a PDF's text layer, a test.
class WordSource {
 public:
  virtual ~WordSource() = default;
  virtual std::vector<Word> read(const Picture& picture) const = 0;
};

namespace reading {
// One score in [0,1] per word: how likely it is (part of) the answer to the question. Matches
// question words to page words (fuzzy, plurals, a short synonym list), spreads along the row to the
// right and down the column, and weighs by the kind of answer wanted (money, date, number, name
// ...).
std::vector<float> score_words(const std::vector<Word>& words, const Query& query);
// The words' scores painted into a map of the given shape: the largest score of the words over each
// cell, by overlap.
Map paint(const std::vector<Word>& words, const std::vector<float>& scores, const Map& shape);
}  // namespace reading

}  // namespace arrcoc
