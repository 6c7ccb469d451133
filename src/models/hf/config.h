// config.json of the supported families, both spellings (transformers 4.x and 5.x), with each
// family's own defaults for what a file leaves out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/hf/blocks.h"
#include "models/settings.h"

namespace arrcoc {
namespace hf {

struct DecoderConfig {
  int64_t hidden = 4096, intermediate = 11008, layers = 32, heads = 32, kv_heads = 32;
  int64_t head_dim = 128, vocab = 32000, sliding_window = 0;  // 0: none
  int64_t context = 0;  // places of a prompt and its answer; 0: it does not say
  double eps = 1e-6, theta = 10000, position_scale = 1;
  struct {  // rope type "llama3": long waves are slowed by the factor, those between in part
    double factor = 0, low = 1, high = 4, original = 8192;
  } llama3;
  std::string act = "silu";
  bool qkv_bias = false, out_bias = false, mlp_bias = false, qk_norm = false;
  bool may_tie = true;         // the embeddings may serve as the head when the file has none
  std::vector<int64_t> mrope;  // frequencies of the t, h, w axes; empty: one axis
  bool interleaved = false;
  struct {  // a mixture of experts in some layers
    int64_t count = 0, chosen = 0, shared = 0, intermediate = 0, groups = 1, chosen_groups = 1;
    double scale = 1;
    bool limited = false;        // only experts of the best groups
    std::vector<bool> in_layer;  // empty: nowhere
  } experts;
};

struct DualConfig {  // CLIP, SigLIP
  EncoderConfig vision, text;
  int64_t image_size = 224, patch = 16, channels = 3, projection = 512;
  int64_t vocab = 49408, positions = 77, eos = 49407;
};

struct SamConfig {
  EncoderConfig vision;
  int64_t image_size = 1024, patch = 16, channels = 3, output = 256, window = 14;
  bool qkv_bias = true, absolute = true, relative = true;
  std::vector<int64_t> global_layers;
};

struct QwenVisionConfig {
  int64_t hidden = 1280, intermediate = 5120, layers = 32, heads = 16, output = 3584;
  int64_t channels = 3, patch = 14, temporal = 2, merge = 2, window = 0, positions = 0;
  int64_t second = 0;  // positions in time that a second of film has; 0: one a temporal patch
  double theta = 10000;
  std::string act = "quick_gelu";
  std::vector<int64_t> full_layers;  // with full attention, where `window` is set
  std::vector<int64_t> deepstack;    // layers whose features go into the language model
};

struct OvisVisionConfig {
  EncoderConfig encoder;
  int64_t image_size = 224, patch = 14, channels = 3, stride = 1, vocab = 16384, indicators = 5;
  bool likeliest = false;  // a patch is its likeliest visual word, not the mixture of all
  bool qkv_bias = false, mlp_bias = false;
};

struct LlavaVisionConfig {
  EncoderConfig encoder;
  int64_t image_size = 336, patch = 14, channels = 3;
  std::vector<int64_t> feature_layers = {-2};
  bool keep_class = false;  // strategy "full"
  std::string act = "gelu";
  bool bias = true;
};

struct SmolVisionConfig {  // SmolVLM, Idefics3
  EncoderConfig encoder;
  int64_t image_size = 224, patch = 32, channels = 3;
  int64_t scale = 2;  // patches along a token
};

struct DeepseekVisionConfig {  // DeepSeek-OCR-2
  SamConfig sam;
  std::vector<int64_t> channels = {512, 896};  // of the compressor
  DecoderConfig encoder;                       // of the queries
};

struct SamClipConfig {  // our own composition
  SamConfig sam;
  std::vector<int64_t> channels = {512};  // of each convolution of stride 2 after SAM
  EncoderConfig clip;
  int64_t sizes = 4;  // of squares of 2, 4, 8 ... places that a token may stand for
  std::string act = "gelu";
};

enum class Family {
  clip,
  siglip,
  sam,
  llava,
  qwen2_vl,
  qwen2_5_vl,
  qwen3_vl,
  ovis2,
  smolvlm,
  idefics3,
  deepseek_ocr2,
  sam_clip
};

}  // namespace hf

template <>
struct EnumNames<hf::Family> {
  using enum hf::Family;
  static constexpr const char* kWhat = "model_type";
  static constexpr std::pair<hf::Family, const char*> kNames[] = {{clip, "clip"},
                                                                  {siglip, "siglip"},
                                                                  {sam, "sam"},
                                                                  {llava, "llava"},
                                                                  {qwen2_vl, "qwen2_vl"},
                                                                  {qwen2_5_vl, "qwen2_5_vl"},
                                                                  {qwen3_vl, "qwen3_vl"},
                                                                  {ovis2, "ovis2"},
                                                                  {smolvlm, "smolvlm"},
                                                                  {idefics3, "idefics3"},
                                                                  {deepseek_ocr2, "deepseek_ocr2"},
                                                                  {sam_clip, "sam_clip"}};
};

namespace hf {

struct ModelConfig {
  Family family = Family::clip;
  std::string file;   // for messages
  std::string dtype;  // as stored: "float32", "bfloat16", ... or ""
  DecoderConfig decoder;
  DualConfig dual;
  SamConfig sam;
  QwenVisionConfig qwen;
  OvisVisionConfig ovis;
  LlavaVisionConfig llava;
  SmolVisionConfig smol;
  DeepseekVisionConfig deepseek;
  SamClipConfig sam_clip;
  int64_t image_token = -1, video_token = -1, vision_start = -1, vision_end = -1;
  std::vector<int64_t> indicators;  // Ovis2
  bool has_decoder() const { return family >= Family::llava; }
  bool is_qwen() const { return family >= Family::qwen2_vl && family <= Family::qwen3_vl; }
  bool is_smol() const { return family == Family::smolvlm || family == Family::idefics3; }
};

// The file, or the folder with config.json. Error{not_found, bad_json, unsupported}.
ModelConfig read_config(const std::string& path);
ModelConfig parse_config(const json& value, const std::string& file);
// What deepseek-ai publishes as DeepSeek-OCR-2 (model_type deepseek_vl_v2), in transformers' form.
// Error{unsupported} for other models of that type. parse_config asks it.
json deepseek_hub_config(const json& value, const std::string& file);

}  // namespace hf
}  // namespace arrcoc
