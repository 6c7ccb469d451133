// Tokens: chosen cells and rectangles are cut into patches that a model can take.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "arrcoc/allocate.h"
#include "arrcoc/map.h"
#include "arrcoc/picture.h"

namespace arrcoc {

enum class TokenOrder { raster, relevance };

inline constexpr int kMargin = 4;  // pixels around a patch that a reader may look at besides

struct TokenSequence {
  at::Tensor pixels;     // [N,3,16,16] uint8
  at::Tensor around;     // [N,3,24,24] uint8: the same with kMargin pixels around, so that letters
                         // which a patch's edge cuts can be read
  at::Tensor centre;     // [N,2] float: x, y in [0,1] of the picture
  at::Tensor level;      // [N] int64
  at::Tensor scale;      // [N] float: log2(native pixels per patch pixel) = level
  at::Tensor relevance;  // [N] float
  int64_t size() const;
};

// Several sequences in one tensor, padded at the end; mask is true where a token is real.
struct PackedTokens {
  at::Tensor pixels;     // [B,N,3,16,16] uint8
  at::Tensor around;     // [B,N,3,24,24] uint8
  at::Tensor centre;     // [B,N,2]
  at::Tensor scale;      // [B,N]
  at::Tensor relevance;  // [B,N]
  at::Tensor mask;       // [B,N] bool
  std::vector<int64_t> lengths;
};

namespace cutting {

// Leaves: one gather per level that occurs. Crops: each rectangle resampled and cut into patches.
TokenSequence cut(const Pyramid& pyramid, const Allocation& allocation,
                  TokenOrder order = TokenOrder::raster);

// Pads to the longest sequence, or to `length` when given. Error{too_large} when a sequence is
// longer than `length`: nothing is ever cut silently.
PackedTokens pack(const std::vector<TokenSequence>& sequences, int64_t length = 0);

// Groups of indices with similar lengths, so that little is padded: sorted by length, each group
// holds at most max_tokens tokens after padding (one sequence alone may be longer).
std::vector<std::vector<size_t>> bucket(const std::vector<int64_t>& lengths, int64_t max_tokens);

// The patches of one picture that were cut before; the next pass cuts only what is new. Not shared
// by threads. The pyramid must outlive it.
class PatchCache {
 public:
  explicit PatchCache(const Pyramid& pyramid) : pyramid_(&pyramid) {}
  // As cutting::cut gives it, raster order. reused: leaves that were cut before.
  TokenSequence cut(const Allocation& allocation, int& reused);

 private:
  using Key = std::tuple<int, int, int>;
  TokenSequence assembled(const Allocation& allocation) const;

  const Pyramid* pyramid_;
  std::map<Key, at::Tensor> rows_;  // [3,24,24]: the patch with what lies around it
};

}  // namespace cutting
}  // namespace arrcoc

// What passes between the stages, behind one switch.
namespace arrcoc {

struct StageStatistics {
  std::string stage;  // "texture", "knowing.coupling", ...
  std::vector<int64_t> shape;
  std::string dtype;
  double min = 0, max = 0, mean = 0, std = 0;
};

// Error{numeric} with the stage's name when a value is NaN or infinite.
StageStatistics measure(const std::string& stage, const at::Tensor& tensor);
StageStatistics measure(const std::string& stage, const Map& map);

}  // namespace arrcoc
