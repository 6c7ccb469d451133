// DeepSeek-OCR-2: SAM, a convolutional compressor, an encoder that answers learned queries, and a
// mixture of experts. Its tokens are answers to the queries, in an order of the encoder's own.
#include <ATen/ATen.h>

#include <cmath>

#include "arrcoc/error.h"
#include "base/cancel.h"
#include "models/compat.h"
#include "models/hf/sam.h"
#include "models/hf/vlm.h"

namespace arrcoc::hf {
namespace {

constexpr int64_t kFew = 144, kMany = 256;  // queries of a local and of the global view

// Patches see each other, queries see the patches and the queries before them.
class QueryEncoder {
 public:
  QueryEncoder(const DecoderConfig& c, const std::string& file, Source& source) : c_(c) {
    const Activation act = activation(c.act, file);
    for (int64_t i = 0; i < c.layers; ++i) {
      const std::string at = "encoder.layers." + std::to_string(i) + ".", self = at + "self_attn.";
      Layer& layer = layers_.emplace_back();
      layer.input = source.rms_norm(at + "input_layernorm", c.hidden, c.eps);
      layer.post = source.rms_norm(at + "post_attention_layernorm", c.hidden, c.eps);
      layer.q = source.linear(self + "q_proj", c.hidden, c.heads * c.head_dim);
      layer.k = source.linear(self + "k_proj", c.hidden, c.kv_heads * c.head_dim);
      layer.v = source.linear(self + "v_proj", c.hidden, c.kv_heads * c.head_dim);
      layer.out = source.linear(self + "o_proj", c.heads * c.head_dim, c.hidden, false);
      layer.mlp = gated_mlp(source, at + "mlp.", c.hidden, c.intermediate, false, act);
    }
    norm_ = source.rms_norm("encoder.norm", c.hidden, c.eps);
    few_ = source.get("query_768.weight", {kFew, c.hidden});
    many_ = source.get("query_1024.weight", {kMany, c.hidden});
    frequencies_ = inverse_frequencies(c.head_dim, c.theta, few_.device()) / c.position_scale;
  }

  static int64_t queries(int64_t patches) { return patches <= kFew ? kFew : kMany; }

  // patches [B,L,D] -> [B,queries,D]
  at::Tensor operator()(const at::Tensor& patches) const {
    const int64_t seen = patches.size(1);
    const at::Tensor& asked = queries(seen) == kFew ? few_ : many_;
    at::Tensor x = at::cat({patches, asked.expand({patches.size(0), -1, -1})}, 1);
    const at::Tensor angle =
        at::arange(x.size(1), frequencies_.options()).unsqueeze(1) * frequencies_;
    const Rotary rotary(angle.unsqueeze(1).unsqueeze(0), x.scalar_type());  // [1,L,1,D/2]
    at::Tensor mask = at::full({x.size(1), x.size(1)}, -INFINITY, x.options()).triu(1);
    mask.narrow(0, 0, seen).narrow(1, 0, seen).zero_();
    mask = mask.unsqueeze(0).unsqueeze(0);
    const double scale = 1 / std::sqrt(static_cast<double>(c_.head_dim));
    for (const Layer& layer : layers_) {
      check_cancelled();
      const at::Tensor normal = layer.input(x);
      const auto heads = [&](const Linear& linear, int64_t count) {
        return linear(normal).view({x.size(0), x.size(1), count, c_.head_dim});
      };
      const at::Tensor mixed =
          compat::attention(rotary(heads(layer.q, c_.heads)).transpose(1, 2),
                            rotary(heads(layer.k, c_.kv_heads)).transpose(1, 2),
                            heads(layer.v, c_.kv_heads).transpose(1, 2), scale, false, mask);
      x = x + layer.out(join_heads(mixed));
      x = x + layer.mlp(layer.post(x));
    }
    return norm_(x).narrow(1, seen, asked.size(0));
  }

 private:
  struct Layer {
    Norm input, post;
    Linear q, k, v, out;
    Mlp mlp;
  };
  DecoderConfig c_;
  std::vector<Layer> layers_;
  Norm norm_;
  at::Tensor few_, many_, frequencies_;
};

class Deepseek : public Vlm {
 public:
  Deepseek(const ModelConfig& config, Source& source)
      : Vlm(config, source),
        sam_(config.deepseek.sam, "sam.", config.file, source),
        encoder_(config.deepseek.encoder, config.file, source) {
    const DeepseekVisionConfig& c = config.deepseek;
    down1_ = source.get("sam.proj.conv1.weight", {c.channels[0], c.sam.output, 3, 3});
    down2_ = source.get("sam.proj.conv2.weight", {c.channels[1], c.channels[0], 3, 3});
    projector_ = source.linear("projector", c.encoder.hidden, config.decoder.hidden);
    separator_ = source.get("view_separator", {config.decoder.hidden});
  }

  int64_t tile_tokens(int64_t side) const override {
    const int64_t patches = side / config_.deepseek.sam.patch;
    const int64_t across = ((patches + 1) / 2 + 1) / 2;  // two convolutions of stride 2
    return QueryEncoder::queries(across * across);
  }

  int64_t tokens(const at::Tensor& values, const at::Tensor& local) const override {
    const int64_t patch = config_.deepseek.sam.patch;
    for (const at::Tensor& views : {values, local})
      if (views.defined() && (views.dim() != 4 || views.size(1) != config_.deepseek.sam.channels ||
                              views.size(2) != views.size(3) || views.size(2) < patch))
        throw Error(ErrorCode::bad_argument, "pixel values must be [B," +
                                                 std::to_string(config_.deepseek.sam.channels) +
                                                 ",S,S], at least one patch a side");
    if (values.size(0) != 1)
      throw Error(ErrorCode::bad_argument, "one picture at a time, with its local views");
    const int64_t near = local.defined() ? local.size(0) * tile_tokens(local.size(2)) : 0;
    return near + tile_tokens(values.size(2)) + 1;
  }

  // Local views, the whole, a separator.
  Visual encode(const at::Tensor& values, const at::Tensor& local,
                const std::vector<int64_t>& keep) const override {
    tokens(values, local);
    if (!keep.empty())
      throw Error(ErrorCode::unsupported,
                  "the tokens of DeepSeek-OCR-2 are answers to queries about a whole view: choose "
                  "local views (zoom) instead");
    std::vector<at::Tensor> rows;
    for (int64_t i = 0; local.defined() && i < local.size(0); ++i)
      rows.push_back(view(local.narrow(0, i, 1)));
    rows.push_back(view(values));
    rows.push_back(separator_.unsqueeze(0));
    return {at::cat(rows), {}};
  }

  at::Tensor compressed(const at::Tensor& values) const override {
    const at::Tensor seen = sam_.of_any_size(values);
    return at::conv2d(at::conv2d(seen, down1_, {}, 2, 1), down2_, {}, 2, 1);
  }

 private:
  at::Tensor view(const at::Tensor& pixels) const {
    return projector_(encoder_(compressed(pixels).flatten(2).transpose(1, 2)))[0];
  }

  SamEncoder sam_;
  QueryEncoder encoder_;
  at::Tensor down1_, down2_, separator_;
  Linear projector_;
};

}  // namespace

std::unique_ptr<Vlm> make_deepseek(const ModelConfig& config, Source& source) {
  return std::make_unique<Deepseek>(config, source);
}

// Names of deepseek-ai's files, which transformers writes as well, then those of its modules.
Spellings deepseek_spellings(const ModelConfig& config) {
  const std::string old = "model.sam_model.", now = "model.vision_tower.sam_encoder.";
  Spellings out;
  for (int64_t i = 0; i < config.deepseek.sam.vision.layers; ++i) {
    const std::string number = std::to_string(i) + ".";
    const std::string ours = "sam.layers." + number, block = old + "blocks." + number;
    const std::string layer = now + "layers." + number;
    out.push_back({ours + "layer_norm1.", {block + "norm1.", layer + "layer_norm1."}});
    out.push_back({ours + "layer_norm2.", {block + "norm2.", layer + "layer_norm2."}});
    out.push_back({ours + "attn.", {block + "attn.", layer + "attn."}});
    out.push_back({ours + "mlp.", {block + "mlp.", layer + "mlp."}});
  }
  const std::pair<const char*, const char*> parts[] = {
      {"patch_embed.projection.", "patch_embed.proj."},
      {"pos_embed", "pos_embed"},
      {"neck.conv1.", "neck.0."},
      {"neck.layer_norm1.", "neck.1."},
      {"neck.conv2.", "neck.2."},
      {"neck.layer_norm2.", "neck.3."},
      {"proj.conv1.", "net_2."},
      {"proj.conv2.", "net_3."}};
  for (const auto& [ours, theirs] : parts)
    out.push_back({std::string("sam.") + ours, {old + theirs, now + ours}});
  const std::string tower = "model.vision_tower.", qwen = "model.qwen2_model.";
  out.push_back({"encoder.", {qwen + "model.model.", tower + "vision_encoder."}});
  out.push_back({"query_768.", {qwen + "query_768.", tower + "query_768_resolution."}});
  out.push_back({"query_1024.", {qwen + "query_1024.", tower + "query_1024_resolution."}});
  out.push_back({"projector.", {"model.projector.layers.", "model.multi_modal_projector."}});
  out.push_back({"view_separator", {"model.view_seperator", "model.view_separator"}});
  out.push_back({"language.", {"model.", "model.language_model."}});
  out.push_back({"lm_head.", {"lm_head."}});
  return out;
}

}  // namespace arrcoc::hf
