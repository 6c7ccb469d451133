// What a vision-language model is to the rest: pictures to rows, rows into a prompt, a decoder.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "models/hf/config.h"
#include "models/hf/decoder.h"

namespace arrcoc::hf {

// Rows for the language model, one a visual token.
struct Visual {
  at::Tensor rows;                    // [N,D]
  std::vector<at::Tensor> deepstack;  // Qwen3-VL: each [N,D]
  int64_t size() const { return rows.size(0); }
};

// Several pictures after each other.
Visual join(const std::vector<Visual>& parts);
// Some rows, of every set.
Visual pick(const Visual& visual, const std::vector<int64_t>& rows);
// One row a group: the mean of its members, in every set.
Visual merge(const Visual& visual, const std::vector<std::vector<int64_t>>& groups);

class Vlm {
 public:
  Vlm(const ModelConfig& config, Source& source)
      : config_(config), decoder_(config.decoder, config.file, source) {}
  virtual ~Vlm() = default;

  const ModelConfig& config() const { return config_; }
  const Decoder& decoder() const { return decoder_; }

  // Visual tokens of pixels as the image processor gives them. Error{bad_argument} when their shape
  // is not this model's.
  virtual int64_t tokens(const at::Tensor& values, const at::Tensor& grid) const = 0;
  // Tokens of one picture or tile of `side` pixels, of models whose pictures are all of one size;
  // 0: they follow the size (Qwen).
  virtual int64_t tile_tokens(int64_t /*side*/) const { return 0; }
  // grid: of pictures that follow their size; SmolVLM: the pixels that are no padding, [B,H,W];
  // DeepSeek-OCR-2: the local views of the one picture, [N,3,H,W].
  // keep: which tokens, ascending; only their patches are encoded, at their true places, and attend
  // to each other. Empty: all. Qwen: values may be those of the kept tokens alone.
  virtual Visual encode(const at::Tensor& values, const at::Tensor& grid,
                        const std::vector<int64_t>& keep = {}) const = 0;
  // All tokens, and what the encoder looked at on the way: looked [N] and keys [N,d] of each.
  // Error{unsupported} where tokens are no places of the picture.
  virtual Visual encode_watched(const at::Tensor& values, const at::Tensor& grid,
                                EncoderSight& sight) const;
  // Blocks of the encoder that a token has behind it at each of its levels (DeepStack's and the
  // end), ascending; none: tokens cannot leave it early.
  virtual std::vector<int64_t> level_blocks() const { return {}; }
  // As encode(), but each of its tokens leaves the encoder at the level of that number: later
  // blocks neither compute it nor let others look at it. Its row is what the level's merger makes
  // of it; in sets of later levels it is zero. Error{unsupported} without levels.
  virtual Visual encode_depths(const at::Tensor& values, const at::Tensor& grid,
                               const std::vector<int64_t>& keep,
                               const std::vector<int64_t>& levels) const;
  // Positions of the whole prompt, every placeholder present: [3,B,L] or [1,B,L]. grids: [N,3] of
  // pictures, or [N,5] with what makes a film: whole seconds a temporal patch, and 1.
  virtual at::Tensor positions(const at::Tensor& ids, const at::Tensor& grids) const;
  // Token embeddings [B,L,D] without the pictures' rows (Ovis2: with its indicators).
  virtual at::Tensor embed(const at::Tensor& ids) const { return decoder_.embed(ids); }

  // True where several tokens can become one before the encoder looks at them together.
  virtual bool takes_groups() const { return false; }
  // One token for each group of tokens of one picture. Error{unsupported} unless takes_groups().
  virtual Visual encode_groups(const at::Tensor& values, const at::Tensor& grid,
                               const std::vector<std::vector<int64_t>>& groups) const;

  // DeepSeek-OCR-2, sam_clip: what the compressor makes of SAM's features, [B,C,h,w].
  // Error{unsupported}.
  virtual at::Tensor compressed(const at::Tensor& values) const;

 protected:
  ModelConfig config_;
  Decoder decoder_;
};

// Error{unsupported} for CLIP, SigLIP and SAM.
void require_language_model(const ModelConfig& config);
std::unique_ptr<Vlm> make_vlm(const ModelConfig& config, Source& source);
std::unique_ptr<Vlm> make_qwen(const ModelConfig& config, Source& source);
std::unique_ptr<Vlm> make_llava(const ModelConfig& config, Source& source);
std::unique_ptr<Vlm> make_ovis(const ModelConfig& config, Source& source);
std::unique_ptr<Vlm> make_deepseek(const ModelConfig& config, Source& source);
Spellings deepseek_spellings(const ModelConfig& config);
std::unique_ptr<Vlm> make_sam_clip(const ModelConfig& config, Source& source);
std::unique_ptr<Vlm> make_smol(const ModelConfig& config, Source& source);
Spellings spellings_of(const ModelConfig& config);

// A prompt ready for the decoder.
struct Prompt {
  at::Tensor embeds;     // [B,L,D]
  at::Tensor positions;  // [A,B,L]
  DeepStack deepstack;
  at::Tensor ids;                      // [B,L] of the places that are left
  std::vector<int64_t> visual_places;  // of the visual rows, in the flattened [B*L]
  int64_t next_position = 0;           // of the first generated token
  int64_t length() const { return embeds.size(1); }
};

// ids [B,L] with a placeholder for every visual token of the full grids. visual: a row for each.
// Error{bad_argument} when the counts differ.
Prompt prepare(const Vlm& model, const at::Tensor& ids, const at::Tensor& grids,
               const Visual& visual);

// The same for B = 1 with only some of the visual tokens: group i (indices of placeholders, in
// order of appearance) becomes one token, row i of `visual`. Positions are those of the full grid;
// a group of several sits at the median of its members. All other placeholders vanish.
Prompt prepare(const Vlm& model, const at::Tensor& ids, const at::Tensor& grids,
               const Visual& visual, const std::vector<std::vector<int64_t>>& groups);

}  // namespace arrcoc::hf
