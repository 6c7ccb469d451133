// What earlier passes leave the realizer: where tokens were, where the writer looked and what it
// wrote. From that and the question the network computes the map of the next pass.
//
// A module of its own beside the realizer, whose last projections begin at zero: without a history
// nothing of it runs, and with one an untrained module changes nothing. Its layers are computed in
// the type of the device, on the CPU in float32.
#pragma once

#include <string>
#include <vector>

#include "arrcoc/look.h"
#include "models/tiny/layers.h"
#include "models/tiny/tiny.h"

namespace arrcoc::tiny {

// The pasts of Q questions, on one device.
struct Past {
  Tensor cells;  // [Q,H/16,W/32,kPastCell]
  Tensor said;   // [Q,A] symbols of the last answer, kPad at the end
  Past to(at::Device device, at::ScalarType type) const;
};
// Of the two 16-pixel cells of every cell of words: detail, attention of the last pass and of all;
// then how unsure the last answer was.
inline constexpr int kPastCell = 2 * 3 + 1;

// On canvases of rows x cols cells of words; maps beyond them are cut off, the rest is zero.
Past past_of(const std::vector<History>& histories, int64_t rows, int64_t cols);

class HistoryNet {
 public:
  explicit HistoryNet(const Shape& shape);
  const Layout& layout() const { return layout_; }

  // What the past adds to the cells before the question's blocks, [Q,rows,cols,ask].
  Tensor cells(const Parameters& w, const Tensor& past) const;
  // What the last answer adds to the question's characters: both [Q,_,ask], mask of the answer's.
  Tensor words(const Parameters& w, const Tensor& asked, const Tensor& said,
               const Tensor& mask) const;
  // What the past adds to the logits of cells after the blocks: x [Q,r,cols,ask], past of the same
  // rows -> [Q,r,cols,2].
  Tensor logits(const Parameters& w, const Tensor& x, const Tensor& past) const;

 private:
  Layout layout_;
  Linear in_, out_;
  Norm asked_norm_, said_norm_;
  Attention said_;
  Linear judge_, verdict_;
};

// Everything that a judgement with a past needs.
struct Recalled {
  const HistoryNet& net;
  Parameters w;
  const Past& past;
};

// FOLDER/history.safetensors, int8 as in files.h where `int8`. Without tensors the file goes away.
// Error{bad_weights} when loading what has not exactly the tensors of this shape; no file gives
// none.
void save_history(const std::string& folder, const Shape& shape, const Tensors& tensors, bool int8);
Tensors load_history(const std::string& folder, const Shape& shape);

}  // namespace arrcoc::tiny
