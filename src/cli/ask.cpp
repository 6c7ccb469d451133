// arrcoc ask IMAGE "QUESTION": the bundled model looks, reads and answers.
// arrcoc ask --batch questions.jsonl: many questions, one JSON line each.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "arrcoc/error.h"
#include "cli/ask_model.h"
#include "cli/asking.h"
#include "cli/looking_again.h"

namespace arrcoc::cli {

namespace {

using answering::Reply;
using nlohmann::ordered_json;

struct Ask {
  std::string image;
  std::string question;
  std::string batch;
  std::string heatmap;
  double threshold = -1;
  bool json = false;
  std::vector<std::string> more;  // A B C "QUESTION"
};

class Watch {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double passed = std::chrono::duration<double, std::milli>(now - last_).count();
    last_ = now;
    return passed;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

ordered_json report(const Picture& picture, const Reply& reply, const std::string& policy) {
  ordered_json out;
  out["image"] = {{"width", picture.width()}, {"height", picture.height()}};
  out["question"] = reply.query.text;
  out["answer"] = reply.answer;
  out["confidence"] = rounded(reply.confidence);
  out["likelihood"] = rounded(reply.likelihood);
  out["unsure"] = reply.unsure;
  if (reply.box) {
    out["box"] = {rounded(reply.box->x0), rounded(reply.box->y0), rounded(reply.box->x1),
                  rounded(reply.box->y1)};
  } else {
    out["box"] = nullptr;
  }
  auto probabilities = ordered_json::array();
  for (float p : reply.probabilities) probabilities.push_back(rounded(p));
  out["probabilities"] = std::move(probabilities);
  out["policy"] = policy;
  out["budget"] = reply.allocation.budget.tokens;
  out["budget_reason"] = reply.allocation.budget.why;
  out["tokens"] = reply.tokens;
  out["native_tokens"] = reply.native_tokens;
  for (const Stage& stage : reply.stages)
    out["milliseconds"][stage.name] = rounded(stage.milliseconds);
  out["fallbacks"] = reply.fallbacks;
  return out;
}

void print(const Picture& picture, const Reply& reply, const std::string& policy) {
  const auto number = [](double v) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", v);
    return std::string(text);
  };
  const auto native = static_cast<double>(reply.native_tokens);
  std::cout << picture.source << "  " << picture.width() << "x" << picture.height() << "\n"
            << "question    " << reply.query.text << "\n"
            << "answer      " << (reply.answer.empty() ? "(nothing)" : reply.answer)
            << (reply.unsure ? "  (unsure)" : "") << "\n"
            << "confidence  " << number(100.0 * reply.confidence) << " %\n";
  if (reply.box)
    std::cout << "read at     x " << std::lround(reply.box->x0) << " to "
              << std::lround(reply.box->x1) << ", y " << std::lround(reply.box->y0) << " to "
              << std::lround(reply.box->y1) << "\n";
  std::cout << "policy      " << policy << "\n"
            << "tokens      " << reply.tokens << " of " << reply.native_tokens << " native ("
            << number(100.0 * reply.tokens / native) << " %), budget "
            << reply.allocation.budget.tokens << ": " << reply.allocation.budget.why << "\n";
  std::vector<std::vector<std::string>> times = {{"stage", "ms"}};
  for (const Stage& s : reply.stages) times.push_back({s.name, number(s.milliseconds)});
  std::cout << "\n" << table(times);
  for (const std::string& f : reply.fallbacks) std::cout << "note        " << f << "\n";
}

void ask_one(const Ask& args, const answering::AskOptions& options,
             const media::LoadOptions& load) {
  parse_query(args.question);  // refuse a bad question before the picture is read
  Watch watch;
  const auto model = answerer();
  const double loading = watch.lap();
  const Picture picture = media::load(args.image, load);
  const double decoding = watch.lap();
  Reply reply = model->ask(picture, args.question, options);
  reply.stages.insert(reply.stages.begin(), {{"loading", loading}, {"decoding", decoding}});
  if (!args.heatmap.empty()) {
    // Leaves refer to their own canvas.
    const Geometry& g = reply.allocation.geometry;
    media::write_png(args.heatmap,
                     media::draw_homunculus(resize(picture, g.width, g.height), reply.allocation));
  }
  if (args.json) {
    std::cout << report(picture, reply, options.policy).dump() << "\n";
  } else {
    print(picture, reply, options.policy);
  }
}

// Error{bad_json} for what is no {"image": ..., "question": ...}.
std::pair<std::string, std::string> parse_line(const std::string& text) {
  const auto line = nlohmann::json::parse(text, nullptr, false);
  if (!line.is_object()) throw Error(ErrorCode::bad_json, "not a JSON object");
  for (const char* key : {"image", "question"})
    if (!line.contains(key) || !line[key].is_string())
      throw Error(ErrorCode::bad_json, std::string("needs \"") + key + "\", a string");
  return {line["image"], line["question"]};
}

// Pictures are named relative to the file of questions. Page features of the last pictures are
// remembered, so questions about one picture belong together.
void ask_many(const Ask& args, const answering::AskOptions& options,
              const media::LoadOptions& load) {
  std::ifstream file;
  if (args.batch != "-") {
    file.open(args.batch, std::ios::binary);
    if (!file || std::filesystem::is_directory(args.batch))
      throw Error(ErrorCode::not_found, "cannot read '" + args.batch + "'");
  }
  std::istream& in = args.batch == "-" ? std::cin : file;
  const std::filesystem::path folder = std::filesystem::path(args.batch).parent_path();
  const auto model = answerer();
  Picture picture;
  std::string loaded, text;
  int failed = 0, asked = 0;
  for (int number = 1; std::getline(in, text); ++number) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    ++asked;
    ordered_json out;
    out["line"] = number;
    try {
      const auto [image, question] = parse_line(text);
      const std::string path = args.batch == "-" ? image : (folder / image).string();
      if (path != loaded) {
        picture = media::load(path, load);
        loaded = path;
      }
      out["source"] = image;
      out.update(report(picture, model->ask(picture, question, options), options.policy));
    } catch (const Error& problem) {
      ++failed;
      out["error"] = problem.what();
    }
    std::cout << out.dump(-1, ' ', false, ordered_json::error_handler_t::replace) << std::endl;
  }
  if (asked == 0) throw Error(ErrorCode::bad_json, args.batch + " holds no questions");
  if (failed > 0)
    throw Error(ErrorCode::bad_json, std::to_string(failed) + " of " + std::to_string(asked) +
                                         " lines of " + args.batch +
                                         " failed; each has an \"error\"");
}

// A forgotten question makes the last picture one.
void require_question(const Ask& args) {
  const std::string& last = args.more.empty() ? args.question : args.more.back();
  std::error_code ignored;
  if (!last.empty() && std::filesystem::is_regular_file(last, ignored))
    throw Error(ErrorCode::bad_argument, "the question is missing: '" + last + "' is a file");
}

void ask(const Ask& args, const OptionFlags& flags, const media::LoadOptions& load) {
  const nlohmann::json given = flags.given();
  require_effect({given.value("policy", "realized")}, given);
  answering::AskOptions options = ask_options(given.value("policy", "realized"), given);
  if (options.policy == "oracle")
    throw Error(ErrorCode::bad_argument,
                "policy oracle needs the evidence's boxes: use arrcoc eval --suite");
  if (args.threshold >= 0) options.threshold = args.threshold;
  if (!args.image.empty() && args.question.empty())
    throw Error(ErrorCode::bad_argument, "the question is empty");
  if (args.batch.empty() == args.image.empty())
    throw Error(ErrorCode::bad_argument, "give a picture and a question, or --batch FILE");
  if (args.batch.empty()) {
    ask_one(args, options, load);
  } else {
    if (!args.heatmap.empty())
      throw Error(ErrorCode::bad_argument, "--heatmap belongs to one question, not to --batch");
    ask_many(args, options, load);
  }
}

}  // namespace

void add_ask(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("ask", "answer a question with the bundled model");
  auto args = std::make_shared<Ask>();
  sub->add_option("image", args->image, "picture file, or - for standard input");
  sub->add_option("question", args->question, "what is asked");
  sub->add_option("more", args->more, "several pictures, then the question");
  sub->add_option("--batch", args->batch,
                  "JSON lines {\"image\": ..., \"question\": ...}, or -; answers are JSON lines");
  sub->add_option("--heatmap", args->heatmap, "write the homunculus: tokens per area (PNG)");
  sub->add_option("--threshold", args->threshold,
                  "below this confidence the answer is unsure; calibrated unless given")
      ->check(between(0, 1));
  sub->add_flag("--json", args->json, "print everything as JSON");
  const LookAgainFlags again(*sub);
  const OptionFlags flags(*sub);
  auto load = add_load_flags(*sub);
  const ModelFlags model(*sub);
  sub->callback([args, flags, again, load, model] {
    require_question(*args);
    if (model.given())
      return model.ask({args->image, args->question, args->more, args->heatmap, args->json}, flags,
                       *load);
    if (again.wanted(args->more)) {
      const std::string several = args->more.empty() ? "looking again" : "several pictures";
      if (!args->heatmap.empty())
        throw Error(ErrorCode::bad_argument,
                    several + " and --heatmap do not go together" +
                        (args->more.empty() ? ": --strip shows the passes" : ""));
      if (!args->batch.empty())
        throw Error(ErrorCode::bad_argument, several + " and --batch do not go together");
      return again.run(args->image, args->question, args->more, flags.given(), *load, args->json);
    }
    ask(*args, flags, *load);
  });
}

}  // namespace arrcoc::cli
