#include "models/tokenizers/tokenizer.h"

namespace arrcoc {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";

bool ends_broken(const std::string& text) {
  return text.size() >= 3 && text.compare(text.size() - 3, 3, kReplacement) == 0;
}

}  // namespace

// Decoders look at their neighbours (a first token loses its space), so new text is the difference
// between decoding with and without the new tokens after a little context. Broken bytes can change
// what was shown before; then the new tokens are decoded by themselves.
std::string TokenStream::difference() const {
  std::string text = tokenizer_->decode(ids_, skip_special_);
  if (text.compare(0, shown_.size(), shown_) == 0) return text.substr(shown_.size());
  auto fresh = ids_.begin() + static_cast<std::ptrdiff_t>(context_);
  return tokenizer_->decode({fresh, ids_.end()}, skip_special_);
}

std::string TokenStream::push(int64_t id) {
  ids_.push_back(id);
  std::string fresh = difference();
  constexpr size_t kPatience = 8;  // tokens: no character has more bytes than 4
  bool waiting = ends_broken(fresh) && ids_.size() - context_ < kPatience;
  if (waiting || fresh.empty()) return "";
  // The newest tokens are the next context; their own decoding is what has been shown of them.
  ids_.erase(ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(context_));
  context_ = ids_.size();
  shown_ = tokenizer_->decode(ids_, skip_special_);
  return fresh;
}

std::string TokenStream::finish() {
  std::string rest = difference();
  ids_.clear();
  context_ = 0;
  shown_.clear();
  return rest;
}

}  // namespace arrcoc
