#include "cli/ask_model.h"

#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "arrcoc/error.h"
#include "models/hf/session.h"
#include "models/tiny/tiny.h"
#include "models/tokenizers/tokenizer.h"

namespace arrcoc::cli {

using nlohmann::ordered_json;

struct ModelFlags::State {
  CLI::App* app = nullptr;
  std::string model, mode, relevance = "realizer", relevance_model, device = "cpu", dtype;
  int64_t max_new_tokens = 0;
  double top_p = 0;
  bool merge = false, tiers = false;
  std::vector<std::string> then;

  bool said(const char* option) const { return app->get_option(option)->count() > 0; }
};

namespace {

// Pictures and the question that follows them.
struct Line {
  std::vector<std::string> pictures;
  std::string question;
};

Line line_of(const AskBasics& basics) {
  Line out;
  std::vector<std::string> words = {basics.image, basics.question};
  words.insert(words.end(), basics.more.begin(), basics.more.end());
  for (const std::string& word : words) {
    if (word.empty()) throw Error(ErrorCode::bad_argument, "ask wants IMAGE... and \"QUESTION\"");
  }
  out.question = words.back();
  words.pop_back();
  out.pictures = std::move(words);
  return out;
}

ordered_json numbers(const std::vector<float>& values) {
  auto out = ordered_json::array();
  for (float value : values) out.push_back(rounded(value));
  return out;
}

ordered_json picture_json(const hf::Sighting& seen) {
  ordered_json out;
  out["width"] = seen.features.width;
  out["height"] = seen.features.height;
  out["tokens"] = seen.features.size();
  auto views = ordered_json::array();
  for (const hf::Features::View& view : seen.features.views) {
    views.push_back(
        {{"box",
          {rounded(view.box.x0), rounded(view.box.y0), rounded(view.box.x1), rounded(view.box.y1)}},
         {"rows", view.rows},
         {"cols", view.cols}});
  }
  out["views"] = std::move(views);
  if (!seen.relevance.empty()) out["relevance"] = to_json(seen.relevance);
  // Shares of attention are small: four decimals of the shares relative to the largest.
  ordered_json attention = to_json(min_max(seen.attention));
  attention["largest"] = maximum(seen.attention);
  out["attention"] = std::move(attention);
  return out;
}

ordered_json turn_json(const hf::Turn& turn) {
  const hf::Generation& made = turn.answer.generation;
  ordered_json out;
  out["question"] = turn.question;
  out["answer"] = turn.answer.text;
  out["mode"] = turn.mode;
  out["tokens"] = turn.tokens;
  out["native_tokens"] = turn.native_tokens;
  out["prompt_tokens"] = made.prompt_tokens;
  out["stopped"] = made.stopped;
  out["ids"] = made.ids;
  out["probabilities"] = numbers(made.probability);
  out["entropies"] = numbers(made.entropy);
  auto pictures = ordered_json::array();
  for (const hf::Sighting& seen : turn.pictures) pictures.push_back(picture_json(seen));
  out["pictures"] = std::move(pictures);
  for (const Stage& stage : turn.stages) {
    out["milliseconds"][stage.name] = rounded(stage.milliseconds);
  }
  return out;
}

// Prints characters as they become certain. Silent unless `shown`.
class Stream {
 public:
  Stream(const Tokenizer& tokenizer, bool shown) : pieces_(tokenizer), shown_(shown) {}
  bool push(int64_t id) {
    if (shown_) std::cout << pieces_.push(id) << std::flush;
    return true;
  }
  void finish() {
    if (shown_) std::cout << pieces_.finish() << "\n";
  }

 private:
  TokenStream pieces_;
  bool shown_;
};

void print(const hf::Turn& turn, bool streamed) {
  if (!streamed) std::cout << turn.answer.text << "\n";
  double sum = 0;
  for (float p : turn.answer.generation.probability) sum += static_cast<double>(p);
  const auto count = static_cast<double>(turn.answer.generation.probability.size());
  char line[160];
  std::snprintf(line, sizeof line,
                "mode %s, %lld of %lld visual tokens, prompt %lld, mean probability %.2f\n",
                turn.mode.c_str(), static_cast<long long>(turn.tokens),
                static_cast<long long>(turn.native_tokens),
                static_cast<long long>(turn.answer.generation.prompt_tokens), sum / count);
  std::cerr << line;
}

// FILE for the first picture, FILE with .2, .3 ... before its ending for the others.
void draw(const std::string& file, const std::vector<Picture>& pictures, const hf::Turn& turn) {
  for (size_t i = 0; i < pictures.size(); ++i) {
    std::filesystem::path path = file;
    if (i > 0) {
      path.replace_filename(path.stem().string() + "." + std::to_string(i + 1) +
                            path.extension().string());
    }
    const hf::Sighting& seen = turn.pictures[i];
    Relevance looked;
    looked.map = min_max(seen.attention);
    media::write_png(path.string(), turn.mode == "native"
                                        ? media::draw_relevance(pictures[i], looked)
                                        : media::draw_homunculus(pictures[i], seen.allocation));
  }
}

}  // namespace

ModelFlags::ModelFlags(CLI::App& app) : state_(std::make_shared<State>()) {
  State& s = *state_;
  s.app = &app;
  auto add = [&](const char* name, auto& target, const char* help) {
    return app.add_option(name, target, help)->group("Hugging Face model");
  };
  add("--model", s.model,
      "folder of the model that is to answer: Hugging Face, or other weights of the bundled one");
  add("--mode", s.mode, "native, prune, patches or zoom (default: zoom if it can, else prune)");
  add("--relevance", s.relevance, "map from: realizer, clip, attention or combined");
  add("--relevance-model", s.relevance_model, "folder of a CLIP or SigLIP model");
  add("--max-new-tokens", s.max_new_tokens, "length of an answer, at most")
      ->check(CLI::Range(1, 1 << 20));
  add("--top-p", s.top_p, "sample among the likeliest tokens of this share")->check(between(0, 1));
  add("--device", s.device, "cpu, cuda or cuda:N");
  add("--dtype", s.dtype, "float32, bfloat16 or float16");
  add("--then", s.then, "a further question on the same pictures; may be repeated")
      ->allow_extra_args(false);
  app.add_flag("--merge", s.merge, "prune, patches: average the tokens of a coarse cell")
      ->group("Hugging Face model");
  app.add_flag("--tiers", s.tiers, "DeepStack levels by relevance (Qwen3-VL)")
      ->group("Hugging Face model");
}

bool ModelFlags::given() const {
  const State& s = *state_;
  const bool own = !s.model.empty() && tiny::holds_weights(s.model);
  if (!s.model.empty() && !own) return true;
  if (own) tiny::install(s.model);
  for (const char* option : {"--mode", "--relevance", "--relevance-model", "--max-new-tokens",
                             "--top-p", "--device", "--dtype", "--then", "--merge", "--tiers"}) {
    if (s.said(option)) {
      throw Error(ErrorCode::bad_argument,
                  std::string(option) + (own ? " is for Hugging Face models" : " needs --model"));
    }
  }
  return false;
}

void ModelFlags::ask(const AskBasics& basics, const OptionFlags& flags,
                     const media::LoadOptions& load) const {
  const State& s = *state_;
  const Line line = line_of(basics);
  parse_query(line.question);  // refuse a bad question before anything is read
  hf::AskOptions options;
  options.look = flags.options();
  bool own = false;  // somebody chose how to look
  for (const char* option : {"--policy", "--config", "--coupling", "--information", "--salience",
                             "--balancer", "--preset"}) {
    own = own || s.said(option);
  }
  if (!own) {
    const Options usual = policy("realizer");
    options.look.information = usual.information;
    options.look.salience = usual.salience;
    options.look.coupling = usual.coupling;
    options.look.balancer = usual.balancer;
    options.look.balance = usual.balance;
  }
  options.mode = s.mode;
  options.relevance = s.relevance;
  options.select = {s.merge, s.tiers};

  const hf::LoadOptions where{s.device, s.dtype};
  const auto tokenizer = load_tokenizer(s.model);
  const auto model = hf::HfModel::open(s.model, where, tokenizer);
  if (!s.relevance_model.empty()) {
    options.coupling =
        hf::TextImageModel::open(s.relevance_model, where, load_tokenizer(s.relevance_model));
  }
  options.generate = model->defaults();
  if (s.max_new_tokens > 0) options.generate.max_new_tokens = s.max_new_tokens;
  if (s.said("--temperature")) {
    options.generate.temperature = static_cast<double>(options.look.allocate.temperature);
  }
  if (s.said("--top-p")) options.generate.top_p = s.top_p;
  options.generate.seed = options.look.allocate.seed;

  std::vector<Picture> pictures;
  for (const std::string& path : line.pictures) pictures.push_back(media::load(path, load));
  const bool streamed = !basics.json && ::isatty(STDOUT_FILENO) != 0;
  std::unique_ptr<Stream> stream;
  options.generate.on_token = [&stream](int64_t id) { return stream->push(id); };
  hf::Session session(model, pictures, options);
  std::vector<std::string> questions = {line.question};
  questions.insert(questions.end(), s.then.begin(), s.then.end());
  auto turns = ordered_json::array();
  for (const std::string& question : questions) {
    stream = std::make_unique<Stream>(*tokenizer, streamed);
    const hf::Turn turn = session.ask(question);
    stream->finish();
    if (basics.json) {
      turns.push_back(turn_json(turn));
    } else {
      print(turn, streamed);
    }
    if (!basics.heatmap.empty()) draw(basics.heatmap, pictures, turn);
  }
  if (basics.json) {
    ordered_json out;
    out["model"] = {{"folder", s.model}, {"family", model->family()}};
    out["turns"] = std::move(turns);
    std::cout << out.dump() << "\n";
  }
}

}  // namespace arrcoc::cli
