#include "serve/relay/json_text.h"

#include <algorithm>
#include <optional>

namespace arrcoc::serving {

namespace {

// Where a value lies, and what goes with it when its member is removed.
struct Span {
  size_t begin = 0, end = 0;  // of the value
  size_t member = 0;          // where its name begins; the value itself in an array
  size_t comma_before = 0;    // position of the comma before the member; 0: it is the first
  size_t comma_after = 0;     // of the one behind it; 0: it is the last
};

struct Wanted {
  std::vector<std::string> path;
  std::optional<Span> found;
};

std::vector<std::string> path_of(json::json_pointer pointer) {
  std::vector<std::string> out;
  for (; !pointer.empty(); pointer.pop_back()) out.push_back(pointer.back());
  std::reverse(out.begin(), out.end());
  return out;
}

// Walks over valid JSON and notes where the wanted places are.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) {}

  void walk(const std::vector<Wanted*>& wanted) {
    if (text_.starts_with("\xef\xbb\xbf"))
      at_ = 3;  // a byte order mark, which the parser skips too
    blank();
    Span whole;
    value(wanted, 0, whole);
  }

 private:
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void blank() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  std::string_view string() {
    const size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != '"') {
      at_ = text_.find_first_of("\"\\", at_);
      if (at_ == std::string_view::npos) at_ = text_.size();
      if (here() == '\\') at_ += 2;
    }
    at_ = std::min(at_ + 1, text_.size());
    return text_.substr(begin, at_ - begin);
  }

  // depth: names of the path that led here.
  void value(const std::vector<Wanted*>& wanted, size_t depth, Span& span) {
    span.begin = at_;
    const char first = here();
    if (first == '{' || first == '[') {
      members(wanted, depth, first == '{');
    } else if (first == '"') {
      string();
    } else {
      at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
    }
    span.end = at_;
  }

  static std::string name_of(std::string_view quoted) {
    if (quoted.find('\\') == std::string_view::npos)
      return std::string(quoted.substr(1, quoted.size() - 2));
    return json::parse(quoted).get<std::string>();
  }

  void members(const std::vector<Wanted*>& wanted, size_t depth, bool object) {
    ++at_;
    blank();
    size_t comma = 0;
    for (size_t number = 0; at_ < text_.size() && here() != '}' && here() != ']'; ++number) {
      Span span;
      span.member = at_;
      span.comma_before = comma;
      std::string name;
      if (object) {
        const std::string_view quoted = string();
        if (!wanted.empty()) name = name_of(quoted);
        blank();
        ++at_;  // the colon
        blank();
      } else if (!wanted.empty()) {
        name = std::to_string(number);
      }
      std::vector<Wanted*> inside, exact;
      for (Wanted* one : wanted)
        if (one->path[depth] == name)
          (one->path.size() == depth + 1 ? exact : inside).push_back(one);
      value(inside, depth + 1, span);
      blank();
      if (here() == ',') {
        span.comma_after = comma = at_++;
        blank();
      }
      for (Wanted* one : exact) one->found = span;
    }
    ++at_;
  }

  std::string_view text_;
  size_t at_ = 0;
};

std::vector<Span> find(std::string_view text,
                       const std::vector<const json::json_pointer*>& places) {
  std::vector<Wanted> wanted;
  for (const json::json_pointer* place : places) wanted.push_back({path_of(*place), {}});
  std::vector<Wanted*> all;
  for (Wanted& one : wanted)
    if (!one.path.empty()) all.push_back(&one);
  Walker(text).walk(all);
  std::vector<Span> out;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i].found)
      throw Error(ErrorCode::bad_argument, "the text has no " + places[i]->to_string());
    out.push_back(*wanted[i].found);
  }
  return out;
}

// What an edit takes out, and what it puts there.
struct Cut {
  size_t begin, end;
  const std::string* text;
};

Cut cut_of(const Span& span, const JsonEdit& edit) {
  static const std::string nothing;
  switch (edit.how) {
    case JsonEdit::How::replace:
      return {span.begin, span.end, &edit.text};
    case JsonEdit::How::after:
      return {span.end, span.end, &edit.text};
    case JsonEdit::How::remove:
      break;
  }
  if (span.comma_after > 0) return {span.member, span.comma_after + 1, &nothing};
  return {span.comma_before > 0 ? span.comma_before : span.member, span.end, &nothing};
}

}  // namespace

std::string edited(std::string_view text, const std::vector<JsonEdit>& edits) {
  std::vector<const json::json_pointer*> places;
  for (const JsonEdit& edit : edits) places.push_back(&edit.place);
  const std::vector<Span> spans = find(text, places);
  std::vector<Cut> cuts;
  for (size_t i = 0; i < edits.size(); ++i) cuts.push_back(cut_of(spans[i], edits[i]));
  std::stable_sort(cuts.begin(), cuts.end(),
                   [](const Cut& a, const Cut& b) { return a.begin < b.begin; });
  std::string out;
  size_t at = 0;
  for (Cut& cut : cuts) {
    // Members that go side by side share a comma.
    if (cut.text->empty()) cut.begin = std::min(std::max(cut.begin, at), cut.end);
    if (cut.begin < at) throw Error(ErrorCode::bad_argument, "edits lie inside each other");
    out.append(text, at, cut.begin - at);
    out += *cut.text;
    at = cut.end;
  }
  return out.append(text, at);
}

std::string_view value_at(std::string_view text, const json::json_pointer& place) {
  const Span span = find(text, {&place}).front();
  return text.substr(span.begin, span.end - span.begin);
}

}  // namespace arrcoc::serving
