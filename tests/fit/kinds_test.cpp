#include "models/tiny/kinds.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "arrcoc/error.h"
#include "folder.h"
#include "lab/fit/kinds_fit.h"

namespace arrcoc::tiny {
namespace {

TEST(Kinds, ShapesAreThoseThatPeopleSee) {
  const std::pair<const char*, AnswerShape> kSeen[] = {
      {"48", AnswerShape::whole},
      {"1983", AnswerShape::year},
      {"1,234.50", AnswerShape::decimal},
      {"0.28", AnswerShape::decimal},
      {"20% of sample", AnswerShape::percent},
      {"$2,500", AnswerShape::money},
      {"RM 12.00", AnswerShape::money},
      {"79\u00a2", AnswerShape::money},
      {"June 13, 1981", AnswerShape::date},
      {"17/04/2018", AnswerShape::date},
      {"887-8830", AnswerShape::digits},
      {"10:30", AnswerShape::digits},
      {"a945-1008", AnswerShape::mixed},
      {"Departure", AnswerShape::word},
      {"", AnswerShape::word},
      {"Dr. Mike Foster", AnswerShape::words},
      {"the main thrust of our message", AnswerShape::text}};
  for (const auto& [answer, shape] : kSeen)
    EXPECT_EQ(static_cast<int>(shape_of(answer)), static_cast<int>(shape)) << answer;
}

TEST(Kinds, AskingWordsAreTheQuestionsWordsOnceAndWhatFollowsItsPronoun) {
  EXPECT_EQ(asking_words("How many? HOW MANY of 1983 and 12"),
            (std::vector<std::string>{"#", "and", "how", "how many", "many", "of"}));
  EXPECT_EQ(asking_words("").size(), 0U);
}

std::vector<fitting::AskedAndAnswered> pairs() {
  std::vector<fitting::AskedAndAnswered> out;
  for (int i = 0; i < 40; ++i) {
    out.push_back({"How many boxes are there?", std::to_string(i + 2)});
    out.push_back({"Which town is named?", i % 2 == 0 ? "Boston" : "Dallas"});
  }
  return out;
}

TEST(Kinds, LearnsWhichShapeAQuestionAsksFor) {
  const KindTable table = fitting::fit_kinds(pairs());
  const auto chances = table.chances("How many towns are there?");
  EXPECT_NEAR(std::accumulate(chances.begin(), chances.end(), 0.0), 1, 1e-9);
  EXPECT_GT(chances[static_cast<size_t>(AnswerShape::whole)], 0.8);
  EXPECT_GT(table.chances("Which town?")[static_cast<size_t>(AnswerShape::word)], 0.8);
  EXPECT_NEAR(kind_sign(&table, "Which town is named?", "Newark"), 0, 0.1);
  EXPECT_LT(kind_sign(&table, "Which town is named?", "48"), -2);
  EXPECT_THROW(fitting::fit_kinds({}), Error);
}

TEST(Kinds, WithoutATableOrAnAnswerTheSignIsSilent) {
  const KindTable table = fitting::fit_kinds(pairs());
  EXPECT_EQ(kind_sign(nullptr, "Which town?", "48"), 0);
  EXPECT_EQ(kind_sign(&table, "Which town?", "none"), 0);
  EXPECT_EQ(kind_sign(&table, "Which town?", ""), 0);
}

TEST(Kinds, RareWordsHaveNoRow) {
  auto few = pairs();
  few.push_back({"How heavy is it?", "12 kg"});
  const KindTable table = fitting::fit_kinds(few);
  EXPECT_TRUE(table.rows.count("how many"));
  EXPECT_FALSE(table.rows.count("heavy"));
}

TEST(Kinds, ComeBackFromTheirFileAndRefuseWhatCannotBe) {
  const KindTable table = fitting::fit_kinds(pairs());
  const std::filesystem::path folder = test::fresh_folder("kinds");
  std::filesystem::create_directories(folder);
  EXPECT_EQ(kinds_of(folder.string()), nullptr);
  EXPECT_EQ(kinds_of(""), nullptr);
  std::ofstream(folder / "kinds.json") << to_json(table);
  const auto back = kinds_of(folder.string());
  ASSERT_NE(back, nullptr);
  for (const char* answer : {"48", "Boston"})
    EXPECT_NEAR(kind_sign(back.get(), "Which town?", answer),
                kind_sign(&table, "Which town?", answer), 0.05);
  for (const char* bad : {"{", "[]", R"({"colour":1})", R"({"usual":1})", R"({"rows":[]})",
                          R"({"rows":{"a":[1]}})", R"({"rows":{"a":[0,0,0,0,0,0,0,0,0,0,"x"]}})"})
    EXPECT_THROW(kinds_from_json(bad), Error) << bad;
  std::ofstream(folder / "kinds.json") << "{";
  try {
    kinds_of(folder.string());
    ADD_FAILURE() << "was accepted";
  } catch (const Error& problem) {
    EXPECT_NE(std::string(problem.what()).find("kinds.json"), std::string::npos);
  }
}

}  // namespace
}  // namespace arrcoc::tiny
