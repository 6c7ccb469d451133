// What Ollama's clients ask about the model: GET /api/tags, POST /api/show.
#pragma once

#include "serve/about.h"

namespace arrcoc::serving {

inline constexpr const char* kLatest = ":latest";  // Ollama's names may end so

ordered_json ollama_tags(const ModelCard& card);
// ApiError{400, 404} for a request that names no model or another one.
ordered_json ollama_show(const ModelCard& card, const json& request);

}  // namespace arrcoc::serving
