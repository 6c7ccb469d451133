// The stages of a tokenizer.json: normalizer -> pre-tokenizer -> model -> post-processor, and back
// through decoders. Each is built from its JSON description; an unknown type is
// Error{unsupported}, a broken description Error{bad_json}, both naming the file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "models/settings.h"

namespace arrcoc::tokenizers {

using Normalizer = std::function<std::string(std::string)>;
Normalizer make_normalizer(const json& value, const std::string& file);
// sentencepiece's compiled replacement table, base64.
Normalizer make_charsmap(const std::string& base64, const std::string& file);

struct Piece {
  std::string text;
  bool first = false;  // starts where the whole text starts
};
using PreTokenizer = std::function<std::vector<Piece>(std::vector<Piece>)>;
PreTokenizer make_pre_tokenizer(const json& value, const std::string& file);

inline constexpr const char* kMetaspace = "\xE2\x96\x81";  // U+2581, sentencepiece's space
// Which pieces Metaspace puts a mark before.
enum class PrependScheme { always, never, first };
PrependScheme prepend_scheme(const Settings& settings);

// Bytes as printable characters, the alphabet of byte-level BPE, and back. The latter returns the
// text itself when some character is not of that alphabet.
std::string to_byte_alphabet(std::string_view bytes);
std::string from_byte_alphabet(std::string_view text);

class Model {
 public:
  virtual ~Model() = default;
  virtual void encode(std::string_view word, std::vector<int64_t>& ids) const = 0;

  std::unordered_map<std::string, int64_t> ids;
  std::unordered_map<int64_t, std::string> tokens;
};
std::unique_ptr<Model> make_model(const Settings& settings);
std::unique_ptr<Model> make_bpe(const Settings& settings);
std::unique_ptr<Model> make_unigram(const Settings& settings);
// The ids of <0x00>..<0xFF>, -1 where the vocabulary has no such token.
std::vector<int64_t> byte_tokens(const Model& model);

using Decoder = std::function<std::vector<std::string>(std::vector<std::string>)>;
Decoder make_decoder(const json& value, const std::string& file);

// Type "Sequence": the steps of the list under `key`, one after another.
template <class Step>
Step sequence(const Settings& settings, const char* key,
              Step (*make)(const json&, const std::string&)) {
  std::vector<Step> steps;
  for (const json& step : settings.need_list(key)) steps.push_back(make(step, settings.file()));
  return [steps](auto value) {
    for (const Step& step : steps) value = step(std::move(value));
    return value;
  };
}

// Ids around the text's own: [CLS] A [SEP] and the like.
struct Frame {
  std::vector<int64_t> before, after;
};
using IdOf = std::function<std::optional<int64_t>(const std::string&)>;
Frame make_frame(const json& value, const IdOf& id_of, const std::string& file);

// Truncation and padding, applied when special tokens are added.
struct Fitting {
  size_t max_length = 0;  // 0: no limit
  bool cut_left = false;
  size_t pad_to = 0;           // 0: no padding
  size_t pad_multiple_of = 0;  // 0: none
  bool pad = false;
  bool pad_left = false;
  int64_t pad_id = 0;
};
Fitting make_fitting(const Settings& whole);
std::vector<int64_t> fit(std::vector<int64_t> ids, const Frame& frame, const Fitting& fitting);

}  // namespace arrcoc::tokenizers

template <>
struct arrcoc::EnumNames<arrcoc::tokenizers::PrependScheme> {
  using enum tokenizers::PrependScheme;
  static constexpr const char* kWhat = "prepend_scheme";
  static constexpr std::pair<tokenizers::PrependScheme, const char*> kNames[] = {
      {always, "always"}, {never, "never"}, {first, "first"}};
};
