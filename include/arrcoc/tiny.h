// The bundled model: a network that looks (realizer) and one that reads and answers (answerer).
//
// Text is characters: Latin-1 and the euro sign. Scale is continuous: log2(native pixels per patch
// pixel), trained from -1 to 6; there is no table of levels. Both networks are small enough for two
// CPU cores: page features of a 1024x1024 picture are computed once and serve every question.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace arrcoc::tiny {

inline constexpr int kSymbols = 200;      // rows of the character tables (195 in use)
inline constexpr int kPad = 0;            // also "no character here" in glyph losses
inline constexpr int kEnd = 1;            // starts and ends an answer
inline constexpr int kUnknown = 2;        // a character outside Latin-1 and the euro sign
inline constexpr int kMaxQuestion = 192;  // characters; longer ones keep head and tail
inline constexpr int kMaxAnswer = 64;     // characters, the end mark not counted
inline constexpr int kGlyphSlots = 4;     // characters that one level-0 patch may name
inline constexpr int kCellSlots = 3;      // characters that one 16x8 realizer cell may name
inline constexpr int kTiers = 5;          // 64, 128, 256, 384, 400 tokens
inline constexpr int kTierTokens[kTiers] = {64, 128, 256, 384, 400};

// Widths and depths of both networks. Weights carry it in config.json; loading refuses others.
struct Shape {
  // answerer
  int width = 320;
  int heads = 5;
  int encoder_layers = 7;  // and one context layer in the quality adapter
  int decoder_layers = 3;
  int mlp = 960;
  // realizer
  int stem = 48;        // channels at 1/4 resolution; doubled at 1/8
  int cell = 160;       // channels of the 16x8 pixel cells
  int page = 256;       // channels of the 16x32 pixel cells
  int page_layers = 2;  // axial blocks shared by all questions of a page
  int ask = 192;        // channels per question
  int ask_layers = 3;   // question blocks
  int question_layers = 2;
  bool operator==(const Shape&) const = default;
};

// One symbol for a character; kUnknown outside Latin-1 and the euro sign, control characters too.
int symbol_of(char32_t code);
char32_t code_of(int symbol);

// UTF-8 -> symbols. Broken bytes become kUnknown.
std::vector<uint8_t> encode(std::string_view utf8);
// Symbols -> UTF-8 up to kEnd; pads and unknowns are left out.
std::string decode(const std::vector<uint8_t>& symbols);
// A question of at most kMaxQuestion symbols: longer ones keep their first 128 and last 64.
// `shortened` (optional) says whether that happened.
std::vector<uint8_t> encode_question(std::string_view utf8, bool* shortened = nullptr);

}  // namespace arrcoc::tiny
