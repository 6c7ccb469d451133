// Families of models: which rule counts their pictures, with which numbers, and by which names
// they go.
#include "arrcoc/error.h"
#include "serve/counting/rules.h"

namespace arrcoc::serving {

namespace {

struct Entry {
  Family family;
  std::vector<const char*> marks;  // parts of model names, lower case; the first entry wins
};

Family make(const char* name, const char* formula, const char* source, int token_pixels,
            CountingRule rule) {
  Family out;
  out.name = name;
  out.formula = formula;
  out.source = source;
  out.token_pixels = token_pixels;
  out.rule = std::move(rule);
  out.estimated = is_hosted(out);
  return out;
}

// Numbers of the preprocessor_config.json that the models come with.
std::vector<Entry> patch_entries() {
  constexpr const char* kQwen = "transformers: qwen2_vl/image_processing_qwen2_vl.py smart_resize";
  constexpr const char* kPixtral =
      "transformers: pixtral/processing_pixtral.py _get_num_multimodal_tokens";
  const auto qwen = [](int patch, int64_t least, int64_t most) {
    return CountingRule{.kind = "smart-resize",
                        .patch = patch,
                        .merge = 2,
                        .min_pixels = least,
                        .max_pixels = most};
  };
  const auto pixtral = [](int patch, int merge, int edge) {
    return CountingRule{.kind = "rows", .patch = patch, .merge = merge, .longest_edge = edge};
  };
  return {
      {make("arrcoc", "16x16 pixels a token", "arrcoc/map.h Geometry", 16, {.kind = "native"}),
       {"arrcoc"}},
      {make("qwen3.5", "32x32 pixels a token, 64 to 16384", kQwen, 32, qwen(16, 65536, 16777216)),
       {"qwen3.5", "qwen3_5", "qwen3-5", "qwen35"}},
      {make("qwen3-vl", "32x32 pixels a token, 64 to 16384", kQwen, 32, qwen(16, 65536, 16777216)),
       {"qwen3-vl", "qwen3vl", "qwen3_vl"}},
      {make("qwen2-vl", "28x28 pixels a token, 4 to 16384 (2 and 2.5)", kQwen, 28,
            qwen(14, 3136, 12845056)),
       {"qwen2-vl", "qwen2.5-vl", "qwen2_vl", "qwen2_5_vl", "qwen2vl", "qwen2.5vl", "qwen25vl",
        "qwen-vl"}},
      {make("gemma4", "48x48 pixels a token, scaled to at most 280, and 2",
            "transformers: gemma4/image_processing_gemma4.py get_aspect_ratio_preserving_size", 0,
            {.kind = "soft-tokens", .patch = 16, .merge = 3, .tile_tokens = 280, .extra = 2}),
       {"gemma-4", "gemma4"}},
      {make("gemma3", "256 a picture, whatever its size, and 4",
            "transformers: gemma3/processing_gemma3.py full_image_sequence", 0,
            {.kind = "fixed", .tile_tokens = 256, .extra = 4}),
       {"gemma-3", "gemma3"}},
      {make("llava-1.5", "576 a picture, whatever its size",
            "transformers: llava/processing_llava.py replace_image_token", 0,
            {.kind = "fixed", .tile_tokens = 576}),
       {"llava-1.5", "llava-v1.5", "llava1.5"}},
      {make("pixtral", "16x16 pixels a token and one a row, at most 1024 pixels a side", kPixtral,
            16, pixtral(16, 1, 1024)),
       {"pixtral"}},
      {make("mistral3", "28x28 pixels a token and one a row, at most 1540 pixels a side", kPixtral,
            28, pixtral(14, 2, 1540)),
       {"mistral-small-3.1", "mistral-small-3.2", "mistral-small3.1", "mistral-small3.2",
        "mistral-small-24b-instruct-25", "mistral-small-4", "mistral3", "mistral-large-3",
        "ministral-3", "magistral-small-2509", "devstral-small-2"}},
  };
}

std::vector<Entry> tile_entries() {
  constexpr const char* kIdefics =
      "transformers: idefics3/processing_idefics3.py _get_num_multimodal_tokens";
  const auto idefics = [](int tile, int tokens) {
    return CountingRule{
        .kind = "split", .tile = tile, .tile_tokens = tokens, .extra = 3, .longest_edge = 4 * tile};
  };
  const auto deepseek = [](const char* kind, int tile) {
    return CountingRule{.kind = kind,
                        .patch = 16,
                        .merge = 4,
                        .tile = tile,
                        .extra = 1,
                        .min_tiles = 2,
                        .max_tiles = 6,
                        .longest_edge = 1024};
  };
  const CountingRule internvl = {.kind = "tiles",
                                 .tile = 448,
                                 .tile_tokens = 256,
                                 .extra = 2,
                                 .min_tiles = 1,
                                 .max_tiles = 12};
  return {
      {make("internvl", "256 a tile of 448x448 pixels, one for the whole, and 2 (2 to 3.5)",
            "transformers: internvl/processing_internvl.py _get_num_multimodal_tokens", 0,
            internvl),
       {"internvl"}},
      {make(
           "ovis2", "256 a tile of 448x448 pixels and of the whole, a separator between",
           "transformers: ovis2/image_processing_ovis2.py get_min_tile_covering_grid, "
           "9 tiles as vLLM: transformers_utils/processors/ovis.py",
           0,
           {.kind = "covering-tiles", .tile = 448, .tile_tokens = 256, .extra = 3, .max_tiles = 9}),
       {"ovis2-", "ovis2:"}},
      {make("smolvlm-small", "64 a tile of 512x512 pixels (256M, 500M)", kIdefics, 0,
            idefics(512, 64)),
       {"smolvlm-256m", "smolvlm-500m", "smolvlm2-256m", "smolvlm2-500m"}},
      {make("smolvlm", "81 a tile of 384x384 pixels", kIdefics, 0, idefics(384, 81)), {"smolvlm"}},
      {make("idefics3", "169 a tile of 364x364 pixels", kIdefics, 0, idefics(364, 169)),
       {"idefics3"}},
      {make("deepseek-ocr-2", "257 a picture and 144 a tile of 768x768 pixels",
            "vLLM: model_executor/models/deepseek_ocr2.py get_num_image_tokens", 0,
            deepseek("global-and-tiles", 768)),
       {"deepseek-ocr-2", "deepseek-ocr2", "deepseek_ocr2"}},
      {make("deepseek-ocr", "273 a picture, about 105 a tile of 640x640 pixels",
            "vLLM: model_executor/models/deepseek_ocr.py get_num_image_tokens", 0,
            deepseek("global-and-rows", 640)),
       {"deepseek-ocr", "deepseek_ocr"}},
  };
}

std::vector<Entry> anyres_entries() {
  std::vector<std::pair<int, int>> onevision;
  for (int high = 384; high <= 2304; high += 384)
    for (int wide = 384; wide <= 2304; wide += 384) onevision.emplace_back(high, wide);
  return {
      {make("llava-onevision", "14x14 pixels a token of tiles of 384x384, at most about 9",
            "transformers: llava_onevision/processing_llava_onevision.py _get_number_of_features",
            0, {.kind = "anyres", .patch = 14, .tile = 384, .max_tiles = 9, .sizes = onevision}),
       {"llava-onevision", "llava_onevision", "llava-ov"}},
      {make("llava-next", "14x14 pixels a token of tiles of 336x336 and of the whole",
            "transformers: llava_next/processing_llava_next.py _get_number_of_features", 0,
            {.kind = "anyres",
             .patch = 14,
             .tile = 336,
             .sizes = {{336, 672}, {672, 336}, {672, 672}, {1008, 336}, {336, 1008}}}),
       {"llava-next", "llava-v1.6", "llava-1.6", "llava1.6", "llava_next"}},
  };
}

std::vector<Entry> gpt_entries() {
  constexpr const char* kOpenAi = "OpenAI: developers.openai.com/api/docs/guides/images-vision";
  const auto tiles = [](int base, int tile) {
    return CountingRule{.kind = "gpt-tiles", .tile = 512, .tile_tokens = tile, .base_tokens = base};
  };
  const auto patches = [](int most, double factor) {
    return CountingRule{.kind = "gpt-patches", .patch = 32, .max_tiles = most, .factor = factor};
  };
  return {
      {make("gpt-mini", "32x32 pixels a patch, at most 1536, times 1.62", kOpenAi, 32,
            patches(1536, 1.62)),
       {"gpt-4.1-mini", "gpt-5-mini", "gpt-5.4-mini"}},
      {make("gpt-nano", "32x32 pixels a patch, at most 1536, times 2.46", kOpenAi, 32,
            patches(1536, 2.46)),
       {"gpt-4.1-nano", "gpt-5-nano", "gpt-5.4-nano"}},
      {make("o4-mini", "32x32 pixels a patch, at most 1536, times 1.72", kOpenAi, 32,
            patches(1536, 1.72)),
       {"o4-mini", "codex-mini"}},
      {make("gpt-5.4", "32x32 pixels a patch, at most 2500, times 1.2", kOpenAi, 32,
            patches(2500, 1.2)),
       {"gpt-5.4", "gpt-5.5", "gpt-5.6"}},
      {make("gpt-5.2", "32x32 pixels a patch, at most 1536, times 1.2", kOpenAi, 32,
            patches(1536, 1.2)),
       {"gpt-5.2", "gpt-5.3"}},
      {make("gpt-5", "70 and 140 a tile of 512x512 pixels", kOpenAi, 0, tiles(70, 140)), {"gpt-5"}},
      {make("gpt-4o-mini", "2833 and 5667 a tile of 512x512 pixels", kOpenAi, 0, tiles(2833, 5667)),
       {"gpt-4o-mini"}},
      {make("gpt-4o", "85 and 170 a tile of 512x512 pixels", kOpenAi, 0, tiles(85, 170)),
       {"gpt-4o", "gpt-4-turbo", "gpt-4.1", "gpt-4.5"}},
      {make("o3", "75 and 150 a tile of 512x512 pixels", kOpenAi, 0, tiles(75, 150)),
       {"=o1", "=o3"}},
  };
}

std::vector<Entry> other_api_entries() {
  constexpr const char* kClaude = "Anthropic: platform.claude.com/docs/en/build-with-claude/vision";
  constexpr const char* kGemini = "Google: ai.google.dev/gemini-api/docs/image-understanding";
  const auto claude = [](int edge, int most) {
    return CountingRule{.kind = "claude", .patch = 28, .max_tiles = most, .longest_edge = edge};
  };
  return {
      {make("claude-high", "28x28 pixels a patch, at most 4784 and 2576 pixels a side", kClaude, 28,
            claude(2576, 4784)),
       {"claude-opus-4-7", "claude-opus-4.7", "claude-opus-4-8", "claude-opus-5", "claude-sonnet-5",
        "claude-mythos", "claude-fable"}},
      {make("claude", "28x28 pixels a patch, at most 1568 and 1568 pixels a side", kClaude, 28,
            claude(1568, 1568)),
       {"claude"}},
      {make("gemini", "258 a tile of up to 768x768 pixels", kGemini, 0,
            {.kind = "gemini", .tile = 768, .tile_tokens = 258}),
       {"gemini-1", "gemini-2", "gemini-flash", "gemini-pro"}},
      {make("gemini-3", "1120 a picture, whatever its size", kGemini, 0,
            {.kind = "gemini", .tile_tokens = 1120, .base_tokens = 280, .max_tiles = 1}),
       {"gemini"}},
  };
}

const std::vector<Entry>& table() {
  static const std::vector<Entry> entries = [] {
    std::vector<Entry> out;
    for (const auto& some :
         {patch_entries(), anyres_entries(), tile_entries(), gpt_entries(), other_api_entries()})
      out.insert(out.end(), some.begin(), some.end());
    Family unknown = make("unknown", "28x28 pixels a token is assumed", "none", 28,
                          {.kind = "smart-resize",
                           .patch = 14,
                           .merge = 2,
                           .min_pixels = 3136,
                           .max_pixels = 12845056});
    unknown.estimated = true;
    out.push_back({unknown, {}});
    return out;
  }();
  return entries;
}

const Entry& entry(const std::string& name) {
  for (const Entry& e : table())
    if (e.family.name == name) return e;
  std::string known;
  for (const Entry& e : table()) known += (known.empty() ? "" : ", ") + e.family.name;
  throw Error(ErrorCode::not_found, "no model family '" + name + "'; known: auto, " + known);
}

// "=o1" is the whole name or what stands before its first dash, without folders.
bool bears(const std::string& model, const std::string& mark) {
  if (mark[0] != '=') return model.find(mark) != std::string::npos;
  const std::string name = model.substr(model.rfind('/') + 1);
  return name.substr(0, name.find('-')) == mark.substr(1);
}

}  // namespace

std::vector<Family> families() {
  std::vector<Family> out;
  for (const Entry& e : table()) out.push_back(e.family);
  return out;
}

Family family_of(const std::string& model) {
  std::string lower = model;
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  for (const Entry& e : table())
    for (const char* mark : e.marks)
      if (bears(lower, mark)) return e.family;
  return entry("unknown").family;
}

Family family_named(const std::string& name) { return entry(name).family; }

Family on_llama_cpp(Family family) {
  const std::string& kind = family.rule.kind;
  family.llama_cpp = true;
  family.source += "; llama.cpp: tools/mtmd/mtmd-image.cpp";
  if (kind == "soft-tokens") {  // it does not enlarge what is large enough
    family.token_pixels = family.rule.patch * family.rule.merge;
  } else if (kind == "fixed") {
    family.rule.extra = std::min(family.rule.extra, 2);  // without the line breaks
  } else if (kind != "smart-resize" && kind != "rows" && kind != "native") {
    family.estimated = true;  // its tiles are its own
  }
  return family;
}

}  // namespace arrcoc::serving
