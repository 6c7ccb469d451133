#include "models/tokenizers/tokenizer.h"

#include <filesystem>
#include <unordered_set>

#include "arrcoc/error.h"
#include "models/hf/json.h"
#include "models/tokenizers/added.h"
#include "models/tokenizers/steps.h"
#include "models/tokenizers/unicode.h"

namespace arrcoc {
namespace {

using namespace tokenizers;
using nlohmann::json;

class FileTokenizer : public Tokenizer {
 public:
  FileTokenizer(const json& whole, const std::string& file)
      : normalizer_(make_normalizer(part(whole, "normalizer"), file)),
        pre_tokenizer_(make_pre_tokenizer(part(whole, "pre_tokenizer"), file)),
        model_(make_model(jsonio::member(whole, "model", file), file)),
        decoder_(make_decoder(part(whole, "decoder"), file)),
        fitting_(make_fitting(whole, file)) {
    size_ = model_->ids.size();
    if (jsonio::has(whole, "added_tokens")) read_added(whole["added_tokens"], file);
    frame_ = make_frame(
        part(whole, "post_processor"), [this](const std::string& token) { return id_of(token); },
        file);
  }

  std::vector<int64_t> encode(std::string_view raw, bool add_special) const override {
    std::string text = valid_utf8(raw);
    std::vector<int64_t> ids;
    for (const Segment& segment : plain_added_.split(text)) {
      if (segment.id >= 0) {
        ids.push_back(segment.id);
      } else {
        encode_text(text.substr(segment.span.begin, segment.span.end - segment.span.begin),
                    segment.span.begin == 0, ids);
      }
    }
    return add_special ? fit(std::move(ids), frame_, fitting_) : ids;
  }

  std::string decode(const std::vector<int64_t>& ids, bool skip_special) const override {
    std::vector<std::string> tokens;
    for (int64_t id : ids) {
      if (skip_special && is_special(id)) continue;
      if (auto token = token_of(id)) tokens.push_back(std::move(*token));
    }
    std::string text;
    for (const std::string& piece : decoder_(std::move(tokens))) text += piece;
    return text;
  }

  std::optional<int64_t> id_of(const std::string& token) const override {
    auto added = added_ids_.find(token);
    if (added != added_ids_.end()) return added->second;
    auto found = model_->ids.find(token);
    if (found == model_->ids.end()) return {};
    return found->second;
  }

  std::optional<std::string> token_of(int64_t id) const override {
    auto added = added_tokens_.find(id);
    if (added != added_tokens_.end()) return added->second;
    auto found = model_->tokens.find(id);
    if (found == model_->tokens.end()) return {};
    return found->second;
  }

  bool is_special(int64_t id) const override { return special_.count(id) != 0; }
  size_t size() const override { return size_; }

 private:
  static json part(const json& whole, const char* key) {
    return jsonio::has(whole, key) ? whole.at(key) : json();
  }

  void read_added(const json& list, const std::string& file) {
    if (!list.is_array()) jsonio::fail(file, "added_tokens", "is not a list");
    for (const json& entry : list) {
      AddedToken token;
      token.content = jsonio::text(entry, "content", file);
      token.id = jsonio::whole(jsonio::member(entry, "id", file), "id", 0, INT32_MAX, file);
      token.special = jsonio::flag(entry, "special", false, file);
      token.single_word = jsonio::flag(entry, "single_word", false, file);
      token.lstrip = jsonio::flag(entry, "lstrip", false, file);
      token.rstrip = jsonio::flag(entry, "rstrip", false, file);
      token.normalized = jsonio::flag(entry, "normalized", !token.special, file);
      auto known = model_->ids.find(token.content);
      if (known != model_->ids.end()) {
        token.id = known->second;
      } else {
        ++size_;
      }
      added_ids_[token.content] = token.id;
      added_tokens_[token.id] = token.content;
      if (token.special) special_.insert(token.id);
      if (token.normalized) {
        token.content = normalizer_(token.content);
        normal_added_.add(token);
      } else {
        plain_added_.add(token);
      }
    }
  }

  // One stretch of text between tokens that are matched as they stand.
  void encode_text(std::string text, bool first, std::vector<int64_t>& ids) const {
    text = normalizer_(std::move(text));
    for (const Segment& segment : normal_added_.split(text)) {
      if (segment.id >= 0) {
        ids.push_back(segment.id);
        continue;
      }
      std::vector<Piece> pieces = {
          {text.substr(segment.span.begin, segment.span.end - segment.span.begin),
           first && segment.span.begin == 0}};
      for (const Piece& piece : pre_tokenizer_(std::move(pieces))) {
        if (!piece.text.empty()) model_->encode(piece.text, ids);
      }
    }
  }

  Normalizer normalizer_;
  PreTokenizer pre_tokenizer_;
  std::unique_ptr<Model> model_;
  Decoder decoder_;
  Fitting fitting_;
  Frame frame_;
  AddedTokens plain_added_, normal_added_;
  std::unordered_map<std::string, int64_t> added_ids_;
  std::unordered_map<int64_t, std::string> added_tokens_;
  std::unordered_set<int64_t> special_;
  size_t size_ = 0;
};

}  // namespace

std::shared_ptr<const Tokenizer> parse_tokenizer(std::string_view text, const std::string& name) {
  json whole = jsonio::parse(text, name);
  if (!whole.is_object()) throw Error(ErrorCode::bad_json, name + ": not an object");
  return std::make_shared<FileTokenizer>(whole, name);
}

std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& path) {
  std::filesystem::path file = path;
  if (std::filesystem::is_directory(file)) file /= "tokenizer.json";
  return parse_tokenizer(jsonio::read_text(file.string()), file.string());
}

}  // namespace arrcoc
