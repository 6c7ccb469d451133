// config.json as deepseek-ai publishes it, in the form that transformers gives it.
#include "models/hf/config.h"

namespace arrcoc::hf {

// Its files name the encoder of queries by its width alone and the compressor by a width that it
// does not have (1024); transformers' own conversion fixes both, and so do we.
json deepseek_hub_config(const json& value, const std::string& file) {
  const Settings top(value, file);
  const Settings width = top.below("vision_config").below("width");
  if (!width.has("qwen2-0-5b"))
    throw Error(ErrorCode::unsupported,
                file +
                    ": of model_type deepseek_vl_v2 only DeepSeek-OCR-2 is read (its "
                    "vision_config has the width of qwen2-0-5b)");
  constexpr int64_t kMost = int64_t{1} << 24;
  const int64_t hidden = width.below("qwen2-0-5b").whole("dim", 896, 1, kMost);
  const Settings sam = width.below("sam_vit_b");
  json vision = {{"sam_config",
                  {{"hidden_size", sam.whole("width", 768, 1, kMost)},
                   {"num_hidden_layers", sam.whole("layers", 12, 1, 1024)},
                   {"num_attention_heads", sam.whole("heads", 12, 1, kMost)},
                   {"downsample_channels", {512, hidden}}}},
                 {"encoder_config",
                  {{"hidden_size", hidden},
                   {"num_hidden_layers", 24},
                   {"num_attention_heads", 14},
                   {"num_key_value_heads", 2},
                   {"intermediate_size", 4864},
                   {"rms_norm_eps", 1e-6},
                   {"rope_theta", 1e6}}}};
  if (sam.has("global_attn_indexes"))
    vision["sam_config"]["global_attn_indexes"] = sam.need("global_attn_indexes");
  json out = value;
  out["model_type"] = "deepseek_ocr2";
  out["vision_config"] = std::move(vision);
  out["text_config"] = top.has("language_config") ? value.at("language_config") : value;
  out["text_config"]["model_type"] = "deepseek_ocr2_text";
  out.erase("language_config");
  if (!out["text_config"].contains("tie_word_embeddings"))
    out.emplace("tie_word_embeddings", false);  // the class's default: it has a head of its own
  return out;
}

}  // namespace arrcoc::hf
