// What the server says about itself and its model.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

#include "arrcoc/model.h"
#include "arrcoc/serve.h"
#include "base/json.h"

namespace arrcoc::serving {

// The model that answers in this process.
struct ModelCard {
  std::string name, family, dtype;
  int64_t parameters = 0, bytes = 0;
  std::time_t changed = 0;  // its folder
  Capabilities can;
};
// info: of its folder.
ModelCard card_of(const Model& model, const ModelInfo& info);

ordered_json openai_model(const ModelCard& card);  // GET /v1/models/{id}
// GET /props as llama-server has it, as far as it applies.
ordered_json props(const ModelCard& card, const Options& options);
ordered_json version();  // GET /version, /api/version

// POST /tokenize in vLLM's form (`prompt`) or llama-server's (`content`). ApiError{400}, and
// Error{unsupported} where the model has no tokenizer here.
ordered_json tokenize(const Model& model, const json& request);

}  // namespace arrcoc::serving
