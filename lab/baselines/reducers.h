// Reducers: other people's ways to take tokens away on the way through an encoder that was given
// all of them, on the same weights (ToMe, VisionZip, FastV, CDPruner) and one of our own. The
// encoder pays for every native patch up to the layer where they go; the budget is how many reach
// the writer.
#pragma once

#include "arrcoc/registry.h"
#include "models/tiny/reducer.h"

namespace arrcoc {

template <>
Registry<Reducer>& registry<Reducer>();

namespace reducing {

std::unique_ptr<Reducer> make_tome();
std::unique_ptr<Reducer> make_visionzip();
std::unique_ptr<Reducer> make_fastv();
std::unique_ptr<Reducer> make_cdpruner();
std::unique_ptr<Reducer> make_five_paths();

// Keeps the tokens of these numbers (of the flow; any order) and all characters.
void keep(Flow& flow, const at::Tensor& numbers);
// Adds tokens `from` [R] to tokens `to` [R] (means weighted by size) and takes them away. A number
// may occur several times in `to`, but in `from` once, and in one of the two only.
void merge(Flow& flow, const at::Tensor& from, const at::Tensor& to);
// Mean over heads and over `count` query rows from `row` on of the attention that each token gets,
// [N]. The softmax runs over tokens and characters.
at::Tensor attention_received(const LayerSight& sight, int64_t row, int64_t count);
// Keys of the tokens, mean over heads, of length one: [N,d].
at::Tensor token_keys(const LayerSight& sight);
// Greedy maximum of det(L_S), L = diag(q) F F^T diag(q) for rows F [N,d] of length one: numbers of
// `count` rows, in the order in which they add most volume.
at::Tensor greedy_volume(const at::Tensor& features, const at::Tensor& quality, int64_t count);

}  // namespace reducing
}  // namespace arrcoc
