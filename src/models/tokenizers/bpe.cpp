// Byte-pair encoding: start from characters, join the best-ranked neighbouring pair until none is
// left.
#include <cstdio>
#include <queue>

#include "arrcoc/error.h"
#include "models/tokenizers/steps.h"
#include "models/tokenizers/unicode.h"

namespace arrcoc::tokenizers {
namespace {

constexpr int64_t kMaxId = (int64_t{1} << 31) - 1;

uint64_t pair_key(int64_t left, int64_t right) {
  return static_cast<uint64_t>(left) << 32 | static_cast<uint64_t>(right);
}

class Bpe : public Model {
 public:
  explicit Bpe(const Settings& s)
      : prefix_(s.get("continuing_subword_prefix", "")),
        suffix_(s.get("end_of_word_suffix", "")),
        fuse_unknown_(s.get("fuse_unk", false)),
        byte_fallback_(s.get("byte_fallback", false)),
        ignore_merges_(s.get("ignore_merges", false)) {
    if (!s.need("vocab").is_object()) s.fail("vocab", "is not an object");
    for (const auto& [token, id] : s.need("vocab").items()) {
      ids[token] = s.whole(id, "vocab", 0, kMaxId);
      tokens[ids[token]] = token;
    }
    if (s.has("unk_token")) {
      auto found = ids.find(s.get<std::string>("unk_token"));
      if (found != ids.end()) unknown_ = found->second;
    }
    int64_t rank = 0;
    for (const json& merge : s.need_list("merges")) add_merge(merge, rank++, s);
    bytes_ = byte_tokens(*this);
  }

  void encode(std::string_view word, std::vector<int64_t>& out) const override {
    if (ignore_merges_) {
      auto whole = ids.find(std::string(word));
      if (whole != ids.end()) {
        out.push_back(whole->second);
        return;
      }
    }
    std::vector<Symbol> symbols = split(word);
    merge(symbols);
    for (const Symbol& symbol : symbols)
      if (symbol.alive) out.push_back(symbol.id);
  }

 private:
  struct Symbol {
    int64_t id;
    int64_t previous, next;  // places among the symbols, -1 at the ends
    bool alive = true;
  };
  struct Merge {
    int64_t rank, id;
  };
  struct Candidate {
    int64_t rank, at, id;
    bool operator<(const Candidate& other) const {  // the queue gives the largest first
      return rank != other.rank ? rank > other.rank : at > other.at;
    }
  };

  void add_merge(const json& merge, int64_t rank, const Settings& s) {
    std::string left, right;
    if (merge.is_string()) {  // the spelling "left right" of files before 0.20
      const auto& both = merge.get_ref<const std::string&>();
      size_t space = both.find(' ');
      if (space == std::string::npos) s.fail("merges", "has an entry without a space");
      left = both.substr(0, space);
      right = both.substr(space + 1);
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
               merge[1].is_string()) {
      left = merge[0].get<std::string>();
      right = merge[1].get<std::string>();
    } else {
      s.fail("merges", "has an entry that is not a pair");
    }
    bool continued = !prefix_.empty() && right.compare(0, prefix_.size(), prefix_) == 0;
    auto a = ids.find(left);
    auto b = ids.find(right);
    auto joined = ids.find(left + (continued ? right.substr(prefix_.size()) : right));
    if (a == ids.end() || b == ids.end() || joined == ids.end())
      s.fail("merges",
             "joins '" + left + "' and '" + right + "', which are not all in the vocabulary");
    merges_[pair_key(a->second, b->second)] = {rank, joined->second};
  }

  // Characters as symbols; what the vocabulary lacks becomes bytes or the unknown token.
  std::vector<Symbol> split(std::string_view word) const {
    std::vector<Symbol> symbols;
    bool after_unknown = false;
    auto push = [&](int64_t id) {
      auto at = static_cast<int64_t>(symbols.size());
      symbols.push_back({id, at - 1, at + 1});
      after_unknown = false;
    };
    for (size_t at = 0; at < word.size();) {
      size_t bytes = character_bytes(word, at);
      std::string_view letter = word.substr(at, bytes);
      std::string token = (at > 0 ? prefix_ : std::string()) + std::string(letter) +
                          (at + bytes == word.size() ? suffix_ : std::string());
      at += bytes;
      auto found = ids.find(token);
      if (found != ids.end()) {
        push(found->second);
      } else if (byte_fallback_ && in_bytes(token)) {
        for (char byte : token) push(bytes_[static_cast<uint8_t>(byte)]);
      } else if (unknown_ >= 0 && !(fuse_unknown_ && after_unknown)) {
        push(unknown_);
        after_unknown = true;
      }
    }
    if (!symbols.empty()) symbols.back().next = -1;
    return symbols;
  }

  bool in_bytes(const std::string& token) const {
    for (char byte : token)
      if (bytes_[static_cast<uint8_t>(byte)] < 0) return false;
    return true;
  }

  void merge(std::vector<Symbol>& symbols) const {
    std::priority_queue<Candidate> queue;
    auto offer = [&](int64_t left) {
      if (left < 0 || symbols[static_cast<size_t>(left)].next < 0) return;
      const Symbol& a = symbols[static_cast<size_t>(left)];
      auto found = merges_.find(pair_key(a.id, symbols[static_cast<size_t>(a.next)].id));
      if (found != merges_.end()) queue.push({found->second.rank, left, found->second.id});
    };
    for (size_t i = 0; i + 1 < symbols.size(); ++i) offer(static_cast<int64_t>(i));
    while (!queue.empty()) {
      Candidate best = queue.top();
      queue.pop();
      Symbol& left = symbols[static_cast<size_t>(best.at)];
      if (!left.alive || left.next < 0) continue;
      Symbol& right = symbols[static_cast<size_t>(left.next)];
      auto still = merges_.find(pair_key(left.id, right.id));
      if (still == merges_.end() || still->second.id != best.id) continue;  // a stale offer
      left.id = best.id;
      right.alive = false;
      left.next = right.next;
      if (left.next >= 0) symbols[static_cast<size_t>(left.next)].previous = best.at;
      offer(left.previous);
      offer(best.at);
    }
  }

  std::string prefix_, suffix_;
  bool fuse_unknown_, byte_fallback_, ignore_merges_;
  int64_t unknown_ = -1;
  std::unordered_map<uint64_t, Merge> merges_;
  std::vector<int64_t> bytes_;
};

}  // namespace

std::vector<int64_t> byte_tokens(const Model& model) {
  std::vector<int64_t> out(256, -1);
  for (unsigned byte = 0; byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", byte);
    auto found = model.ids.find(name);
    if (found != model.ids.end()) out[byte] = found->second;
  }
  return out;
}

std::unique_ptr<Model> make_bpe(const Settings& settings) {
  return std::make_unique<Bpe>(settings);
}

std::unique_ptr<Model> make_model(const Settings& settings) {
  // Files before the field existed hold the one or the other without saying so.
  const std::string type = settings.get("type", settings.has("merges") ? "BPE" : "Unigram");
  if (type == "BPE") return make_bpe(settings);
  if (type == "Unigram") return make_unigram(settings);
  throw Error(ErrorCode::unsupported, settings.file() + ": unknown tokenizer model '" + type + "'");
}

}  // namespace arrcoc::tokenizers
