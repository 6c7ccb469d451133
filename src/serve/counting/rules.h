// The kinds of rules by which models count the tokens of a picture. Each follows a public source,
// with its arithmetic: double where that is Python's, float where it is llama.cpp's.
#pragma once

#include "arrcoc/serve.h"

namespace arrcoc::serving {

using Count = int64_t (*)(const Family& family, int width, int height, Detail detail);

// Error{not_found}.
Count rule_named(const std::string& kind);

// ---- By patches, merged to tokens

int64_t count_native(const Family&, int width, int height, Detail);        // "native"
int64_t count_smart_resize(const Family&, int width, int height, Detail);  // "smart-resize"
int64_t count_soft_tokens(const Family&, int width, int height, Detail);   // "soft-tokens"
int64_t count_rows(const Family&, int width, int height, Detail);          // "rows"
int64_t count_fixed(const Family&, int width, int height, Detail);         // "fixed"
// llama.cpp's resize of the families that it resizes freely; counts between `least` and `most`
// tokens unless the limits say otherwise.
struct TokenGrid {
  int64_t cols = 0, rows = 0;
};
TokenGrid llama_cpp_grid(const Family& family, int width, int height, int least, int most);

// ---- By tiles

int64_t count_tiles(const Family&, int width, int height, Detail);     // "tiles"
int64_t count_covering(const Family&, int width, int height, Detail);  // "covering-tiles"
int64_t count_anyres(const Family&, int width, int height, Detail);    // "anyres"
int64_t count_split(const Family&, int width, int height, Detail);     // "split"
int64_t count_global_and_tiles(const Family&, int width, int height,
                               Detail);  // "global-and-tiles", "global-and-rows"
int64_t count_pan_and_scan(const Family&, int width, int height, Detail);  // "pan-and-scan"

// ---- Of APIs, from their documents

int64_t count_gpt_tiles(const Family&, int width, int height, Detail);    // "gpt-tiles"
int64_t count_gpt_patches(const Family&, int width, int height, Detail);  // "gpt-patches"
int64_t count_claude(const Family&, int width, int height, Detail);       // "claude"
int64_t count_gemini(const Family&, int width, int height, Detail);       // "gemini"
bool is_hosted(const Family& family);                                     // counted by one of these

}  // namespace arrcoc::serving
