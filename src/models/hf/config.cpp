#include "models/hf/config.h"

#include <algorithm>
#include <filesystem>
#include <map>

namespace arrcoc::hf {
namespace {

constexpr int64_t kMost = int64_t{1} << 31;

// Widths and the like; products of a few of them must not overflow.
int64_t size(const Settings& s, const char* key, int64_t fallback) {
  return s.whole(key, fallback, 1, int64_t{1} << 24);
}
int64_t few(const Settings& s, const char* key, int64_t fallback) {  // layers, patches, strides
  return s.whole(key, fallback, 1, 1024);
}
int64_t whole(const Settings& s, const char* key, int64_t fallback) {
  return s.whole(key, fallback, -kMost, kMost);
}
std::vector<int64_t> list(const Settings& s, const char* key, std::vector<int64_t> fallback) {
  return s.has(key) ? s.wholes(key, -kMost, kMost) : fallback;
}
int64_t times(int64_t width, double ratio) {
  return static_cast<int64_t>(static_cast<double>(width) * ratio);
}

void require(bool holds, const Settings& settings, const std::string& what) {
  if (!holds) throw Error(ErrorCode::bad_json, settings.file() + ": " + what);
}

EncoderConfig encoder(const Settings& s, EncoderConfig d) {
  d.hidden = size(s, "hidden_size", d.hidden);
  d.intermediate = size(s, "intermediate_size", d.intermediate);
  d.layers = few(s, "num_hidden_layers", d.layers);
  d.heads = size(s, "num_attention_heads", d.heads);
  d.eps = s.get<double>("layer_norm_eps", d.eps);
  d.act = s.get("hidden_act", d.act);
  require(d.hidden % d.heads == 0, s, "hidden_size is not a multiple of num_attention_heads");
  return d;
}

// rope_parameters (5.x) or rope_theta and rope_scaling (4.x).
void rope(const Settings& s, DecoderConfig& d) {
  bool now = s.has("rope_parameters");
  Settings extra = s.below(now ? "rope_parameters" : "rope_scaling");
  d.theta = extra.get<double>("rope_theta", s.get<double>("rope_theta", d.theta));
  std::string type = extra.get("rope_type", extra.get("type", "default"));
  d.mrope = list(extra, "mrope_section", d.mrope);
  d.interleaved = extra.get("mrope_interleaved", d.interleaved);
  if (type == "linear") {
    d.position_scale = extra.get<double>("factor", 1);
    require(d.position_scale > 0, s, "rope factor is not positive");
  } else if (type == "llama3") {
    d.llama3.factor = extra.get<double>("factor", 8);
    d.llama3.low = extra.get<double>("low_freq_factor", 1);
    d.llama3.high = extra.get<double>("high_freq_factor", 4);
    d.llama3.original = extra.get<double>("original_max_position_embeddings", 8192);
    require(d.llama3.factor > 0 && d.llama3.low > 0 && d.llama3.high > d.llama3.low, s,
            "the factors of rope type llama3 are wrong");
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

enum class Kind { llama, mistral, qwen2, qwen3, deepseek };

Kind kind_of(const std::string& type, const std::string& file) {
  static const std::map<std::string, Kind> kinds = {{"llama", Kind::llama},
                                                    {"vicuna", Kind::llama},
                                                    {"mistral", Kind::mistral},
                                                    {"qwen2", Kind::qwen2},
                                                    {"qwen2_vl", Kind::qwen2},
                                                    {"qwen2_vl_text", Kind::qwen2},
                                                    {"qwen2_5_vl", Kind::qwen2},
                                                    {"qwen2_5_vl_text", Kind::qwen2},
                                                    {"qwen3", Kind::qwen3},
                                                    {"qwen3_vl", Kind::qwen3},
                                                    {"qwen3_vl_text", Kind::qwen3},
                                                    {"deepseek_ocr2", Kind::deepseek},
                                                    {"deepseek_ocr2_text", Kind::deepseek}};
  auto found = kinds.find(type);
  if (found == kinds.end())
    throw Error(ErrorCode::unsupported, file + ": unknown language model '" + type + "'");
  return found->second;
}

// What the reference assumes where a file says nothing.
DecoderConfig decoder_defaults(Kind kind, bool visual) {
  DecoderConfig d;
  auto sizes = [&d](int64_t hidden, int64_t intermediate, int64_t layers, int64_t heads,
                    int64_t kv_heads) {
    d.hidden = hidden;
    d.intermediate = intermediate;
    d.layers = layers;
    d.heads = heads;
    d.kv_heads = kv_heads;
  };
  if (kind == Kind::mistral) sizes(4096, 14336, 32, 32, 8);
  if (kind == Kind::qwen2) sizes(8192, 29568, 80, 64, 8);
  if (kind == Kind::qwen3) sizes(4096, 22016, 32, 32, 32);
  if (kind == Kind::deepseek) d.vocab = 102400;
  if (kind == Kind::qwen2) d.vocab = 152064;
  if (kind == Kind::qwen3) d.vocab = 151936;
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

void read_experts(const Settings& s, DecoderConfig& d) {
  auto& e = d.experts;
  e.count = size(s, "n_routed_experts", 64);
  e.shared = size(s, "n_shared_experts", 2);
  e.intermediate = size(s, "moe_intermediate_size", 1407);
  e.scale = s.get<double>("routed_scaling_factor", 1);
  e.groups = size(s, "n_group", 1);
  e.chosen_groups = size(s, "topk_group", 1);
  const std::string method = s.get("topk_method", "greedy");
  e.limited = method == "group_limited_greedy";
  require(e.limited || method == "greedy", s, "unknown topk_method '" + method + "'");
  const int64_t dense = s.whole("first_k_dense_replace", 0, 0, d.layers);
  for (int64_t i = 0; i < d.layers; ++i) e.in_layer.push_back(i >= dense);
  if (s.has("mlp_layer_types")) {
    const json& types = s.need_list("mlp_layer_types");
    require(static_cast<int64_t>(types.size()) >= d.layers, s, "mlp_layer_types is too short");
    for (size_t i = 0; i < e.in_layer.size(); ++i) e.in_layer[i] = types[i] == "sparse";
  }
  if (std::find(e.in_layer.begin(), e.in_layer.end(), true) == e.in_layer.end()) return;
  e.chosen = size(s, "num_experts_per_tok", 0);
  require(e.chosen >= 1 && e.chosen <= e.count, s, "num_experts_per_tok is wrong");
  require(!e.limited || (e.count % e.groups == 0 && e.chosen_groups <= e.groups &&
                         e.chosen <= e.count / e.groups * e.chosen_groups),
          s, "n_group and topk_group do not fit the experts");
}

// `top` is the whole file: older files hold the text settings there.
DecoderConfig decoder(const Settings& top, const std::string& fallback_type) {
  bool nested = top.has("text_config");
  Settings s = nested ? top.below("text_config") : top;
  std::string type = nested ? s.get("model_type", fallback_type) : fallback_type;
  Kind kind = kind_of(type, s.file());
  DecoderConfig d = decoder_defaults(kind, type.find("_vl") != std::string::npos);
  d.hidden = size(s, "hidden_size", d.hidden);
  d.intermediate = size(s, "intermediate_size", d.intermediate);
  d.layers = few(s, "num_hidden_layers", d.layers);
  d.heads = size(s, "num_attention_heads", d.heads);
  const bool heads_alike = kind == Kind::llama || kind == Kind::deepseek;
  d.kv_heads = size(s, "num_key_value_heads", heads_alike ? d.heads : d.kv_heads);
  require(d.heads % d.kv_heads == 0, s,
          "num_attention_heads is not a multiple of num_key_value_heads");
  d.head_dim = kind == Kind::deepseek
                   ? d.hidden / d.heads
                   : size(s, "head_dim", kind == Kind::qwen3 ? 128 : d.hidden / d.heads);
  require(d.head_dim >= 2 && d.head_dim % 2 == 0, s, "head_dim is odd or zero");
  d.vocab = size(s, "vocab_size", d.vocab);
  d.eps = s.get<double>("rms_norm_eps", d.eps);
  d.act = s.get("hidden_act", d.act);
  bool bias = s.get("attention_bias", false);
  d.qkv_bias = kind == Kind::qwen2 || bias;
  d.out_bias = kind != Kind::qwen2 && bias;
  d.mlp_bias = s.get("mlp_bias", false);
  d.qk_norm = kind == Kind::qwen3;
  if (s.get("use_sliding_window", kind == Kind::mistral) && s.has("sliding_window"))
    d.sliding_window = size(s, "sliding_window", 0);
  if (s.has("max_position_embeddings")) d.context = size(s, "max_position_embeddings", 0);
  rope(s, d);
  if (kind == Kind::deepseek) read_experts(s, d);
  // A head may be left out of the file when either level says that it is tied, or neither says.
  bool said = top.has("tie_word_embeddings") || (nested && s.has("tie_word_embeddings"));
  d.may_tie = !said || top.get("tie_word_embeddings", false) ||
              (nested && s.get("tie_word_embeddings", false));
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
  d.image_size = size(v, "image_size", 224);
  d.patch = few(v, "patch_size", clip ? 32 : 16);
  d.channels = few(v, "num_channels", 3);
  d.vocab = size(t, "vocab_size", clip ? 49408 : 32000);
  d.positions = size(t, "max_position_embeddings", clip ? 77 : 64);
  d.eos = whole(t, "eos_token_id", 49407);
  d.projection =
      clip ? size(top, "projection_dim", 512) : size(t, "projection_size", d.text.hidden);
  require(d.image_size % d.patch == 0 || !clip || d.image_size > d.patch, v,
          "image_size is smaller than patch_size");
  return d;
}

SamConfig sam(const Settings& v) {
  SamConfig d;
  d.vision = encoder(v, {768, 0, 12, 12, 1e-6, "gelu"});
  d.vision.intermediate = size(v, "mlp_dim", times(d.vision.hidden, v.get<double>("mlp_ratio", 4)));
  d.image_size = size(v, "image_size", 1024);
  d.patch = few(v, "patch_size", 16);
  d.channels = few(v, "num_channels", 3);
  d.output = size(v, "output_channels", 256);
  d.window = std::clamp<int64_t>(whole(v, "window_size", 14), 0, 1 << 20);
  d.qkv_bias = v.get("qkv_bias", true);
  d.absolute = v.get("use_abs_pos", true);
  d.relative = v.get("use_rel_pos", true);
  d.global_layers = list(v, "global_attn_indexes", {2, 5, 8, 11});
  return d;
}

QwenVisionConfig qwen(const Settings& top, Family family) {
  Settings v = top.below("vision_config");
  QwenVisionConfig d;
  d.layers = few(v, "depth", family == Family::qwen3_vl ? 27 : 32);
  d.heads = size(v, "num_heads", 16);
  d.channels = few(v, "in_channels", few(v, "in_chans", 3));
  d.patch = few(v, "patch_size", family == Family::qwen3_vl ? 16 : 14);
  d.temporal = few(v, "temporal_patch_size", 2);
  d.merge = few(v, "spatial_merge_size", 2);
  d.theta = v.below("rope_parameters").get<double>("rope_theta", 10000);
  if (family == Family::qwen2_vl) {
    d.hidden = size(v, "embed_dim", 1280);
    d.output = size(v, "hidden_size", 3584);
    d.intermediate = times(d.hidden, v.get<double>("mlp_ratio", 4));
    d.act = v.get("hidden_act", "quick_gelu");
  } else if (family == Family::qwen2_5_vl) {
    d.hidden = size(v, "hidden_size", 3584);
    d.output = size(v, "out_hidden_size", 3584);
    d.intermediate = size(v, "intermediate_size", 3420);
    d.act = v.get("hidden_act", "silu");
    d.window = size(v, "window_size", 112);
    d.second = size(v, "tokens_per_second", 4);
    d.full_layers = list(v, "fullatt_block_indexes", {7, 15, 23, 31});
    require(d.window >= d.patch * d.merge, v, "window_size is smaller than one token");
  } else {
    d.hidden = size(v, "hidden_size", 1152);
    d.output = size(v, "out_hidden_size", 3584);
    d.intermediate = size(v, "intermediate_size", 4304);
    d.act = v.get("hidden_act", "gelu_pytorch_tanh");
    d.positions = size(v, "num_position_embeddings", 2304);
    d.deepstack = list(v, "deepstack_visual_indexes", {8, 16, 24});
    for (int64_t layer : d.deepstack)
      require(layer >= 0 && layer < d.layers, v, "deepstack_visual_indexes names no layer");
  }
  require(d.hidden % d.heads == 0 && d.hidden / d.heads % 4 == 0, v,
          "the width of a head must be a multiple of 4");
  return d;
}

OvisVisionConfig ovis(const Settings& top) {
  Settings v = top.below("vision_config");
  OvisVisionConfig d;
  d.encoder = encoder(v, {1024, 2816, 24, 8, 1e-5, "silu"});
  d.encoder.eps = v.get<double>("rms_norm_eps", 1e-5);
  d.channels = few(v, "num_channels", d.channels);
  d.image_size = size(v, "image_size", d.image_size);
  d.patch = few(v, "patch_size", d.patch);
  d.stride = few(v, "hidden_stride", d.stride);
  d.vocab = size(v, "vocab_size", d.vocab);
  d.indicators = whole(v, "num_visual_indicator_tokens", d.indicators);
  const std::string tokenize = v.get("tokenize_function", "softmax");
  d.likeliest = tokenize == "st_argmax";
  d.qkv_bias = v.get("qkv_bias", false);
  d.mlp_bias = v.get("mlp_bias", false);
  require(d.indicators >= 0 && d.indicators < d.vocab, v, "num_visual_indicator_tokens is wrong");
  if (!d.likeliest && tokenize != "softmax")
    throw Error(ErrorCode::unsupported,
                v.file() + ": unknown tokenize_function '" + tokenize + "'");
  return d;
}

LlavaVisionConfig llava(const Settings& top) {
  Settings v = top.below("vision_config");
  std::string type = v.get("model_type", "clip_vision_model");
  if (type != "clip_vision_model")
    throw Error(ErrorCode::unsupported, v.file() + ": unknown vision tower '" + type + "'");
  LlavaVisionConfig d;
  d.encoder = encoder(v, {1024, 4096, 24, 16, 1e-5, "quick_gelu"});
  d.image_size = size(v, "image_size", 336);
  d.patch = few(v, "patch_size", 14);
  d.channels = few(v, "num_channels", 3);
  if (top.has("vision_feature_layer")) {
    d.feature_layers = top.need("vision_feature_layer").is_array()
                           ? list(top, "vision_feature_layer", {})
                           : std::vector<int64_t>{whole(top, "vision_feature_layer", -2)};
  }
  for (int64_t layer : d.feature_layers)
    require(layer >= -d.encoder.layers - 1 && layer <= d.encoder.layers, top,
            "vision_feature_layer names no layer");
  require(!d.feature_layers.empty(), top, "vision_feature_layer is empty");
  std::string strategy = top.get("vision_feature_select_strategy", "default");
  require(strategy == "default" || strategy == "full", top,
          "unknown vision_feature_select_strategy '" + strategy + "'");
  d.keep_class = strategy == "full";
  d.act = top.get("projector_hidden_act", "gelu");
  d.bias = top.get("multimodal_projector_bias", true);
  return d;
}

SmolVisionConfig smol(const Settings& top) {
  Settings v = top.below("vision_config");
  SmolVisionConfig d;
  d.encoder = encoder(v, {1152, 3072, 12, 16, 1e-6, "gelu_pytorch_tanh"});
  d.image_size = size(v, "image_size", d.image_size);
  d.patch = few(v, "patch_size", d.patch);
  d.channels = few(v, "num_channels", d.channels);
  d.scale = few(top, "scale_factor", d.scale);
  require(d.image_size >= d.patch, v, "image_size is smaller than patch_size");
  return d;
}

DeepseekVisionConfig deepseek(const Settings& top) {
  const Settings v = top.below("vision_config");
  DeepseekVisionConfig d;
  const Settings s = v.below("sam_config");
  d.sam = sam(s);
  d.channels = list(s, "downsample_channels", d.channels);
  require(d.channels.size() == 2 && d.channels[0] > 0 && d.channels[1] > 0, s,
          "downsample_channels must be two numbers");
  const Settings e = v.below("encoder_config");
  DecoderConfig& q = d.encoder;
  q.hidden = size(e, "hidden_size", 4096);
  q.intermediate = size(e, "intermediate_size", 22016);
  q.layers = few(e, "num_hidden_layers", 32);
  q.heads = size(e, "num_attention_heads", 32);
  q.kv_heads = size(e, "num_key_value_heads", 32);
  q.eps = e.get<double>("rms_norm_eps", 1e-6);
  q.act = e.get("hidden_act", "silu");
  q.head_dim = size(e, "head_dim", q.hidden / q.heads);
  require(q.heads % q.kv_heads == 0 && q.head_dim >= 2 && q.head_dim % 2 == 0, e,
          "the heads do not fit");
  rope(e, q);
  require(q.mrope.empty(), e, "mrope_section is not for this encoder");
  require(q.hidden == d.channels[1], e, "the compressor gives rows of another width");
  return d;
}

SamClipConfig sam_clip(const Settings& top) {
  const Settings v = top.below("vision_config");
  SamClipConfig d;
  d.sam = sam(v.below("sam_config"));
  d.channels = list(v, "downsample_channels", d.channels);
  require(d.channels.size() <= 8, v, "downsample_channels are more than 8");
  for (int64_t width : d.channels)
    require(width > 0 && width <= int64_t{1} << 24, v,
            "downsample_channels must be positive numbers");
  d.clip = encoder(v.below("clip_config"), {1024, 4096, 24, 16, 1e-5, "quick_gelu"});
  d.sizes = few(v, "token_sizes", d.sizes);
  d.act = top.get("projector_hidden_act", d.act);
  require(d.sam.image_size >= d.sam.patch, v, "image_size is smaller than patch_size");
  return d;
}

}  // namespace

ModelConfig read_config(const std::string& path) {
  std::filesystem::path file = path;
  if (std::filesystem::is_directory(file)) file /= "config.json";
  return parse_config(Settings::read(file.string()), file.string());
}

ModelConfig parse_config(const json& value, const std::string& file) {
  const Settings top(value, file);
  const std::string type = top.get("model_type", "");
  if (type == "deepseek_vl_v2") return parse_config(deepseek_hub_config(value, file), file);
  ModelConfig config;
  config.file = file;
  config.dtype = top.get("dtype", top.get("torch_dtype", ""));
  try {
    config.family = parse_enum<Family>(type);
  } catch (const Error& unknown) {
    throw Error(ErrorCode::unsupported, file + ": " + unknown.what());
  }
  switch (config.family) {
    case Family::clip:
      config.dual = dual(top, true);
      return config;
    case Family::siglip:
      config.dual = dual(top, false);
      return config;
    case Family::sam:
      config.sam = sam(top.below("vision_config"));
      return config;
    case Family::llava:
      config.llava = llava(top);
      break;
    case Family::ovis2:
      config.ovis = ovis(top);
      break;
    case Family::smolvlm:
    case Family::idefics3:
      config.smol = smol(top);
      break;
    case Family::deepseek_ocr2:
      config.deepseek = deepseek(top);
      break;
    case Family::sam_clip:
      config.sam_clip = sam_clip(top);
      break;
    default:
      config.qwen = qwen(top, config.family);
      break;
  }
  const bool is_ovis = config.family == Family::ovis2, is_smol = config.is_smol();
  const bool is_llama =
      config.family == Family::llava || config.family == Family::sam_clip || is_smol;
  config.decoder = decoder(top, is_llama ? "llama" : is_ovis ? "qwen2" : type);
  if (is_smol && !top.has("text_config")) config.decoder.eps = 1e-5;
  int64_t image = config.family == Family::deepseek_ocr2 ? 128815
                  : is_smol                              ? 128257
                  : is_llama                             ? 32000
                  : is_ovis                              ? 151665
                                                         : 151655;
  config.image_token = whole(top, "image_token_id", whole(top, "image_token_index", image));
  if (config.is_qwen()) config.video_token = whole(top, "video_token_id", 151656);
  config.vision_start = whole(top, "vision_start_token_id", 151652);
  config.vision_end = whole(top, "vision_end_token_id", 151653);
  config.indicators =
      list(top, "visual_indicator_token_ids", {151666, 151667, 151668, 151669, 151670});
  return config;
}

}  // namespace arrcoc::hf
