// Continuing a prepared prompt.
#pragma once

#include "models/hf/hf.h"
#include "models/hf/vlm.h"

namespace arrcoc::hf {

// prompt of batch 1.
Generation generate(const Vlm& model, const Prompt& prompt, const GenerateOptions& options);

// Prompts of batch 1 that begin with the same `shared` places, among them every picture: those are
// read once, the rest of all prompts and the answers together. on_token is not called.
std::vector<Generation> generate_together(const Vlm& model, const std::vector<Prompt>& prompts,
                                          int64_t shared, const GenerateOptions& options);

// How much the last `words` places of a prompt look at each visual row in these layers, mean over
// layers, heads and words. Reads no further than the last of the layers.
std::vector<float> look_of_words(const Vlm& model, const Prompt& prompt, int64_t words,
                                 const std::vector<int64_t>& layers);

// generation_config.json of a folder; greedy without stop tokens where there is none.
GenerateOptions read_generation(const std::string& folder);

// The index drawn from softmax(logits / temperature) restricted to top_k and top_p, for a uniform
// number in [0,1). logits [V] float on the CPU.
int64_t draw(const at::Tensor& logits, const GenerateOptions& options, double uniform);

}  // namespace arrcoc::hf
