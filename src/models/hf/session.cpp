#include "models/hf/session.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "arrcoc/error.h"
#include "models/hf/processor.h"
#include "models/hf/vlm.h"

namespace arrcoc::hf {
namespace {

constexpr int64_t kCacheBytes = int64_t{1} << 30;
constexpr int64_t kGlanceTokens = 256;  // of the small view that early attention reads

void check_name(const std::string& name, const std::vector<std::string>& known, const char* what) {
  if (std::count(known.begin(), known.end(), name)) return;
  std::string all;
  for (const std::string& one : known) all += (all.empty() ? "" : ", ") + one;
  throw Error(ErrorCode::bad_argument,
              std::string("unknown ") + what + " '" + name + "'; known: " + all);
}

class Laps {
 public:
  explicit Laps(std::vector<Stage>& stages) : stages_(stages) {}
  void lap(const char* name) {
    const auto now = std::chrono::steady_clock::now();
    stages_.push_back({name, std::chrono::duration<double, std::milli>(now - last_).count()});
    last_ = now;
  }

 private:
  std::vector<Stage>& stages_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Attention has sinks: a few tokens that take most of it whatever is asked. Values are cut at three
// deviations above the mean, so that these do not flatten the rest.
Map without_sinks(Map map) {
  const float limit = mean(map) + 3 * std::sqrt(variance(map));
  for (float& value : map.values) value = std::min(value, limit);
  return min_max(map);
}

}  // namespace

Session::Session(std::shared_ptr<const HfModel> model, std::vector<Picture> pictures,
                 AskOptions options)
    : model_(std::move(model)), pictures_(std::move(pictures)), options_(std::move(options)) {
  if (options_.mode.empty()) options_.mode = model_->zoom_refusal().empty() ? "zoom" : "prune";
  check_name(options_.mode, {"native", "prune", "patches", "zoom"}, "mode");
  check_name(options_.relevance, {"realizer", "clip", "attention", "combined"}, "relevance");
  if (options_.mode == "zoom" && !model_->zoom_refusal().empty()) {
    throw Error(ErrorCode::unsupported, model_->zoom_refusal());
  }
  if (options_.relevance == "clip" && !options_.coupling) {
    throw Error(ErrorCode::bad_argument,
                "relevance 'clip' needs the folder of a CLIP or SigLIP model");
  }
  if (!options_.maps.empty() && options_.maps.size() != pictures_.size()) {
    throw Error(ErrorCode::bad_argument, "there must be one map a picture, or none");
  }
  if (pictures_.empty()) throw Error(ErrorCode::bad_argument, "no picture to talk about");
  if (!options_.cache) options_.cache = std::make_shared<FeatureCache>(kCacheBytes);
  int64_t depth = model_->vlm().decoder().config().layers;
  if (options_.generate.attention_layers.empty()) {
    for (int64_t i = depth / 2; i < depth; ++i) options_.generate.attention_layers.push_back(i);
  }
}

Features Session::whole(const Picture& picture, int64_t max_tokens) const {
  const uint64_t key = picture.hash ^ (static_cast<uint64_t>(max_tokens) * 0x9e3779b97f4a7c15ULL);
  return options_.cache->get(key, [&] { return model_->encode_image(picture, max_tokens); });
}

int64_t Session::native_tokens(const Picture& picture) const {
  if (!model_->processor().follows_size()) return whole(picture).native();
  auto [height, width] = model_->processor().smart_size(picture.height(), picture.width());
  const int64_t unit = model_->token_pixels();
  return height / unit * (width / unit);
}

Map Session::attention_map(const Picture& picture, const std::string& question) const {
  const bool all = options_.mode == "prune" || !model_->processor().follows_size();
  const Features seen = whole(picture, all ? 0 : kGlanceTokens);
  return without_sinks(token_map(seen, model_->early_attention({{"user", question, 1}}, {seen})));
}

Map Session::relevance(size_t index, const std::string& question) const {
  const Picture& picture = pictures_[index];
  const std::string& from = options_.relevance;
  std::vector<Map> maps;
  if (from == "realizer" || from == "combined") {
    maps.push_back(options_.maps.empty() ? realize(picture, question, options_.look).relevance.map
                                         : options_.maps[index]);
  }
  if (from == "clip" || (from == "combined" && options_.coupling)) {
    maps.push_back(options_.coupling->relevance(picture, question));
  }
  if (from == "attention" || from == "combined") maps.push_back(attention_map(picture, question));
  return maps.size() == 1 ? maps[0] : combine(maps);
}

Sighting Session::look(size_t index, const std::string& question) const {
  const Picture& picture = pictures_[index];
  Sighting out;
  out.native_tokens = native_tokens(picture);
  if (options_.mode == "native") {
    out.features = whole(picture);
    return out;
  }
  Relevance relevance;
  relevance.map = out.relevance = this->relevance(index, question);
  Budget budget = allocating::budget(relevance, parse_query(question), options_.look.budget);
  const auto count = static_cast<int>(pictures_.size());
  if (budget.tokens < count) {
    throw Error(ErrorCode::bad_argument, "a budget of " + std::to_string(budget.tokens) +
                                             " tokens is too small for " + std::to_string(count) +
                                             " pictures");
  }
  budget.tokens /= count;
  AllocateOptions settings = options_.look.allocate;
  settings.token_pixels = model_->token_pixels();
  const Geometry geometry{picture.width(), picture.height(), 0};
  const bool zoom = options_.mode == "zoom";
  out.allocation = allocating::allocate(relevance, geometry, budget,
                                        zoom ? "zoom" : options_.look.allocator, settings);
  if (zoom) {
    out.features = model_->encode_zoom(picture, out.allocation);
  } else if (options_.mode == "patches") {
    out.features = model_->encode_patches(picture, out.allocation, options_.select);
  } else {
    out.features = model_->select(whole(picture), out.allocation, options_.select);
  }
  return out;
}

Turn Session::look_at_all(const std::vector<Message>& talk) const {
  if (talk.empty()) throw Error(ErrorCode::bad_argument, "the conversation has no question");
  Turn turn;
  turn.question = talk.back().text;
  parse_query(turn.question);  // refuses an empty one
  turn.mode = options_.mode;
  Laps watch(turn.stages);
  for (size_t i = 0; i < pictures_.size(); ++i) {
    turn.pictures.push_back(look(i, turn.question));
    turn.tokens += turn.pictures.back().features.size();
    turn.native_tokens += turn.pictures.back().native_tokens;
  }
  watch.lap("looking");
  return turn;
}

Turn Session::look(const std::vector<Message>& talk) {
  Turn turn = look_at_all(talk);
  std::vector<Features> features;
  Generation& out = turn.answer.generation;
  for (const Sighting& seen : turn.pictures) {
    features.push_back(seen.features);
    out.prompt_tokens -= seen.features.native();
  }
  // The prompt has a place for every token of the full views; those left out are not read.
  out.prompt_tokens += static_cast<int64_t>(model_->prompt_ids(talk, features).size());
  out.prompt_tokens += turn.tokens;
  out.visual_tokens = turn.tokens;
  return turn;
}

Turn Session::ask(const std::vector<Message>& talk) {
  Turn turn = look_at_all(talk);
  Laps watch(turn.stages);
  std::vector<Features> features;
  for (const Sighting& seen : turn.pictures) features.push_back(seen.features);
  turn.answer = model_->answer(talk, features, options_.generate);
  watch.lap("answering");
  const std::vector<float>& attention = turn.answer.generation.attention;
  auto at = attention.begin();
  for (Sighting& sighting : turn.pictures) {
    const auto size = static_cast<std::ptrdiff_t>(sighting.features.size());
    sighting.attention = token_map(sighting.features, std::vector<float>(at, at + size));
    at += size;
  }
  return turn;
}

Turn Session::ask(const std::string& question) {
  std::vector<Message> talk = talk_;
  talk.push_back({"user", question, talk.empty() ? static_cast<int>(pictures_.size()) : 0});
  Turn turn = ask(talk);
  talk.push_back({"assistant", turn.answer.text, 0});
  talk_ = std::move(talk);
  return turn;
}

}  // namespace arrcoc::hf
