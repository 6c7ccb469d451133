// Word tables: the text files of data/words, embedded in the library at build time.
//
//   # a comment: a line that begins with #
//   [section]
//   word word word
//   word word : 0.5 -1        words with numbers
//
// UTF-8; words and numbers are separated by blanks. A section has at least one line and a name of
// its own. Whatever else is an Error{bad_argument} with file and line: a mistake in the sources,
// which the tests find.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/embedded.h"

namespace arrcoc {

using WordSet = std::unordered_set<std::string_view>;

struct WordLine {
  std::vector<std::string_view> words;  // at least one
  std::vector<float> numbers;
};

// Sections of one file. Words are views of its text, which must live as long as they are used.
// An unknown section, a word that stands twice in a set or map, and another count of numbers than
// asked for are Error{bad_argument}.
class WordFile {
 public:
  WordFile(std::string name, std::string_view text);

  const std::vector<WordLine>& lines(const std::string& section, size_t numbers = 0) const;
  // All words of a section, in order, each once.
  std::vector<std::string_view> list(const std::string& section) const;
  WordSet set(const std::string& section) const;
  // Word -> the numbers of its line.
  std::unordered_map<std::string_view, std::vector<float>> map(const std::string& section,
                                                               size_t numbers) const;

 private:
  [[noreturn]] void fail(const std::string& where, const std::string& what) const;
  void read_line(std::string_view line, const std::string& where, std::vector<WordLine>& section);

  std::string name_;
  std::unordered_map<std::string, std::vector<WordLine>> sections_;
};

// data/words/<name>.txt. Error{not_found} when there is no such file.
WordFile word_file(const std::string& name);
// All of data/words.
const std::vector<EmbeddedFile>& embedded_words();

// The one object of a struct of tables, made at first use.
template <class Tables>
const Tables& read_once() {
  static const Tables all;
  return all;
}

// Does any of the words stand in the set?
bool has_any(const std::vector<std::string>& words, const WordSet& set);

}  // namespace arrcoc
