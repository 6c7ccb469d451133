// Pieces that the families share.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

#include "models/hf/source.h"

namespace arrcoc::hf {

using Activation = at::Tensor (*)(const at::Tensor&);
// gelu, gelu_new, gelu_pytorch_tanh, quick_gelu, silu, relu. Error{unsupported} naming `where`.
Activation activation(const std::string& name, const std::string& where);

// down(act(up(x))); with a gate: down(act(gate(x)) * up(x)).
struct Mlp {
  Linear up, down;
  Activation act = nullptr;
  Linear gate;  // without a weight: none
  at::Tensor operator()(const at::Tensor& x) const;
};

// [.., H*D] -> [B,H,L,D] and back.
// up_proj, down_proj and gate_proj below the prefix.
Mlp gated_mlp(Source& source, const std::string& prefix, int64_t width, int64_t intermediate,
              bool bias, const Activation& act);

at::Tensor split_heads(const at::Tensor& x, int64_t heads);
at::Tensor join_heads(const at::Tensor& x);

// Rotary positions: the halves (a, b) of the last dimension become (a cos - b sin, b cos + a sin).
struct Rotary {
  at::Tensor cosine;  // [..., D]: cos, cos
  at::Tensor sine;    // [..., D]: -sin, sin
  Rotary() = default;
  // angle [..., D/2] float; kept in that type or another.
  explicit Rotary(const at::Tensor& angle, at::ScalarType dtype = at::kFloat);
  // In the type of x; products are formed in the wider one of the two.
  at::Tensor operator()(const at::Tensor& x) const;
};

// 1 / theta^(2i/dims), i = 0 .. dims/2-1.
at::Tensor inverse_frequencies(int64_t dims, double theta, at::Device device);

// Rows that attend to each other: consecutive runs of the given lengths. Runs of one length are
// computed together, without padding or masks.
class Segments {
 public:
  Segments() = default;
  Segments(const std::vector<int64_t>& lengths, at::Device device);
  // q, k, v [N,H,D] -> [N,H,D]
  at::Tensor attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) const;
  at::Tensor mask;  // of one run: added to its scores, [1,1,1,N]; or undefined

 private:
  struct Group {
    int64_t length = 0, count = 0;
    int64_t first = 0;  // row of a group of one run
    at::Tensor rows;    // of several runs; undefined where they are all rows, in order
  };
  std::vector<Group> groups_;
};

// Lengths of the runs of equal ids, `each` for every one.
std::vector<int64_t> run_lengths(const std::vector<int64_t>& ids, int64_t each);

// Non-overlapping patches of pictures [B,C,H,W] as rows [B, h*w, C*P*P], raster order.
// Error{bad_argument} when the sides are not multiples of the patch.
at::Tensor unfold_patches(const at::Tensor& pixels, int64_t patch);
// A patch projection that is stored as a convolution [hidden,channels,patch,patch].
Linear patch_projection(Source& source, const std::string& name, int64_t hidden, int64_t channels,
                        int64_t patch, bool bias);
// Error{bad_argument} unless pixels are [B,channels,side,side].
void require_square(const at::Tensor& pixels, int64_t channels, int64_t side);

// What an encoder of pictures looks at in its last layer but one.
struct EncoderSight {
  bool by_first = false;  // given: only what the first row (the class token) looks at counts
  at::Tensor looked;      // [B,L] attention that each row gets, mean over heads and those who look
  at::Tensor keys;        // [B,L,d] mean over heads
};
// q, k [B,H,L,d]; mask as of Encoder. Rows look some at a time: all of them need much memory.
void watch_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& mask,
                     EncoderSight& sight);

struct EncoderConfig {
  int64_t hidden = 768, intermediate = 3072, layers = 12, heads = 12;
  double eps = 1e-5;
  std::string act = "quick_gelu";
};
// Pre-norm blocks of attention and an MLP.
class Encoder {
 public:
  struct Layer {
    Norm norm1, norm2;
    Linear q, k, v, out;
    Mlp mlp;
    // The four projections q_proj, k_proj, v_proj and out_proj, square.
    void read_attention(const std::string& prefix, int64_t width, bool bias, Source& source);
  };
  Encoder() = default;
  Encoder(std::vector<Layer> layers, int64_t heads) : heads_(heads), layers_(std::move(layers)) {}
  // CLIP's and SigLIP's, with biases everywhere.
  Encoder(const EncoderConfig& config, const std::string& prefix, Source& source);
  // x [B,L,D]; layers: how many to run (all by default). mask: added to the scores, [B,1,1,L].
  // sight: may be null.
  at::Tensor operator()(at::Tensor x, bool causal = false, int64_t layers = -1,
                        const at::Tensor& mask = {}, EncoderSight* sight = nullptr) const;

 private:
  int64_t heads_ = 1;
  std::vector<Layer> layers_;
};

}  // namespace arrcoc::hf
