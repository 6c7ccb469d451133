// arrcoc train: trains the bundled model, draws its curves, makes the weights that are shipped.
#include <filesystem>
#include <fstream>
#include <iostream>

#include "arrcoc/error.h"
#include "base/join.h"
#include "lab/cli/train.h"
#include "lab/train/train.h"
#include "media/draw/curves.h"
#include "models/tiny/tiny.h"

namespace arrcoc::cli {
namespace {

namespace fs = std::filesystem;

struct Wanted {
  std::string config, out, init, curves, export_int8, from_log;
  serving::ExampleFilter filter;
  int guard_questions = 50;
  std::vector<std::string> set, data;
  int policies = 0, balancer = 0;
  double minutes = 0;
  int64_t steps = 0;
  bool resume = false, json_out = false, force = false;
};

json read_object(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw Error(ErrorCode::not_found, "no file " + path);
  json object = json::parse(in, nullptr, false, true);
  if (!object.is_object()) throw Error(ErrorCode::bad_json, path + " is no JSON object");
  return object;
}

// What --set NAME=VALUE says.
void set_fields(const std::vector<std::string>& pairs, json& given) {
  for (const std::string& pair : pairs) {
    const size_t sign = pair.find('=');
    if (sign == std::string::npos || sign == 0)
      throw Error(ErrorCode::bad_argument, "--set takes NAME=VALUE, not '" + pair + "'");
    const std::string value = pair.substr(sign + 1);
    json parsed = json::parse(value, nullptr, false);
    given[pair.substr(0, sign)] = parsed.is_discarded() ? json(value) : parsed;
  }
}

// Flags of the bundled model's own training.
void refuse_others(bool given, const char* flags, const char* what) {
  if (given) throw Error(ErrorCode::bad_argument, std::string(flags) + " have no part in " + what);
}

training::VlmOptions vlm_options(const Wanted& wanted, json given) {
  refuse_others(wanted.minutes > 0 || wanted.resume || wanted.force || !wanted.data.empty(),
                "--minutes, --resume, --force and --data", "a configuration with vlm");
  if (!given.is_object()) throw Error(ErrorCode::bad_json, "vlm is no JSON object");
  set_fields(wanted.set, given);
  if (!wanted.out.empty()) given["out"] = wanted.out;
  if (!wanted.init.empty()) given["init"] = wanted.init;
  if (wanted.steps > 0) given["steps"] = wanted.steps;
  return training::vlm_options(given);
}

fitting::BalanceFitOptions balance_options(const Wanted& wanted) {
  refuse_others(wanted.minutes > 0 || wanted.steps > 0 || wanted.resume || wanted.force ||
                    !wanted.init.empty() || !wanted.set.empty() || !wanted.config.empty(),
                "--config, --set, --init, --minutes, --steps, --resume and --force", "--balancer");
  fitting::BalanceFitOptions out;
  out.questions = wanted.balancer;
  return out;
}

// The file, then --set NAME=VALUE, then the flags that have names of their own.
training::Options options_of(const Wanted& wanted) {
  json given = wanted.config.empty() ? json::object() : read_object(wanted.config);
  set_fields(wanted.set, given);
  if (!wanted.out.empty()) given["out"] = wanted.out;
  if (!wanted.init.empty()) given["init"] = wanted.init;
  if (wanted.minutes > 0) given["minutes"] = wanted.minutes;
  if (wanted.steps > 0) given["steps"] = wanted.steps;
  if (wanted.resume) given["resume"] = true;
  if (wanted.force) given["guard"] = false;
  if (!wanted.data.empty()) given["data"] = joined(wanted.data, ",");
  if (!given.contains("assets")) given["assets"] = scenes::find_assets();
  return training::options_from_json(given.dump());
}

// One panel per group of figures in OUT/metrics.jsonl. Broken lines (a killed writer) are left out.
std::string draw(const std::string& folder) {
  const fs::path from = fs::path(folder) / "metrics.jsonl";
  std::ifstream in(from);
  if (!in) throw Error(ErrorCode::not_found, "no file " + from.string());
  const std::vector<std::pair<std::string, std::vector<std::string>>> groups = {
      {"exact match and recall, held out", {"exact_realized", "exact_oracle", "recall"}},
      {"losses of the answerer", {"answer", "answer_reading", "answer_dense", "glyph"}},
      {"losses of the realizer", {"relevance", "lookup", "page_glyph", "text", "tier"}},
      {"characters named right", {"glyph_right", "page_glyph_right"}},
      {"questions a second", {"questions_per_second"}}};
  std::vector<media::CurvePanel> panels;
  for (const auto& [title, names] : groups) {
    media::CurvePanel& panel = panels.emplace_back();
    panel.title = title;
    for (const std::string& name : names) panel.curves.push_back({name, {}});
  }
  for (std::string text; std::getline(in, text);) {
    const json line = json::parse(text, nullptr, false);
    if (!line.is_object() || !line.contains("step")) continue;
    const json& values = line.contains("evaluation") ? line["evaluation"] : line;
    for (media::CurvePanel& panel : panels)
      for (media::Curve& curve : panel.curves)
        if (values.contains(curve.name) && values[curve.name].is_number())
          curve.points.emplace_back(line["step"].get<double>(), values[curve.name].get<double>());
  }
  const std::string to = (fs::path(folder) / "curves.png").string();
  media::write_png(to, media::draw_curves(panels));
  return to;
}

void export_weights(const Wanted& wanted) {
  if (wanted.out.empty()) throw Error(ErrorCode::bad_argument, "--export-int8 needs --out FOLDER");
  const auto report = tiny::export_int8(wanted.export_int8, wanted.out);
  if (wanted.json_out) {
    std::cout << json{{"parameters", report.parameters},
                      {"bytes", report.bytes},
                      {"largest_error", report.largest_error},
                      {"relative_error", report.relative_error},
                      {"worst_tensor", report.worst_tensor}}
              << "\n";
    return;
  }
  std::cout << wanted.out << ": " << report.parameters << " parameters, " << report.bytes
            << " bytes; root mean square error of the worst tensor (" << report.worst_tensor << ") "
            << rounded(report.relative_error) << " of its own\n";
}

void train(const Wanted& wanted) {
  // The trainer's own defaults are for a GPU: on other machines their first step takes all memory.
  if (wanted.config.empty() && wanted.data.empty() && wanted.set.empty() && !wanted.resume)
    throw Error(ErrorCode::bad_argument,
                "give --data DIR (docs/adapt.md) or --config FILE (docs/training.md)");
  const training::Options options = options_of(wanted);
  const auto report =
      training::train(options, [](const std::string& line) { std::cerr << line << std::endl; });
  if (report.rank > 0) return;  // the first one reports
  const std::string picture = draw(options.out);
  if (wanted.json_out) {
    json out{{"steps", report.steps},
             {"questions", report.questions},
             {"seconds", report.seconds},
             {"exact_match", report.exact_realized},
             {"exact_match_oracle", report.exact_oracle},
             {"answer_region_recall", report.recall},
             {"weights", (fs::path(options.out) / "weights").string()},
             {"curves", picture}};
    if (const auto& v = report.verdict)
      out["guard"] = {
          {"questions", v->questions},          {"pictures", v->pictures},
          {"before", rounded(v->before)},       {"after", rounded(v->after)},
          {"difference", rounded(v->gain)},     {"interval", {rounded(v->low), rounded(v->high)}},
          {"kept", v->kept_old ? "old" : "new"}};
    std::cout << out << "\n";
    return;
  }
  std::cout << report.steps << " steps, " << report.questions << " questions in " << report.seconds
            << " s; held out: exact match " << rounded(report.exact_realized) << " (oracle maps "
            << rounded(report.exact_oracle) << "), recall " << rounded(report.recall)
            << "\nweights " << (fs::path(options.out) / "weights").string() << "\ncurves "
            << picture << "\n";
}

void add_small_policies(CLI::App& command, Wanted& wanted) {
  command
      .add_option(
          "--policies", wanted.policies,
          "only fit balancer 'learned' and allocator 'experts' on so many questions of scenes, "
          "into the file --out")
      ->check(CLI::Range(72, 100000));
  command
      .add_option("--balancer", wanted.balancer,
                  "only fit balancer 'outcome' on answers to so many questions of scenes, and of "
                  "every --data DIR, into the policies.json --out")
      ->check(CLI::Range(12, 100000));
}

}  // namespace

void add_train(CLI::App& app) {
  CLI::App* command = app.add_subcommand("train", "train the bundled model on generated scenes");
  auto wanted = std::make_shared<Wanted>();
  command->add_option("--config", wanted->config, "JSON file with options (see docs/training.md)");
  command->add_option("--set", wanted->set, "NAME=VALUE: an option of the configuration");
  command
      ->add_option("--data", wanted->data,
                   "DIR[:SHARE]: real pictures beside generated scenes; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--out", wanted->out, "folder for weights, checkpoint, metrics, curves");
  command->add_option("--init", wanted->init, "folder with weights to start from");
  command->add_option("--minutes", wanted->minutes, "how long")->check(positive());
  command->add_option("--steps", wanted->steps, "how many steps; reproducible from the seed")
      ->check(positive());
  command->add_flag("--force", wanted->force,
                    "keep the new weights even where they are worse on pictures held aside");
  command->add_flag("--resume", wanted->resume, "go on from the checkpoint in the out folder");
  command->add_option("--curves", wanted->curves, "only draw curves.png of this training folder");
  command->add_option("--export-int8", wanted->export_int8,
                      "only rewrite this folder of weights as int8, into --out");
  add_small_policies(*command, *wanted);
  command->add_option("--from-log", wanted->from_log,
                      "only fit the tier head to the ratings in this example log, into --out");
  command->add_option("--model", wanted->filter.model, "--from-log: only answers of this model");
  command->add_option("--rater", wanted->filter.raters, "--from-log: only ratings of ID,ID,...");
  command->add_option("--not-rater", wanted->filter.not_raters,
                      "--from-log: without ratings of ID,ID,...");
  command
      ->add_option("--guard-questions", wanted->guard_questions,
                   "--from-log: questions a suite that must not get worse")
      ->check(CLI::Range(1, 1000));
  command->add_flag("--json", wanted->json_out, "result as JSON");
  command->callback([wanted] {
    if (!wanted->curves.empty()) {
      std::cout << draw(wanted->curves) << "\n";
    } else if (wanted->policies > 0) {
      fitting::PolicyOptions options;
      options.questions = wanted->policies;
      train_policies(options, wanted->out, wanted->json_out);
    } else if (wanted->balancer > 0) {
      train_balancer(balance_options(*wanted), wanted->data, wanted->out, wanted->json_out);
    } else if (!wanted->from_log.empty()) {
      train_from_log({wanted->from_log, wanted->init, wanted->out, wanted->filter, wanted->steps,
                      wanted->guard_questions, wanted->json_out});
    } else if (!wanted->export_int8.empty()) {
      export_weights(*wanted);
    } else if (const json given = wanted->config.empty() ? json() : read_object(wanted->config);
               given.contains("vlm")) {
      train_vlm(vlm_options(*wanted, given["vlm"]), wanted->json_out);
    } else if (given.contains("policies")) {
      const std::string out = wanted->out.empty() ? given.value("out", "") : wanted->out;
      train_policies(policy_options(given["policies"]), out, wanted->json_out);
    } else {
      train(*wanted);
    }
  });
}

}  // namespace arrcoc::cli
