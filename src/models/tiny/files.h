// Weights of both networks on disk: a folder with config.json and safetensors shards.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "arrcoc/weights.h"
#include "models/tiny/answerer.h"
#include "models/tiny/realizer.h"

namespace arrcoc::tiny {

struct NetworkWeights {
  Shape shape;
  Tensors realizer, answerer;  // CPU, fp32, in the order of the networks' layouts
  int beam = 1;                // candidates that an answer is chosen from; "beam" of config.json
  Tensors history;             // of history.h; empty: there is none
};

// bf16 shards of at most 15 MiB. A reader sees the old weights or the new ones, never a mixture:
// shards get new names, then the index is replaced. history.safetensors, which changes nothing
// before a second look, is replaced by itself before them.
void save_networks(const std::string& folder, const NetworkWeights& bundle, const std::string& tag);

// The same as int8: every matrix, kernel and table row by row (a row is one output channel) with
// w = q * scale, scale = max |w| / 127 of the row in fp32 as NAME.scale; vectors stay bf16; the
// heads of the glyph losses, which only training needs, are left out. Shards of at most 8 MB.
void save_networks_int8(const std::string& folder, const NetworkWeights& bundle);

// Refuses (Error{bad_weights}) whatever does not have exactly the tensors of its own config.json;
// only the heads of the glyph losses may be missing (they come back as zeros).
// Takes both forms above; int8 comes back as fp32.
NetworkWeights load_networks(const std::string& folder);
// True when config.json there says that the folder holds weights of these networks.
bool holds_weights(const std::string& folder);

// One tensor in that int8 form, and either form read back as fp32; `used` counts what was read.
void add_int8(std::vector<std::pair<std::string, Tensor>>& into, const std::string& name,
              const Tensor& tensor);
Tensor read_tensor(const WeightFile& weights, const std::string& name, const TensorSpec& spec,
                   size_t& used);

std::string shape_to_json(const Shape& shape);
Shape shape_from_json(const std::string& json);  // Error{bad_json}: unknown keys, wrong types

}  // namespace arrcoc::tiny
