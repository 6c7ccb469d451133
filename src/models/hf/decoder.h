// The language models: Llama, Qwen2 and Qwen3 decoders with a key-value cache.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "models/hf/config.h"
#include "models/weights/graphs.h"

namespace arrcoc::hf {

// Keys and values of what has been read so far, [B,K,capacity,D] a layer.
struct Cache {
  std::vector<at::Tensor> keys, values;
  int64_t length = 0;    // positions filled
  int64_t capacity = 0;  // grows when needed; set it beforehand to avoid copying
  at::Tensor mask;       // added to the scores of one new token, [B,1,1,>=length]; or undefined
};

// Features added to the hidden states at visual places after the first layers (Qwen3-VL).
struct DeepStack {
  at::Tensor places;             // [N] into the flattened [B*L]
  std::vector<at::Tensor> rows;  // one [N,D] a layer
};

// What the last tokens of the input looked at: softmax weights, mean over heads.
struct AttentionProbe {
  std::vector<int64_t> layers;   // which layers to watch
  int64_t queries = 1;           // of the last tokens
  bool only = false;             // read no further than the last watched layer
  at::Tensor last;               // [1] int64: the one query is this place; undefined: the last
  std::vector<at::Tensor> maps;  // one [B,queries,keys] float a watched layer
};

class Decoder {
 public:
  Decoder() = default;
  // Tensors "language.*" and "lm_head.*" of the source.
  Decoder(const DecoderConfig& config, const std::string& file, Source& source);

  const DecoderConfig& config() const { return config_; }
  at::Tensor embed(const at::Tensor& ids) const;  // [B,L] -> [B,L,D]; Error for ids outside
  // embeds [B,L,D], positions [3,B,L] or [1,B,L] int64 -> hidden states [B,L,D] after the last
  // norm.
  at::Tensor forward(at::Tensor embeds, const at::Tensor& positions, Cache* cache = nullptr,
                     const DeepStack* deepstack = nullptr, AttentionProbe* probe = nullptr) const;
  at::Tensor logits(const at::Tensor& hidden) const;  // float
  at::Device device() const { return embeddings_.device(); }
  at::ScalarType dtype() const { return norm_.weight.scalar_type(); }

 private:
  // Some of many small networks for each row, and shared ones for all.
  struct Experts {
    at::Tensor router;  // [experts, hidden]
    std::vector<Mlp> each;
    Mlp shared;
  };
  struct Layer {
    Norm input, post;
    Linear q, k, v, out;
    Norm q_norm, k_norm;
    Mlp mlp;
    Experts experts;  // instead of mlp, where it has any
  };
  Rotary angles(const at::Tensor& positions) const;  // for [B,L,H,D]
  at::Tensor attend(const Layer& layer, const at::Tensor& x, const Rotary& rotary, size_t index,
                    Cache* cache, AttentionProbe* probe) const;
  Experts read_experts(const std::string& at, Source& source, const Activation& act) const;
  at::Tensor mixed(const Experts& experts, const at::Tensor& x) const;
  at::Tensor through_layers(at::Tensor x, const at::Tensor& positions, Cache* cache,
                            const DeepStack* deepstack, AttentionProbe* probe) const;
  // The first words of one prompt, as a graph of a few lengths.
  bool takes_graph(const at::Tensor& x, const Cache* cache, const AttentionProbe* probe) const;
  at::Tensor read_prompt(const at::Tensor& x, const at::Tensor& positions, Cache& cache,
                         const DeepStack* deepstack, AttentionProbe* probe) const;
  void remember(Cache& cache, size_t index, const at::Tensor& keys, const at::Tensor& values) const;

  DecoderConfig config_;
  at::Tensor embeddings_;  // as they are stored, where the layers are in 8 bits
  Linear head_;
  at::Tensor frequencies_, axis_;  // [D/2]
  std::vector<Layer> layers_;
  Norm norm_;
  std::shared_ptr<Graphs> graphs_ = std::make_shared<Graphs>();
};

}  // namespace arrcoc::hf
