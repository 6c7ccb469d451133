// arrcoc_train --config FILE [--name value ...]: the trainer as a program of its own, for machines
// without OpenCV. Every option of the configuration may be given by its name.
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "arrcoc/error.h"
#include "lab/train/means.h"
#include "lab/train/qformer.h"
#include "lab/train/train.h"
#include "models/tiny/tiny.h"

namespace {

using nlohmann::json;

json options_of(int argc, char** argv) {
  json options = json::object();
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name.rfind("--", 0) != 0)
      throw arrcoc::Error(arrcoc::ErrorCode::bad_argument, "expected --name value, not " + name);
    if (name == "--config") {
      std::ifstream in(value);
      if (!in) throw arrcoc::Error(arrcoc::ErrorCode::not_found, "no file " + value);
      json file = json::parse(in, nullptr, false, true);
      if (!file.is_object())
        throw arrcoc::Error(arrcoc::ErrorCode::bad_json, value + " is no JSON object");
      options.update(file);
      continue;
    }
    json parsed = json::parse(value, nullptr, false);
    options[name.substr(2)] = parsed.is_discarded() ? json(value) : parsed;
  }
  if (argc % 2 == 0)
    throw arrcoc::Error(arrcoc::ErrorCode::bad_argument,
                        std::string("no value for ") + argv[argc - 1]);
  return options;
}

// --export_int8 IN --out OUT: trained shards -> the form that is shipped.
int export_weights(const json& options) {
  for (const auto& [key, value] : options.items())
    if ((key != "export_int8" && key != "out") || !value.is_string())
      throw arrcoc::Error(arrcoc::ErrorCode::bad_argument,
                          "--export_int8 IN goes with --out OUT alone, not with --" + key);
  if (!options.contains("out"))
    throw arrcoc::Error(arrcoc::ErrorCode::bad_argument, "--export_int8 needs --out FOLDER");
  const std::string to = options["out"];
  const auto report = arrcoc::tiny::export_int8(options["export_int8"], to);
  std::cout << to << ": " << report.parameters << " parameters, " << report.bytes
            << " bytes; largest error " << report.largest_error
            << " of a row's peak; root mean square error of the worst tensor ("
            << report.worst_tensor << ") " << report.relative_error << " of its own" << std::endl;
  return 0;
}

void say(const std::string& line) {
  std::time_t now = std::time(nullptr);
  char stamp[16];
  std::strftime(stamp, sizeof stamp, "%H:%M:%S ", std::gmtime(&now));
  std::cout << stamp << line << std::endl;
}

// --qformer OUT --init MODEL: the learned queries of the baseline of that name.
int train_qformer(const json& given) {
  json options = json::parse(arrcoc::training::to_json(arrcoc::training::query_defaults()));
  options.update(given);
  if (!given["qformer"].is_string() || given.contains("out"))
    throw arrcoc::Error(arrcoc::ErrorCode::bad_argument,
                        "--qformer OUT is the folder that the queries go to; there is no --out");
  options["out"] = given["qformer"];
  options.erase("qformer");
  const auto report =
      arrcoc::training::train_queries(arrcoc::training::options_from_json(options.dump()), say);
  std::cout << "done: " << report.steps << " steps, " << report.questions << " questions, "
            << report.seconds << " s; loss " << report.first_loss << " -> " << report.loss
            << "; held out: loss " << report.held_out_loss << ", exact match "
            << report.held_out_exact << std::endl;
  return 0;
}

// --measure FILE --data DIR --init WEIGHTS [--run WEIGHTS --means a/r,a/r] [--held_share 1]
// [--held_out N]: answers to the questions held aside, one JSON object a line, and the figures of
// every set, by each mean of the two weights; with N also on scenes.
int measure(json given) {
  namespace training = arrcoc::training;
  const std::string to = given["measure"];
  training::MeansWish wish;
  wish.other = given.value("run", "");
  if (given.contains("means")) wish.means = training::means_of(given.value("means", ""));
  wish.budgets = {given.value("pages", 400), given.value("others", 180),
                  given.value("places", 100)};
  wish.oracle = given.value("oracle", false);
  wish.scenes = given.contains("held_out");
  for (const char* own : {"measure", "run", "means", "oracle", "pages", "others", "places"})
    given.erase(own);
  const auto all = training::measure_means(training::options_from_json(given.dump()), wish, say);
  std::ofstream out(to);
  for (size_t i = 0; i < all.size(); ++i)
    for (const training::real::Result& r : all[i])
      out << json{{"mean", wish.means[i].name}, {"set", r.set},       {"intent", r.intent},
                  {"question", r.question},     {"wanted", r.wanted}, {"given", r.given},
                  {"likelihood", r.likelihood}, {"anls", r.anls},     {"exact", r.exact},
                  {"relaxed", r.relaxed},       {"recall", r.recall}, {"pointing", r.pointing},
                  {"tokens", r.tokens}}
                 .dump(-1, ' ', false, json::error_handler_t::replace)
          << '\n';
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || std::strcmp(argv[1], "--help") == 0) {
    std::cout
        << "usage: arrcoc_train --config FILE [--minutes 20] [--out DIR] [--init DIR] ...\n"
        << "       arrcoc_train --export_int8 DIR --out DIR\n"
        << "       arrcoc_train --measure FILE --data DIR --init DIR [--run DIR --means "
           "0/0,0.4/0.6] ...\n"
        << "       arrcoc_train --qformer DIR --init MODEL [--minutes 4] [--device cuda] ...\n"
        << "options and their defaults:\n"
        << arrcoc::training::to_json({}) << '\n';
    return argc < 2 ? 2 : 0;
  }
  try {
    const json given = options_of(argc, argv);
    if (given.contains("export_int8")) return export_weights(given);
    if (given.contains("qformer")) return train_qformer(given);
    if (given.contains("measure")) return measure(given);
    const auto options = arrcoc::training::options_from_json(given.dump());
    const auto report = arrcoc::training::train(options, say);
    std::cout << "done: " << report.steps << " steps, " << report.questions << " questions, "
              << report.seconds << " s; exact match " << report.exact_realized << " (oracle "
              << report.exact_oracle << "), recall " << report.recall << std::endl;
  } catch (const std::exception& problem) {
    std::cerr << "arrcoc_train: " << problem.what() << std::endl;
    return 1;
  }
  return 0;
}
