// A Q-Former (Li et al., 2023, BLIP-2): a fixed number of learned queries between a frozen picture
// encoder and a frozen reader. A baseline for `arrcoc bench`.
//
// The picture is encoded without any question. The queries look at each other, then at all of the
// encoder's tokens, twice over; a last projection makes them tokens of the reader, which sees them
// and the question and nothing else of the picture. Encoder and reader are the bundled answerer as
// it is: only this module learns (training/qformer.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/tiny/answerer.h"

namespace arrcoc::tiny {

class QueryFormer {
 public:
  explicit QueryFormer(const Shape& shape);  // width and heads are the answerer's
  const Layout& layout() const { return layout_; }
  // tokens [Q,N,width] of any number and order, mask [Q,1,1,N] additive -> [Q,kQueries,width].
  Tensor operator()(const Parameters& w, const Tensor& tokens, const Tensor& mask) const;

 private:
  struct Block {
    Norm norm1, norm2, norm3;
    Attention self, cross;
    Mlp mlp;
  };
  int64_t width_;
  Layout layout_;
  int queries_;
  Norm token_norm_;
  std::vector<Block> blocks_;
  Norm final_;
  Linear project_;
};

// Its weights on disk: FOLDER/model.safetensors, int8 as in files.h.
struct QueryWeights {
  Tensors tensors;        // CPU, fp32, in the order of the layout
  uint64_t answerer = 0;  // tag of the answerer that it was trained with
};
// Atomic. `notes` go to the file's metadata.
void save_queries(const std::string& folder, const Shape& shape, const QueryWeights& weights,
                  const std::map<std::string, std::string>& notes);
// Error{not_found} without the file; Error{bad_weights} for whatever has not exactly the tensors of
// this shape.
QueryWeights load_queries(const std::string& folder, const Shape& shape);

// Tells answerers apart: of all weights that answering reads.
uint64_t answerer_tag(const Answerer& net, const Tensors& weights);
// Where the module of a model's folder lies: ../baselines/qformer.
std::string queries_folder(const std::string& model_folder);

}  // namespace arrcoc::tiny
