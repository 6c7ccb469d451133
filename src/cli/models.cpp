// arrcoc models pull|list|info|check|init: Hugging Face checkpoints on this machine, and weights of
// the bundled model.
#include <ATen/ATen.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "arrcoc/bundle.h"
#include "arrcoc/error.h"
#include "cli/cli.h"
#include "cli/device.h"
#include "cli/hub.h"

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

ModelInfo inspect(const std::string& folder) {
  return holds_bundle(folder) ? inspect_bundle(folder) : inspect_model(folder);
}

ordered_json to_json(const ModelInfo& info, const std::string& name = "") {
  ordered_json out;
  if (!name.empty()) out["name"] = name;  // on the hub
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
  std::vector<std::vector<std::string>> rows = {{"model", "family", "parameters", "size", "state"}};
  auto all = ordered_json::array();
  const auto add = [&](const std::string& folder, const std::string& name) {
    ModelInfo info = inspect(folder);
    all.push_back(to_json(info, name));
    rows.push_back({name.empty() ? folder : name, info.family.empty() ? "?" : info.family,
                    count_text(info.parameters), bytes_text(info.stored_bytes),
                    info.problem.empty() ? "ready" : info.problem});
  };
  for (const std::string& folder : found(options.folder)) add(folder, "");
  if (options.folder.empty())
    for (const hub::Cached& one : hub::cached(hub_settings())) add(one.folder, one.name.text());
  if (options.json) {
    std::cout << all.dump(1) << "\n";
  } else if (rows.size() == 1) {
    std::cout
        << "no checkpoints found (give a folder, set ARRCOC_MODELS, or pull one by its name)\n";
  } else {
    std::cout << table(rows);
  }
}

void info(const Models& options) {
  ModelInfo about = inspect(cached_folder(options.folder));
  if (!options.json && about.family.empty() && !about.problem.empty())
    throw Error(ErrorCode::bad_weights, about.problem);  // nothing is known that a table could show
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

std::vector<TensorCheck> checks(const Models& options) {
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
    return check_processor(options.processor, options.golden, pictures_in(options.images));
  }
  need(options.folder, "the checkpoint's folder");
  const std::string folder = cached_folder(options.folder);
  if (holds_bundle(folder)) {
    if (!options.golden.empty())
      throw Error(ErrorCode::bad_argument, "--golden is for Hugging Face checkpoints");
    return check_bundle(folder);
  }
  if (!options.golden.empty()) {
    return check_golden(folder, options.golden, options.device);
  }
  return self_test(folder, {.device = options.device});
}

void check(const Models& options) {
  bool good = true;
  for (const TensorCheck& one : checks(options)) {
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

void pull(const Models& options, const HubFlags& hub) {
  const auto name = hub::parse_name(options.folder);
  if (!name)
    throw Error(ErrorCode::bad_argument,
                "'" + options.folder + "' is no OWNER/NAME[@REVISION] of a model on the hub");
  std::cout << hub.pull(*name) << "\n";
}

void init(const Models& options) {
  int64_t parameters = init_checkpoint(options.config, options.out, options.dtype, options.seed);
  std::cout << options.out << ": " << count_text(parameters) << " random parameters\n";
}

}  // namespace

void add_models(CLI::App& app) {
  CLI::App* models = app.add_subcommand("models", "checkpoints: pull, list, info, check, init");
  models->require_subcommand(1);
  auto options = std::make_shared<Models>();

  CLI::App* pulled = models->add_subcommand("pull", "fetch a model from Hugging Face's hub");
  pulled->add_option("name", options->folder, "OWNER/NAME[@REVISION]")->required();
  pulled->callback([options, hub = HubFlags(*pulled)] { pull(*options, hub); });

  CLI::App* lists = models->add_subcommand("list", "what is there and whether it loads");
  lists->add_option("folder", options->folder,
                    "where to look (default: $ARRCOC_MODELS or models, and the hub's cache)");
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
  checked->callback([options, checked] {
    if (checked->count("--device") > 0) place_networks(&options->device, nullptr);
    check(*options);
  });

  CLI::App* made = models->add_subcommand("init", "write a random checkpoint of any size");
  made->add_option("--config", options->config, "config.json")->required();
  made->add_option("--out", options->out, "folder to write")->required();
  made->add_option("--dtype", options->dtype, "float32, bfloat16 or float16");
  made->add_option("--seed", options->seed, "of the random numbers");
  made->callback([options] { init(*options); });
}

}  // namespace arrcoc::cli
