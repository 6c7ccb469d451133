#include "base/words.h"

#include <algorithm>
#include <charconv>

#include "arrcoc/error.h"
#include "base/text.h"

namespace arrcoc {

void WordFile::fail(const std::string& where, const std::string& what) const {
  throw Error(ErrorCode::bad_argument, name_ + ", " + where + ": " + what);
}

WordFile::WordFile(std::string name, std::string_view text) : name_(std::move(name)) {
  if (text::invalid_utf8_at(text) != std::string_view::npos) fail("the text", "not UTF-8");
  std::vector<WordLine>* section = nullptr;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    const std::string where = "line " + std::to_string(number);
    if (end == std::string_view::npos) fail(where, "it does not end");
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line.empty() || line.front() == '#') continue;
    if (line.front() != '[') {
      if (section == nullptr) fail(where, "words before the first section");
      read_line(line, where, *section);
      continue;
    }
    if (section != nullptr && section->empty()) fail(where, "the section above is empty");
    if (line.size() < 3 || line.back() != ']') fail(where, "a section is [name]");
    const auto [added, is_new] =
        sections_.try_emplace(std::string(line.substr(1, line.size() - 2)));
    if (!is_new) fail(where, "a second section of this name");
    section = &added->second;
  }
  if (section == nullptr || section->empty()) fail("the end", "the last section is empty");
}

void WordFile::read_line(std::string_view line, const std::string& where,
                         std::vector<WordLine>& section) {
  if (line.find_first_of("\t\r") != std::string_view::npos) fail(where, "only blanks separate");
  WordLine out;
  bool in_numbers = false;
  for (size_t at = 0; at < line.size();) {
    const size_t end = std::min(line.find(' ', at), line.size());
    const std::string_view word = line.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    if (word == ":") {
      if (in_numbers) fail(where, "a second colon");
      in_numbers = true;
    } else if (in_numbers) {
      float value = 0;
      const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (error != std::errc() || rest != word.data() + word.size())
        fail(where, std::string(word) + " is no number");
      out.numbers.push_back(value);
    } else {
      out.words.push_back(word);
    }
  }
  if (out.words.empty() || in_numbers == out.numbers.empty())
    fail(where, "a line is words, or words, a colon and numbers");
  section.push_back(std::move(out));
}

const std::vector<WordLine>& WordFile::lines(const std::string& section, size_t numbers) const {
  const auto found = sections_.find(section);
  if (found == sections_.end()) fail("section " + section, "there is none");
  for (const WordLine& line : found->second)
    if (line.numbers.size() != numbers)
      fail("section " + section, std::to_string(numbers) + " numbers wanted on every line");
  return found->second;
}

std::unordered_map<std::string_view, std::vector<float>> WordFile::map(const std::string& section,
                                                                       size_t numbers) const {
  std::unordered_map<std::string_view, std::vector<float>> out;
  for (const WordLine& line : lines(section, numbers))
    for (const std::string_view word : line.words)
      if (!out.emplace(word, line.numbers).second)
        fail("section " + section, std::string(word) + " stands twice");
  return out;
}

std::vector<std::string_view> WordFile::list(const std::string& section) const {
  (void)map(section, 0);
  std::vector<std::string_view> out;
  for (const WordLine& line : lines(section))
    out.insert(out.end(), line.words.begin(), line.words.end());
  return out;
}

WordSet WordFile::set(const std::string& section) const {
  const std::vector<std::string_view> words = list(section);
  return {words.begin(), words.end()};
}

WordFile word_file(const std::string& name) {
  const std::string path = name + ".txt";
  for (const EmbeddedFile& file : embedded_words())
    if (file.path == path) return {path, {reinterpret_cast<const char*>(file.data), file.size}};
  throw Error(ErrorCode::not_found, "there is no data/words/" + path);
}

bool has_any(const std::vector<std::string>& words, const WordSet& set) {
  return std::any_of(words.begin(), words.end(),
                     [&](const auto& word) { return set.contains(word); });
}

}  // namespace arrcoc
