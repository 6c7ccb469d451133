// A Hugging Face model behind the interface that `ask` drives.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <tuple>

#include "arrcoc/error.h"
#include "arrcoc/model.h"
#include "models/hf/looker.h"
#include "models/hf/processor.h"
#include "models/hf/reduction.h"
#include "models/hf/vlm.h"

namespace arrcoc {
namespace hf {
namespace {

constexpr int64_t kGlanceTokens = 256;  // of the small view that early attention reads
constexpr size_t kTogether = 16;        // answers that grow in one batch
constexpr const char* kBlank = " \n\r\t";

// The text of one answer as it grows: whole characters, without white space around them.
class AnswerText {
 public:
  AnswerText(const Tokenizer& tokenizer, const std::vector<std::string>& stop, Sink& sink,
             size_t reading)
      : pieces_(tokenizer), stop_(&stop), sink_(&sink), reading_(reading) {}
  void push(int64_t id) { hear(pieces_.push(id)); }
  void finish() { hear(pieces_.finish()); }
  bool wanted() const { return wanted_; }
  const std::string& text() const { return text_; }

 private:
  void hear(const std::string& piece) {
    std::string more = blank_ + piece;
    if (text_.empty()) more.erase(0, std::min(more.find_first_not_of(kBlank), more.size()));
    const size_t end = more.find_last_not_of(kBlank) + 1;  // npos + 1 is 0
    blank_ = more.substr(end);
    more.resize(end);
    text_ += more;
    if (!more.empty() && wanted_) wanted_ = sink_->text(reading_, more);
    for (const std::string& stop : *stop_) {
      const size_t from = text_.size() - std::min(text_.size(), more.size() + stop.size());
      if (text_.find(stop, from) != std::string::npos) wanted_ = false;
    }
  }

  TokenStream pieces_;
  const std::vector<std::string>* stop_;
  Sink* sink_;
  size_t reading_;
  std::string text_;
  std::string blank_;  // white space that is not part of the answer unless more follows
  bool wanted_ = true;
};

// True when the same tokens of the same pictures are read.
bool same_tokens(const PictureTokens& a, const PictureTokens& b) {
  return a.picture->digest == b.picture->digest && a.allocation.geometry == b.allocation.geometry &&
         a.allocation.budget.tokens == b.allocation.budget.tokens &&
         a.allocation.leaves == b.allocation.leaves && a.allocation.crops == b.allocation.crops;
}

bool same_tokens(const Reading& a, const Reading& b) {
  const auto settings = [](const GenerateOptions& g) {
    return std::tie(g.max_new_tokens, g.temperature, g.top_p, g.seed, g.stop);
  };
  return a.answer && b.answer && settings(a.generate) == settings(b.generate) &&
         std::equal(a.pictures.begin(), a.pictures.end(), b.pictures.begin(), b.pictures.end(),
                    [](const auto& x, const auto& y) { return same_tokens(x, y); });
}

// The whole conversation; pictures that no earlier turn shows belong to the question.
std::vector<Turn> conversation(const Reading& reading) {
  std::vector<Turn> turns = reading.before;
  auto left = static_cast<int>(reading.pictures.size());
  for (const Turn& turn : turns) left -= turn.pictures;
  if (left < 0)
    throw Error(ErrorCode::bad_argument, "the messages show more pictures than were given");
  turns.push_back({Role::user, reading.question, left});
  return turns;
}

// The folder's own name; OWNER/NAME in the hub's cache (models--OWNER--NAME/snapshots/COMMIT).
std::string name_of(const std::filesystem::path& folder) {
  std::string repo = folder.parent_path().parent_path().filename().string();
  if (folder.parent_path().filename() != "snapshots" || repo.rfind("models--", 0) != 0)
    return folder.filename().string();
  repo.erase(0, 8);
  const size_t split = repo.find("--");
  return split == std::string::npos ? repo : repo.replace(split, 2, "/");
}

class Reader : public Model {
 public:
  Reader(std::shared_ptr<const HfModel> model, std::string name, const ModelOptions& options,
         std::shared_ptr<const Reduction> reduction)
      : options_(options),
        name_(std::move(name)),
        cache_(std::make_shared<FeatureCache>(options.cache_bytes)),
        model_(std::move(model)),
        reduction_(std::move(reduction)) {
    if (reduction_) {
      options_.mode = ReadMode::prune;
      if (const std::string why = reduction_->refusal(*model_); !why.empty())
        throw Error(ErrorCode::unsupported, why);
    }
    const std::string refusal = model_->zoom_refusal();
    const bool tapers = options_.depth.rule != DepthRule::full;
    if (options_.mode == ReadMode::automatic)
      options_.mode = refusal.empty() && !tapers               ? ReadMode::zoom
                      : tapers || model_->vlm().takes_groups() ? ReadMode::patches
                                                               : ReadMode::prune;
    if (tapers) require_depth();
    if (options_.mode == ReadMode::zoom && !refusal.empty())
      throw Error(ErrorCode::unsupported, refusal);
    const std::string whole_only = model_->select_refusal();
    if ((options_.mode == ReadMode::prune || options_.mode == ReadMode::patches) &&
        !whole_only.empty())
      throw Error(ErrorCode::unsupported, whole_only);
  }

  std::string name() const override { return name_; }

  Capabilities capabilities() const override {
    Capabilities out;
    out.takes = options_.mode == ReadMode::native ? TokenKind::native
                : zooms_freely()                  ? TokenKind::views
                                                  : TokenKind::selection;
    out.several = out.probabilities = out.focus = out.turns = true;
    out.token_pixels = model_->token_pixels();
    out.least_tokens = static_cast<int>(model_->least_tokens());
    return out;
  }

  int64_t view_tokens(int width, int height) const override {
    if (!zooms_freely()) return model_->native_tokens(width, height);
    const auto [rows, cols] = model_->view_grid(width, height);
    return rows * cols;
  }

  void read(std::span<const Reading> readings, Sink& sink) const override {
    for (size_t begin = 0, end = 0; begin < readings.size(); begin = end) {
      end = begin + 1;
      while (end < readings.size() && end - begin < kTogether && !reduction_ &&
             same_tokens(readings[begin], readings[end]))
        ++end;
      read_group(readings, begin, end, sink);
    }
  }

  std::vector<int64_t> tokenize(std::string_view text, bool special) const override {
    return model_->tokenizer()->encode(text, special);
  }

  std::shared_ptr<const Looker> looker() const override {
    const bool all = options_.mode == ReadMode::prune || !model_->zoom_refusal().empty() ||
                     !model_->select_refusal().empty();
    return make_attention_looker(model_, cache_, all ? 0 : kGlanceTokens);
  }

  bool reads_films() const { return model_->vlm().config().is_qwen(); }
  void film(std::span<const FilmFrame> frames, const std::string& question,
            const GenerateOptions& generate, Sink& sink) const {
    c10::InferenceMode guard;
    std::vector<Frame> shown;
    std::vector<Allocation> allocations;
    for (const FilmFrame& frame : frames) {
      for (int64_t i = 0; i < model_->vlm().config().qwen.temporal; ++i)
        shown.push_back({frame.picture, frame.seconds});
      allocations.push_back(frame.allocation);
    }
    Reading reading;
    reading.question = question;
    reading.generate = generate;
    reading.pictures.resize(1);  // the film
    const Features all = model_->encode_film(shown);
    const SelectOptions select{options_.merge, options_.tiers};
    read_features({&reading, 1}, 0, 1, {model_->select_film(all, allocations, select)}, sink);
  }

 private:
  void require_depth() const {
    model_->require_depth(options_.depth);
    if (reduction_ || (options_.mode != ReadMode::prune && options_.mode != ReadMode::patches))
      throw Error(ErrorCode::unsupported, std::string("depth is for modes prune and patches; ") +
                                              (reduction_ ? "this way" : to_string(options_.mode)) +
                                              " encodes every token whole");
    if (options_.tiers) throw Error(ErrorCode::bad_argument, "depth and tiers exclude each other");
  }

  bool zooms_freely() const { return options_.mode == ReadMode::zoom && !model_->chooses_tiles(); }

  Features features_of(const PictureTokens& tokens, const std::string& question) const {
    if (reduction_)
      return reduction_->reduce(*model_, *tokens.picture, question, tokens.allocation.budget.tokens,
                                [&] { return cache_->whole(*model_, *tokens.picture); });
    const SelectOptions select{options_.merge, options_.tiers, options_.depth};
    switch (options_.mode) {
      case ReadMode::zoom:
        return model_->encode_zoom(*tokens.picture, tokens.allocation);
      case ReadMode::patches:
        return model_->encode_patches(*tokens.picture, tokens.allocation, select);
      case ReadMode::prune:
        if (options_.depth.rule != DepthRule::full)
          return model_->encode_tapered(*tokens.picture, tokens.allocation, select);
        return model_->select(cache_->whole(*model_, *tokens.picture), tokens.allocation, select);
      default:
        return cache_->whole(*model_, *tokens.picture);
    }
  }

  GenerationSettings settings_for(const GenerateOptions& wanted) const {
    GenerationSettings out = model_->defaults();
    if (wanted.max_new_tokens != 0) out.max_new_tokens = wanted.max_new_tokens;
    out.temperature = wanted.temperature.value_or(out.temperature);
    out.top_p = wanted.top_p.value_or(out.top_p);
    out.seed = wanted.seed;
    const int64_t depth = model_->vlm().decoder().config().layers;
    for (int64_t i = depth / 2; i < depth; ++i) out.attention_layers.push_back(i);
    return out;
  }

  void keep_within_context(int64_t prompt, GenerationSettings& settings) const {
    const int64_t context = model_->vlm().decoder().config().context;
    const int64_t left = context - prompt;
    if (context > 0 && left <= 0)
      throw Error(ErrorCode::bad_argument, "the conversation has " + std::to_string(prompt) +
                                               " tokens, more than this model's context of " +
                                               std::to_string(context));
    if (context > 0) settings.max_new_tokens = std::min(settings.max_new_tokens, left);
  }

  // Readings [begin, end) that read the same tokens.
  void read_group(std::span<const Reading> readings, size_t begin, size_t end, Sink& sink) const {
    c10::InferenceMode guard;
    std::vector<Features> pictures;
    for (const PictureTokens& one : readings[begin].pictures)
      pictures.push_back(features_of(one, readings[begin].question));
    read_features(readings, begin, end, pictures, sink);
  }

  void read_features(std::span<const Reading> readings, size_t begin, size_t end,
                     const std::vector<Features>& pictures, Sink& sink) const {
    const Reading& first = readings[begin];
    std::vector<std::vector<int64_t>> prompts;
    std::vector<AnswerText> texts;
    for (size_t i = begin; i < end; ++i) {
      prompts.push_back(model_->prompt_ids(conversation(readings[i]), pictures));
      texts.emplace_back(*model_->tokenizer(), first.generate.stop, sink, i);
    }
    if (!first.answer) return sink.done(begin, counted(prompts[0].size(), pictures));
    GenerationSettings settings = settings_for(first.generate);
    for (const auto& prompt : prompts)
      keep_within_context(counted(prompt.size(), pictures).prompt_tokens, settings);
    settings.on_token = [&](size_t k, int64_t id) {
      const auto& stop = settings.stop;
      if (std::find(stop.begin(), stop.end(), id) == stop.end()) texts[k].push(id);
      return texts[k].wanted();
    };
    const std::vector<Generation> made = model_->generate_all(prompts, pictures, settings);
    for (size_t k = 0; k < made.size(); ++k) {
      texts[k].finish();
      Reply reply = counted(prompts[k].size(), pictures);
      complete(made[k], pictures, reply);
      reply.text = texts[k].text();
      reply.cut = !made[k].stopped && texts[k].wanted() &&
                  reply.completion_tokens == settings.max_new_tokens;
      sink.done(begin + k, std::move(reply));
    }
  }

  // The prompt has a place for every token of the full views; those left out are not read.
  Reply counted(size_t ids, const std::vector<Features>& pictures) const {
    Reply out;
    if (!model_->note().empty()) out.fallbacks.push_back(model_->note());
    out.prompt_tokens = static_cast<int64_t>(ids);
    for (const Features& features : pictures) {
      out.kept.push_back(features.size());
      if (!features.depths.empty())
        out.depths.push_back({model_->vlm().level_blocks(), features.depths});
      out.prompt_tokens += features.size() - features.native();
    }
    return out;
  }

  static void complete(const Generation& made, const std::vector<Features>& pictures, Reply& out) {
    out.probabilities = made.probability;
    out.completion_tokens = static_cast<int64_t>(made.ids.size());
    double logs = 0;
    for (float p : made.probability) logs += std::log(static_cast<double>(p));
    out.likelihood = std::exp(logs);
    out.confidence = std::exp(logs / static_cast<double>(made.probability.size()));
    std::span<const float> left = made.attention;
    const float all = std::accumulate(left.begin(), left.end(), 0.0F);
    for (const Features& features : pictures) {
      const auto size = static_cast<size_t>(features.size());
      const std::vector<float> own = by_row(features, left.first(size));
      out.attention.push_back(min_max(token_map(features, own)));
      left = left.subspan(size);
      for (float share : own) out.focus.push_back(share / std::max(all, 1e-30F));
      add_places(features, out.places);
    }
  }

  // In the prompt a token that stands for several is where their median is (prepare); rows are by
  // their first.
  static std::vector<float> by_row(const Features& features, std::span<const float> values) {
    std::vector<std::pair<int64_t, size_t>> order;
    for (size_t i = 0; i < features.groups.size(); ++i) {
      std::vector<int64_t> members = features.groups[i];
      std::sort(members.begin(), members.end());
      order.emplace_back(members[(members.size() - 1) / 2], i);
    }
    std::sort(order.begin(), order.end());
    std::vector<float> out(values.begin(), values.end());
    for (size_t i = 0; i < order.size(); ++i) out[order[i].second] = values[i];
    return out;
  }

  // Of every token that was read; one that stands for several is around them.
  static void add_places(const Features& features, std::vector<Box>& places) {
    if (features.groups.empty())
      places.insert(places.end(), features.boxes.begin(), features.boxes.end());
    for (const auto& group : features.groups) {
      Box around = features.boxes[static_cast<size_t>(group.front())];
      for (int64_t member : group) {
        const Box& box = features.boxes[static_cast<size_t>(member)];
        around = {std::min(around.x0, box.x0), std::min(around.y0, box.y0),
                  std::max(around.x1, box.x1), std::max(around.y1, box.y1)};
      }
      places.push_back(around);
    }
  }

  ModelOptions options_;
  std::string name_;
  std::shared_ptr<FeatureCache> cache_;
  std::shared_ptr<const HfModel> model_;
  std::shared_ptr<const Reduction> reduction_;  // null: the mode's own way
};

}  // namespace

std::shared_ptr<const Model> make_reader(std::shared_ptr<const HfModel> model, std::string name,
                                         const ModelOptions& options,
                                         std::shared_ptr<const Reduction> reduction) {
  return std::make_shared<Reader>(std::move(model), std::move(name), options, std::move(reduction));
}

}  // namespace hf

bool reads_films(const Model& model) {
  const auto* reader = dynamic_cast<const hf::Reader*>(&model);
  return reader != nullptr && reader->reads_films();
}

Reply read_film(const Model& model, std::span<const FilmFrame> frames, const std::string& question,
                const GenerateOptions& generate) {
  struct Heard : Sink {
    bool text(size_t, std::string_view) override { return true; }
    void done(size_t, Reply reply) override { out = std::move(reply); }
    Reply out;
  } heard;
  const auto* reader = dynamic_cast<const hf::Reader*>(&model);
  if (reader == nullptr)
    throw Error(ErrorCode::unsupported, model.name() + " does not read films in one sequence");
  reader->film(frames, question, generate, heard);
  return std::move(heard.out);
}

std::shared_ptr<const Model> open_model(const std::string& folder, const ModelOptions& options) {
  hf::require_language_model(hf::read_config(folder));
  return hf::make_reader(hf::HfModel::open(folder, options, load_tokenizer(folder)),
                         hf::name_of(std::filesystem::weakly_canonical(folder)), options);
}

}  // namespace arrcoc
