// The numbers of a Hugging Face processor, from preprocessor_config.json or processor_config.json.
#include <cctype>
#include <optional>

#include "base/json.h"
#include "serve/counting/rules.h"

namespace arrcoc::serving {

namespace {

constexpr const char* kWhat = "the processor configuration";
constexpr int kMostTiles = 64;  // every grid of so many is tried for every size

// Fields of the image processor and, around it, of the processor: the first that has a name wins.
class Fields {
 public:
  explicit Fields(const std::string& text) : outer_(parse_json(text, kWhat)) {
    if (!outer_.is_object()) throw Error(ErrorCode::bad_json, std::string(kWhat) + ": no object");
    if (!outer_.contains("image_processor")) return;
    inner_ = outer_["image_processor"];
    if (!inner_.is_object()) wrong_json(kWhat, "image_processor", "an object");
  }

  const json* find(const char* key) const {
    for (const json* object : {&inner_, &outer_})
      if (const auto at = object->find(key); at != object->end() && !at->is_null()) return &*at;
    return nullptr;
  }
  // A whole number from 1, or its first of `sides` where it is an object; none when it is missing.
  std::optional<int64_t> whole(const char* key,
                               std::initializer_list<const char*> sides = {}) const {
    const json* value = find(key);
    if (value == nullptr) return {};
    std::string name = key;
    if (value->is_object()) {
      const json* side = nullptr;
      for (const char* each : sides)
        if (side == nullptr && value->contains(each) && !(*value)[each].is_null()) {
          side = &(*value)[each];
          name += std::string(".") + each;
        }
      if (side == nullptr) return {};
      value = side;
    }
    int64_t out = 0;
    read_value(kWhat, name, *value, out);
    if (out < 1 || out > (int64_t{1} << 40)) wrong_json(kWhat, name, "from 1 to 2^40");
    return out;
  }
  void put(int& target, const char* key, std::initializer_list<const char*> sides = {}) const {
    const auto value = whole(key, sides);
    if (!value) return;
    if (*value > 1 << 20) wrong_json(kWhat, key, "at most 1048576");
    target = static_cast<int>(*value);
  }
  void put(int64_t& target, const char* key, std::initializer_list<const char*> sides = {}) const {
    if (const auto value = whole(key, sides)) target = *value;
  }
  bool flag(const char* key, bool otherwise) const {
    if (const json* value = find(key)) read_value(kWhat, key, *value, otherwise);
    return otherwise;
  }
  std::string text(const char* key) const {
    std::string out;
    if (const json* value = find(key)) read_value(kWhat, key, *value, out);
    return out;
  }

 private:
  json outer_, inner_ = json::object();
};

// "Qwen2VLImageProcessorFast" -> "qwen2vl...": the family whose classes are called so.
std::string family_of_classes(const Fields& fields) {
  std::string names;
  for (const char* key : {"processor_class", "image_processor_type"})
    for (const char c : fields.text(key) + " ")
      if (c != '_') names += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const bool patches_of_16 = fields.whole("patch_size", {"height"}) == 16;
  const std::pair<const char*, const char*> known[] = {
      {"qwen3vl", "qwen3-vl"},
      {"qwen25vl", "qwen2-vl"},
      {"qwen2vl", patches_of_16 ? "qwen3-vl" : "qwen2-vl"},
      {"gemma4", "gemma4"},
      {"gemma3", "gemma3"},
      {"llavaonevision", "llava-onevision"},
      {"llavanext", "llava-next"},
      {"llava", "llava-1.5"},
      {"internvl", "internvl"},
      {"gotocr2", "internvl"},
      {"ovis2", "ovis2"},
      {"pixtral", "pixtral"},
      {"smolvlm", "smolvlm"},
      {"idefics3", "idefics3"},
      {"deepseekocr2", "deepseek-ocr-2"},
      {"deepseekocr", "deepseek-ocr"},
  };
  for (const auto& [mark, name] : known)
    if (names.find(mark) != std::string::npos) return name;
  return "unknown";
}

void read_sizes(const Fields& fields, CountingRule& rule) {
  const json* points = fields.find("image_grid_pinpoints");
  if (points == nullptr) return;
  const char* wanted = "a list of [height, width], multiples of the tile";
  if (!points->is_array() || points->empty() || points->size() > 4096)
    wrong_json(kWhat, "image_grid_pinpoints", wanted);
  rule.sizes.clear();
  for (const json& point : *points) {
    if (!point.is_array() || point.size() != 2) wrong_json(kWhat, "image_grid_pinpoints", wanted);
    std::pair<int, int> size;
    read_value(kWhat, "image_grid_pinpoints", point[0], size.first);
    read_value(kWhat, "image_grid_pinpoints", point[1], size.second);
    if (std::min(size.first, size.second) < rule.tile ||
        std::max(size.first, size.second) > 1 << 20)
      wrong_json(kWhat, "image_grid_pinpoints", wanted);
    rule.sizes.push_back(size);
  }
}

// "anyres_max_9".
void read_aspect(const Fields& fields, CountingRule& rule) {
  const std::string text = fields.text("vision_aspect_ratio"), begins = "anyres_max_";
  if (text.empty()) return;
  const std::string digits = text.starts_with(begins) ? text.substr(begins.size()) : "";
  if (digits.empty() || digits.size() > 4 ||
      digits.find_first_not_of("0123456789") != std::string::npos)
    wrong_json(kWhat, "vision_aspect_ratio", "anyres_max_N");
  rule.max_tiles = std::stoi(digits);
}

void read_patches(const Fields& fields, CountingRule& rule) {
  fields.put(rule.patch, "patch_size", {"height"});
  if (rule.kind == "smart-resize") {
    fields.put(rule.merge, "merge_size");
    fields.put(rule.min_pixels, "size", {"shortest_edge", "min_pixels"});
    fields.put(rule.max_pixels, "size", {"longest_edge", "max_pixels"});
    fields.put(rule.min_pixels, "min_pixels");
    fields.put(rule.max_pixels, "max_pixels");
    if (rule.max_pixels < rule.min_pixels) wrong_json(kWhat, "max_pixels", "at least min_pixels");
  } else if (rule.kind == "soft-tokens") {
    fields.put(rule.merge, "pooling_kernel_size");
    fields.put(rule.tile_tokens, "max_soft_tokens");
  } else {
    fields.put(rule.merge, "spatial_merge_size");
    fields.put(rule.longest_edge, "size", {"longest_edge", "height"});
  }
  if (int64_t{rule.patch} * rule.merge > 4096) wrong_json(kWhat, "patch_size", "smaller");
}

// LLaVA-1.5 and Gemma 3: one size for all.
void read_fixed(const Fields& fields, Family& family) {
  CountingRule& rule = family.rule;
  if (family.name == "gemma3") {
    fields.put(rule.tile_tokens, "image_seq_length");
    if (!fields.flag("do_pan_and_scan", false)) return;
    rule.kind = "pan-and-scan";
    rule.tile = 256;
    rule.max_tiles = 4;
    rule.factor = 1.2;
    fields.put(rule.tile, "pan_and_scan_min_crop_size");
    fields.put(rule.max_tiles, "pan_and_scan_max_num_crops");
    if (const json* ratio = fields.find("pan_and_scan_min_ratio_to_activate"))
      read_value(kWhat, "pan_and_scan_min_ratio_to_activate", *ratio, rule.factor);
    return;
  }
  int side = 336, patch = 14;
  fields.put(side, "size", {"shortest_edge", "height"});
  fields.put(side, "crop_size", {"height"});
  fields.put(patch, "patch_size");
  if (side < patch || side > 1 << 14) wrong_json(kWhat, "crop_size", "a few patches");
  rule.tile_tokens = (side / patch) * (side / patch);
}

void read_tiles(const Fields& fields, CountingRule& rule) {
  if (rule.kind == "anyres") {
    fields.put(rule.patch, "patch_size");
    fields.put(rule.tile, "size", {"shortest_edge", "height"});
    if (rule.tile < rule.patch) wrong_json(kWhat, "size", "at least patch_size");
    read_sizes(fields, rule);
    read_aspect(fields, rule);
    return;
  }
  if (rule.kind == "split") {
    fields.put(rule.longest_edge, "size", {"longest_edge"});
    fields.put(rule.tile, "max_image_size", {"longest_edge"});
    fields.put(rule.tile_tokens, "image_seq_len");
    rule.max_tiles = fields.flag("do_image_splitting", true) ? 0 : 1;
    return;
  }
  fields.put(rule.min_tiles, "min_patches");
  fields.put(rule.max_tiles, "max_patches");
  if (rule.max_tiles > kMostTiles) wrong_json(kWhat, "max_patches", "at most 64");
  if (rule.kind == "tiles" || rule.kind == "covering-tiles") {
    fields.put(rule.tile, "size", {"height", "shortest_edge"});
    fields.put(rule.tile_tokens, "image_seq_length");
    fields.put(rule.max_tiles, "max_dynamic_patch");
    if (rule.max_tiles > kMostTiles) wrong_json(kWhat, "max_dynamic_patch", "at most 64");
    // InternVL's processor crops whatever its file says.
    if (rule.kind == "covering-tiles" && !fields.flag("crop_to_patches", true)) rule.max_tiles = 1;
  } else {
    fields.put(rule.longest_edge, "size", {"height"});
    fields.put(rule.tile, "tile_size");
    if (!fields.flag("crop_to_patches", true)) rule.max_tiles = 1;
  }
}

}  // namespace

Family with_processor(Family family, const std::string& json_text) {
  const Fields fields(json_text);
  if (family.name == "unknown") {
    const PictureLimits limits = family.limits;
    const bool llama_cpp = family.llama_cpp;
    family = family_named(family_of_classes(fields));
    family.limits = limits;
    if (llama_cpp) family = on_llama_cpp(std::move(family));
  }
  CountingRule& rule = family.rule;
  if (rule.kind == "smart-resize" || rule.kind == "soft-tokens" || rule.kind == "rows") {
    read_patches(fields, rule);
    if (family.token_pixels > 0) family.token_pixels = rule.patch * rule.merge;
  } else if (rule.kind == "fixed") {
    read_fixed(fields, family);
  } else if (!is_hosted(family) && rule.kind != "native") {
    read_tiles(fields, rule);
  } else {
    throw Error(ErrorCode::bad_json, std::string(kWhat) + ": '" + family.name + "' takes none");
  }
  // The words around crops are the tokenizer's; llama.cpp's tiles are its own.
  family.estimated = rule.kind == "pan-and-scan" || family.name == "unknown" ||
                     (family.llama_cpp && family.estimated);
  return family;
}

}  // namespace arrcoc::serving
