#include "models/tiny/query_former.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>

#include "arrcoc/error.h"
#include "models/tiny/files.h"

namespace arrcoc::tiny {
namespace {

namespace fs = std::filesystem;

constexpr int kBlocks = 2;
constexpr const char* kFile = "model.safetensors";
constexpr const char* kArchitecture = "arrcoc-qformer-1";

}  // namespace

QueryFormer::QueryFormer(const Shape& shape) : width_(shape.width) {
  const int64_t d = shape.width;
  const float gain = 1 / std::sqrt(3.0F * kBlocks);
  queries_ = layout_.add("symbols.queries", {kQueries, d}, Init::normal, 0.5F);
  token_norm_ = Norm(layout_, "token_norm", d);
  for (int i = 0; i < kBlocks; ++i) {
    const std::string name = "block." + std::to_string(i);
    blocks_.push_back({Norm(layout_, name + ".norm1", d), Norm(layout_, name + ".norm2", d),
                       Norm(layout_, name + ".norm3", d),
                       Attention(layout_, name + ".self", d, d, shape.heads, gain),
                       Attention(layout_, name + ".cross", d, d, shape.heads, gain),
                       Mlp(layout_, name + ".mlp", d, 2 * d, gain)});
  }
  final_ = Norm(layout_, "final", d);
  project_ = Linear(layout_, "project", d, d);
}

Tensor QueryFormer::operator()(const Parameters& w, const Tensor& tokens,
                               const Tensor& mask) const {
  Tensor x = w[queries_].unsqueeze(0).expand({tokens.size(0), kQueries, width_});
  const Tensor seen = token_norm_(w, tokens);
  for (const Block& block : blocks_) {
    Tensor n = block.norm1(w, x);
    x = x + block.self(w, n, block.self.remember(w, n), {});
    x = x + block.cross(w, block.norm2(w, x), block.cross.remember(w, seen), mask);
    x = x + block.mlp(w, block.norm3(w, x));
  }
  return project_(w, final_(w, x));
}

void save_queries(const std::string& folder, const Shape& shape, const QueryWeights& weights,
                  const std::map<std::string, std::string>& notes) {
  fs::create_directories(folder);
  const QueryFormer net(shape);
  std::vector<std::pair<std::string, Tensor>> stored;
  for (size_t i = 0; i < weights.tensors.size(); ++i)
    add_int8(stored, net.layout().specs()[i].name, weights.tensors[i].detach());
  std::map<std::string, std::string> metadata = notes;
  metadata["format"] = "pt";
  metadata["architecture"] = kArchitecture;
  metadata["answerer"] = std::to_string(weights.answerer);
  write_safetensors((fs::path(folder) / kFile).string(), {stored.begin(), stored.end()}, metadata);
}

QueryWeights load_queries(const std::string& folder, const Shape& shape) {
  const std::string path = (fs::path(folder) / kFile).string();
  const WeightFile file = WeightFile::open(path);
  const auto field = [&](const char* name) {
    const auto found = file.metadata().find(name);
    return found == file.metadata().end() ? std::string() : found->second;
  };
  const std::string tag = field("answerer");
  if (field("architecture") != kArchitecture || tag.empty() || tag.size() > 20 ||
      tag.find_first_not_of("0123456789") != std::string::npos)
    throw Error(ErrorCode::bad_weights, path + " is no " + kArchitecture + " module");
  QueryWeights out;
  out.answerer = std::strtoull(tag.c_str(), nullptr, 10);
  size_t used = 0;
  const QueryFormer net(shape);
  for (const TensorSpec& spec : net.layout().specs())
    out.tensors.push_back(read_tensor(file, spec.name, spec, used));
  if (file.tensors().size() != used)
    throw Error(ErrorCode::bad_weights, path + " holds " + std::to_string(file.tensors().size()) +
                                            " tensors where " + std::to_string(used) + " belong");
  return out;
}

uint64_t answerer_tag(const Answerer& net, const Tensors& weights) {
  uint64_t hash = 1469598103934665603ULL;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (net.layout().specs()[i].name.rfind("glyph.", 0) == 0) continue;  // only training reads it
    const Tensor whole = weights[i].detach().to(at::kCPU, at::kFloat).contiguous();
    const float* values = whole.data_ptr<float>();
    for (int64_t k = 0; k < whole.numel(); ++k) {
      uint32_t bits = 0;
      std::memcpy(&bits, values + k, sizeof bits);
      hash = (hash ^ bits) * 1099511628211ULL;
    }
  }
  return hash;
}

std::string queries_folder(const std::string& model_folder) {
  fs::path folder = fs::path(model_folder).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // "models/tiny/"
  return (folder.parent_path() / "baselines" / "qformer").string();
}

}  // namespace arrcoc::tiny
