#include "models/hf/generate.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <random>

#include "arrcoc/error.h"
#include "models/hf/json.h"

namespace arrcoc::hf {
namespace {

// The same numbers on every standard library: 53 random bits.
double uniform(std::mt19937_64& engine) { return static_cast<double>(engine() >> 11) * 0x1.0p-53; }

std::vector<float> visual_attention(const AttentionProbe& probe, const Prompt& prompt) {
  if (probe.maps.empty()) return {};
  at::Tensor sum = probe.maps[0].select(1, 0);
  for (size_t i = 1; i < probe.maps.size(); ++i) sum = sum + probe.maps[i].select(1, 0);
  at::Tensor mean = (sum[0] / static_cast<double>(probe.maps.size())).to(at::kCPU).contiguous();
  const float* at = mean.data_ptr<float>();
  std::vector<float> out;
  for (int64_t place : prompt.visual_places) out.push_back(at[place]);
  return out;
}

void check(const GenerateOptions& options) {
  if (options.max_new_tokens < 1 || !(options.temperature >= 0) || !(options.top_p > 0) ||
      options.top_p > 1 || options.top_k < 0) {
    throw Error(
        ErrorCode::bad_argument,
        "generation wants max_new_tokens >= 1, temperature >= 0, 0 < top_p <= 1, top_k >= 0");
  }
}

}  // namespace

int64_t draw(const at::Tensor& logits, const GenerateOptions& options, double chance) {
  if (options.temperature <= 0) return logits.argmax().item<int64_t>();
  at::Tensor share = at::softmax(logits / options.temperature, -1).contiguous();
  const float* p = share.data_ptr<float>();
  std::vector<int64_t> order(static_cast<size_t>(share.numel()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return p[a] > p[b]; });
  size_t limit = options.top_k > 0
                     ? std::min<size_t>(order.size(), static_cast<size_t>(options.top_k))
                     : order.size();
  double mass = 0;
  size_t count = 0;
  while (count < limit && (count == 0 || mass < options.top_p)) {
    mass += static_cast<double>(p[order[count++]]);
  }
  double target = chance * mass;
  for (size_t i = 0; i < count; ++i) {
    target -= static_cast<double>(p[order[i]]);
    if (target < 0) return order[i];
  }
  return order[count - 1];
}

namespace {

// Chooses the next token and writes it down. Only three numbers leave the device when the likeliest
// token is wanted.
int64_t note(const at::Tensor& logits, const GenerateOptions& options, double chance,
             Generation& out) {
  at::Tensor log_share = at::log_softmax(logits, -1);
  at::Tensor best =
      options.temperature > 0
          ? at::full({1}, draw(logits.to(at::kCPU), options, chance), at::kLong).to(logits.device())
          : logits.argmax().reshape({1});
  at::Tensor entropy = -(log_share.exp() * log_share).nansum();
  at::Tensor numbers =
      at::cat({best.to(at::kDouble), log_share.index_select(0, best).to(at::kDouble),
               entropy.to(at::kDouble).reshape({1})})
          .to(at::kCPU);
  const double* number = numbers.data_ptr<double>();
  if (!std::isfinite(number[1])) {
    throw Error(ErrorCode::numeric, "the language model's output is not a number");
  }
  out.ids.push_back(static_cast<int64_t>(number[0]));
  out.probability.push_back(static_cast<float>(std::exp(number[1])));
  out.entropy.push_back(static_cast<float>(number[2]));
  return out.ids.back();
}

}  // namespace

Generation generate(const Vlm& model, const Prompt& prompt, const GenerateOptions& options) {
  check(options);
  if (prompt.embeds.size(0) != 1) {
    throw Error(ErrorCode::bad_argument, "generation takes one prompt at a time");
  }
  const Decoder& decoder = model.decoder();
  AttentionProbe probe;
  for (int64_t layer : options.attention_layers) {
    int64_t at = layer < 0 ? decoder.config().layers + layer : layer;
    if (at < 0 || at >= decoder.config().layers) {
      throw Error(ErrorCode::bad_argument, "the model has no layer " + std::to_string(layer));
    }
    probe.layers.push_back(at);
  }
  Generation out;
  out.prompt_tokens = prompt.length();
  out.visual_tokens = static_cast<int64_t>(prompt.visual_places.size());
  Cache cache;
  cache.capacity = prompt.length() + options.max_new_tokens;
  std::mt19937_64 engine(options.seed);
  at::Tensor hidden = decoder.forward(prompt.embeds, prompt.positions, &cache, &prompt.deepstack,
                                      probe.layers.empty() ? nullptr : &probe);
  out.attention = visual_attention(probe, prompt);
  int64_t position = prompt.next_position();
  for (int64_t step = 0;; ++step, ++position) {
    at::Tensor logits = decoder.logits(hidden.select(1, hidden.size(1) - 1))[0];
    int64_t id = note(logits, options, uniform(engine), out);
    out.stopped = std::count(options.stop.begin(), options.stop.end(), id) > 0;
    bool wanted = !options.on_token || options.on_token(id);
    if (out.stopped || !wanted || step + 1 >= options.max_new_tokens) return out;
    at::Tensor next = at::full({1, 1}, id, at::kLong);
    at::Tensor place = at::full({1, 1, 1}, position, at::kLong);
    hidden = decoder.forward(decoder.embed(next), place, &cache);
  }
}

GenerateOptions read_generation(const std::string& folder) {
  GenerateOptions options;
  std::string file = (std::filesystem::path(folder) / "generation_config.json").string();
  if (!std::filesystem::exists(file)) return options;
  nlohmann::json value = jsonio::read(file);
  if (!value.is_object()) throw Error(ErrorCode::bad_json, file + ": not an object");
  if (jsonio::flag(value, "do_sample", false, file)) {
    options.temperature = jsonio::number(value, "temperature", 1, file);
    options.top_p = jsonio::number(value, "top_p", 1, file);
    options.top_k = jsonio::whole(value, "top_k", 50, 0, INT32_MAX, file);
  }
  options.max_new_tokens =
      jsonio::whole(value, "max_new_tokens", options.max_new_tokens, 1, 1 << 24, file);
  if (jsonio::has(value, "eos_token_id")) {
    const nlohmann::json& stop = value["eos_token_id"];
    for (const nlohmann::json& id : stop.is_array() ? stop : nlohmann::json::array({stop})) {
      options.stop.push_back(jsonio::whole(id, "eos_token_id", 0, INT32_MAX, file));
    }
  }
  return options;
}

}  // namespace arrcoc::hf
