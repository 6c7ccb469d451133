// The word files: what the loader accepts, what it refuses and with which words, and that code and
// files know the same lists.
#include "lab/scenes/word_lists.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "arrcoc/error.h"
#include "lab/scenes/words.h"

namespace arrcoc::scenes {
namespace {

const std::string kAssets = std::string(ARRCOC_SOURCE_DIR) + "/assets";

const WordLists& lists() {
  static const WordLists loaded(kAssets + "/words");
  return loaded;
}

// The lists of the project in a folder of their own, which a test may damage.
class WordFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("arrcoc_words_" +
               std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(folder_);
    std::filesystem::copy(kAssets + "/words", folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  // "code: message" of what loading throws.
  std::string refusal() const {
    try {
      WordLists loaded(folder_.string());
    } catch (const Error& e) {
      return std::string(to_string(e.code())) + ": " + e.what();
    }
    return "loaded";
  }
  std::filesystem::path folder_;
};

TEST_F(WordFiles, FieldsAreOneListOrTheRowsOfATable) {
  write("extra.txt",
        "# made for this test\n\n[extra.list]\nred | dark blue\n\"paid \" | \"\" | \" kg\"\n5\" "
        "nail\n"
        "[extra.other]\nMünchen {extra.list}\n");
  const WordLists loaded(folder_.string());
  const WordList& list = loaded.named("extra.list");
  EXPECT_EQ(list.words, (Row{"red", "dark blue", "paid ", "", " kg", "5\" nail"}));
  ASSERT_EQ(list.rows.size(), 3u);
  EXPECT_EQ(list.rows[1], (Row{"paid ", "", " kg"}));
  EXPECT_EQ(loaded.named("extra.other").words, (Row{"München {extra.list}"}));
  EXPECT_THROW(loaded.named("extra.third"), Error);
}

TEST_F(WordFiles, BrokenFilesAreRefusedWithFileAndLine) {
  const std::vector<std::pair<std::string, std::string>> broken = {
      {"word\n[a.b]\nx\n", ":1: a line before the first [name]"},
      {"[a.b]\nx\n[a.b]\ny\n", ":3: a second list [a.b]"},
      {"[ab]\nx\n", ":1: not the name of a list"},
      {"[a.b\nx\n", ":1: not the name of a list"},
      {"[A.b]\nx\n", ":1: not the name of a list"},
      {"[a.b]\n# nothing\n[a.c]\nx\n", ":1: [a.b] is empty"},
      {"[a.b]\nx\nx | | y\n", ":3: "},
      {"[a.b]\nx |y\n", ":2: fields are separated"},
      {"[a.b]\nx | y \n", ":2: a field is empty or has outer blanks"},
      {"[a.b]\n x\n", ":2: a field is empty or has outer blanks"},
      {"[a.b]\n\"x | y\n", ":2: a quote is not closed"},
      {"[a.b]\n\"x\" y\"\n", ":2: a quote is not closed"},
      {"[a.b]\nx\r\n", ":2: a control character"},
      {"[a.b]\nx\ty\n", ":2: a control character"},
      {"[a.b]\nM\xFCnchen\n", ":2: not UTF-8"},
      {"[a.b]\nx {people.nobody}\n", ":2: {people.nobody} is no list"},
      {"[a.b]\nx {person\n", ":2: a { is not closed"}};
  for (const auto& [text, problem] : broken) {
    write("zz_broken.txt", text);
    EXPECT_NE(refusal().find("bad_json: " + (folder_ / "zz_broken.txt").string() + problem),
              std::string::npos)
        << text << " gave " << refusal();
  }
}

TEST_F(WordFiles, AMissingListIsNamed) {
  std::filesystem::remove(folder_ / "goods.txt");
  EXPECT_EQ(refusal().find("not_found: no word list [goods.all]"), 0u) << refusal();
}

TEST_F(WordFiles, ATableNeedsAllItsColumns) {
  write("goods.txt", "[goods.all]\nMILK 1L | 3 | 8\nBREAD | 2\n");
  EXPECT_NE(refusal().find("goods.txt:3: [goods.all] has 3 fields a line"), std::string::npos)
      << refusal();
}

TEST_F(WordFiles, AFolderWithoutListsIsNotFound) {
  std::filesystem::remove_all(folder_);
  EXPECT_EQ(refusal().find("not_found: word lists"), 0u);
  std::filesystem::create_directory(folder_);
  EXPECT_EQ(refusal().find("not_found: word lists"), 0u);
}

std::string source_text() {
  std::stringstream text;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(ARRCOC_SOURCE_DIR) + "/lab/scenes"))
    text << std::ifstream(entry.path()).rdbuf();
  return text.str();
}

// Whether a table of words names it, as a field of its own.
bool in_tables(const std::string& intent) {
  static const std::string rows = [] {
    std::stringstream text;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(ARRCOC_SOURCE_DIR) + "/assets/words"))
      text << "\n" << std::ifstream(entry.path()).rdbuf();
    return text.str();
  }();
  return rows.find("\n" + intent + " |") != std::string::npos ||
         rows.find("| " + intent + " |") != std::string::npos ||
         rows.find("| " + intent + "\n") != std::string::npos;
}

// No list is left over, and every intent that a layout writes down has its questions.
TEST(WordLists, CodeAndFilesKnowTheSameLists) {
  const std::vector<std::string> used = used_lists();
  std::set<std::string> known(used.begin(), used.end());
  const std::regex inner("\\{(?:day )?([a-z0-9-]+(?:\\.[a-z0-9-]+)+)\\}");
  const std::string sources = source_text();
  for (const std::string& name : lists().names())
    for (const std::string& word : lists().named(name).words)
      for (std::sregex_iterator it(word.begin(), word.end(), inner), end; it != end; ++it)
        known.insert((*it)[1]);
  for (const std::string& name : lists().names()) {
    if (name.rfind("ask.", 0) != 0) {
      EXPECT_EQ(known.count(name), 1u) << "nothing uses [" << name << "]";
      continue;
    }
    const size_t suite = name.ends_with(".suite") ? 6 : 0;  // forms that only suites ask in
    const std::string intent = name.substr(4, name.size() - 4 - suite);
    if (intent.rfind("chart.arg", 0) == 0 || intent.rfind("chart.m", 0) == 0)
      continue;  // put together
    EXPECT_TRUE(sources.find("\"" + intent + "\"") != std::string::npos || in_tables(intent))
        << "nobody asks " << intent;
  }
}

TEST(WordLists, FormsAreFilledFromTheLastToTheFirst) {
  Random r(3);
  r.words = &lists();
  std::string order;
  const Own own = {{"a", [&] { return order += "a", "x"; }},
                   {"b", [&] { return order += "b", "y"; }}};
  EXPECT_EQ(expand(r, "{a}-{b}-{a}", Land::us, own), "x-y-x");
  EXPECT_EQ(order, "aba");
  EXPECT_EQ(expand(r, "plain"), "plain");
  EXPECT_THROW(expand(r, "{nothing}"), Error);
  EXPECT_THROW(expand(r, "{no.list}"), Error);
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(std::regex_match(expand(r, "{number 7 9} {digits 3} {code @-##; ##/@} {sign}"),
                                 std::regex("[789] [1-9]\\d\\d ([A-Z]-\\d\\d|\\d\\d/[A-Z]) [+-]")));
    EXPECT_TRUE(std::regex_match(expand(r, "{money 100000 999999} {grouped 1000 9999}"),
                                 std::regex("\\d,\\d{3}\\.\\d\\d \\d,\\d{3}")));
  }
  Random same(3);
  EXPECT_EQ(choice(same, "only this"), "only this");
  EXPECT_EQ(same.next(), Random(3).next());  // nothing was drawn
}

TEST(WordLists, DatesComeInAllForms) {
  Random r(1);
  r.words = &lists();
  EXPECT_EQ(r.list<"calendar.date">().size(), static_cast<size_t>(kDateForms));
  EXPECT_EQ(r.list<"calendar.month">().size(), 12u);
  EXPECT_EQ(format(r, {2021, 3, 9}, 0), "09/03/2021");
  EXPECT_EQ(format(r, {2021, 3, 9}, 7), "March 9, 2021");
  EXPECT_EQ(format(r, {2004, 12, 9}, 9), "12/9/04");
  EXPECT_EQ(format(r, {2021, 3, 9}, 10), "09-MAR-2021");
}

TEST(WordLists, NumbersOfTablesAreNumbers) {
  EXPECT_EQ(to_number("1.5"), 1.5F);
  EXPECT_EQ(to_number("-10"), -10.0F);
  EXPECT_THROW(to_number("1x"), Error);
  EXPECT_THROW(to_number(""), Error);
  for (const Row& row : lists().table<"goods.all", 3>()) EXPECT_LT(good(row).low, good(row).high);
}

}  // namespace
}  // namespace arrcoc::scenes
