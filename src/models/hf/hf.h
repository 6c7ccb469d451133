// Hugging Face checkpoints in process: vision-language models that answer questions about pictures
// with all, some, or other visual tokens than they were trained to take.
//
//   auto model = hf::HfModel::open("Qwen3-VL-2B", {}, load_tokenizer("Qwen3-VL-2B"));
//   hf::Features all = model->encode_image(picture);                 // once a picture
//   hf::Features few = model->select(all, allocation);               // once a question
//   hf::Answer answer = model->answer("What is the total?", {few});
//
// Families: llava (1.5), qwen2_vl, qwen2_5_vl, qwen3_vl, ovis2. A model is immutable after opening
// and shared by threads; features are values whose tensors are never changed.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "arrcoc/allocate.h"
#include "arrcoc/picture.h"
#include "models/tokenizers/tokenizer.h"

namespace arrcoc::hf {

class DualEncoder;
class Vlm;
class ImageProcessor;
struct Prompt;

struct LoadOptions {
  std::string device = "cpu";  // or "cuda", "cuda:1"
  std::string dtype;           // float32, bfloat16, float16; "": float32 on the CPU, else bfloat16
};

struct GenerateOptions {
  int64_t max_new_tokens = 256;
  double temperature = 0;  // 0: always the likeliest token
  double top_p = 1;
  int64_t top_k = 0;  // 0: no limit
  // Logits of tokens that the prompt or the answer has are divided by it (multiplied when below 0).
  double repetition_penalty = 1;
  uint64_t seed = 0;
  std::vector<int64_t> stop;              // end the answer; they are its last token
  std::vector<int64_t> attention_layers;  // whose look at the picture is wanted; -1 is the last
  std::function<bool(int64_t)> on_token;  // each token as it is made; false ends the answer
};

struct Generation {
  std::vector<int64_t> ids;        // new tokens, the stop token included
  std::vector<float> probability;  // of each, under the model at temperature 1
  std::vector<float> entropy;      // of each choice, in nats
  bool stopped = false;            // by a stop token
  int64_t prompt_tokens = 0;       // that the language model read
  int64_t visual_tokens = 0;       // among them
  // How much the last prompt token looked at each visual token, mean over the watched layers and
  // all heads; empty when no layer was asked for.
  std::vector<float> attention;
};

// What the encoder made of one picture.
struct Features {
  // A picture as the model was shown it: the whole, a tile (Ovis2) or a crop (zoom).
  struct View {
    Box box;           // source pixels
    int64_t rows = 0;  // tokens
    int64_t cols = 0;  // tokens
    at::Tensor grid;   // [1,3] of the Qwen family
  };
  std::vector<View> views;
  at::Tensor rows;                           // [N,D], one a token
  std::vector<at::Tensor> deepstack;         // each [N,D]
  std::vector<std::vector<int64_t>> groups;  // tokens of the full views behind each row, see select
  std::vector<Box> boxes;                    // of every token of the full views, source pixels
  int64_t tile_rows = 1, tile_cols = 1;      // Ovis2
  int width = 0, height = 0;                 // of the picture, source pixels
  std::string mode = "native";               // native, prune, patches, zoom
  int64_t size() const;                      // rows: what the language model pays for
  int64_t native() const { return static_cast<int64_t>(boxes.size()); }
  int64_t bytes() const;
};

struct SelectOptions {
  // A leaf larger than a token: false keeps one token of it, true averages all of them into one at
  // their median position.
  bool merge = false;
  // Relevance-tiered DeepStack: above 0.7 all levels, above 0.4 the middle one, else the last.
  bool tiers = false;
};

struct Message {
  std::string role = "user";  // system, user, assistant
  std::string text;
  int pictures = 0;  // shown before the text
};

struct Answer {
  std::string text;
  Generation generation;
};

class HfModel {
 public:
  // config.json, model*.safetensors and preprocessor_config.json of the folder; generation defaults
  // from generation_config.json. The tokenizer is needed for text only. Error{not_found, bad_json,
  // bad_weights, unsupported}.
  static std::shared_ptr<const HfModel> open(const std::string& folder,
                                             const LoadOptions& options = {},
                                             std::shared_ptr<const Tokenizer> tokenizer = nullptr);
  // The model that a config.json describes with random weights, made on the device without a file:
  // to measure speed and memory. It has no tokenizer.
  static std::shared_ptr<const HfModel> random(const std::string& config,
                                               const LoadOptions& options = {}, uint64_t seed = 0);
  ~HfModel();

  std::string family() const;
  const Vlm& vlm() const { return *vlm_; }
  const ImageProcessor& processor() const { return *processor_; }
  // Pixels of the (resized) picture along one token; the zoom allocator needs it.
  int token_pixels() const;
  // "" when zoom works, else why it does not.
  std::string zoom_refusal() const;

  // The whole picture, every token. max_tokens > 0 (Qwen family): shown small enough for that.
  Features encode_image(const Picture& picture, int64_t max_tokens = 0) const;
  // Prune: some rows of features that are there already.
  Features select(const Features& features, const Allocation& allocation,
                  const SelectOptions& options = {}) const;
  // The same choice made before the encoder: only the chosen tokens' patches are encoded.
  Features encode_patches(const Picture& picture, const Allocation& allocation,
                          const SelectOptions& options = {}) const;
  // Glance and crops as pictures of their own; the last crops are left out until all fit the
  // budget. Error{unsupported} with the reason where picture size does not set the token count.
  Features encode_zoom(const Picture& picture, const Allocation& allocation) const;

  // Ids of the whole prompt with a placeholder for every token of the full views.
  std::vector<int64_t> prompt_ids(const std::vector<Message>& messages,
                                  const std::vector<Features>& pictures) const;
  Generation generate(const std::vector<int64_t>& prompt, const std::vector<Features>& pictures,
                      const GenerateOptions& options) const;
  // The options of generation_config.json.
  GenerateOptions defaults() const { return defaults_; }

  // Conversation in the family's own template. Pictures are handed out in order to the messages
  // that show them. Error{bad_argument} when their numbers differ.
  Answer answer(const std::vector<Message>& messages, const std::vector<Features>& pictures,
                const GenerateOptions& options) const;
  // One question about these pictures, with the model's own settings.
  Answer answer(const std::string& question, const std::vector<Features>& pictures) const;
  // Several questions over pictures that were encoded once: the pictures are read once too, and all
  // answers grow together. on_token is called for none of them.
  std::vector<Answer> answer_all(const std::vector<std::string>& questions,
                                 const std::vector<Features>& pictures,
                                 const GenerateOptions& options) const;
  // How much the words of the last message look at each visual token (in the order of `pictures`)
  // in these layers; {}: the first quarter, without layer 0. Reads no further than the last of
  // them, and generates nothing.
  std::vector<float> early_attention(const std::vector<Message>& messages,
                                     const std::vector<Features>& pictures,
                                     const std::vector<int64_t>& layers = {}) const;

 private:
  HfModel();
  Prompt prepared(const std::vector<int64_t>& ids, const std::vector<Features>& pictures) const;
  std::string text_of(const Generation& generation) const;
  std::unique_ptr<Vlm> vlm_;
  std::unique_ptr<ImageProcessor> processor_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  GenerateOptions defaults_;
};

// How often and where a picture stands in the prompt.
struct Slot {
  int64_t views = 1;  // pictures of their own (zoom)
  int64_t tile_rows = 1, tile_cols = 1;
};
// The text of a conversation as the family's template spells it, one placeholder token a view
// (Ovis2: one a tile, with its marks).
std::string chat_text(const std::string& family, const std::vector<Message>& messages,
                      const std::vector<Slot>& pictures);

// Values of the tokens of features (Generation::attention, say) as a map over the picture: the mean
// of the finest tokens over each cell of the largest view's grid. Cells without a token are 0.
Map token_map(const Features& features, const std::vector<float>& values);

// Maps of one picture on the grid of the finest: each stretched to [0,1], then their weighted mean.
// Error{bad_argument} without maps, or with another number of weights; no weights: all alike.
Map combine(const std::vector<Map>& maps, const std::vector<float>& weights = {});

// CLIP or SigLIP: where a picture looks like a text.
class TextImageModel {
 public:
  static std::shared_ptr<const TextImageModel> open(const std::string& folder,
                                                    const LoadOptions& options,
                                                    std::shared_ptr<const Tokenizer> tokenizer);
  ~TextImageModel();
  // Cosine of every patch with the text, stretched to [0,1] over the picture. The part of the
  // picture that the model's centre crop leaves out gets the mean.
  Map relevance(const Picture& picture, const std::string& text) const;
  // Cosine of the whole picture with the text.
  float similarity(const Picture& picture, const std::string& text) const;

 private:
  TextImageModel();
  at::Tensor text_embeds(const std::string& text) const;
  std::unique_ptr<DualEncoder> model_;
  std::unique_ptr<ImageProcessor> processor_;
  std::shared_ptr<const Tokenizer> tokenizer_;
};

// The features of the pictures seen last, by content hash. Thread-safe.
class FeatureCache {
 public:
  explicit FeatureCache(int64_t max_bytes) : max_bytes_(max_bytes) {}
  // Calls `make` when the picture is not there; two threads may both make the same.
  Features get(uint64_t hash, const std::function<Features()>& make);
  size_t hits() const;
  int64_t bytes() const;

 private:
  struct Entry {
    uint64_t hash;
    Features features;
  };
  int64_t max_bytes_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;  // newest first
  std::map<uint64_t, std::list<Entry>::iterator> index_;
  int64_t bytes_ = 0;
  size_t hits_ = 0;
};

// ---- Checking and making checkpoints

struct TensorCheck {
  std::string name;
  double difference = 0;  // the largest, or the number of different ids
  double tolerance = 0;
  std::string problem;  // shapes that differ and the like; "" when none
  bool ok() const { return problem.empty() && difference <= tolerance; }
};

// Runs a checkpoint on the inputs of a golden file and compares every output that the file names,
// in float32 on the CPU.
std::vector<TensorCheck> check_golden(const std::string& folder, const std::string& golden);
// The same for an image processor's settings: `pictures` are img0, img1, ... as [3,H,W] uint8.
std::vector<TensorCheck> check_processor(const std::string& settings, const std::string& golden,
                                         const std::vector<at::Tensor>& pictures);
// A short run without a golden file: every tensor present and finite, outputs finite, cached and
// uncached continuation alike.
std::vector<TensorCheck> self_test(const std::string& folder, const LoadOptions& options = {});

struct ModelInfo {
  std::string folder, family, dtype;  // dtype: as stored
  int64_t parameters = 0;
  int64_t stored_bytes = 0;
  int64_t bytes_per_cached_token = 0;  // at the stored dtype; 0 without a language model
  std::string problem;                 // why it cannot be loaded; "" when it can
};
// Reads headers only; a folder that cannot be loaded says why.
ModelInfo inspect(const std::string& folder);

// Writes a random checkpoint (config.json, weights in shards of at most shard_bytes) of any size.
// The same seed gives the same bytes. Returns the number of parameters.
int64_t init_checkpoint(const std::string& config, const std::string& folder,
                        const std::string& dtype = "bfloat16", uint64_t seed = 0,
                        int64_t shard_bytes = int64_t{2} << 30);

}  // namespace arrcoc::hf
