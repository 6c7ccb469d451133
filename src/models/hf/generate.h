// Continuing prepared prompts.
#pragma once

#include <span>

#include "models/hf/hf.h"
#include "models/hf/vlm.h"

namespace arrcoc::hf {

// Prompts of batch 1 whose first `shared` places are the same and hold every picture: those are
// read once, the rest of all prompts and the answers together. shared may be 0 for a single prompt.
std::vector<Generation> generate(const Vlm& model, std::span<const Prompt> prompts, int64_t shared,
                                 const GenerationSettings& settings);
Generation generate(const Vlm& model, const Prompt& prompt, const GenerationSettings& settings);

// How much the last `words` places of a prompt look at each visual row in these layers, mean over
// layers, heads and words. Reads no further than the last of the layers.
std::vector<float> look_of_words(const Vlm& model, const Prompt& prompt, int64_t words,
                                 const std::vector<int64_t>& layers);

// generation_config.json of a folder; greedy without stop tokens where there is none.
GenerationSettings read_generation(const std::string& folder);

// The index drawn from softmax(logits / temperature) restricted to top_k and top_p, for a uniform
// number in [0,1). logits [V] float on the CPU.
int64_t draw(const at::Tensor& logits, const GenerationSettings& settings, double uniform);

}  // namespace arrcoc::hf
