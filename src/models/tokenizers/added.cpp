#include "models/tokenizers/added.h"

#include <algorithm>

namespace arrcoc::tokenizers {
namespace {

size_t start_of_last(std::string_view text, size_t end) {
  size_t at = end - 1;
  while (at > 0 && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

bool alone(std::string_view text, const Span& span) {
  bool before = span.begin == 0 || !is_word(character(text, start_of_last(text, span.begin)));
  bool after = span.end == text.size() || !is_word(character(text, span.end));
  return before && after;
}

}  // namespace

void AddedTokens::add(const AddedToken& token) {
  if (token.content.empty()) return;
  auto& bucket = by_first_byte_[static_cast<uint8_t>(token.content[0])];
  auto place = std::upper_bound(
      bucket.begin(), bucket.end(), token,
      [](const AddedToken& a, const AddedToken& b) { return a.content.size() > b.content.size(); });
  bucket.insert(place, token);
}

const AddedToken* AddedTokens::match(std::string_view text, size_t at) const {
  for (const AddedToken& token : by_first_byte_[static_cast<uint8_t>(text[at])])
    if (text.compare(at, token.content.size(), token.content) == 0) return &token;
  return nullptr;
}

std::vector<Segment> AddedTokens::split(std::string_view text) const {
  std::vector<Segment> out;
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    const AddedToken* token = match(text, at);
    if (!token) {
      ++at;
      continue;
    }
    Span span{at, at + token->content.size()};
    at = span.end;
    if (token->single_word && !alone(text, span)) continue;
    while (token->lstrip && span.begin > done &&
           is_space(character(text, start_of_last(text, span.begin))))
      span.begin = start_of_last(text, span.begin);
    span.begin = std::max(span.begin, done);
    while (token->rstrip && span.end < text.size() && is_space(character(text, span.end)))
      span.end += character_bytes(text, span.end);
    if (span.begin > done) out.push_back({{done, span.begin}, -1});
    out.push_back({span, token->id});
    done = span.end;
    at = std::max(at, done);
  }
  if (done < text.size()) out.push_back({{done, text.size()}, -1});
  return out;
}

}  // namespace arrcoc::tokenizers
