// Text to token ids and back, as a Hugging Face tokenizer.json describes it.
//
//   auto tokenizer = load_tokenizer("model-folder/tokenizer.json");   // needs arrcoc_tokenizers
//   std::vector<int64_t> ids = tokenizer->encode("What is the total?");
//   TokenStream stream(*tokenizer);
//   for (int64_t id : ids) show(stream.push(id));                     // only whole characters
//   show(stream.finish());
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace arrcoc {

// Immutable after loading; shared by threads.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Ids of `text`. Special tokens written in the text are recognised. add_special: also those that
  // the post-processor, the truncation and the padding of the file add. Bytes that are not UTF-8
  // count as U+FFFD.
  virtual std::vector<int64_t> encode(std::string_view text, bool add_special = true) const = 0;
  // Text of `ids`; ids that do not exist are left out, as the reference does.
  virtual std::string decode(const std::vector<int64_t>& ids, bool skip_special = false) const = 0;

  virtual std::optional<int64_t> id_of(const std::string& token) const = 0;
  virtual std::optional<std::string> token_of(int64_t id) const = 0;
  virtual bool is_special(int64_t id) const = 0;
  virtual size_t size() const = 0;  // tokens, with the added ones
};

// A tokenizer.json, or the folder that holds one. Byte-level BPE, sentencepiece-style BPE with byte
// fallback, BPE with an end-of-word suffix, Unigram. Error{not_found, io, bad_json, unsupported}.
std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& path);
// The same from text; `name` is for messages.
std::shared_ptr<const Tokenizer> parse_tokenizer(std::string_view text, const std::string& name);

// Turns ids into text as they arrive. A character whose bytes are spread over several tokens is
// held back until it is whole, so that every piece is valid UTF-8; for ids that spell valid text
// the pieces joined are decode() of all ids.
class TokenStream {
 public:
  explicit TokenStream(const Tokenizer& tokenizer, bool skip_special = true)
      : tokenizer_(&tokenizer), skip_special_(skip_special) {}
  std::string push(int64_t id);  // the text that became certain, often ""
  std::string finish();          // what is left; broken bytes become U+FFFD

 private:
  std::string difference() const;

  const Tokenizer* tokenizer_;
  bool skip_special_;
  std::vector<int64_t> ids_;  // the last few: context_ of them are already shown
  size_t context_ = 0;
  std::string shown_;  // decode() of the context
};

}  // namespace arrcoc
