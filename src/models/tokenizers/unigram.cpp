// Unigram: the split of a word whose pieces have the largest sum of log probabilities (Viterbi).
#include <algorithm>
#include <limits>

#include "arrcoc/error.h"
#include "models/tokenizers/steps.h"
#include "models/tokenizers/unicode.h"

namespace arrcoc::tokenizers {
namespace {

constexpr double kUnknownPenalty = 10;  // below the worst piece

class Unigram : public Model {
 public:
  explicit Unigram(const Settings& s) : byte_fallback_(s.get("byte_fallback", false)) {
    if (s.need_list("vocab").empty()) s.fail("vocab", "is empty");
    double worst = std::numeric_limits<double>::infinity();
    nodes_.emplace_back();
    for (const json& entry : s.need("vocab")) {
      if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number())
        s.fail("vocab", "has an entry that is not [piece, score]");
      std::string piece = entry[0].get<std::string>();
      auto id = static_cast<int64_t>(scores_.size());
      ids[piece] = id;
      tokens[id] = piece;
      scores_.push_back(entry[1].get<double>());
      worst = std::min(worst, scores_.back());
      insert(piece, id);
    }
    unknown_score_ = worst - kUnknownPenalty;
    unknown_ = s.whole("unk_id", -1, 0, static_cast<int64_t>(scores_.size()) - 1);
    bytes_ = byte_tokens(*this);
  }

  void encode(std::string_view word, std::vector<int64_t>& out) const override {
    std::vector<Step> best = best_ends(word);
    std::vector<Span> pieces;  // last first
    bool joining = false;
    for (size_t end = word.size(); end > 0;) {
      const Step& step = best[end];
      bool unknown = step.id < 0;
      if (unknown && joining)
        pieces.back().begin = step.begin;  // neighbouring unknowns are one
      else
        pieces.push_back({step.begin, end});
      joining = unknown;
      end = step.begin;
    }
    for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece)
      emit(word.substr(piece->begin, piece->end - piece->begin), out);
  }

 private:
  struct Node {
    std::unordered_map<char, uint32_t> next;
    int64_t id = -1;
  };
  struct Step {
    double score = 0;
    size_t begin = 0;
    int64_t id = -1;
    bool reached = false;
  };

  void insert(const std::string& piece, int64_t id) {
    if (piece.empty()) return;
    uint32_t node = 0;
    for (char byte : piece) {
      auto found = nodes_[node].next.find(byte);
      if (found == nodes_[node].next.end()) {
        auto fresh = static_cast<uint32_t>(nodes_.size());
        nodes_[node].next.emplace(byte, fresh);
        nodes_.emplace_back();
        node = fresh;
      } else {
        node = found->second;
      }
    }
    nodes_[node].id = id;
  }

  // best[e]: the best way to cover the first e bytes, and where its last piece begins.
  std::vector<Step> best_ends(std::string_view word) const {
    std::vector<Step> best(word.size() + 1);
    auto offer = [&](size_t end, const Step& step) {
      if (!best[end].reached || step.score > best[end].score) best[end] = step;
    };
    for (size_t begin = 0; begin < word.size();) {
      double here = best[begin].score;
      size_t letter = character_bytes(word, begin);
      bool single = false;
      uint32_t node = 0;
      for (size_t at = begin; at < word.size(); ++at) {
        auto found = nodes_[node].next.find(word[at]);
        if (found == nodes_[node].next.end()) break;
        node = found->second;
        int64_t id = nodes_[node].id;
        if (id < 0) continue;
        offer(at + 1, {here + scores_[static_cast<size_t>(id)], begin, id, true});
        single = single || at + 1 - begin == letter;
      }
      if (!single) offer(begin + letter, {here + unknown_score_, begin, -1, true});
      begin += letter;
    }
    return best;
  }

  void emit(std::string_view piece, std::vector<int64_t>& out) const {
    auto found = ids.find(std::string(piece));
    if (found != ids.end()) {
      out.push_back(found->second);
      return;
    }
    bool spelled = byte_fallback_;
    for (char byte : piece) spelled = spelled && bytes_[static_cast<uint8_t>(byte)] >= 0;
    if (spelled) {
      for (char byte : piece) out.push_back(bytes_[static_cast<uint8_t>(byte)]);
    } else if (unknown_ >= 0) {
      out.push_back(unknown_);
    } else {
      throw Error(ErrorCode::bad_argument,
                  "the tokenizer has neither a piece nor an unknown token for '" +
                      std::string(piece.substr(0, 40)) + "'");
    }
  }

  bool byte_fallback_;
  int64_t unknown_ = -1;
  double unknown_score_ = 0;
  std::vector<double> scores_;
  std::vector<Node> nodes_;
  std::vector<int64_t> bytes_;
};

}  // namespace

std::unique_ptr<Model> make_unigram(const Settings& settings) {
  return std::make_unique<Unigram>(settings);
}

}  // namespace arrcoc::tokenizers
