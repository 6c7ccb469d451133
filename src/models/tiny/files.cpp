#include "models/tiny/files.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>

#include "arrcoc/error.h"
#include "arrcoc/weights.h"
#include "models/tiny/history.h"

namespace arrcoc::tiny {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int64_t kShardBytes = 15 << 20;
constexpr int64_t kSmallShardBytes = 8'000'000;
constexpr int kWidestBeam = 16;
constexpr const char* kScale = ".scale";
constexpr const char* kIndex = "model.safetensors.index.json";
constexpr const char* kArchitecture = "arrcoc-tiny-1";

std::vector<std::pair<const char*, int Shape::*>> fields() {
  return {{"width", &Shape::width},
          {"heads", &Shape::heads},
          {"encoder_layers", &Shape::encoder_layers},
          {"decoder_layers", &Shape::decoder_layers},
          {"mlp", &Shape::mlp},
          {"stem", &Shape::stem},
          {"cell", &Shape::cell},
          {"page", &Shape::page},
          {"page_layers", &Shape::page_layers},
          {"ask", &Shape::ask},
          {"ask_layers", &Shape::ask_layers},
          {"question_layers", &Shape::question_layers},
          {"lookups", &Shape::lookups}};
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(ErrorCode::not_found, "no file " + path.string());
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

std::string shape_to_json(const Shape& shape) {
  json out;
  for (const auto& [name, field] : fields()) out[name] = shape.*field;
  return out.dump(2);
}

Shape shape_from_json(const std::string& text) {
  Shape shape;
  json in = json::parse(text, nullptr, false);
  if (!in.is_object()) throw Error(ErrorCode::bad_json, "the model's shape is no JSON object");
  for (const auto& [key, value] : in.items()) {
    bool known = false;
    for (const auto& [name, field] : fields()) {
      if (key != name) continue;
      const int64_t least = key == "lookups" ? 0 : 1, most = key == "lookups" ? 1 : 4096;
      if (!value.is_number_integer() || value.get<int64_t>() < least || value.get<int64_t>() > most)
        throw Error(ErrorCode::bad_json, "shape: '" + key + "' must be a number from " +
                                             std::to_string(least) + " to " + std::to_string(most));
      shape.*field = value.get<int>();
      known = true;
    }
    if (!known) throw Error(ErrorCode::bad_json, "shape: unknown key '" + key + "'");
  }
  if (shape.width % shape.heads || shape.page % 32 || shape.ask % 32)
    throw Error(ErrorCode::bad_json,
                "shape: heads must divide width, and 32 must divide page and ask");
  return shape;
}

namespace {

using Named = std::pair<std::string, Tensor>;

// FNV-1a over all bytes.
uint32_t digest_of(const std::vector<Named>& tensors) {
  uint32_t digest = 2166136261U;
  for (const auto& [name, tensor] : tensors) {
    const auto* bytes = static_cast<const uint8_t*>(tensor.data_ptr());
    for (size_t i = 0; i < tensor.nbytes(); ++i) digest = (digest ^ bytes[i]) * 16777619U;
  }
  return digest;
}

// Packs the tensors in order into shards of at most `most` bytes and removes the shards before.
void write_shards(const fs::path& folder, const std::vector<Named>& tensors, int64_t most,
                  const std::string& tag) {
  std::vector<std::map<std::string, Tensor>> shards(1);
  int64_t used = 0, total = 0;
  for (const auto& [name, tensor] : tensors) {
    const int64_t bytes = static_cast<int64_t>(tensor.nbytes());
    if (used > 0 && used + bytes > most - 65536) {  // room for the header
      shards.emplace_back();
      used = 0;
    }
    shards.back()[name] = tensor;
    used += bytes;
    total += bytes;
  }
  json index;
  index["metadata"]["total_size"] = total;
  std::set<std::string> current;
  for (size_t i = 0; i < shards.size(); ++i) {
    char name[96];
    std::snprintf(name, sizeof name, "model-%s-%05zu-of-%05zu.safetensors", tag.c_str(), i + 1,
                  shards.size());
    write_safetensors((folder / name).string(), shards[i], {{"format", "pt"}});
    current.insert(name);
    for (const auto& [tensor, value] : shards[i]) index["weight_map"][tensor] = name;
  }
  write_text_file((folder / kIndex).string(), index.dump(1) + "\n");
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() == ".safetensors" && name.rfind("model-", 0) == 0 &&
        !current.count(name))
      fs::remove(entry.path());
  }
}

// Candidates that an answer is chosen from; one where the bundle does not say.
int beam_of(const json& config) {
  const json beam = config.value("beam", json(1));
  if (!beam.is_number_integer() || beam.get<int64_t>() < 1 || beam.get<int64_t>() > kWidestBeam)
    throw Error(ErrorCode::bad_json,
                "'beam' must be a number from 1 to " + std::to_string(kWidestBeam));
  return beam.get<int>();
}

bool is_ours(const json& config) {
  return config.is_object() && config.value("architecture", json()) == kArchitecture;
}

void write_config(const fs::path& folder, const NetworkWeights& bundle, const char* stored) {
  const Shape& shape = bundle.shape;
  json config;
  config["architecture"] = kArchitecture;
  config["shape"] = json::parse(shape_to_json(shape));
  config["parameters"] = RealizerNet(shape).layout().count() + Answerer(shape).layout().count();
  config["weights"] = stored;
  if (bundle.beam > 1) config["beam"] = bundle.beam;
  write_text_file((folder / "config.json").string(), config.dump(2) + "\n");
}

// All tensors with the names that they have in files.
template <class Visit>
void each_tensor(const NetworkWeights& bundle, const Visit& visit) {
  const RealizerNet realizer(bundle.shape);
  const Answerer answerer(bundle.shape);
  for (size_t i = 0; i < bundle.realizer.size(); ++i)
    visit("realizer." + realizer.layout().specs()[i].name, bundle.realizer[i].detach());
  for (size_t i = 0; i < bundle.answerer.size(); ++i)
    visit("answerer." + answerer.layout().specs()[i].name, bundle.answerer[i].detach());
}

// [rows, ...] -> scale of each row, shaped to multiply the tensor.
Tensor per_row(const Tensor& scale, const Tensor& tensor) {
  std::vector<int64_t> sizes(static_cast<size_t>(tensor.dim()), 1);
  sizes[0] = tensor.size(0);
  return scale.view(sizes);
}

// The heads of the glyph losses: 1.8 % of the weights that answering never reads. The int8 form
// leaves them out; where they are missing they are zeros, from which training can go on.
bool only_for_training(const std::string& name) {
  return name.rfind("realizer.glyph.", 0) == 0 || name.rfind("answerer.glyph.", 0) == 0;
}

}  // namespace

Tensor read_tensor(const WeightFile& weights, const std::string& name, const TensorSpec& spec,
                   size_t& used) {
  if (only_for_training(name) && !weights.has(name)) return at::zeros(spec.shape, at::kFloat);
  Tensor stored = weights.get(name, at::kFloat, spec.shape);
  ++used;
  if (weights.info(name).dtype != at::kChar) return stored;
  Tensor scale = weights.get(name + kScale, at::kFloat, {spec.shape[0]});
  ++used;
  if (!at::isfinite(scale).all().item<bool>())
    throw Error(ErrorCode::bad_weights, weights.info(name + kScale).file + ": tensor '" + name +
                                            kScale + "' holds values that are not finite");
  return stored.mul_(per_row(scale, stored));
}

void add_int8(std::vector<Named>& into, const std::string& name, const Tensor& tensor) {
  Tensor w = tensor.to(at::kCPU, at::kFloat).contiguous();
  if (w.dim() < 2) {
    into.emplace_back(name, w.to(at::kBFloat16));
    return;
  }
  // Scales are bf16, rounded up, so that the largest weight of a row still fits: steps are at
  // most 1.2 % wider than they had to be.
  Tensor scale =
      w.flatten(1).abs().amax(1).div(127).mul(1 + 1.0 / 128).to(at::kBFloat16).to(at::kFloat);
  // A row of zeros stays zeros whatever its scale.
  Tensor q = w.div(per_row(scale.clamp_min(1e-30), w)).round().clamp(-127, 127).to(at::kChar);
  into.emplace_back(name, q);
  into.emplace_back(name + kScale, scale.to(at::kBFloat16));
}

void save_networks(const std::string& folder, const NetworkWeights& bundle,
                   const std::string& tag) {
  fs::create_directories(folder);
  std::vector<Named> tensors;
  each_tensor(bundle, [&](const std::string& name, const Tensor& t) {
    tensors.emplace_back(name, t.to(at::kCPU, at::kBFloat16).contiguous());
  });
  write_config(folder, bundle, "bf16");
  save_history(folder, bundle.shape, bundle.history, false);
  write_shards(folder, tensors, kShardBytes, tag);
}

void save_networks_int8(const std::string& folder, const NetworkWeights& bundle) {
  fs::create_directories(folder);
  std::vector<Named> tensors;
  each_tensor(bundle, [&](const std::string& name, const Tensor& t) {
    if (!only_for_training(name)) add_int8(tensors, name, t);
  });
  write_config(folder, bundle, "int8");
  save_history(folder, bundle.shape, bundle.history, true);
  // Another name than that of other weights: the old index stays true until the new one is there.
  char tag[32];
  std::snprintf(tag, sizeof tag, "int8-%08x", digest_of(tensors));
  write_shards(folder, tensors, kSmallShardBytes, tag);
}

bool holds_weights(const std::string& folder) {
  const fs::path path = fs::path(folder) / "config.json";
  return fs::is_regular_file(path) && is_ours(json::parse(read_file(path), nullptr, false));
}

WeightsInfo inspect(const std::string& folder) {
  WeightsInfo out;
  try {
    const json config = json::parse(read_file(fs::path(folder) / "config.json"), nullptr, false);
    if (is_ours(config)) {
      out.architecture = kArchitecture;
      out.dtype = config.value("weights", "");
    }
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".safetensors")
        out.bytes += static_cast<int64_t>(entry.file_size());
    out.parameters = TinyModel::load(folder)->parameters();
  } catch (const std::exception& problem) {
    out.problem = problem.what();
  }
  return out;
}

NetworkWeights load_networks(const std::string& folder) {
  const fs::path config_path = fs::path(folder) / "config.json";
  json config = json::parse(read_file(config_path), nullptr, false);
  if (!is_ours(config) || !config.contains("shape"))
    throw Error(ErrorCode::bad_weights,
                config_path.string() + " does not describe an " + kArchitecture + " model");
  NetworkWeights bundle;
  try {
    bundle.shape = shape_from_json(config["shape"].dump());
    // Weights from before there were lookups do not name them.
    if (!config["shape"].contains("lookups")) bundle.shape.lookups = 0;
    bundle.beam = beam_of(config);
  } catch (const Error& problem) {
    throw Error(ErrorCode::bad_weights, config_path.string() + ": " + problem.what());
  }
  const RealizerNet realizer(bundle.shape);
  const Answerer answerer(bundle.shape);
  const WeightFile weights = WeightFile::open(folder);
  size_t used = 0;
  for (const TensorSpec& spec : realizer.layout().specs())
    bundle.realizer.push_back(read_tensor(weights, "realizer." + spec.name, spec, used));
  for (const TensorSpec& spec : answerer.layout().specs())
    bundle.answerer.push_back(read_tensor(weights, "answerer." + spec.name, spec, used));
  if (weights.tensors().size() != used)
    throw Error(ErrorCode::bad_weights,
                folder + " holds " + std::to_string(weights.tensors().size()) + " tensors where " +
                    std::to_string(used) + " belong to its shape");
  bundle.history = load_history(folder, bundle.shape);
  return bundle;
}

}  // namespace arrcoc::tiny
