#include "models/tokenizers/tokenizer.h"

#include <filesystem>
#include <unordered_set>

#include "arrcoc/error.h"
#include "models/tokenizers/added.h"
#include "models/tokenizers/steps.h"
#include "models/tokenizers/unicode.h"

namespace arrcoc {
namespace {

using namespace tokenizers;

class FileTokenizer : public Tokenizer {
 public:
  explicit FileTokenizer(const Settings& s)
      : normalizer_(make_normalizer(part(s, "normalizer"), s.file() + ": normalizer")),
        pre_tokenizer_(make_pre_tokenizer(part(s, "pre_tokenizer"), s.file() + ": pre_tokenizer")),
        model_(make_model(Settings(s.need("model"), s.file() + ": model"))),
        decoder_(make_decoder(part(s, "decoder"), s.file() + ": decoder")),
        fitting_(make_fitting(s)) {
    size_ = model_->ids.size();
    if (s.has("added_tokens"))
      for (const json& token : s.need_list("added_tokens"))
        add(Settings(token, s.file() + ": added_tokens"));
    frame_ = make_frame(
        part(s, "post_processor"), [this](const std::string& token) { return id_of(token); },
        s.file() + ": post_processor");
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
  static const json& part(const Settings& s, const char* key) {
    static const json none;
    return s.has(key) ? s.need(key) : none;
  }

  void add(const Settings& s) {
    AddedToken token;
    token.content = s.get<std::string>("content");
    token.id = s.whole(s.need("id"), "id", 0, INT32_MAX);
    token.special = s.get("special", false);
    token.single_word = s.get("single_word", false);
    token.lstrip = s.get("lstrip", false);
    token.rstrip = s.get("rstrip", false);
    token.normalized = s.get("normalized", !token.special);
    auto known = model_->ids.find(token.content);
    if (known != model_->ids.end())
      token.id = known->second;
    else
      ++size_;
    added_ids_[token.content] = token.id;
    added_tokens_[token.id] = token.content;
    if (token.special) special_.insert(token.id);
    if (token.normalized) token.content = normalizer_(token.content);
    (token.normalized ? normal_added_ : plain_added_).add(token);
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
      for (const Piece& piece : pre_tokenizer_(std::move(pieces)))
        if (!piece.text.empty()) model_->encode(piece.text, ids);
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
  const json whole = parse_json(text, name);
  return std::make_shared<FileTokenizer>(Settings(whole, name));
}

std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& path) {
  std::filesystem::path file = path;
  if (std::filesystem::is_directory(file)) file /= "tokenizer.json";
  return parse_tokenizer(read_text(file.string()), file.string());
}

}  // namespace arrcoc
