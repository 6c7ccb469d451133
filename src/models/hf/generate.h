// Continuing a prepared prompt.
#pragma once

#include "arrcoc/hf.h"
#include "models/hf/vlm.h"

namespace arrcoc::hf {

// prompt of batch 1.
Generation generate(const Vlm& model, const Prompt& prompt, const GenerateOptions& options);

// generation_config.json of a folder; greedy without stop tokens where there is none.
GenerateOptions read_generation(const std::string& folder);

// The index drawn from softmax(logits / temperature) restricted to top_k and top_p, for a uniform
// number in [0,1). logits [V] float on the CPU.
int64_t draw(const at::Tensor& logits, const GenerateOptions& options, double uniform);

}  // namespace arrcoc::hf
