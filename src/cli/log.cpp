// arrcoc log list|show|export: the examples that a server kept.
#include <filesystem>
#include <iostream>

#include "arrcoc/error.h"
#include "arrcoc/serve.h"
#include "base/text.h"
#include "cli/cli.h"

namespace arrcoc::cli {

namespace {

using nlohmann::ordered_json;
using serving::Example;

struct Log {
  std::string file, id, out, picture;
  serving::ExampleFilter filter;
  int64_t limit = 20;
  double days = 0;
  bool json = false;
};

// Looking must not create a log.
serving::ExampleLog open(const std::string& file) {
  if (!std::filesystem::exists(file)) throw Error(ErrorCode::not_found, "no file " + file);
  return serving::ExampleLog(file);
}

ordered_json to_json(const Example& e) {
  return {{"id", e.id},
          {"time", e.time},
          {"model", e.model},
          {"question", e.question},
          {"answer", e.answer},
          {"policy", e.policy},
          {"confidence", rounded(e.confidence)},
          {"milliseconds", rounded(e.milliseconds)},
          {"budget", e.budget},
          {"kept", e.kept},
          {"native", e.native},
          {"allocation", ordered_json::parse(e.allocation, nullptr, false)},
          {"rating", to_string(e.rating)},
          {"rater", e.rater},
          {"comment", e.comment}};
}

std::string line(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string first_characters(const std::string& text, int count) {
  size_t end = 0;
  while (end < text.size() && count-- > 0) text::next_code_point(text, end);
  return text.substr(0, end);
}

void list(const Log& args) {
  const auto examples = open(args.file).list(args.limit, args.filter);
  if (args.json) {
    for (const Example& e : examples) std::cout << line(to_json(e)) << "\n";
    return;
  }
  std::vector<std::vector<std::string>> rows = {
      {"id", "time", "rating", "rater", "kept", "native", "question", "answer"}};
  for (const Example& e : examples)
    rows.push_back({e.id, e.time, e.rating == serving::Rating::none ? "-" : to_string(e.rating),
                    e.rater.empty() ? "-" : e.rater, std::to_string(e.kept),
                    std::to_string(e.native), first_characters(e.question, 60),
                    first_characters(e.answer, 40)});
  std::cout << table(rows);
}

void show(const Log& args) {
  const Example e = open(args.file).show(args.id);
  if (!args.picture.empty()) {
    if (e.picture.empty()) throw Error(ErrorCode::not_found, "this example has no picture");
    media::write_file(args.picture, e.picture);
  }
  std::cout << to_json(e).dump(2, ' ', false, ordered_json::error_handler_t::replace) << "\n";
}

// A folder with examples.jsonl and one PNG each: "image" names it, as in the suites of eval.
void write_all(const Log& args) {
  const auto examples = open(args.file).list(int64_t{1} << 40, args.filter);
  std::filesystem::create_directories(args.out);
  std::string lines;
  for (const Example& e : examples) {
    ordered_json out = to_json(e);
    if (!e.picture.empty()) {
      const std::string name = std::to_string(e.number) + ".png";  // ids may be an upstream's
      out["image"] = name;
      media::write_file(args.out + "/" + name, e.picture);
    }
    lines += line(out) + "\n";
  }
  media::write_file(args.out + "/examples.jsonl", {lines.begin(), lines.end()});
  std::cout << examples.size() << " examples in " << args.out << "\n";
}

void clean(const Log& args) {
  std::cout << open(args.file).forget(args.days) << " examples deleted\n";
}

}  // namespace

void add_log(CLI::App& app) {
  CLI::App* log = app.add_subcommand("log", "examples that arrcoc serve --log kept");
  log->require_subcommand(1);
  auto args = std::make_shared<Log>();
  const auto add = [&](const char* name, const char* help, void (*run)(const Log&)) {
    CLI::App* sub = log->add_subcommand(name, help);
    sub->add_option("file", args->file, "the log, an SQLite file")->required();
    sub->callback([args, run] { run(*args); });
    return sub;
  };
  const auto add_filter = [&](CLI::App* sub) {
    sub->add_option("--model", args->filter.model, "only answers of this model");
    sub->add_option("--rater", args->filter.raters, "only what these rated: ID,ID,...");
    sub->add_option("--not-rater", args->filter.not_raters, "without what these rated: ID,ID,...");
    sub->add_option_function<std::string>(
           "--rating",
           [args](const std::string& name) {
             args->filter.rating = parse_enum<serving::Rating>(name);
           },
           "only those rated so")
        ->check(CLI::IsMember({"up", "down"}));
  };
  CLI::App* sub = add("list", "newest first", list);
  sub->add_option("--limit", args->limit, "at most so many")->check(positive());
  add_filter(sub);
  sub->add_flag("--json", args->json, "one JSON object a line");
  sub = add("show", "one example", show);
  sub->add_option("id", args->id, "id of the answer")->required();
  sub->add_option("--picture", args->picture, "write its picture (PNG)");
  sub = add("export", "all as a folder of pictures and examples.jsonl", write_all);
  sub->add_option("--out", args->out, "the folder")->required();
  add_filter(sub);
  sub = add("clean", "delete old ones", clean);
  sub->add_option("--days", args->days, "older than this")->required()->check(at_least_zero());
}

}  // namespace arrcoc::cli
