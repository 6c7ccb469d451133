// Knowing: how much information, how salient, how coupled to the question? Three maps in [0,1].
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "arrcoc/map.h"
#include "arrcoc/picture.h"
#include "arrcoc/query.h"
#include "arrcoc/registry.h"
#include "arrcoc/texture.h"

namespace arrcoc {

// All that a scorer may look at.
struct Sight {
  const Picture& picture;
  const at::Tensor& frame;  // [3,h,w] float, longer side at most 1024
  const Texture& texture;
  const Query& query;
  Map shape;  // geometry of the map to return; values unused
};

// A local maximum of query-free salience.
struct Hotspot {
  float x = 0, y = 0;  // source pixels
  float strength = 0;
  bool operator==(const Hotspot&) const = default;
};

struct Knowledge {
  Map information;  // propositional
  Map salience;     // perspectival
  Map coupling;     // participatory: tied to the question
  std::vector<Hotspot> hotspots;
  std::vector<std::string> fallbacks;
};

// One way to score every cell of the map. Stateless or internally synchronised; reentrant.
class Scorer {
 public:
  static constexpr const char* kStage = "scorer";
  virtual ~Scorer() = default;
  virtual Map score(const Sight& sight) const = 0;
};
template <>
Registry<Scorer>& registry<Scorer>();

namespace scoring {

struct Sources {
  std::string information = "shannon";
  std::string salience = "saliency";
  std::string coupling = "lexical";
  float hotspot_threshold = 0.7F;
};
// Runs the three named scorers. NaN or infinity in a score is Error{numeric} with its name.
Knowledge know(const Sight& sight, const Sources& sources);

// The empty map that scores of this picture fill: cells of `cell` frame pixels.
Map map_shape(const Picture& picture, const at::Tensor& frame, int cell);

// Local maxima (3x3) of a map above `threshold`, strongest first.
std::vector<Hotspot> hotspots(const Map& salience, float threshold = 0.7F);

// features [D,rows,cols], tokens [T,D] -> Map: cosine of every cell with every question token,
// largest over the tokens, then a sigmoid around the mean. keep (optional, [T] bool) leaves out
// uninformative tokens. Error{bad_argument} when the widths differ or no token is left.
Map couple(const at::Tensor& features, const at::Tensor& tokens, const at::Tensor& keep,
           const Map& shape, float sharpness = 10.0F);

}  // namespace scoring
}  // namespace arrcoc

// Balancing: three maps become one, by opponent processing.
namespace arrcoc {

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

struct Relevance {
  Map map;  // in [0,1]
  Weights weights;
  Tensions tensions;
  std::vector<std::string> fallbacks;  // what was given up on the way, in words
};

struct BalanceOptions {
  std::string preset = "vervaeke";  // named Weights, see weight_presets()
  bool sigmoid_weights = false;     // adaptive policy: sigmoid instead of softmax
  // Information even everywhere, and less variance than this in salience and coupling together:
  // the picture is a void or noise, and the map is uniform. (Noise has 0.002 to 0.005.)
  float void_variance = 0.008F;
};

// Named weight presets: {"vervaeke": .3/.3/.4, "symbolic": .3/.2/.5, ...}; Error{not_found} else.
Weights weight_preset(const std::string& name);
std::vector<std::string> weight_preset_names();

class Balancer {
 public:
  static constexpr const char* kStage = "balancer";
  virtual ~Balancer() = default;
  virtual Relevance balance(const Knowledge& knowledge, const Query& query,
                            const BalanceOptions& options) const = 0;
};
template <>
Registry<Balancer>& registry<Balancer>();

namespace balancing {
// Runs the named balancer. When the three maps tell nothing apart (see void_variance) the result is
// a uniform map and says so in `fallbacks`.
Relevance balance(const Knowledge& knowledge, const Query& query, const std::string& balancer,
                  const BalanceOptions& options = {});

// Distance of each cell to the nearest of the top max(1, min(50, N/5)) scorers / the largest.
Map spatial_diversity(const Map& raw);

// The policy of balancer "learned", as `arrcoc train --policies` writes it; "" takes it away again.
// Error{bad_json}. Balancers that exist keep theirs.
void install_policy(const std::string& json);

// (compress, exploit, focus) for a question; interpolates between anchor questions.
Tensions tensions_for(const Query& query);
}  // namespace balancing

}  // namespace arrcoc

// Reading: words on the page, matched to the question. The matching needs no OCR engine: words can
// come from Tesseract (arrcoc_media), from a PDF's text layer or from a test.
namespace arrcoc {

struct Word {
  std::string text;      // UTF-8, as read
  Box box;               // source pixels
  float confidence = 1;  // 0..1
  int line = -1;         // words of one printed line share a number; -1 unknown
  int block = -1;
};

// Something that finds words in a picture.
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
