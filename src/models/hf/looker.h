// The attention of a model's first layers as a Looker.
#pragma once

#include "arrcoc/look.h"
#include "models/hf/feature_cache.h"

namespace arrcoc::hf {

// What the question's words look at. max_tokens > 0 (Qwen family): in a view of the picture of at
// most that many tokens, else in all of it.
std::shared_ptr<const Looker> make_attention_looker(std::shared_ptr<const HfModel> model,
                                                    std::shared_ptr<FeatureCache> cache,
                                                    int64_t max_tokens);

}  // namespace arrcoc::hf
