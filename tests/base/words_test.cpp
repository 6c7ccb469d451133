// Word tables: the format, and the files of data/words.
#include "base/words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "arrcoc/error.h"
#include "arrcoc/query.h"
#include "base/text.h"

using namespace arrcoc;

namespace {

using Views = std::vector<std::string_view>;

std::string text_of(const EmbeddedFile& file) {
  return {reinterpret_cast<const char*>(file.data), file.size};
}

std::vector<std::string> sections_of(const EmbeddedFile& file) {
  std::vector<std::string> out;
  std::istringstream in(text_of(file));
  for (std::string line; std::getline(in, line);)
    if (line.starts_with('[')) out.push_back(line.substr(1, line.size() - 2));
  return out;
}

// What the reader says about a file that it refuses.
std::string refusal(const std::string& text) {
  try {
    (void)WordFile("it.txt", text);
  } catch (const Error& problem) {
    EXPECT_EQ(problem.code(), ErrorCode::bad_argument);
    return problem.what();
  }
  ADD_FAILURE() << "not refused: " << text;
  return "";
}

}  // namespace

TEST(Words, SectionsHaveWordsAndNumbersAndCommentsAreSkipped) {
  const WordFile file("it.txt",
                      "# about\n\n[first one]\nb a  #\n# between\n\xC3\xA9t\xC3\xA9\n"
                      "[numbers]\nx y : 0.5 -1\nz : 2 3e1\n");
  EXPECT_EQ(file.list("first one"), (Views{"b", "a", "#", "\xC3\xA9t\xC3\xA9"}));
  EXPECT_TRUE(file.set("first one").contains("a"));
  EXPECT_FALSE(file.set("first one").contains("between"));
  const auto numbers = file.map("numbers", 2);
  EXPECT_EQ(numbers.at("y"), (std::vector<float>{0.5F, -1}));
  EXPECT_EQ(numbers.at("z"), (std::vector<float>{2, 30}));
  ASSERT_EQ(file.lines("numbers", 2).size(), 2U);
  EXPECT_EQ(file.lines("numbers", 2)[0].words, (Views{"x", "y"}));
}

TEST(Words, MalformedFilesAreRefusedWithTheLine) {
  for (const auto& [text, reason] :
       std::map<std::string, std::string>{{"", "empty"},
                                          {"# only a comment\n", "empty"},
                                          {"[a]\n", "empty"},
                                          {"[a]\n[b]\nx\n", "line 2: the section above is empty"},
                                          {"x\n[a]\ny\n", "line 1: words before"},
                                          {"[a\nx\n", "line 1: a section is"},
                                          {"[]\nx\n", "line 1: a section is"},
                                          {"[a]\nx\n[a]\ny\n", "line 3: a second section"},
                                          {"[a]\nx", "line 2: it does not end"},
                                          {"[a]\nx\ty\n", "line 2: only blanks"},
                                          {"[a]\nx\r\n", "line 2: only blanks"},
                                          {"[a]\nx :\n", "line 2: a line is"},
                                          {"[a]\n: 1\n", "line 2: a line is"},
                                          {"[a]\nx : 1 : 2\n", "line 2: a second colon"},
                                          {"[a]\nx : 1,5\n", "line 2: 1,5 is no number"},
                                          {"[a]\n\xE9t\xE9\n", "not UTF-8"}}) {
    EXPECT_NE(refusal(text).find(reason), std::string::npos) << text << " -> " << refusal(text);
  }
}

TEST(Words, WrongSectionsDoublesAndCountsOfNumbersAreRefused) {
  const WordFile file("it.txt", "[twice]\nx y\nx\n[numbers]\nx : 1\ny : 1 2\n");
  EXPECT_THROW(file.lines("none"), Error);
  EXPECT_THROW(file.set("twice"), Error);
  EXPECT_THROW(file.list("twice"), Error);
  EXPECT_EQ(file.lines("twice").size(), 2U);  // lines may share words
  EXPECT_THROW(file.lines("numbers", 1), Error);
  EXPECT_THROW(file.set("numbers"), Error);
  EXPECT_THROW(word_file("there-is-none"), Error);
}

TEST(Words, EveryFileParsesAndNoWordStandsTwiceInATable) {
  ASSERT_GE(embedded_words().size(), 10U);
  for (const EmbeddedFile& embedded : embedded_words()) {
    const std::string path = embedded.path;
    ASSERT_TRUE(path.ends_with(".txt")) << path;
    const WordFile file = word_file(path.substr(0, path.size() - 4));
    for (const std::string& section : sections_of(embedded)) {
      SCOPED_TRACE(path + " [" + section + "]");
      const bool groups = section == "synonyms" || section == "misread digits";
      size_t numbers = 0;
      while (numbers < 8) {
        try {
          (void)file.lines(section, numbers);
          break;
        } catch (const Error&) {
          ++numbers;
        }
      }
      if (!groups) EXPECT_NO_THROW(file.map(section, numbers));
      for (const WordLine& line : file.lines(section, numbers))
        EXPECT_EQ(std::set(line.words.begin(), line.words.end()).size(), line.words.size());
    }
  }
}

// Words are compared as split_words makes them: whatever else a table holds could never be met.
// Characters and signs on the page are read otherwise.
TEST(Words, TablesHoldWordsAsTextIsSplitIntoThem) {
  for (const EmbeddedFile& embedded : embedded_words()) {
    if (embedded.path == std::string("synonyms.txt")) continue;
    std::istringstream in(text_of(embedded));
    for (std::string line; std::getline(in, line);) {
      if (line == "[currency]") break;  // the last of the words in word_shapes.txt
      if (line.empty() || line.front() == '#' || line.front() == '[') continue;
      std::istringstream words(line.substr(0, line.find(" :")));
      for (std::string word; words >> word;) {
        EXPECT_EQ(text::split_words(word), std::vector<std::string>{word}) << embedded.path;
      }
    }
  }
}

TEST(Words, ANounAsksForOneKindOnly) {
  const WordFile file = word_file("question");
  std::map<std::string_view, std::string> kind_of;
  for (const char* kind :
       {"money", "date", "time", "number", "percent", "name", "phone", "place", "text"}) {
    for (const std::string_view word : file.list(std::string("kind ") + kind)) {
      EXPECT_TRUE(kind_of.emplace(word, kind).second) << word;
      const std::string question = "the " + std::string(word);
      EXPECT_STREQ(to_string(parse_query(question).answer), kind) << question;
    }
  }
}
