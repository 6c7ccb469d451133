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

namespace arrcoc::tiny {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int64_t kShardBytes = 15 << 20;
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
          {"question_layers", &Shape::question_layers}};
}

void write_file(const fs::path& path, const std::string& text) {
  const fs::path temporary = path.string() + ".tmp";
  {
    std::ofstream out(temporary, std::ios::binary);
    out << text;
    out.flush();
    if (!out) throw Error(ErrorCode::io, "cannot write " + temporary.string());
  }
  fs::rename(temporary, path);
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
      if (!value.is_number_integer() || value.get<int64_t>() < 1 || value.get<int64_t>() > 4096)
        throw Error(ErrorCode::bad_json, "shape: '" + key + "' must be a number from 1 to 4096");
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

void save_bundle(const std::string& folder, const Bundle& bundle, const std::string& tag) {
  fs::create_directories(folder);
  const RealizerNet realizer(bundle.shape);
  const Answerer answerer(bundle.shape);
  std::vector<std::map<std::string, Tensor>> shards(1);
  int64_t used = 0, total = 0;
  const auto add = [&](const std::string& prefix, const Layout& layout, const Tensors& tensors) {
    for (size_t i = 0; i < layout.specs().size(); ++i) {
      Tensor t = tensors[i].detach().to(at::kCPU, at::kBFloat16).contiguous();
      const int64_t bytes = t.numel() * 2;
      if (used > 0 && used + bytes > kShardBytes - 65536) {
        shards.emplace_back();
        used = 0;
      }
      shards.back()[prefix + layout.specs()[i].name] = t;
      used += bytes;
      total += bytes;
    }
  };
  add("realizer.", realizer.layout(), bundle.realizer);
  add("answerer.", answerer.layout(), bundle.answerer);
  json index;
  index["metadata"]["total_size"] = total;
  std::set<std::string> current;
  for (size_t i = 0; i < shards.size(); ++i) {
    char name[96];
    std::snprintf(name, sizeof name, "model-%s-%05zu-of-%05zu.safetensors", tag.c_str(), i + 1,
                  shards.size());
    write_safetensors((fs::path(folder) / name).string(), shards[i], {{"format", "pt"}});
    current.insert(name);
    for (const auto& [tensor, value] : shards[i]) index["weight_map"][tensor] = name;
  }
  json config;
  config["architecture"] = kArchitecture;
  config["shape"] = json::parse(shape_to_json(bundle.shape));
  config["parameters"] = realizer.layout().count() + answerer.layout().count();
  write_file(fs::path(folder) / "config.json", config.dump(2) + "\n");
  write_file(fs::path(folder) / kIndex, index.dump(1) + "\n");
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() == ".safetensors" && name.rfind("model-", 0) == 0 &&
        !current.count(name))
      fs::remove(entry.path());
  }
}

Bundle load_bundle(const std::string& folder) {
  const fs::path config_path = fs::path(folder) / "config.json";
  json config = json::parse(read_file(config_path), nullptr, false);
  if (!config.is_object() || config.value("architecture", "") != kArchitecture ||
      !config.contains("shape"))
    throw Error(ErrorCode::bad_weights,
                config_path.string() + " does not describe an " + kArchitecture + " model");
  Bundle bundle;
  bundle.shape = shape_from_json(config["shape"].dump());
  const RealizerNet realizer(bundle.shape);
  const Answerer answerer(bundle.shape);
  const WeightFile weights = WeightFile::open(folder);
  size_t wanted = 0;
  const auto read = [&](const std::string& prefix, const Layout& layout, Tensors& out) {
    for (const TensorSpec& spec : layout.specs())
      out.push_back(weights.get(prefix + spec.name, at::kFloat, spec.shape));
    wanted += layout.specs().size();
  };
  read("realizer.", realizer.layout(), bundle.realizer);
  read("answerer.", answerer.layout(), bundle.answerer);
  if (weights.tensors().size() != wanted)
    throw Error(ErrorCode::bad_weights,
                folder + " holds " + std::to_string(weights.tensors().size()) + " tensors where " +
                    std::to_string(wanted) + " belong to its shape");
  return bundle;
}

}  // namespace arrcoc::tiny
