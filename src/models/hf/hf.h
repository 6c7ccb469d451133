// Hugging Face checkpoints in process: vision-language models that answer questions about pictures
// with all, some, or other visual tokens than they were trained to take. The parts behind
// open_model (arrcoc/model.h).
//
//   auto model = HfModel::open("Qwen3-VL-2B", {}, load_tokenizer("Qwen3-VL-2B"));
//   Features all = model->encode_image(picture);                 // once a picture
//   Features few = model->select(all, allocation);               // once a question
//   std::vector<int64_t> prompt = model->prompt_ids({{Role::user, "What is the total?", 1}},
//   {few}); Generation answer = model->generate(prompt, {few}, model->defaults());
//
// Families: llava (1.5), qwen2_vl, qwen2_5_vl, qwen3_vl, ovis2, smolvlm, idefics3, deepseek_ocr2,
// sam_clip (our own). A model is immutable after opening and shared by threads; features are values
// whose tensors are never changed.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arrcoc/allocate.h"
#include "arrcoc/model.h"
#include "arrcoc/picture.h"
#include "models/hf/config.h"
#include "models/tokenizers/tokenizer.h"

namespace arrcoc::hf {

class Vlm;
struct EncoderSight;
class ImageProcessor;
struct Pixels;
struct Prompt;

struct GenerationSettings {
  int64_t max_new_tokens = 256;
  double temperature = 0;  // 0: always the likeliest token
  double top_p = 1;
  int64_t top_k = 0;  // 0: no limit
  // Logits of tokens that the prompt or the answer has are divided by it (multiplied when below 0).
  double repetition_penalty = 1;
  uint64_t seed = 0;
  std::vector<int64_t> stop;              // end the answer; they are its last token
  std::vector<int64_t> attention_layers;  // whose look at the picture is wanted; -1 is the last
  // Each token of answer i as it is made; false ends that answer.
  std::function<bool(size_t i, int64_t id)> on_token;
};

struct Generation {
  std::vector<int64_t> ids;        // new tokens, the stop token included
  std::vector<float> probability;  // of each, under the model at temperature 1
  bool stopped = false;            // by a stop token
  int64_t prompt_tokens = 0;       // that the language model read
  int64_t visual_tokens = 0;       // among them
  // How much the answer looked at each visual token: the places that its tokens were read off (the
  // last of the prompt, then every token but the last; the first 32 of them), mean over these, the
  // watched layers and all heads; empty when no layer was asked for.
  std::vector<float> attention;
};

// What the encoder made of one picture.
// One frame of a film; it must outlive the call.
struct Frame {
  const Picture* picture = nullptr;
  double seconds = 0;  // when it is shown
};

struct Features {
  // A picture as the model was shown it: the whole, a tile (Ovis2, SmolVLM) or a crop (zoom).
  struct View {
    Box box;                             // source pixels
    int64_t rows = 0;                    // tokens
    int64_t cols = 0;                    // tokens
    at::Tensor grid;                     // [1,3] of the Qwen family
    double seconds = 0;                  // of a film: the middle of the temporal patch that it is
    int64_t tile_row = 0, tile_col = 0;  // SmolVLM: the tile's name, from 1; 0: the whole
  };
  std::vector<View> views;
  at::Tensor rows;                           // [N,D], one a token
  std::vector<at::Tensor> deepstack;         // each [N,D]
  std::vector<std::vector<int64_t>> groups;  // tokens of the full views behind each row, see select
  std::vector<int64_t> depths;  // tokens that left the encoder at each level; none: all at its end
  std::vector<Box> boxes;       // of every token of the full views, source pixels
  int64_t tile_rows = 1, tile_cols = 1;  // of the whole picture
  int width = 0, height = 0;             // of the picture, source pixels
  bool film = false;                     // its views are temporal patches
  bool placeless = false;  // tokens stand for their whole view, not for places in it (DeepSeek)
  int64_t size() const;    // rows: what the language model pays for
  int64_t native() const { return static_cast<int64_t>(boxes.size()); }
  int64_t bytes() const;
};

struct SelectOptions {
  // A leaf larger than a token: false keeps one token of it, true averages all of them into one at
  // their median position.
  bool merge = false;
  // Relevance-tiered DeepStack: above 0.7 all levels, above 0.4 the middle one, else the last.
  bool tiers = false;
  // Of encode_patches and encode_tapered.
  Depth depth = {};
};

class HfModel {
 public:
  // config.json, model*.safetensors and preprocessor_config.json of the folder; generation defaults
  // from generation_config.json. The tokenizer is needed for text only. Of the options: device and
  // dtype. Error{not_found, bad_json, bad_weights, unsupported}.
  static std::shared_ptr<const HfModel> open(const std::string& folder,
                                             const ModelOptions& options = {},
                                             std::shared_ptr<const Tokenizer> tokenizer = nullptr);
  // The same with tensors of the caller's, who may want gradients by them.
  static std::shared_ptr<const HfModel> of(const std::string& folder, const ModelConfig& config,
                                           Source& source, at::Device device,
                                           std::shared_ptr<const Tokenizer> tokenizer,
                                           std::string note = "");
  // The model that a config.json describes with random weights, made on the device without a file:
  // to measure speed and memory. It has no tokenizer.
  static std::shared_ptr<const HfModel> random(const std::string& config,
                                               const ModelOptions& options = {}, uint64_t seed = 0);
  ~HfModel();

  Family family() const;
  const Vlm& vlm() const { return *vlm_; }
  const ImageProcessor& processor() const { return *processor_; }
  const Tokenizer* tokenizer() const { return tokenizer_.get(); }  // may be null
  // The settings of generation_config.json.
  const GenerationSettings& defaults() const { return defaults_; }
  // Why it computes with other numbers than were asked for; "" when it does not.
  const std::string& note() const { return note_; }

  // Pixels of the (resized) picture along one token; the zoom allocator needs it.
  int token_pixels() const;
  // Tokens of encode_image for a picture of that size.
  int64_t native_tokens(int width, int height) const;
  // Rows and columns of tokens of a crop of encode_zoom that is resampled to that size: what the
  // processor makes of it, but for its least size, which glances and crops may be below.
  std::pair<int64_t, int64_t> view_grid(int width, int height) const;
  // Tokens of the smallest view of a picture that the family has.
  int64_t least_tokens() const;
  // Zoom shows whole tiles of the family's own grid (SmolVLM): it wants leaves, not crops.
  bool chooses_tiles() const;
  // "" when zoom works, else why it does not; the same for prune and patches.
  std::string zoom_refusal() const;
  std::string select_refusal() const;
  // "" when tokens can leave the encoder by that rule.
  std::string depth_refusal(const Depth& depth) const;
  // Error{unsupported} with that reason; Error{bad_argument} where other numbers would do.
  void require_depth(const Depth& depth) const;

  // The whole picture, every token. max_tokens > 0: shown small enough for that (Qwen family), or
  // without its tiles (SmolVLM).
  Features encode_image(const Picture& picture, int64_t max_tokens = 0) const;
  // The pixels of a picture, and where all its tokens lie; their rows are not there yet.
  Features shown(const Picture& picture, Pixels& pixels) const;
  // The same, every token, and what the encoder looked at on the way (Vlm::encode_watched).
  Features encode_watched(const Picture& picture, EncoderSight& sight) const;
  // Prune: some rows of features that are there already.
  Features select(const Features& features, const Allocation& allocation,
                  const SelectOptions& options = {}) const;
  // The same choice made before the encoder: only the chosen tokens' patches are encoded. sam_clip:
  // a leaf's places become one token before CLIP.
  Features encode_patches(const Picture& picture, const Allocation& allocation,
                          const SelectOptions& options = {}) const;
  // select() of the whole picture, of which the less relevant tokens leave the encoder early.
  Features encode_tapered(const Picture& picture, const Allocation& allocation,
                          const SelectOptions& options) const;
  // All crops of the allocation as pictures of their own. SmolVLM: the view of the whole and, as
  // far as the budget goes, the tiles in which the allocation spends most; only these are encoded.
  // Error{unsupported} with the reason where picture size does not set the token count.
  Features encode_zoom(const Picture& picture, const Allocation& allocation) const;

  // A film for the Qwen family: frames of one size, a temporal patch (two frames) a view.
  // max_tokens > 0: frames small enough for that. Error{unsupported, bad_image}.
  Features encode_film(std::span<const Frame> frames, int64_t max_tokens = 0) const;
  // Of every temporal patch the tokens that its allocation asks for; without leaves: none of them.
  // The others stay at their places in time and space.
  Features select_film(const Features& film, std::span<const Allocation> allocations,
                       const SelectOptions& options = {}) const;

  // Ids of a conversation in the family's own template, with a placeholder for every token of the
  // full views. Pictures are handed out in order to the turns that show them. Error{bad_argument}
  // when their numbers differ, or without a tokenizer.
  std::vector<int64_t> prompt_ids(const std::vector<Turn>& turns,
                                  const std::vector<Features>& pictures) const;
  // Such ids and the pictures' rows, ready for the decoder.
  Prompt prepared(const std::vector<int64_t>& ids, const std::vector<Features>& pictures) const;
  Generation generate(const std::vector<int64_t>& prompt, const std::vector<Features>& pictures,
                      const GenerationSettings& settings) const;
  // Several prompts over the same pictures. Where all of them begin with the pictures, those are
  // read once and the answers grow together.
  std::vector<Generation> generate_all(const std::vector<std::vector<int64_t>>& prompts,
                                       const std::vector<Features>& pictures,
                                       const GenerationSettings& settings) const;
  // How much the words after the last picture look at each visual token (in the order of
  // `pictures`) in these layers; {}: the first quarter, without layer 0. Reads no further than the
  // last of them, and generates nothing.
  std::vector<float> early_attention(const std::vector<Turn>& turns,
                                     const std::vector<Features>& pictures,
                                     const std::vector<int64_t>& layers = {}) const;

 private:
  HfModel();
  Features encode_tiles(const Picture& picture, const Allocation& allocation) const;
  Features encode_views(const Pixels& pixels, const Features& all,
                        const std::vector<int64_t>& chosen) const;
  std::unique_ptr<Vlm> vlm_;
  std::unique_ptr<ImageProcessor> processor_, film_processor_;  // of films: Qwen family
  std::shared_ptr<const Tokenizer> tokenizer_;
  GenerationSettings defaults_;
  std::string note_;
};

// How often and where a picture stands in the prompt.
struct Slot {
  int64_t views = 1;  // pictures of their own (zoom)
  int64_t tile_rows = 1, tile_cols = 1;
  std::vector<std::pair<int64_t, int64_t>> tiles;  // SmolVLM: row and column of those shown
  std::vector<double> seconds;                     // a film: of its temporal patches
};
// The text of a conversation as the family's template spells it, one placeholder token a view
// (Ovis2, SmolVLM: one a tile, with its marks). Error{unsupported} for families that do not talk.
std::string chat_text(Family family, const std::vector<Turn>& turns,
                      const std::vector<Slot>& pictures);

// Values of the tokens of features (Generation::attention, say) as a map over the picture: the mean
// of the finest tokens over each cell of the largest view's grid. Cells without a token are 0.
Map token_map(const Features& features, std::span<const float> values);

}  // namespace arrcoc::hf
