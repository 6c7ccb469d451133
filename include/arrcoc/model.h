// Models: what can read tokens of pictures and answer. The bundled one, Hugging Face folders and
// servers upstream implement one interface, so that `ask` (ask.h) has one road to all of them.
//
//   std::shared_ptr<const Model> model = open_model("Qwen3-VL-2B", {});    // arrcoc_hf
//   Answer answer = Asker(bundle, model).ask(picture, "What is the total?");
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arrcoc/allocate.h"
#include "arrcoc/look.h"
#include "arrcoc/picture.h"
#include "arrcoc/registry.h"
#include "arrcoc/tokens.h"

namespace arrcoc {

// What a model takes. ask() allocates accordingly.
enum class TokenKind {
  patches,    // 16x16 patches of mixed levels: Allocation::leaves, cut
  selection,  // some cells of its own full grid: Allocation::leaves
  views,      // rectangles as pictures of their own: Allocation::crops
  native,     // every picture as it is; the allocation is only looked at
};
template <>
struct EnumNames<TokenKind> {
  static constexpr const char* kWhat = "kind of tokens";
  static constexpr std::pair<TokenKind, const char*> kNames[] = {
      {TokenKind::patches, "patches"},
      {TokenKind::selection, "selection"},
      {TokenKind::views, "views"},
      {TokenKind::native, "native"}};
};

struct Capabilities {
  TokenKind takes = TokenKind::patches;
  bool several = false;        // several pictures in one sequence; else each is read by itself
  bool probabilities = false;  // Reply::probabilities and confidence mean something
  bool focus = false;          // Reply::focus or attention
  bool turns = false;          // reads earlier turns of a conversation
  int token_pixels = 16;       // source pixels along one token at native detail
  int least_tokens = 1;        // a picture of fewer is refused
  double threshold = 0.5;      // an answer of less confidence is unsure
};

enum class Role { system, user, assistant };
template <>
struct EnumNames<Role> {
  static constexpr const char* kWhat = "role";
  static constexpr std::pair<Role, const char*> kNames[] = {{Role::system, "system"},
                                                            {Role::system, "developer"},
                                                            {Role::user, "user"},
                                                            {Role::assistant, "assistant"}};
};

// One message before the question.
struct Turn {
  Role role = Role::user;
  std::string text;
  int pictures = 0;  // shown before the text, in the order of Reading::pictures
};

// One picture as it is to be read. Pointers must outlive the call.
struct PictureTokens {
  const Picture* picture = nullptr;
  Allocation allocation;
  TokenSequence tokens;  // TokenKind::patches; else empty
};

struct GenerateOptions {
  int64_t max_new_tokens = 0;                // 0: the model's own
  std::optional<double> temperature, top_p;  // none: the model's own
  uint64_t seed = 0;
  // A model that writes long answers ends one after any of these; it may still be in the text.
  std::vector<std::string> stop;
};

// What one answer is read from.
struct Reading {
  std::vector<PictureTokens> pictures;  // one, unless Capabilities::several
  std::string question;
  std::vector<Turn>
      before;  // earlier turns; the pictures that they do not show belong to the question
  GenerateOptions generate;
  bool answer = true;  // false: only count tokens
  bool again = false;  // further looks may follow: probabilities are worth their price
};

// Tokens of a picture that the encoder was given, by how many of its blocks they went through.
struct EncodedDepths {
  std::vector<int64_t> blocks, tokens;  // one number each a level, the shallowest first
};

struct Reply {
  std::string text;                  // UTF-8, white space around it removed
  std::vector<float> probabilities;  // of each token of the answer, the end mark last
  double likelihood = 0;             // their product
  // How often such an answer is right: fitted where the model has a calibration, else the geometric
  // mean of the probabilities; `calibrated` tells them apart.
  double confidence = 0;
  bool calibrated = false;
  bool cut = false;  // by max_new_tokens
  // Where it read: a share for every token, picture by picture, or one map a picture with values in
  // [0,1]; all empty where the model cannot tell. places: of these tokens, in pixels of their
  // picture; none: they are the tokens of the allocation, in their order.
  // Hugging Face models: attention of the answer's tokens (the first 32 of them, each as it was
  // chosen), mean over heads and the second half of the layers; sums to 1 over all pictures.
  std::vector<float> focus;
  std::vector<Box> places;
  std::vector<Map> attention;
  std::vector<int64_t> kept;          // visual tokens of each picture that the language model read
  std::vector<EncodedDepths> depths;  // of each picture; none: all went through the whole encoder
  // Models that drop tokens inside their encoder: numbers of the given ones that are left; none:
  // all of them are.
  std::optional<std::vector<int64_t>> left;
  int64_t prompt_tokens = 0;      // that were read, the visual ones among them; 0: unknown
  int64_t completion_tokens = 0;  // that were written, the end mark among them
  bool estimated = false;         // the token counts are not the model's own
  std::vector<std::string> fallbacks;
  // Bundled model: mean and deviation of what its quality adapter found the tokens worth.
  std::optional<std::pair<float, float>> quality;
};

// Among the fallbacks of the bundled model.
inline constexpr const char* kStaleCalibration =
    "calibration.json was fitted for other weights: run arrcoc eval --calibrate FOLDER";
inline constexpr const char* kShortened =
    "the question is long: its first 128 and last 64 characters";
// Begins the note of a look that failed: even detail is used, 180 tokens where the budget is auto.
inline constexpr const char* kLookerFailed = "looking failed, even detail is used";
// Of a model that gives no probabilities, when it looks again.
inline constexpr const char* kAgreement =
    "the model gives no probabilities: how far the answers of its looks agree stands for them";
inline constexpr const char* kAdapterBypassed = "the adapter failed and was bypassed";

// Hears answers as they are made. Calls come from the thread that called read().
class Sink {
 public:
  virtual ~Sink() = default;
  // More text of reading i; false: it is not wanted any more.
  virtual bool text(size_t i, std::string_view piece) = 0;
  virtual void done(size_t i, Reply reply) = 0;
};

// Immutable and shared by threads, unless its maker says otherwise.
class Model {
 public:
  virtual ~Model() = default;
  virtual std::string name() const = 0;  // as /v1/models shows it
  virtual Capabilities capabilities() const = 0;
  // Tokens that a whole picture, or a view of that many pixels, costs this model.
  virtual int64_t view_tokens(int width, int height) const = 0;
  // Answers every reading and calls sink.done once for each, in any order. Several readings may be
  // computed together; the answers are those of one by one up to rounding. Errors concern all of
  // them: Error{bad_argument, unsupported, too_large, numeric}.
  virtual void read(std::span<const Reading> readings, Sink& sink) const = 0;
  // Its tokens of a text; special: also those that begin and end a prompt. Error{unsupported} where
  // it has no tokenizer here.
  virtual std::vector<int64_t> tokenize(std::string_view text, bool special) const;
  // The model's own way to look (attention of its first layers); null where it has none.
  virtual std::shared_ptr<const Looker> looker() const { return nullptr; }
};

// One reading, waited for.
Reply read_one(const Model& model, const Reading& reading);

// ---- Hugging Face folders (arrcoc_hf)

enum class ReadMode {
  automatic,  // zoom where picture size sets the token count, else prune
  native,     // every token
  prune,      // encode all, keep the chosen tokens at their true positions
  patches,    // encode only the chosen tokens' patches
  zoom,       // a glance and up to three rectangles
};
template <>
struct EnumNames<ReadMode> {
  static constexpr const char* kWhat = "mode";
  static constexpr std::pair<ReadMode, const char*> kNames[] = {{ReadMode::automatic, "auto"},
                                                                {ReadMode::native, "native"},
                                                                {ReadMode::prune, "prune"},
                                                                {ReadMode::patches, "patches"},
                                                                {ReadMode::zoom, "zoom"}};
};

// Qwen3-VL: how deep the picture's encoder goes with a token. Its levels are where it hands
// features to the language model (DeepStack: behind 6, 12 and 18 of 24 blocks, say) and its end. A
// token that leaves at a level is neither computed nor looked at by the blocks behind it: its row
// is what that level's merger makes of it, and later levels hand over zeros.
enum class DepthRule {
  full,       // every token goes through the whole encoder
  share,      // a share of the tokens leaves at each level, the least relevant first
  relevance,  // above each threshold a token goes one level deeper
};
template <>
struct EnumNames<DepthRule> {
  static constexpr const char* kWhat = "depth";
  static constexpr std::pair<DepthRule, const char*> kNames[] = {
      {DepthRule::full, "full"}, {DepthRule::share, "share"}, {DepthRule::relevance, "relevance"}};
};
struct Depth {
  DepthRule rule = DepthRule::full;
  // share: one number a level, the shallowest first, 1 together. relevance: one less than levels,
  // ascending. In mode prune, tokens that are not chosen are below all others.
  std::vector<double> values;
};
// "full", "share:0.25,0.25,0.25,0.25", "relevance:0.2,0.4,0.7"; numbers alone are shares.
// Error{bad_argument}.
Depth parse_depth(const std::string& text);

struct ModelOptions {
  ReadMode mode = ReadMode::automatic;
  std::string device = "cpu";  // or "cuda", "cuda:1"
  std::string dtype;           // float32, bfloat16, float16; "": float32 on the CPU, else bfloat16
  bool merge = false;  // a leaf larger than a token: average its tokens instead of keeping one
  bool tiers = false;  // Qwen3-VL: DeepStack levels by relevance
  Depth depth;         // of pictures in modes prune and patches; automatic: patches, then
  int64_t cache_bytes = int64_t{1} << 30;  // features of pictures seen last
};
// config.json, model*.safetensors, tokenizer.json, preprocessor_config.json. Error{not_found,
// bad_json, bad_weights, unsupported}; the last also where the model cannot work in that mode.
std::shared_ptr<const Model> open_model(const std::string& folder, const ModelOptions& options);
// CLIP or SigLIP: where a picture looks like the question's text.
std::shared_ptr<const Looker> open_text_image_looker(const std::string& folder,
                                                     const ModelOptions& options);

// Who couples the question to the picture for such a model.
enum class RelevanceSource {
  network,    // the bundled network
  clip,       // CLIP or SigLIP
  attention,  // the model's own first layers
  combined,   // the mean of all that are there
};
template <>
struct EnumNames<RelevanceSource> {
  static constexpr const char* kWhat = "relevance";
  static constexpr std::pair<RelevanceSource, const char*> kNames[] = {
      {RelevanceSource::network, "network"},
      {RelevanceSource::network, "realizer"},
      {RelevanceSource::clip, "clip"},
      {RelevanceSource::attention, "attention"},
      {RelevanceSource::combined, "combined"}};
};
// The looker of that source; null for `network`: the bundle's own. network: the bundle's, may be
// null; clip: folder of a CLIP or SigLIP model, or "". Error{bad_argument} for a source that is not
// there.
std::shared_ptr<const Looker> relevance_looker(RelevanceSource source, const Model& model,
                                               std::shared_ptr<const Looker> network,
                                               const std::string& clip,
                                               const ModelOptions& options);

// ---- Checkpoints: looking into them, checking and making them (arrcoc_hf)

struct TensorCheck {
  std::string name;
  double difference = 0;  // the largest, or the number of different ids
  double tolerance = 0;
  std::string problem;  // shapes that differ and the like; "" when none
  bool ok() const { return problem.empty() && difference <= tolerance; }
};
// Runs a checkpoint on the inputs of a golden file and compares every output that the file names,
// in float32.
std::vector<TensorCheck> check_golden(const std::string& folder, const std::string& golden,
                                      const std::string& device = "cpu");
// The same for an image processor's settings: `pictures` are img0, img1, ... as [3,H,W] uint8.
std::vector<TensorCheck> check_processor(const std::string& settings, const std::string& golden,
                                         const std::vector<at::Tensor>& pictures);
// And for a tokenizer.json (arrcoc_tokenizers).
std::vector<TensorCheck> check_tokenizer(const std::string& tokenizer, const std::string& golden);
// A short run without a golden file: every tensor present and finite, outputs finite, cached and
// uncached continuation alike.
std::vector<TensorCheck> self_test(const std::string& folder, const ModelOptions& options = {});

struct ModelInfo {
  std::string folder, family, dtype;  // dtype: as stored
  int64_t parameters = 0;
  int64_t stored_bytes = 0;
  int64_t bytes_per_cached_token = 0;  // at the stored dtype; 0 without a language model
  std::string problem;                 // why it cannot be loaded; "" when it can
};
// Reads headers only; a folder that cannot be loaded says why.
ModelInfo inspect_model(const std::string& folder);

// Writes a random checkpoint (config.json, weights in shards of at most shard_bytes) of any size.
// The same seed gives the same bytes. Returns the number of parameters.
int64_t init_checkpoint(const std::string& config, const std::string& folder,
                        const std::string& dtype = "bfloat16", uint64_t seed = 0,
                        int64_t shard_bytes = int64_t{2} << 30);

// ---- Films: what a Hugging Face model reads in one sequence (arrcoc_hf)
//
//   Reply reply = read_film(*open_model("Qwen3-VL-2B"), frames, "What came first?");

// One frame that is to be read; the picture must outlive the call.
struct FilmFrame {
  const Picture* picture = nullptr;
  double seconds = 0;     // when it is shown
  Allocation allocation;  // leaves: which of its tokens are read; none: all of it is left out
};

// True for Hugging Face models of the Qwen family.
bool reads_films(const Model& model);

// Frames of one size in order of time go through the model's own path for films, every one as a
// temporal patch of its own; tokens that are read keep their true positions in time and space.
// Reply::kept has one number, of the whole film. Error{unsupported} for models that read no films,
// Error{bad_argument, bad_image}.
Reply read_film(const Model& model, std::span<const FilmFrame> frames, const std::string& question,
                const GenerateOptions& generate = {});

}  // namespace arrcoc
