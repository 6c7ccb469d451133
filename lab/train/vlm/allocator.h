// What learns before a frozen language model.
#pragma once

#include "lab/train/dice.h"
#include "lab/train/vlm/kept.h"
#include "models/hf/hf.h"

namespace arrcoc::training {

// rows + up(gelu(down(norm(rows)))): nothing at first.
at::Tensor adapted(const Named& weights, const at::Tensor& rows);

// How relevant every 16-pixel cell of a picture is to a question: logits [cells] of the geometry's
// level 0, from the rows of the tokens over them and the mean of the question's embeddings [D].
at::Tensor cell_logits(const Named& weights, const hf::Features& features, const Geometry& geometry,
                       const at::Tensor& question);

// Tensors "adapter.*" and "allocator.*" for rows of that width, from the seed.
Named first_weights(int64_t rows, int64_t width, uint64_t seed);

struct Drawn {
  std::vector<std::vector<int64_t>> groups;  // of visual tokens, as hf::choose gives them
  at::Tensor score;                          // [cells]: of the log probability by log relevance
};
// A quadtree drawn by relevance [cells] (temperature > 0), or the allocator's own.
Drawn drawn_choice(const hf::Features& features, const Geometry& geometry,
                   const at::Tensor& relevance, int budget, double temperature, Dice& dice);

}  // namespace arrcoc::training
