// arrcoc models list|info|check|init: Hugging Face checkpoints on this machine, and weights of the
// bundled model.
#include <ATen/ATen.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "arrcoc/error.h"
#include "models/hf/hf.h"
#include "arrcoc/look.h"
#include "models/tiny/tiny.h"
#include "models/tokenizers/tokenizer.h"
#include "cli/cli.h"
#include "models/hf/golden.h"

namespace arrcoc::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

struct Models {
  std::string folder;
  std::string golden, processor, tokenizer, images;
  std::string config, out, dtype = "bfloat16", device = "cpu";
  uint64_t seed = 0;
  bool json = false;
};

std::string short_number(double value, const char* units) {
  const char* names = units;
  while (value >= 1000 && names[1]) {
    value /= 1000;
    ++names;
  }
  char text[32];
  std::snprintf(text, sizeof text, value < 10 && names != units ? "%.1f%c" : "%.0f%c", value,
                *names);
  return text;
}

std::string bytes_text(int64_t bytes) {
  return short_number(static_cast<double>(bytes), " KMGT") + "B";
}

std::string count_text(int64_t count) { return short_number(static_cast<double>(count), " KMBT"); }

// Folders with a config.json below the given one, or below $ARRCOC_MODELS and ./models.
std::vector<std::string> found(const std::string& folder) {
  std::vector<std::string> roots = {folder};
  if (folder.empty()) {
    const char* set = std::getenv("ARRCOC_MODELS");
    roots = {set ? set : "models"};
  }
  std::vector<std::string> out;
  for (const std::string& root : roots) {
    std::error_code failed;
    if (!fs::is_directory(root, failed)) {
      if (folder.empty()) continue;
      throw Error(ErrorCode::not_found, root + ": no such folder");
    }
    if (fs::exists(fs::path(root) / "config.json")) out.push_back(root);
    auto walk = fs::recursive_directory_iterator(
        root, fs::directory_options::skip_permission_denied, failed);
    for (const auto& entry : walk) {
      if (walk.depth() > 3) walk.disable_recursion_pending();
      if (entry.is_directory(failed) && fs::exists(entry.path() / "config.json")) {
        out.push_back(entry.path().string());
      }
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

hf::ModelInfo inspect(const std::string& folder) {
  if (!tiny::holds_weights(folder)) return hf::inspect(folder);
  const tiny::WeightsInfo own = tiny::inspect(folder);
  return {folder, own.architecture, own.dtype, own.parameters, own.bytes, 0, own.problem};
}

ordered_json to_json(const hf::ModelInfo& info) {
  ordered_json out;
  out["folder"] = info.folder;
  out["family"] = info.family;
  out["dtype"] = info.dtype;
  out["parameters"] = info.parameters;
  out["stored_bytes"] = info.stored_bytes;
  out["bytes_per_cached_token"] = info.bytes_per_cached_token;
  out["loadable"] = info.problem.empty();
  if (!info.problem.empty()) out["problem"] = info.problem;
  return out;
}

void list(const Models& options) {
  std::vector<std::vector<std::string>> rows = {
      {"folder", "family", "parameters", "size", "state"}};
  auto all = ordered_json::array();
  for (const std::string& folder : found(options.folder)) {
    hf::ModelInfo info = inspect(folder);
    all.push_back(to_json(info));
    rows.push_back({folder, info.family.empty() ? "?" : info.family, count_text(info.parameters),
                    bytes_text(info.stored_bytes), info.problem.empty() ? "ready" : info.problem});
  }
  if (options.json) {
    std::cout << all.dump(1) << "\n";
  } else if (rows.size() == 1) {
    std::cout << "no checkpoints found (give a folder, or set ARRCOC_MODELS)\n";
  } else {
    std::cout << table(rows);
  }
}

void info(const Models& options) {
  hf::ModelInfo about = inspect(options.folder);
  if (options.json) {
    std::cout << to_json(about).dump(1) << "\n";
  } else {
    int64_t single = about.parameters * 4;
    std::vector<std::vector<std::string>> rows = {
        {"what", "value"},
        {"family", about.family},
        {"parameters", count_text(about.parameters)},
        {"stored", bytes_text(about.stored_bytes) + " (" + about.dtype + ")"},
        {"memory as float32", bytes_text(single)},
        {"memory as bfloat16", bytes_text(single / 2)}};
    if (about.bytes_per_cached_token > 0)
      rows.push_back({"cache per 1,000 tokens", bytes_text(about.bytes_per_cached_token * 1000)});
    std::cout << table(rows);
  }
  if (!about.problem.empty()) throw Error(ErrorCode::bad_weights, about.problem);
}

// img0.png, img1.png, ... as far as they go.
std::vector<at::Tensor> pictures_in(const std::string& folder) {
  std::vector<at::Tensor> out;
  for (int i = 0;; ++i) {
    fs::path path = fs::path(folder) / ("img" + std::to_string(i) + ".png");
    if (!fs::exists(path)) break;
    out.push_back(media::load(path.string()).rgb);
  }
  if (out.empty()) throw Error(ErrorCode::not_found, folder + ": no img0.png");
  return out;
}

// Ids and text of every case of a tokenizer's golden file.
std::vector<hf::TensorCheck> check_tokenizer(const std::string& path, const std::string& golden) {
  auto tokenizer = load_tokenizer(path);
  std::ifstream in(golden, std::ios::binary);
  if (!in) throw Error(ErrorCode::not_found, golden + ": cannot be read");
  json cases = json::parse(in, nullptr, false);
  if (!cases.is_array() || cases.empty()) {
    throw Error(ErrorCode::bad_json, golden + ": not a list of cases");
  }
  std::vector<hf::TensorCheck> out;
  for (size_t i = 0; i < cases.size(); ++i) {
    const json& one = cases[i];
    hf::TensorCheck check{"case " + std::to_string(i), 0, 0, ""};
    try {
      auto text = one.at("text").get<std::string>();
      auto ids = one.at("ids").get<std::vector<int64_t>>();
      if (tokenizer->encode(text) != ids) check.problem = "other ids for " + one.at("text").dump();
      if (one.contains("decoded") && tokenizer->decode(ids) != one["decoded"].get<std::string>()) {
        check.problem = "other text for " + one["decoded"].dump();
      }
    } catch (const json::exception&) {
      check.problem = "text and ids are missing";
    }
    out.push_back(check);
  }
  return out;
}

// Every tensor present and finite, and questions asked together find what they find alone.
std::vector<hf::TensorCheck> check_own(const std::string& folder) {
  const auto model = tiny::TinyModel::load(folder);
  const Picture picture = make_picture(
      at::arange(3 * 256 * 384, at::kLong).remainder(251).to(at::kByte).view({3, 256, 384}));
  const at::Tensor frame = frame_of(picture, 384);
  const std::vector<std::string> questions = {"What is the total?", "Who wrote this?"};
  const auto together = model->look(picture, frame, questions);
  hf::TensorCheck alike{"relevance alone and together", 0, 1e-3, ""};
  for (size_t i = 0; i < questions.size(); ++i) {
    const Map alone = model->look(picture, frame, questions[i]).relevance;
    for (const Map* map : {&alone, &together[i].relevance}) require_finite(*map, "relevance");
    for (size_t k = 0; k < alone.values.size(); ++k) {
      const double difference = std::abs(alone.values[k] - together[i].relevance.values[k]);
      alike.difference = std::max(alike.difference, difference);
    }
  }
  return {{"weights", 0, 0, ""}, alike};
}

std::vector<hf::TensorCheck> checks(const Models& options) {
  auto need = [](const std::string& value, const char* flag) {
    if (value.empty()) throw Error(ErrorCode::bad_argument, std::string(flag) + " is missing");
  };
  if (!options.tokenizer.empty()) {
    need(options.golden, "--golden");
    return check_tokenizer(options.tokenizer, options.golden);
  }
  if (!options.processor.empty()) {
    need(options.golden, "--golden");
    need(options.images, "--images");
    return hf::check_processor(options.processor, options.golden, pictures_in(options.images));
  }
  need(options.folder, "the checkpoint's folder");
  if (tiny::holds_weights(options.folder)) {
    if (!options.golden.empty())
      throw Error(ErrorCode::bad_argument, "--golden is for Hugging Face checkpoints");
    return check_own(options.folder);
  }
  if (!options.golden.empty()) {
    return hf::check_golden_on(options.folder, options.golden, options.device);
  }
  return hf::self_test(options.folder, {options.device, ""});
}

void check(const Models& options) {
  bool good = true;
  for (const hf::TensorCheck& one : checks(options)) {
    good = good && one.ok();
    char line[64];
    std::snprintf(line, sizeof line, "%.3g (allowed %.3g)", one.difference, one.tolerance);
    std::cout << (one.ok() ? "ok    " : "FAIL  ") << one.name << "  "
              << (one.problem.empty() ? line : one.problem) << "\n";
  }
  if (!good) {
    std::cout.flush();
    throw Error(ErrorCode::bad_weights, "not everything is within its tolerance");
  }
}

void init(const Models& options) {
  int64_t parameters =
      hf::init_checkpoint(options.config, options.out, options.dtype, options.seed);
  std::cout << options.out << ": " << count_text(parameters) << " random parameters\n";
}

}  // namespace

void add_models(CLI::App& app) {
  CLI::App* models = app.add_subcommand("models", "checkpoints: list, info, check, init");
  models->require_subcommand(1);
  auto options = std::make_shared<Models>();

  CLI::App* lists = models->add_subcommand("list", "what is there and whether it loads");
  lists->add_option("folder", options->folder, "where to look (default: $ARRCOC_MODELS or models)");
  lists->add_flag("--json", options->json, "print JSON");
  lists->callback([options] { list(*options); });

  CLI::App* about = models->add_subcommand("info", "family, size and memory of a checkpoint");
  about->add_option("folder", options->folder, "the checkpoint")->required();
  about->add_flag("--json", options->json, "print JSON");
  about->callback([options] { info(*options); });

  CLI::App* checked = models->add_subcommand("check", "run a checkpoint against golden outputs");
  checked->add_option("folder", options->folder, "the checkpoint");
  checked->add_option("--golden", options->golden, "expected outputs");
  checked->add_option("--processor", options->processor, "image processor settings to check");
  checked->add_option("--images", options->images, "folder with img0.png, img1.png, ...");
  checked->add_option("--tokenizer", options->tokenizer, "tokenizer.json to check");
  checked->add_option("--device", options->device, "cpu or cuda");
  checked->callback([options] { check(*options); });

  CLI::App* made = models->add_subcommand("init", "write a random checkpoint of any size");
  made->add_option("--config", options->config, "config.json")->required();
  made->add_option("--out", options->out, "folder to write")->required();
  made->add_option("--dtype", options->dtype, "float32, bfloat16 or float16");
  made->add_option("--seed", options->seed, "of the random numbers");
  made->callback([options] { init(*options); });
}

}  // namespace arrcoc::cli
