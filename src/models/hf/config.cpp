#include "models/hf/config.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "arrcoc/error.h"
#include "models/hf/json.h"

namespace arrcoc::hf {
namespace {

using nlohmann::json;

constexpr int64_t kMost = int64_t{1} << 31;

// One level of the file: settings by name, with range checks.
class Settings {
 public:
  Settings(const json& value, std::string file) : value_(value), file_(std::move(file)) {
    if (!value_.is_object()) throw Error(ErrorCode::bad_json, file_ + ": not an object");
  }
  bool has(const char* key) const { return jsonio::has(value_, key); }
  const json& raw(const char* key) const { return jsonio::member(value_, key, file_); }
  const std::string& file() const { return file_; }
  // A level below; an empty one when it is not there.
  Settings below(const char* key) const {
    static const json none = json::object();
    return {has(key) ? raw(key) : none, file_ + ": " + key};
  }
  // Widths and the like; products of a few of them must not overflow.
  int64_t size(const char* key, int64_t fallback) const {
    return jsonio::whole(value_, key, fallback, 1, int64_t{1} << 24, file_);
  }
  int64_t few(const char* key, int64_t fallback) const {  // layers, patches, strides
    return jsonio::whole(value_, key, fallback, 1, 1024, file_);
  }
  int64_t whole(const char* key, int64_t fallback) const {
    return jsonio::whole(value_, key, fallback, -kMost, kMost, file_);
  }
  double number(const char* key, double fallback) const {
    return jsonio::number(value_, key, fallback, file_);
  }
  bool flag(const char* key, bool fallback) const {
    return jsonio::flag(value_, key, fallback, file_);
  }
  std::string text(const char* key, const std::string& fallback) const {
    return jsonio::text(value_, key, fallback, file_);
  }
  std::vector<int64_t> list(const char* key, std::vector<int64_t> fallback) const {
    if (!has(key)) return fallback;
    const json& all = raw(key);
    if (!all.is_array()) jsonio::fail(file_, key, "is not a list");
    std::vector<int64_t> out;
    for (const json& one : all) out.push_back(jsonio::whole(one, key, -kMost, kMost, file_));
    return out;
  }

 private:
  const json& value_;
  std::string file_;
};

void require(bool holds, const Settings& settings, const std::string& what) {
  if (!holds) throw Error(ErrorCode::bad_json, settings.file() + ": " + what);
}

EncoderConfig encoder(const Settings& s, EncoderConfig d) {
  d.hidden = s.size("hidden_size", d.hidden);
  d.intermediate = s.size("intermediate_size", d.intermediate);
  d.layers = s.few("num_hidden_layers", d.layers);
  d.heads = s.size("num_attention_heads", d.heads);
  d.eps = s.number("layer_norm_eps", d.eps);
  d.act = s.text("hidden_act", d.act);
  require(d.hidden % d.heads == 0, s, "hidden_size is not a multiple of num_attention_heads");
  return d;
}

// rope_parameters (5.x) or rope_theta and rope_scaling (4.x).
void rope(const Settings& s, DecoderConfig& d) {
  bool now = s.has("rope_parameters");
  Settings extra = s.below(now ? "rope_parameters" : "rope_scaling");
  d.theta = extra.number("rope_theta", s.number("rope_theta", d.theta));
  std::string type = extra.text("rope_type", extra.text("type", "default"));
  d.mrope = extra.list("mrope_section", d.mrope);
  d.interleaved = extra.flag("mrope_interleaved", d.interleaved);
  if (type == "linear") {
    d.position_scale = extra.number("factor", 1);
    require(d.position_scale > 0, s, "rope factor is not positive");
  } else if (type != "default" && type != "mrope") {
    throw Error(ErrorCode::unsupported, s.file() + ": unknown rope type '" + type + "'");
  }
  require(d.theta > 0, s, "rope_theta is not positive");
  if (d.mrope.empty()) return;
  int64_t sum = 0;
  for (int64_t part : d.mrope) {
    require(part >= 0, s, "mrope_section has a negative part");
    sum += part;
  }
  require(d.mrope.size() == 3 && sum == d.head_dim / 2, s,
          "mrope_section must be three numbers that sum to half of head_dim");
}

enum class Kind { llama, qwen2, qwen3 };

Kind kind_of(const std::string& type, const std::string& file) {
  static const std::map<std::string, Kind> kinds = {
      {"llama", Kind::llama},      {"vicuna", Kind::llama},          {"mistral", Kind::llama},
      {"qwen2", Kind::qwen2},      {"qwen2_vl", Kind::qwen2},        {"qwen2_vl_text", Kind::qwen2},
      {"qwen2_5_vl", Kind::qwen2}, {"qwen2_5_vl_text", Kind::qwen2}, {"qwen3", Kind::qwen3},
      {"qwen3_vl", Kind::qwen3},   {"qwen3_vl_text", Kind::qwen3}};
  auto found = kinds.find(type);
  if (found == kinds.end()) {
    throw Error(ErrorCode::unsupported, file + ": unknown language model '" + type + "'");
  }
  return found->second;
}

// What the reference assumes where a file says nothing.
DecoderConfig decoder_defaults(const std::string& type, Kind kind) {
  DecoderConfig d;
  auto sizes = [&d](int64_t hidden, int64_t intermediate, int64_t layers, int64_t heads,
                    int64_t kv_heads) {
    d.hidden = hidden;
    d.intermediate = intermediate;
    d.layers = layers;
    d.heads = heads;
    d.kv_heads = kv_heads;
  };
  if (type == "mistral") sizes(4096, 14336, 32, 32, 8);
  if (kind == Kind::qwen2) sizes(8192, 29568, 80, 64, 8);
  if (kind == Kind::qwen3) sizes(4096, 22016, 32, 32, 32);
  if (kind == Kind::qwen2) d.vocab = 152064;
  if (kind == Kind::qwen3) d.vocab = 151936;
  bool visual = type.find("_vl") != std::string::npos;
  if (visual && kind == Kind::qwen2) {
    d.theta = 1e6;
    d.mrope = {16, 24, 24};
  } else if (visual && kind == Kind::qwen3) {
    d.theta = 5e6;
    d.mrope = {24, 20, 20};
    d.interleaved = true;
  }
  return d;
}

// `top` is the whole file: older files hold the text settings there.
DecoderConfig decoder(const Settings& top, const std::string& fallback_type) {
  bool nested = top.has("text_config");
  Settings s = nested ? top.below("text_config") : top;
  std::string type = nested ? s.text("model_type", fallback_type) : fallback_type;
  Kind kind = kind_of(type, s.file());
  DecoderConfig d = decoder_defaults(type, kind);
  d.hidden = s.size("hidden_size", d.hidden);
  d.intermediate = s.size("intermediate_size", d.intermediate);
  d.layers = s.few("num_hidden_layers", d.layers);
  d.heads = s.size("num_attention_heads", d.heads);
  bool grouped = type == "mistral" || kind != Kind::llama;
  d.kv_heads = s.size("num_key_value_heads", grouped ? d.kv_heads : d.heads);
  require(d.heads % d.kv_heads == 0, s,
          "num_attention_heads is not a multiple of num_key_value_heads");
  d.head_dim = s.size("head_dim", kind == Kind::qwen3 ? 128 : d.hidden / d.heads);
  require(d.head_dim >= 2 && d.head_dim % 2 == 0, s, "head_dim is odd or zero");
  d.vocab = s.size("vocab_size", d.vocab);
  d.eps = s.number("rms_norm_eps", d.eps);
  d.act = s.text("hidden_act", d.act);
  bool bias = s.flag("attention_bias", false);
  d.qkv_bias = kind == Kind::qwen2 || bias;
  d.out_bias = kind != Kind::qwen2 && bias;
  d.mlp_bias = s.flag("mlp_bias", false);
  d.qk_norm = kind == Kind::qwen3;
  if (s.flag("use_sliding_window", type == "mistral") && s.has("sliding_window")) {
    d.sliding_window = s.size("sliding_window", 0);
  }
  rope(s, d);
  // A head may be left out of the file when either level says that it is tied, or neither says.
  bool said = top.has("tie_word_embeddings") || (nested && s.has("tie_word_embeddings"));
  d.may_tie = !said || top.flag("tie_word_embeddings", false) ||
              (nested && s.flag("tie_word_embeddings", false));
  return d;
}

DualConfig dual(const Settings& top, bool clip) {
  DualConfig d;
  EncoderConfig vision = {
      768, 3072, 12, 12, clip ? 1e-5 : 1e-6, clip ? "quick_gelu" : "gelu_pytorch_tanh"};
  EncoderConfig text = vision;
  if (clip) text = {512, 2048, 12, 8, 1e-5, "quick_gelu"};
  Settings v = top.below("vision_config");
  Settings t = top.below("text_config");
  d.vision = encoder(v, vision);
  d.text = encoder(t, text);
  d.image_size = v.size("image_size", 224);
  d.patch = v.few("patch_size", clip ? 32 : 16);
  d.channels = v.few("num_channels", 3);
  d.vocab = t.size("vocab_size", clip ? 49408 : 32000);
  d.positions = t.size("max_position_embeddings", clip ? 77 : 64);
  d.eos = t.whole("eos_token_id", 49407);
  d.projection = clip ? top.size("projection_dim", 512) : t.size("projection_size", d.text.hidden);
  require(d.image_size % d.patch == 0 || !clip || d.image_size > d.patch, v,
          "image_size is smaller than patch_size");
  return d;
}

SamConfig sam(const Settings& top) {
  Settings v = top.below("vision_config");
  SamConfig d;
  d.vision = encoder(v, {768, 0, 12, 12, 1e-6, "gelu"});
  d.vision.intermediate = v.size(
      "mlp_dim",
      static_cast<int64_t>(static_cast<double>(d.vision.hidden) * v.number("mlp_ratio", 4.0)));
  d.image_size = v.size("image_size", 1024);
  d.patch = v.few("patch_size", 16);
  d.channels = v.few("num_channels", 3);
  d.output = v.size("output_channels", 256);
  d.window = std::clamp<int64_t>(v.whole("window_size", 14), 0, 1 << 20);
  d.qkv_bias = v.flag("qkv_bias", true);
  d.absolute = v.flag("use_abs_pos", true);
  d.relative = v.flag("use_rel_pos", true);
  d.global_layers = v.list("global_attn_indexes", {2, 5, 8, 11});
  return d;
}

QwenVisionConfig qwen(const Settings& top, Family family) {
  Settings v = top.below("vision_config");
  QwenVisionConfig d;
  d.layers = v.few("depth", family == Family::qwen3_vl ? 27 : 32);
  d.heads = v.size("num_heads", 16);
  d.channels = v.few("in_channels", v.few("in_chans", 3));
  d.patch = v.few("patch_size", family == Family::qwen3_vl ? 16 : 14);
  d.temporal = v.few("temporal_patch_size", 2);
  d.merge = v.few("spatial_merge_size", 2);
  d.theta = v.below("rope_parameters").number("rope_theta", 10000);
  if (family == Family::qwen2_vl) {
    d.hidden = v.size("embed_dim", 1280);
    d.output = v.size("hidden_size", 3584);
    d.intermediate =
        static_cast<int64_t>(static_cast<double>(d.hidden) * v.number("mlp_ratio", 4.0));
    d.act = v.text("hidden_act", "quick_gelu");
  } else if (family == Family::qwen2_5_vl) {
    d.hidden = v.size("hidden_size", 3584);
    d.output = v.size("out_hidden_size", 3584);
    d.intermediate = v.size("intermediate_size", 3420);
    d.act = v.text("hidden_act", "silu");
    d.window = v.size("window_size", 112);
    d.full_layers = v.list("fullatt_block_indexes", {7, 15, 23, 31});
    require(d.window >= d.patch * d.merge, v, "window_size is smaller than one token");
  } else {
    d.hidden = v.size("hidden_size", 1152);
    d.output = v.size("out_hidden_size", 3584);
    d.intermediate = v.size("intermediate_size", 4304);
    d.act = v.text("hidden_act", "gelu_pytorch_tanh");
    d.positions = v.size("num_position_embeddings", 2304);
    d.deepstack = v.list("deepstack_visual_indexes", {8, 16, 24});
    for (int64_t layer : d.deepstack) {
      require(layer >= 0 && layer < d.layers, v, "deepstack_visual_indexes names no layer");
    }
  }
  require(d.hidden % d.heads == 0 && d.hidden / d.heads % 4 == 0, v,
          "the width of a head must be a multiple of 4");
  return d;
}

OvisVisionConfig ovis(const Settings& top) {
  Settings v = top.below("vision_config");
  OvisVisionConfig d;
  d.hidden = v.size("hidden_size", d.hidden);
  d.intermediate = v.size("intermediate_size", d.intermediate);
  d.layers = v.few("num_hidden_layers", d.layers);
  d.heads = v.size("num_attention_heads", d.heads);
  d.channels = v.few("num_channels", d.channels);
  d.image_size = v.size("image_size", d.image_size);
  d.patch = v.few("patch_size", d.patch);
  d.stride = v.few("hidden_stride", d.stride);
  d.vocab = v.size("vocab_size", d.vocab);
  d.indicators = v.whole("num_visual_indicator_tokens", d.indicators);
  d.eps = v.number("rms_norm_eps", d.eps);
  d.act = v.text("hidden_act", d.act);
  d.tokenize = v.text("tokenize_function", d.tokenize);
  d.qkv_bias = v.flag("qkv_bias", false);
  d.mlp_bias = v.flag("mlp_bias", false);
  require(d.hidden % d.heads == 0, v, "hidden_size is not a multiple of num_attention_heads");
  require(d.indicators >= 0 && d.indicators < d.vocab, v, "num_visual_indicator_tokens is wrong");
  if (d.tokenize != "softmax" && d.tokenize != "st_argmax") {
    throw Error(ErrorCode::unsupported,
                v.file() + ": unknown tokenize_function '" + d.tokenize + "'");
  }
  return d;
}

LlavaVisionConfig llava(const Settings& top) {
  Settings v = top.below("vision_config");
  std::string type = v.text("model_type", "clip_vision_model");
  if (type != "clip_vision_model") {
    throw Error(ErrorCode::unsupported, v.file() + ": unknown vision tower '" + type + "'");
  }
  LlavaVisionConfig d;
  d.encoder = encoder(v, {1024, 4096, 24, 16, 1e-5, "quick_gelu"});
  d.image_size = v.size("image_size", 336);
  d.patch = v.few("patch_size", 14);
  d.channels = v.few("num_channels", 3);
  if (top.has("vision_feature_layer")) {
    d.feature_layers = top.raw("vision_feature_layer").is_array()
                           ? top.list("vision_feature_layer", {})
                           : std::vector<int64_t>{top.whole("vision_feature_layer", -2)};
  }
  for (int64_t layer : d.feature_layers) {
    require(layer >= -d.encoder.layers - 1 && layer <= d.encoder.layers, top,
            "vision_feature_layer names no layer");
  }
  require(!d.feature_layers.empty(), top, "vision_feature_layer is empty");
  std::string strategy = top.text("vision_feature_select_strategy", "default");
  require(strategy == "default" || strategy == "full", top,
          "unknown vision_feature_select_strategy '" + strategy + "'");
  d.keep_class = strategy == "full";
  d.act = top.text("projector_hidden_act", "gelu");
  d.bias = top.flag("multimodal_projector_bias", true);
  return d;
}

}  // namespace

const char* to_string(Family family) {
  switch (family) {
    case Family::clip:
      return "clip";
    case Family::siglip:
      return "siglip";
    case Family::sam:
      return "sam";
    case Family::llava:
      return "llava";
    case Family::qwen2_vl:
      return "qwen2_vl";
    case Family::qwen2_5_vl:
      return "qwen2_5_vl";
    case Family::qwen3_vl:
      return "qwen3_vl";
    case Family::ovis2:
      return "ovis2";
  }
  return "unknown";
}

ModelConfig read_config(const std::string& path) {
  std::filesystem::path file = path;
  if (std::filesystem::is_directory(file)) file /= "config.json";
  return parse_config(jsonio::read(file.string()), file.string());
}

ModelConfig parse_config(const json& value, const std::string& file) {
  Settings top(value, file);
  std::string type = top.text("model_type", "");
  ModelConfig config;
  config.file = file;
  config.dtype = top.text("dtype", top.text("torch_dtype", ""));
  bool known = false;
  for (Family family : {Family::clip, Family::siglip, Family::sam, Family::llava, Family::qwen2_vl,
                        Family::qwen2_5_vl, Family::qwen3_vl, Family::ovis2}) {
    if (type != to_string(family)) continue;
    config.family = family;
    known = true;
  }
  if (!known) {
    throw Error(ErrorCode::unsupported,
                file + ": unknown model_type '" + type +
                    "'; known: clip, siglip, sam, llava, qwen2_vl, qwen2_5_vl, qwen3_vl, ovis2");
  }
  switch (config.family) {
    case Family::clip:
      config.dual = dual(top, true);
      return config;
    case Family::siglip:
      config.dual = dual(top, false);
      return config;
    case Family::sam:
      config.sam = sam(top);
      return config;
    case Family::llava:
      config.llava = llava(top);
      break;
    case Family::ovis2:
      config.ovis = ovis(top);
      break;
    default:
      config.qwen = qwen(top, config.family);
      break;
  }
  bool is_llava = config.family == Family::llava;
  config.decoder = decoder(top, is_llava                         ? "llama"
                                : config.family == Family::ovis2 ? "qwen2"
                                                                 : type);
  int64_t image = is_llava ? 32000 : config.family == Family::ovis2 ? 151665 : 151655;
  config.image_token = top.whole("image_token_id", top.whole("image_token_index", image));
  config.vision_start = top.whole("vision_start_token_id", 151652);
  config.vision_end = top.whole("vision_end_token_id", 151653);
  config.indicators =
      top.list("visual_indicator_token_ids", {151666, 151667, 151668, 151669, 151670});
  return config;
}

}  // namespace arrcoc::hf
