#include "models/hf/generate.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <random>

#include "arrcoc/error.h"
#include "models/settings.h"

namespace arrcoc::hf {
namespace {

constexpr int64_t kReserved = 1024;  // new tokens that the cache has room for before it grows
constexpr int64_t kWatched = 32;     // tokens of an answer whose attention counts

// The same numbers on every standard library: 53 random bits.
double uniform(std::mt19937_64& engine) { return static_cast<double>(engine() >> 11) * 0x1.0p-53; }

bool contains(const std::vector<int64_t>& ids, int64_t id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// maps [B,queries,keys], mean over them; of row b the mean over queries [from, from + count) at the
// visual places: [N] on their device.
at::Tensor visual_attention(const AttentionProbe& probe, const at::Tensor& places, int64_t b,
                            int64_t from, int64_t count) {
  at::Tensor sum;
  for (const at::Tensor& map : probe.maps) {
    const at::Tensor one = map[b].narrow(0, from, count).mean(0);
    sum = sum.defined() ? sum + one : one;
  }
  return (sum / static_cast<double>(probe.maps.size())).index_select(0, places);
}

at::Tensor places_of(const Prompt& prompt, at::Device device) {
  return at::tensor(prompt.visual_places, at::kLong).to(device);
}

std::vector<float> on_cpu(const at::Tensor& given) {
  const at::Tensor all = given.to(at::kCPU, at::kFloat).contiguous();
  return {all.data_ptr<float>(), all.data_ptr<float>() + all.numel()};
}

// Layers by number, negative ones from the end. Error{bad_argument} for those that do not exist.
std::vector<int64_t> layers_of(const Decoder& decoder, const std::vector<int64_t>& wanted) {
  std::vector<int64_t> out;
  for (int64_t layer : wanted) {
    const int64_t at = layer < 0 ? decoder.config().layers + layer : layer;
    if (at < 0 || at >= decoder.config().layers)
      throw Error(ErrorCode::bad_argument, "the model has no layer " + std::to_string(layer));
    out.push_back(at);
  }
  return out;
}

void check(const GenerationSettings& s) {
  if (s.max_new_tokens < 1 || !(s.temperature >= 0) || !(s.top_p > 0) || s.top_p > 1 ||
      s.top_k < 0 || !(s.repetition_penalty > 0))
    throw Error(ErrorCode::bad_argument,
                "generation wants max_new_tokens >= 1, temperature >= 0, 0 < top_p <= 1, "
                "top_k >= 0, repetition_penalty > 0");
}

}  // namespace

int64_t draw(const at::Tensor& logits, const GenerationSettings& settings, double chance) {
  if (settings.temperature <= 0) return logits.argmax().item<int64_t>();
  const at::Tensor share = at::softmax(logits / settings.temperature, -1).contiguous();
  const float* p = share.data_ptr<float>();
  std::vector<int64_t> order(static_cast<size_t>(share.numel()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return p[a] > p[b]; });
  const size_t limit = settings.top_k > 0
                           ? std::min<size_t>(order.size(), static_cast<size_t>(settings.top_k))
                           : order.size();
  double mass = 0;
  size_t count = 0;
  while (count < limit && (count == 0 || mass < settings.top_p))
    mass += static_cast<double>(p[order[count++]]);
  double target = chance * mass;
  for (size_t i = 0; i < count; ++i) {
    target -= static_cast<double>(p[order[i]]);
    if (target < 0) return order[i];
  }
  return order[count - 1];
}

namespace {

// Chooses the next token and writes it down; the probability is the model's own. Only two numbers
// leave the device when the likeliest token is wanted.
int64_t choose_next(const at::Tensor& logits, const Prompt& prompt,
                    const GenerationSettings& settings, double chance, Generation& out) {
  at::Tensor wanted = logits;
  if (settings.repetition_penalty != 1) {
    const at::Tensor seen =
        at::cat({prompt.ids.reshape({-1}).to(at::kCPU), at::tensor(out.ids, at::kLong)})
            .to(logits.device());
    const at::Tensor before = logits.index_select(0, seen);
    wanted = logits.index_copy(0, seen,
                               at::where(before > 0, before / settings.repetition_penalty,
                                         before * settings.repetition_penalty));
  }
  const at::Tensor best =
      settings.temperature > 0
          ? at::full({1}, draw(wanted.to(at::kCPU), settings, chance), at::kLong)
                .to(logits.device())
          : wanted.argmax().reshape({1});
  const at::Tensor log_share = at::log_softmax(logits, -1).index_select(0, best);
  const at::Tensor numbers =
      at::cat({best.to(at::kDouble), log_share.to(at::kDouble)}).to(at::kCPU);
  const double* number = numbers.data_ptr<double>();
  if (!std::isfinite(number[1]))
    throw Error(ErrorCode::numeric, "the language model's output is not a number");
  out.ids.push_back(static_cast<int64_t>(number[0]));
  out.probability.push_back(static_cast<float>(std::exp(number[1])));
  return out.ids.back();
}

// Answers that grow together behind one prefix.
class Batch {
 public:
  Batch(const Vlm& model, std::span<const Prompt> prompts, int64_t shared,
        const GenerationSettings& settings)
      : decoder_(model.decoder()),
        prompts_(prompts),
        shared_(shared),
        settings_(settings),
        watched_(layers_of(model.decoder(), settings.attention_layers)),
        looked_(prompts.size()),
        looks_(prompts.size(), 0),
        over_(prompts.size(), false),
        out_(prompts.size()) {
    for (const Prompt& prompt : prompts) {
      rest_.push_back(prompt.length() - shared);
      next_.push_back(prompt.next_position);
      engines_.emplace_back(settings.seed);
      const bool covered = prompt.visual_places.empty() || prompt.visual_places.back() < shared;
      const bool alone = prompts.size() == 1 && shared == 0;
      if (prompt.embeds.size(0) != 1 || rest_.back() < 1 || (!alone && (shared < 1 || !covered)))
        throw Error(ErrorCode::bad_argument,
                    "prompts read together must share every picture and end differently");
    }
    longest_ = *std::max_element(rest_.begin(), rest_.end());
  }

  std::vector<Generation> run() {
    at::Tensor hidden = read_prompts();
    for (int64_t step = 1;; ++step) {
      const at::Tensor logits = decoder_.logits(hidden);
      std::vector<int64_t> ids(out_.size(), 0);
      for (size_t b = 0; b < out_.size(); ++b)
        if (!over_[b]) ids[b] = write(b, logits[static_cast<int64_t>(b)]);
      const bool all = std::find(over_.begin(), over_.end(), false) == over_.end();
      if (all || step >= settings_.max_new_tokens) break;
      const at::Tensor places = at::tensor(next_, at::kLong).reshape({1, -1, 1});
      for (int64_t& position : next_) ++position;
      const at::Tensor embeds = decoder_.embed(at::tensor(ids, at::kLong).unsqueeze(1));
      AttentionProbe probe;
      if (step < kWatched) probe.layers = watched_;
      hidden = decoder_.forward(embeds, places, &cache_, nullptr, probing(probe)).select(1, 0);
      for (size_t b = 0; b < out_.size(); ++b)
        if (!over_[b]) watch(probe, b, 0);
    }
    for (size_t b = 0; b < out_.size(); ++b)
      if (looked_[b].defined()) out_[b].attention = on_cpu(looked_[b] / looks_[b]);
    return std::move(out_);
  }

 private:
  AttentionProbe* probing(AttentionProbe& probe) const {
    return probe.layers.empty() ? nullptr : &probe;
  }

  // Where the place looked that the next token of answer b is read off.
  void watch(const AttentionProbe& probe, size_t b, int64_t query) {
    if (probe.maps.empty()) return;
    const at::Tensor places = places_of(prompts_[b], probe.maps[0].device());
    const at::Tensor one = visual_attention(probe, places, static_cast<int64_t>(b), query, 1);
    looked_[b] = looked_[b].defined() ? looked_[b] + one : one;
    looks_[b] += 1;
  }

  int64_t write(size_t b, const at::Tensor& logits) {
    const int64_t id = choose_next(logits, prompts_[b], settings_, uniform(engines_[b]), out_[b]);
    out_[b].stopped = contains(settings_.stop, id);
    const bool wanted = !settings_.on_token || settings_.on_token(b, id);
    over_[b] = out_[b].stopped || !wanted;
    return id;
  }

  void read_prefix() {
    const auto batch = static_cast<int64_t>(prompts_.size());
    Cache prefix;
    decoder_.forward(prompts_[0].embeds.narrow(1, 0, shared_),
                     prompts_[0].positions.narrow(2, 0, shared_), &prefix, &prompts_[0].deepstack);
    const auto widened = [&](const at::Tensor& one) {
      at::Tensor out = at::empty({batch, one.size(1), cache_.capacity, one.size(3)}, one.options());
      out.narrow(2, 0, shared_).copy_(one.narrow(2, 0, shared_));
      return out;
    };
    cache_.length = shared_;
    for (size_t i = 0; i < prefix.keys.size(); ++i) {
      cache_.keys.push_back(widened(prefix.keys[i]));
      cache_.values.push_back(widened(prefix.values[i]));
    }
  }

  // The prefix once, the rests padded at their ends: no word looks at what comes after it. Hidden
  // states [B,D] of the last words.
  at::Tensor read_prompts() {
    const int64_t read = shared_ + longest_;
    cache_.capacity = read + std::min(settings_.max_new_tokens, kReserved);
    if (shared_ > 0) read_prefix();
    const int64_t shortest = *std::min_element(rest_.begin(), rest_.end());
    const auto batch = static_cast<int64_t>(prompts_.size());
    std::vector<at::Tensor> embeds, places;
    at::Tensor mask;  // hides the padding from tokens to come
    if (shortest < longest_)
      mask =
          at::zeros({batch, 1, 1, read + settings_.max_new_tokens}, prompts_[0].embeds.options());
    for (size_t b = 0; b < prompts_.size(); ++b) {
      const int64_t more = longest_ - rest_[b];
      embeds.push_back(
          at::constant_pad_nd(prompts_[b].embeds.narrow(1, shared_, rest_[b]), {0, 0, 0, more}));
      places.push_back(
          at::constant_pad_nd(prompts_[b].positions.narrow(2, shared_, rest_[b]), {0, more}));
      if (more > 0)
        mask[static_cast<int64_t>(b)].narrow(2, shared_ + rest_[b], more).fill_(-INFINITY);
    }
    AttentionProbe probe;
    probe.layers = watched_;
    probe.queries = longest_ - shortest + 1;
    const at::Tensor hidden =
        decoder_.forward(at::cat(embeds), at::cat(places, 1), &cache_,
                         shared_ > 0 ? nullptr : &prompts_[0].deepstack, probing(probe));
    cache_.mask = mask;
    std::vector<at::Tensor> last;
    for (size_t b = 0; b < prompts_.size(); ++b) {
      const auto row = static_cast<int64_t>(b);
      last.push_back(hidden[row][rest_[b] - 1]);
      out_[b].prompt_tokens = prompts_[b].length();
      out_[b].visual_tokens = static_cast<int64_t>(prompts_[b].visual_places.size());
      watch(probe, b, rest_[b] - shortest);
    }
    return at::stack(last);
  }

  const Decoder& decoder_;
  std::span<const Prompt> prompts_;
  int64_t shared_;
  const GenerationSettings& settings_;
  const std::vector<int64_t> watched_;  // layers
  std::vector<at::Tensor> looked_;      // [N] of each answer, the sum over looks_ of its tokens
  std::vector<double> looks_;
  std::vector<int64_t> rest_;  // places of each prompt behind the shared ones
  std::vector<int64_t> next_;  // position of each answer's next token
  std::vector<std::mt19937_64> engines_;
  int64_t longest_ = 0;
  Cache cache_;
  std::vector<bool> over_;
  std::vector<Generation> out_;
};

}  // namespace

std::vector<Generation> generate(const Vlm& model, std::span<const Prompt> prompts, int64_t shared,
                                 const GenerationSettings& settings) {
  check(settings);
  if (prompts.empty()) return {};
  return Batch(model, prompts, shared, settings).run();
}

Generation generate(const Vlm& model, const Prompt& prompt, const GenerationSettings& settings) {
  return std::move(generate(model, {&prompt, 1}, 0, settings).front());
}

std::vector<float> look_of_words(const Vlm& model, const Prompt& prompt, int64_t words,
                                 const std::vector<int64_t>& layers) {
  if (words < 1 || words > prompt.length() || layers.empty())
    throw Error(ErrorCode::bad_argument, "no words or no layers to watch");
  AttentionProbe probe;
  probe.layers = layers_of(model.decoder(), layers);
  probe.queries = words;
  probe.only = true;
  model.decoder().forward(prompt.embeds, prompt.positions, nullptr, &prompt.deepstack, &probe);
  return on_cpu(visual_attention(probe, places_of(prompt, probe.maps[0].device()), 0, 0, words));
}

namespace {

// One id or a list of them; none when it is missing.
std::vector<int64_t> end_tokens(const Settings& s) {
  constexpr const char* kKey = "eos_token_id";
  if (!s.has(kKey)) return {};
  if (s.need(kKey).is_array()) return s.wholes(kKey, 0, INT32_MAX);
  return {s.whole(kKey, 0, 0, INT32_MAX)};
}

}  // namespace

GenerationSettings read_generation(const std::string& folder) {
  GenerationSettings out;
  const auto path = [&](const char* name) {
    return (std::filesystem::path(folder) / name).string();
  };
  const std::string file = path("generation_config.json"), config = path("config.json");
  if (std::filesystem::exists(file)) {
    const json value = Settings::read(file);
    const Settings s(value, file);
    if (s.get("do_sample", false)) {
      out.temperature = s.get<double>("temperature", 1);
      out.top_p = s.get<double>("top_p", 1);
      out.top_k = s.whole("top_k", 50, 0, INT32_MAX);
    }
    out.repetition_penalty = s.get<double>("repetition_penalty", 1);
    out.max_new_tokens = s.whole("max_new_tokens", out.max_new_tokens, 1, 1 << 24);
    out.stop = end_tokens(s);
    check(out);
  } else if (std::filesystem::exists(config)) {  // it says where an answer ends, too
    const json value = Settings::read(config);
    const Settings s(value, config);
    out.stop = end_tokens(s);
    for (const char* text : {"text_config", "language_config"})
      if (out.stop.empty()) out.stop = end_tokens(s.below(text));
  }
  return out;
}

}  // namespace arrcoc::hf
