#include "models/hf/checkpoint.h"

#include <ATen/ATen.h>

#include <cstdlib>
#include <filesystem>

#include "arrcoc/bundle.h"
#include "arrcoc/error.h"
#include "models/hf/dual.h"
#include "models/hf/sam.h"
#include "models/hf/vlm.h"

namespace arrcoc {

namespace fs = std::filesystem;

namespace hf {
namespace {

struct Planned {
  std::string name;
  std::vector<int64_t> shape;
};

// Tensors shared out so that no file is larger than it may be (one tensor alone may be).
std::vector<std::vector<Planned>> shards(const PlanSource& plan, int64_t element,
                                         int64_t shard_bytes) {
  std::vector<std::vector<Planned>> out(1);
  int64_t filled = 0;
  for (const auto& [name, shape] : plan.planned()) {
    int64_t bytes = element;
    for (int64_t side : shape) bytes *= side;
    if (filled > 0 && filled + bytes > shard_bytes) {
      out.emplace_back();
      filled = 0;
    }
    out.back().push_back({name, shape});
    filled += bytes;
  }
  return out;
}

std::string shard_name(size_t index, size_t count) {
  if (count == 1) return "model.safetensors";
  char name[64];
  std::snprintf(name, sizeof name, "model-%05zu-of-%05zu.safetensors", index + 1, count);
  return name;
}

}  // namespace

Numbers numbers_of(const ModelOptions& options) {
  const at::Device device = device_named(options.device);
  const char* set = std::getenv("ARRCOC_KERNELS");
  const Kernels chosen = set && *set ? parse_enum<Kernels>(set) : Kernels::automatic;
  const bool asked = options.dtype == "int8" ||
                     (options.dtype.empty() && device.is_cpu() && chosen == Kernels::fast);
  if (!asked) return {dtype_named(options.dtype, device), false, ""};
  if (!device.is_cpu())
    throw Error(ErrorCode::unsupported, "int8 is computed on the CPU; on a GPU take bfloat16");
  const std::string why = chosen == Kernels::reference ? "reference kernels were asked for"
                                                       : kernels::no_fast_kernels();
  return {at::kFloat, why.empty(), why.empty() ? "" : "float32 instead of int8: " + why};
}

FileSource open_weights(const std::string& folder, const ModelConfig& config,
                        const ModelOptions& options) {
  const Numbers numbers = numbers_of(options);
  return {WeightFile::open(folder), spellings_of(config), numbers.dtype,
          device_named(options.device), numbers.in_bytes};
}

json default_processor(const ModelConfig& config) {
  auto square = [](int64_t side) { return json{{"height", side}, {"width", side}}; };
  switch (config.family) {
    case Family::llava:
      return {{"image_processor_type", "CLIPImageProcessor"},
              {"size", {{"shortest_edge", config.llava.image_size}}},
              {"crop_size", square(config.llava.image_size)}};
    case Family::clip:
      return {{"image_processor_type", "CLIPImageProcessor"},
              {"size", {{"shortest_edge", config.dual.image_size}}},
              {"crop_size", square(config.dual.image_size)}};
    case Family::siglip:
      return {{"image_processor_type", "SiglipImageProcessor"},
              {"size", square(config.dual.image_size)}};
    case Family::sam:
      return {{"image_processor_type", "SamImageProcessor"},
              {"size", {{"longest_edge", config.sam.image_size}}},
              {"pad_size", square(config.sam.image_size)}};
    case Family::ovis2:
      return {{"image_processor_type", "Ovis2ImageProcessor"},
              {"size", square(config.ovis.image_size)},
              {"crop_to_patches", false}};
    case Family::smolvlm:
    case Family::idefics3:
      return {{"image_processor_type", config.family == Family::smolvlm ? "SmolVLMImageProcessor"
                                                                        : "Idefics3ImageProcessor"},
              {"size", {{"longest_edge", 4 * config.smol.image_size}}},
              {"max_image_size", {{"longest_edge", config.smol.image_size}}}};
    case Family::sam_clip:
      return {{"image_processor_type", "SiglipImageProcessor"},
              {"size", square(config.sam_clip.sam.image_size)}};
    case Family::deepseek_ocr2:
      return {{"image_processor_type", "DeepseekOcr2ImageProcessor"},
              {"size", square(config.deepseek.sam.image_size)},
              {"tile_size", config.deepseek.sam.image_size * 3 / 4}};
    default:
      break;
  }
  json qwen = {{"image_processor_type", "Qwen2VLImageProcessor"},
               {"patch_size", config.qwen.patch},
               {"merge_size", config.qwen.merge},
               {"temporal_patch_size", config.qwen.temporal}};
  int64_t unit = config.qwen.patch * config.qwen.merge;
  if (config.family == Family::qwen3_vl) {
    qwen["image_mean"] = qwen["image_std"] = {0.5, 0.5, 0.5};
    qwen["size"] = {{"shortest_edge", 64 * unit * unit}, {"longest_edge", 16384 * unit * unit}};
  } else {
    qwen["min_pixels"] = 4 * unit * unit;
    qwen["max_pixels"] = 16384 * unit * unit;
  }
  return qwen;
}

ImageProcessor open_processor(const std::string& folder, const ModelConfig& config) {
  std::string file = (fs::path(folder) / "preprocessor_config.json").string();
  ImageProcessor processor = fs::exists(file)
                                 ? ImageProcessor::open(file)
                                 : ImageProcessor::from(default_processor(config), config.file);
  bool qwen = config.family >= Family::qwen2_vl && config.family <= Family::qwen3_vl;
  bool fits = processor.follows_size() == qwen;
  if (config.family == Family::deepseek_ocr2) fits = processor.has_views();
  if (config.is_smol())
    fits = processor.splits() &&
           processor.tile_side() / config.smol.patch % config.smol.scale == 0 &&
           processor.tile_side() >= config.smol.patch * config.smol.scale;
  if (qwen && fits)
    fits = processor.patch() == config.qwen.patch && processor.merge() == config.qwen.merge &&
           processor.temporal() == config.qwen.temporal;
  if (!fits) throw Error(ErrorCode::bad_json, file + ": does not fit the model in " + config.file);
  return processor;
}

json film_settings(json settings, const ModelConfig& config) {
  const bool three = config.family == Family::qwen3_vl;
  if (!settings.contains("video_processor_type"))
    settings["video_processor_type"] = three ? "Qwen3VLVideoProcessor" : "Qwen2VLVideoProcessor";
  for (const auto& [key, value] :
       {std::pair{"patch_size", config.qwen.patch}, std::pair{"merge_size", config.qwen.merge},
        std::pair{"temporal_patch_size", config.qwen.temporal}})
    if (!settings.contains(key)) settings[key] = value;
  if (three && !settings.contains("image_mean"))
    settings["image_mean"] = settings["image_std"] = {0.5, 0.5, 0.5};
  return settings;
}

ImageProcessor open_film_processor(const std::string& folder, const ModelConfig& config) {
  json settings = default_processor(config);
  std::string file = config.file;
  for (const char* name : {"preprocessor_config.json", "video_preprocessor_config.json"}) {
    const std::string path = (fs::path(folder) / name).string();
    if (!fs::exists(path)) continue;
    settings = Settings::read(path);
    file = path;
    // Sizes of photographs say nothing about films.
    if (std::string_view(name) == "preprocessor_config.json" && settings.is_object())
      for (const char* size : {"size", "min_pixels", "max_pixels"}) settings.erase(size);
  }
  return ImageProcessor::from(film_settings(std::move(settings), config), file);
}

void visit_tensors(const ModelConfig& config, Source& source) {
  switch (config.family) {
    case Family::clip:
    case Family::siglip:
      DualEncoder(config, source);
      return;
    case Family::sam:
      SamEncoder(config, source);
      return;
    default:
      make_vlm(config, source);
      return;
  }
}

}  // namespace hf

ModelInfo inspect_model(const std::string& folder) {
  using namespace hf;
  ModelInfo info;
  info.folder = folder;
  try {
    const ModelConfig config = read_config(folder);
    info.family = to_string(config.family);
    info.dtype = config.dtype;
    WeightFile weights = WeightFile::open(folder);
    info.parameters = weights.parameters();
    info.stored_bytes = weights.bytes();
    const int64_t element = info.parameters > 0 ? info.stored_bytes / info.parameters : 4;
    const DecoderConfig& d = config.decoder;
    if (config.has_decoder())
      info.bytes_per_cached_token = 2 * d.layers * d.kv_heads * d.head_dim * element;
    HeaderSource source(std::move(weights), spellings_of(config));
    visit_tensors(config, source);
    open_processor(folder, config);
  } catch (const Error& error) {
    info.problem = error.what();
  }
  return info;
}

int64_t init_checkpoint(const std::string& path, const std::string& folder,
                        const std::string& dtype_name, uint64_t seed, int64_t shard_bytes) {
  using namespace hf;
  fs::path file = path;
  if (fs::is_directory(file)) file /= "config.json";
  json settings = Settings::read(file.string());
  const ModelConfig config = parse_config(settings, file.string());
  const at::ScalarType dtype = dtype_named(dtype_name, at::kCPU);
  const auto element = static_cast<int64_t>(c10::elementSize(dtype));
  PlanSource plan(spellings_of(config));
  visit_tensors(config, plan);
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) throw Error(ErrorCode::io, folder + ": cannot be created: " + failed.message());

  const auto in = [&](const std::string& name) { return (fs::path(folder) / name).string(); };
  const auto parts = shards(plan, element, shard_bytes);
  json map = json::object();
  int64_t parameters = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    std::map<std::string, at::Tensor> tensors;
    const std::string name = shard_name(i, parts.size());
    for (const Planned& one : parts[i]) {
      tensors[one.name] = random_tensor(one.name, one.shape, dtype, at::kCPU, seed);
      parameters += tensors[one.name].numel();
      map[one.name] = name;
    }
    write_safetensors(in(name), tensors, {{"format", "pt"}});
  }
  if (parts.size() > 1) {
    const json index = {{"metadata", {{"total_size", parameters * element}}}, {"weight_map", map}};
    write_text_file(in("model.safetensors.index.json"), index.dump(1));
  }
  settings.erase("torch_dtype");
  settings["dtype"] = arrcoc::dtype_name(dtype);
  write_text_file(in("config.json"), settings.dump(1));
  write_text_file(in("preprocessor_config.json"), default_processor(config).dump(1));
  return parameters;
}

}  // namespace arrcoc
