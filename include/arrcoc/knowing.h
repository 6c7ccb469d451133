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

namespace knowing {

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

}  // namespace knowing
}  // namespace arrcoc
