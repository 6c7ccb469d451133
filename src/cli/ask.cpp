// arrcoc ask IMAGE "QUESTION": the bundled model looks, reads and answers.
#include <chrono>
#include <iostream>

#include "arrcoc/error.h"
#include "arrcoc/tiny.h"
#include "cli/cli.h"
#include "cli/looking_again.h"

namespace arrcoc::cli {

namespace {

using nlohmann::ordered_json;

struct Ask {
  std::string image;
  std::string question;
  std::string heatmap;
  float threshold = 0.5F;
  bool json = false;
};

// Everything that one question gave.
struct Reply {
  tiny::Answer answer;
  Realization seen;
  std::vector<Stage> stages;
  bool unsure = false;
};

class Watch {
 public:
  explicit Watch(std::vector<Stage>& stages) : stages_(stages) {}
  void lap(const char* name) {
    const auto now = std::chrono::steady_clock::now();
    stages_.push_back({name, std::chrono::duration<double, std::milli>(now - last_).count()});
    last_ = now;
  }
  void restart() { last_ = std::chrono::steady_clock::now(); }

 private:
  std::vector<Stage>& stages_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// "learned": what the realizer's tier head expects this question to need.
std::string learned_budget(const tiny::TinyModel& model, const Picture& picture,
                           const std::string& question, int frame) {
  const auto opinion = model.look(picture, frame_of(picture, frame), parse_query(question).text);
  return std::to_string(attending::expected_budget(opinion.tier).tokens);
}

ordered_json report(const Picture& picture, const Reply& reply, const Options& options) {
  const Allocation& a = reply.seen.allocation;
  ordered_json out;
  out["image"] = {{"width", picture.width()}, {"height", picture.height()}};
  out["question"] = reply.seen.query.text;
  out["answer"] = reply.answer.text;
  out["confidence"] = rounded(reply.answer.confidence);
  out["unsure"] = reply.unsure;
  auto probabilities = ordered_json::array();
  for (float p : reply.answer.probabilities) probabilities.push_back(rounded(p));
  out["probabilities"] = std::move(probabilities);
  out["policy"] = options.policy;
  out["budget"] = a.budget.tokens;
  out["tokens"] = a.tokens();
  out["native_tokens"] = a.geometry.native_tokens();
  for (const Stage& stage : reply.stages)
    out["milliseconds"][stage.name] = rounded(stage.milliseconds);
  out["fallbacks"] = reply.seen.fallbacks;
  return out;
}

void print(const Picture& picture, const Reply& reply, const Options& options) {
  const Allocation& a = reply.seen.allocation;
  const auto number = [](double v) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", v);
    return std::string(text);
  };
  const double native = static_cast<double>(a.geometry.native_tokens());
  std::cout << picture.source << "  " << picture.width() << "x" << picture.height() << "\n"
            << "question    " << reply.seen.query.text << "\n"
            << "answer      " << (reply.answer.text.empty() ? "(nothing)" : reply.answer.text)
            << (reply.unsure ? "  (unsure)" : "") << "\n"
            << "confidence  " << number(100.0 * reply.answer.confidence) << " %\n"
            << "policy      " << options.policy << "\n"
            << "tokens      " << a.tokens() << " of " << a.geometry.native_tokens() << " native ("
            << number(100.0 * a.tokens() / native) << " %), budget " << a.budget.tokens << "\n";
  std::vector<std::vector<std::string>> times = {{"stage", "ms"}};
  for (const Stage& s : reply.stages) times.push_back({s.name, number(s.milliseconds)});
  std::cout << "\n" << table(times);
  for (const std::string& f : reply.seen.fallbacks) std::cout << "note        " << f << "\n";
}

void ask(const Ask& args, const OptionFlags& flags, const media::LoadOptions& load) {
  Options options = flags.options();
  parse_query(args.question);  // refuse a bad question before the picture is read
  Reply reply;
  Watch watch(reply.stages);
  const auto model = tiny::installed();
  watch.lap("loading");
  const Picture picture = media::load(args.image, load);
  watch.lap("decoding");
  if (options.budget == "learned") {
    options.budget = learned_budget(*model, picture, args.question, options.frame);
    watch.lap("budget");
  }
  const Pyramid pyramid = pyramid_of(picture, options);
  reply.seen = realize(picture, pyramid, args.question, options);
  if (reply.seen.tokens.size() == 0)
    throw Error(ErrorCode::unsupported,
                "the bundled model reads leaves, allocator '" + options.allocator + "' gives none");
  reply.stages.insert(reply.stages.end(), reply.seen.stages.begin(), reply.seen.stages.end());
  watch.restart();
  reply.answer =
      model->answer(reply.seen.tokens, reply.seen.allocation.geometry, reply.seen.query.text);
  watch.lap("answering");
  reply.unsure = reply.answer.confidence < args.threshold;
  if (reply.answer.shortened)
    reply.seen.fallbacks.push_back("the question is long: its first 128 and last 64 characters");
  if (!args.heatmap.empty())
    media::write_png(args.heatmap,
                     media::draw_homunculus(pyramid.picture(), reply.seen.allocation));
  if (args.json) {
    std::cout << report(picture, reply, options).dump() << "\n";
  } else {
    print(picture, reply, options);
  }
}

}  // namespace

void add_ask(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("ask", "answer a question with the bundled model");
  auto args = std::make_shared<Ask>();
  sub->add_option("image", args->image, "picture file, or - for standard input")->required();
  sub->add_option("question", args->question, "what is asked")->required();
  sub->add_option("--heatmap", args->heatmap, "write the homunculus: tokens per area (PNG)");
  sub->add_option("--threshold", args->threshold, "below this confidence the answer is unsure")
      ->check(CLI::Range(0.0, 1.0));
  sub->add_flag("--json", args->json, "print everything as JSON");
  const LookAgainFlags again(*sub);
  const OptionFlags flags(*sub, "realizer");
  auto load = add_load_flags(*sub);
  sub->callback([args, flags, again, load] {
    if (again.wanted())
      return again.run(args->image, args->question, flags.options(), *load, args->json);
    ask(*args, flags, *load);
  });
}

}  // namespace arrcoc::cli
