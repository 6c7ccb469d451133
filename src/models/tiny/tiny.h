// The bundled model: a network that looks (realizer) and one that reads and answers (answerer).
//
// Text is characters: Latin-1 and the euro sign. Scale is continuous: log2(native pixels per patch
// pixel), trained from -1 to 6; there is no table of levels. Both networks are small enough for two
// CPU cores: page features of a 1024x1024 picture are computed once and serve every question.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arrcoc/bundle.h"
#include "arrcoc/map.h"
#include "arrcoc/picture.h"

namespace arrcoc {
struct History;        // arrcoc/look.h
struct TokenSequence;  // arrcoc/tokens.h
class Reducer;         // models/tiny/reducer.h
}  // namespace arrcoc

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
inline constexpr int kQueries = 64;  // learned queries of the baseline `qformer`

// Widths and depths of both networks. Weights carry it in config.json; loading refuses others.
struct Shape {
  // answerer
  int width = 320;
  int heads = 5;
  int encoder_layers = 7;  // and one context layer in the quality adapter
  int decoder_layers = 3;
  int mlp = 936;
  // realizer
  int stem = 48;        // channels at 1/4 resolution; doubled at 1/8
  int cell = 160;       // channels of the 16x8 pixel cells
  int page = 256;       // channels of the 16x32 pixel cells
  int page_layers = 2;  // axial blocks shared by all questions of a page
  int ask = 192;        // channels per question
  int ask_layers = 3;   // question blocks
  int question_layers = 2;
  int lookups = 1;  // 1: the question looks into the page before the page is asked; 0: it does not
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

// What the realizer makes of a picture and a question.
struct Opinion {
  Map relevance;                   // [0,1] on cells of 16 frame pixels
  std::array<float, kTiers> tier;  // logits of kTierTokens
  std::array<float, 3> tensions;   // compress, exploit, focus in [0,1]
  bool operator==(const Opinion&) const = default;
};

struct ReadAnswer {
  std::string text;                  // UTF-8
  std::vector<float> probabilities;  // of each character, and of the end mark last
  float confidence = 0;              // their product: how likely the model finds the whole answer
  bool shortened = false;            // the question was longer than kMaxQuestion
  // Share of the writer's attention that each token got, mean over characters, heads and layers.
  // The rest went to the question.
  std::vector<float> focus;
  // With a reducer: the given tokens that are left, or that others were merged into, in order.
  // focus is theirs.
  std::vector<int64_t> kept;
  float quality = 0;              // mean of what the adapter found the tokens worth, in [0,1]
  float quality_spread = 0;       // and its standard deviation
  bool adapter_bypassed = false;  // the adapter gave NaN or infinity and was left out
  bool operator==(const ReadAnswer&) const = default;
};

// What the realizer is shown beside the pixels: the 13 channels of the texture, or only red, green
// and blue of them with the others at their mean. The weights are trained with all 13.
enum class PageChannels { texture, colour };

// What the realizer made of a picture, for as many questions as there are. Immutable.
struct SeenPage;

// What one answer is read from. The tokens must outlive the call.
struct TokenReading {
  const TokenSequence* tokens = nullptr;
  Geometry geometry;  // of the picture that the tokens were cut from
  std::string question;
  const Reducer* reducer = nullptr;  // takes tokens away inside the encoder; must outlive the call
  int keep = 0;                      // tokens that a reducer leaves at most
  // Learned queries look at the tokens, and the answer is read from those kQueries alone; focus is
  // theirs. Readings of one call that point to the same tokens share them.
  bool queries = false;
};

// Both networks with their weights, on the CPU: in 8 bits or fp32 (arrcoc/bundle.h). Immutable;
// every function may be called from several threads.
class TinyModel {
 public:
  // A folder with config.json and bf16 or int8 shards. Error{bad_weights} that names file and
  // tensor for whatever does not match the architecture; Error{not_found} without config.json.
  static std::shared_ptr<const TinyModel> load(const std::string& folder,
                                               Kernels kernels = Kernels::automatic);
  // With reference kernels, and the range of what every product reads written down on the way: one
  // thread at a time. save_ranges writes ranges.json into the folder (atomic).
  static std::shared_ptr<const TinyModel> load_watched(const std::string& folder);
  void save_ranges(int64_t questions) const;
  ~TinyModel();

  // "fast (AVX512-VNNI)", or "reference (why)".
  const std::string& kernels() const;

  const Shape& shape() const;
  at::ScalarType dtype() const;  // that it computes in
  int64_t parameters() const;
  // Tells weights apart: of the tensors that decide last (the writer's symbols, the tier head).
  uint64_t fingerprint() const;

  // Reads the learned queries of TokenReading::queries from ../baselines/qformer beside the model's
  // folder, once. Error{not_found} when there are none, Error{bad_weights} when they do not fit the
  // shape or were trained with another answerer.
  void need_queries() const;

  // Page features, the dear part of looking. frame: the picture as [3,h,w] floats, see frame_of;
  // Error{too_large} above 4096 pixels.
  std::shared_ptr<const SeenPage> see(const Picture& picture, const at::Tensor& frame,
                                      PageChannels channels = PageChannels::texture) const;
  // True on a device: there a picture that is its own frame may be given as its bytes.
  bool takes_bytes() const;
  // Several questions about one page in one go; the same as one by one up to rounding.
  // Error{bad_argument} for a question of which no character is left.
  // past: what earlier passes left (history.h); it counts where recalls().
  std::vector<Opinion> look(const SeenPage& page, const std::vector<std::string>& questions,
                            const History* past = nullptr) const;
  // Whether the weights make something of the past.
  bool recalls() const;
  // Where print is, [rows,cols] in [0,1], one value per 16x16 frame pixels.
  at::Tensor text(const SeenPage& page) const;
  static int64_t bytes(const SeenPage& page);

  // Greedy decoding. geometry: of the picture that the tokens were cut from.
  ReadAnswer answer(const TokenSequence& tokens, const Geometry& geometry,
                    std::string_view question) const;
  // Several answers at once, padded to the longest; the same as one by one up to rounding.
  // `on_text(i, text)` hears each piece of answer i as it is written.
  using OnText = std::function<void(size_t, const std::string&)>;
  std::vector<ReadAnswer> answer(const std::vector<TokenReading>& readings,
                                 const OnText& on_text = {}) const;

 private:
  TinyModel();
  struct State;
  std::unique_ptr<State> state_;
};

// Rewrites a folder of weights as int8 (one scale per output channel), in shards of at most 8 MB.
struct ExportReport {
  int64_t parameters = 0;
  int64_t bytes = 0;          // of all files written
  double largest_error = 0;   // |w' - w| / max |w| of its row, over all weights
  double relative_error = 0;  // root mean square of w' - w over that of w, worst tensor
  std::string worst_tensor;
};
ExportReport export_int8(const std::string& from, const std::string& to);

// Reads all of them.
struct WeightsInfo {
  std::string architecture, dtype;  // as stored
  int64_t parameters = 0, bytes = 0;
  std::string problem;  // why they cannot be loaded; "" when they can
};
WeightsInfo inspect(const std::string& folder);

}  // namespace arrcoc::tiny
