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

// maps [B,queries,keys] -> of row b the mean over queries [from, to) at the visual places.
std::vector<float> visual_attention(const AttentionProbe& probe, const Prompt& prompt, int64_t b,
                                    int64_t from, int64_t to) {
  if (probe.maps.empty()) return {};
  at::Tensor sum;
  for (const at::Tensor& map : probe.maps) {
    at::Tensor one = map[b].narrow(0, from, to - from).mean(0);
    sum = sum.defined() ? sum + one : one;
  }
  at::Tensor mean = (sum / static_cast<double>(probe.maps.size())).to(at::kCPU).contiguous();
  const float* at = mean.data_ptr<float>();
  std::vector<float> out;
  for (int64_t place : prompt.visual_places) out.push_back(at[place]);
  return out;
}

// Layers by number, negative ones from the end. Error{bad_argument} for those that do not exist.
std::vector<int64_t> layers_of(const Decoder& decoder, const std::vector<int64_t>& wanted) {
  std::vector<int64_t> out;
  for (int64_t layer : wanted) {
    int64_t at = layer < 0 ? decoder.config().layers + layer : layer;
    if (at < 0 || at >= decoder.config().layers) {
      throw Error(ErrorCode::bad_argument, "the model has no layer " + std::to_string(layer));
    }
    out.push_back(at);
  }
  return out;
}

void check(const GenerateOptions& options) {
  if (options.max_new_tokens < 1 || !(options.temperature >= 0) || !(options.top_p > 0) ||
      options.top_p > 1 || options.top_k < 0 || !(options.repetition_penalty > 0)) {
    throw Error(ErrorCode::bad_argument,
                "generation wants max_new_tokens >= 1, temperature >= 0, 0 < top_p <= 1, "
                "top_k >= 0, repetition_penalty > 0");
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

// Chooses the next token and writes it down; probabilities are the model's own. Only three numbers
// leave the device when the likeliest token is wanted.
int64_t note(const at::Tensor& logits, const Prompt& prompt, const GenerateOptions& options,
             double chance, Generation& out) {
  at::Tensor log_share = at::log_softmax(logits, -1);
  at::Tensor wanted = logits;
  if (options.repetition_penalty != 1) {
    at::Tensor seen =
        at::cat({prompt.ids.reshape({-1}).to(at::kCPU), at::tensor(out.ids, at::kLong)})
            .to(logits.device());
    at::Tensor before = logits.index_select(0, seen);
    wanted = logits.index_copy(0, seen,
                               at::where(before > 0, before / options.repetition_penalty,
                                         before * options.repetition_penalty));
  }
  at::Tensor best =
      options.temperature > 0
          ? at::full({1}, draw(wanted.to(at::kCPU), options, chance), at::kLong).to(logits.device())
          : wanted.argmax().reshape({1});
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
  probe.layers = layers_of(decoder, options.attention_layers);
  Generation out;
  out.prompt_tokens = prompt.length();
  out.visual_tokens = static_cast<int64_t>(prompt.visual_places.size());
  Cache cache;
  cache.capacity = prompt.length() + options.max_new_tokens;
  std::mt19937_64 engine(options.seed);
  at::Tensor hidden = decoder.forward(prompt.embeds, prompt.positions, &cache, &prompt.deepstack,
                                      probe.layers.empty() ? nullptr : &probe);
  out.attention = visual_attention(probe, prompt, 0, 0, 1);
  int64_t position = prompt.next_position();
  for (int64_t step = 0;; ++step, ++position) {
    at::Tensor logits = decoder.logits(hidden.select(1, hidden.size(1) - 1))[0];
    int64_t id = note(logits, prompt, options, uniform(engine), out);
    out.stopped = std::count(options.stop.begin(), options.stop.end(), id) > 0;
    bool wanted = !options.on_token || options.on_token(id);
    if (out.stopped || !wanted || step + 1 >= options.max_new_tokens) return out;
    at::Tensor next = at::full({1, 1}, id, at::kLong);
    at::Tensor place = at::full({1, 1, 1}, position, at::kLong);
    hidden = decoder.forward(decoder.embed(next), place, &cache);
  }
}

namespace {

// Several answers that grow together behind one shared prefix.
class Together {
 public:
  Together(const Vlm& model, const std::vector<Prompt>& prompts, int64_t shared,
           const GenerateOptions& options)
      : decoder_(model.decoder()), prompts_(prompts), shared_(shared), options_(options) {
    for (const Prompt& prompt : prompts) {
      rest_.push_back(prompt.length() - shared);
      next_.push_back(prompt.next_position());
      engines_.emplace_back(options.seed);
      bool covered = prompt.visual_places.empty() || prompt.visual_places.back() < shared;
      if (prompt.embeds.size(0) != 1 || rest_.back() < 1 || shared < 1 || !covered) {
        throw Error(ErrorCode::bad_argument,
                    "prompts read together must share every picture and end differently");
      }
    }
    longest_ = *std::max_element(rest_.begin(), rest_.end());
    out_.resize(prompts.size());
  }

  std::vector<Generation> run() {
    at::Tensor hidden = read_prompts();
    for (int64_t step = 0;; ++step) {
      at::Tensor logits = decoder_.logits(hidden);
      std::vector<int64_t> ids(out_.size(), 0);
      for (size_t b = 0; b < out_.size(); ++b) {
        if (done(b)) continue;
        ids[b] = note(logits[static_cast<int64_t>(b)], prompts_[b], options_, uniform(engines_[b]),
                      out_[b]);
        out_[b].stopped = std::count(options_.stop.begin(), options_.stop.end(), ids[b]) > 0;
      }
      bool all = step + 1 >= options_.max_new_tokens;
      for (size_t b = 0; !all && b < out_.size() && done(b); ++b) all = b + 1 == out_.size();
      if (all) return std::move(out_);
      at::Tensor places = at::tensor(next_, at::kLong).reshape({1, -1, 1});
      for (int64_t& position : next_) ++position;
      hidden =
          decoder_.forward(decoder_.embed(at::tensor(ids, at::kLong).unsqueeze(1)), places, &cache_)
              .select(1, 0);
    }
  }

 private:
  bool done(size_t b) const { return out_[b].stopped; }

  // The prefix once, the rests padded at their ends: no word looks at what comes after it. Hidden
  // states [B,D] of the last words.
  at::Tensor read_prompts() {
    auto batch = static_cast<int64_t>(prompts_.size());
    const Prompt& first = prompts_[0];
    Cache prefix;
    decoder_.forward(first.embeds.narrow(1, 0, shared_), first.positions.narrow(2, 0, shared_),
                     &prefix, &first.deepstack);
    cache_.capacity = shared_ + longest_ + options_.max_new_tokens;
    cache_.length = shared_;
    for (size_t i = 0; i < prefix.keys.size(); ++i) {
      cache_.keys.push_back(widened(prefix.keys[i], batch));
      cache_.values.push_back(widened(prefix.values[i], batch));
    }
    std::vector<at::Tensor> embeds, places;
    cache_.mask = at::zeros({batch, 1, 1, cache_.capacity}, first.embeds.options());
    for (size_t b = 0; b < prompts_.size(); ++b) {
      int64_t more = longest_ - rest_[b];
      embeds.push_back(
          at::constant_pad_nd(prompts_[b].embeds.narrow(1, shared_, rest_[b]), {0, 0, 0, more}));
      places.push_back(
          at::constant_pad_nd(prompts_[b].positions.narrow(2, shared_, rest_[b]), {0, more}));
      cache_.mask[static_cast<int64_t>(b)].narrow(2, shared_ + rest_[b], more).fill_(-INFINITY);
    }
    AttentionProbe probe;
    probe.layers = layers_of(decoder_, options_.attention_layers);
    probe.queries = longest_;
    at::Tensor mask;
    std::swap(mask, cache_.mask);  // for single tokens only
    at::Tensor hidden = decoder_.forward(at::cat(embeds), at::cat(places, 1), &cache_, nullptr,
                                         probe.layers.empty() ? nullptr : &probe);
    std::swap(mask, cache_.mask);
    std::vector<at::Tensor> last;
    for (size_t b = 0; b < prompts_.size(); ++b) {
      auto row = static_cast<int64_t>(b);
      last.push_back(hidden[row][rest_[b] - 1]);
      out_[b].prompt_tokens = prompts_[b].length();
      out_[b].visual_tokens = static_cast<int64_t>(prompts_[b].visual_places.size());
      out_[b].attention = visual_attention(probe, prompts_[b], row, rest_[b] - 1, rest_[b]);
    }
    return at::stack(last);
  }

  at::Tensor widened(const at::Tensor& prefix, int64_t batch) const {
    at::Tensor out =
        at::empty({batch, prefix.size(1), cache_.capacity, prefix.size(3)}, prefix.options());
    out.narrow(2, 0, shared_).copy_(prefix.narrow(2, 0, shared_));
    return out;
  }

  const Decoder& decoder_;
  const std::vector<Prompt>& prompts_;
  int64_t shared_;
  const GenerateOptions& options_;
  std::vector<int64_t> rest_;  // places of each prompt behind the shared ones
  std::vector<int64_t> next_;  // position of each answer's next token
  std::vector<std::mt19937_64> engines_;
  int64_t longest_ = 0;
  Cache cache_;
  std::vector<Generation> out_;
};

}  // namespace

std::vector<Generation> generate_together(const Vlm& model, const std::vector<Prompt>& prompts,
                                          int64_t shared, const GenerateOptions& options) {
  check(options);
  if (prompts.empty()) return {};
  return Together(model, prompts, shared, options).run();
}

std::vector<float> look_of_words(const Vlm& model, const Prompt& prompt, int64_t words,
                                 const std::vector<int64_t>& layers) {
  if (words < 1 || words > prompt.length() || layers.empty()) {
    throw Error(ErrorCode::bad_argument, "no words or no layers to watch");
  }
  AttentionProbe probe;
  probe.layers = layers_of(model.decoder(), layers);
  probe.queries = words;
  probe.only = true;
  model.decoder().forward(prompt.embeds, prompt.positions, nullptr, &prompt.deepstack, &probe);
  return visual_attention(probe, prompt, 0, 0, words);
}

namespace {

// One id or a list of them; none when it is missing.
std::vector<int64_t> end_tokens(const nlohmann::json& value, const std::string& file) {
  std::vector<int64_t> out;
  if (!jsonio::has(value, "eos_token_id")) return out;
  const nlohmann::json& stop = value["eos_token_id"];
  for (const nlohmann::json& id : stop.is_array() ? stop : nlohmann::json::array({stop})) {
    out.push_back(jsonio::whole(id, "eos_token_id", 0, INT32_MAX, file));
  }
  return out;
}

}  // namespace

GenerateOptions read_generation(const std::string& folder) {
  GenerateOptions options;
  auto path = [&](const char* name) { return (std::filesystem::path(folder) / name).string(); };
  std::string file = path("generation_config.json");
  bool given = std::filesystem::exists(file);
  if (given) {
    nlohmann::json value = jsonio::read(file);
    if (!value.is_object()) throw Error(ErrorCode::bad_json, file + ": not an object");
    if (jsonio::flag(value, "do_sample", false, file)) {
      options.temperature = jsonio::number(value, "temperature", 1, file);
      options.top_p = jsonio::number(value, "top_p", 1, file);
      options.top_k = jsonio::whole(value, "top_k", 50, 0, INT32_MAX, file);
    }
    options.repetition_penalty = jsonio::number(value, "repetition_penalty", 1, file);
    options.max_new_tokens =
        jsonio::whole(value, "max_new_tokens", options.max_new_tokens, 1, 1 << 24, file);
    options.stop = end_tokens(value, file);
    check(options);
  }
  // Without that file config.json says where an answer ends.
  file = path("config.json");
  if (!given && std::filesystem::exists(file)) {
    nlohmann::json value = jsonio::read(file);
    options.stop = end_tokens(value, file);
    if (options.stop.empty() && jsonio::has(value, "text_config")) {
      options.stop = end_tokens(value["text_config"], file);
    }
  }
  return options;
}

}  // namespace arrcoc::hf
