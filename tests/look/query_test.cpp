#include "arrcoc/query.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "arrcoc/error.h"

namespace arrcoc {
namespace {

using Words = std::vector<std::string>;

struct KindCase {
  const char* question;
  AnswerKind kind;
};

class QueryKind : public testing::TestWithParam<KindCase> {};

TEST_P(QueryKind, IsReadOffTheQuestion) {
  EXPECT_STREQ(to_string(parse_query(GetParam().question).answer), to_string(GetParam().kind))
      << GetParam().question;
}

INSTANTIATE_TEST_SUITE_P(
    Table, QueryKind,
    testing::Values(KindCase{"What is the total amount in the invoice?", AnswerKind::money},
                    KindCase{"What is the total?", AnswerKind::money},
                    KindCase{"How much is the parking fee?", AnswerKind::money},
                    KindCase{"What is the total number of females?", AnswerKind::number},
                    KindCase{"What is the total no. of pages?", AnswerKind::number},
                    KindCase{"What is the date on the letter?", AnswerKind::date},
                    KindCase{"When was it deposited?", AnswerKind::date},
                    KindCase{"In which year did 47 percent agree?", AnswerKind::date},
                    KindCase{"On which date was this form issued?", AnswerKind::date},
                    KindCase{"What time does the shop open?", AnswerKind::time},
                    KindCase{"What is the phone number?", AnswerKind::phone},
                    KindCase{"What is the Telephone?", AnswerKind::phone},
                    KindCase{"What percent felt tired?", AnswerKind::percent},
                    KindCase{"What % are concerned in 1988?", AnswerKind::percent},
                    KindCase{"What's the percentage value of the segment?", AnswerKind::percent},
                    KindCase{"What is the order no.?", AnswerKind::number},
                    KindCase{"How many dogs are there?", AnswerKind::number},
                    KindCase{"What is the mean height in Peru?", AnswerKind::number},
                    KindCase{"Who is the letter from?", AnswerKind::name},
                    KindCase{"Whose address is given?", AnswerKind::name},
                    KindCase{"What is the company in the invoice?", AnswerKind::name},
                    KindCase{"Where was the meeting held?", AnswerKind::place},
                    KindCase{"Which country is at the bottom?", AnswerKind::place},
                    KindCase{"What age group shows the highest share?", AnswerKind::text},
                    KindCase{"Which side is more positive?", AnswerKind::text},
                    KindCase{"What does the green bar represent?", AnswerKind::text},
                    KindCase{"What is the title of the graph?", AnswerKind::text},
                    KindCase{"What color is the car?", AnswerKind::colour},
                    KindCase{"What is the colour of the door?", AnswerKind::colour},
                    KindCase{"4, 8, __, 16: find the missing one", AnswerKind::number},
                    KindCase{"Is there a dog?", AnswerKind::any},
                    KindCase{"Describe the scene.", AnswerKind::any}));

struct ComplexityCase {
  const char* question;
  Complexity complexity;
};

class QueryComplexity : public testing::TestWithParam<ComplexityCase> {};

TEST_P(QueryComplexity, GrowsWithWhatIsAsked) {
  EXPECT_STREQ(to_string(parse_query(GetParam().question).complexity),
               to_string(GetParam().complexity))
      << GetParam().question;
}

INSTANTIATE_TEST_SUITE_P(
    Table, QueryComplexity,
    testing::Values(
        ComplexityCase{"What is the date?", Complexity::simple},
        ComplexityCase{"What colour is the car?", Complexity::simple},
        ComplexityCase{"What is the total amount in the invoice?", Complexity::simple},
        ComplexityCase{"What is the highest value shown?", Complexity::medium},
        ComplexityCase{"What is the share of adults in Spain in 2010 who agree?",
                       Complexity::medium},
        ComplexityCase{"How many people are in the boat?", Complexity::complex},
        ComplexityCase{"Describe the scene.", Complexity::complex},
        ComplexityCase{"What is the difference between the red and the blue bar?",
                       Complexity::complex},
        ComplexityCase{"Of all the people in the table, which one of those with the most points in "
                       "2010 and in 2011 comes from Spain?",
                       Complexity::complex}));

TEST(Query, WordsAreLowerCaseAndKeepNumbersWhole) {
  const Query query =
      parse_query("  What's the U.S. value on 10/17/67 for Ages 30-49, in $ or 8.50%?");
  EXPECT_EQ(query.text, "What's the U.S. value on 10/17/67 for Ages 30-49, in $ or 8.50%?");
  EXPECT_EQ(query.words, (Words{"what", "the", "us", "value", "on", "10/17/67", "for", "ages",
                                "30-49", "in", "$", "or", "8.50%"}));
  EXPECT_EQ(query.content, (Words{"us", "value", "10/17/67", "ages", "30-49", "$", "8.50%"}));
}

TEST(Query, WordsOutsideAsciiAreLowerCasedAndPunctuationSplits) {
  const Query query =
      parse_query("\u00c9t\u00e9 \u00ab\u00c4PFEL\u00bb \u041c\u0418\u0420\u2014don\u2019t");
  EXPECT_EQ(query.words, (Words{"\u00e9t\u00e9", "\u00e4pfel", "\u043c\u0438\u0440", "don't"}));
}

TEST(Query, VagueQuestionsHaveLowSpecificity) {
  for (const char* question :
       {"What is this?", "Describe the scene", "what do you see in the image",
        "What is happening here?", "Tell me about the picture"}) {
    EXPECT_TRUE(parse_query(question).vague()) << question;
  }
}

TEST(Query, SpecificQuestionsAreNotVagueAndMoreWordsSayMore) {
  for (const char* question : {"What is the total?", "When was it signed?", "the red car",
                               "Where is the small dog?", "How much is it?"}) {
    EXPECT_FALSE(parse_query(question).vague()) << question;
  }
  EXPECT_LT(parse_query("Where is the dog?").specificity,
            parse_query("Where is the small dog left of the door?").specificity);
  EXPECT_LE(parse_query("What is the total of \"Paper clips\" in table 3 on line 14 for May 1970?")
                .specificity,
            1.0F);
}

void expect_error(const std::string& text, ErrorCode code) {
  try {
    parse_query(text);
    FAIL() << "no error for a question of " << text.size() << " bytes";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
  }
}

TEST(Query, EmptyBrokenAndTooLongQuestionsAreRefused) {
  expect_error("", ErrorCode::bad_argument);
  expect_error(" \t\n", ErrorCode::bad_argument);
  expect_error("caf\xe9", ErrorCode::bad_argument);           // Latin-1
  expect_error("\xc0\xaf", ErrorCode::bad_argument);          // overlong
  expect_error("\xed\xa0\x80", ErrorCode::bad_argument);      // surrogate
  expect_error("\xf4\x90\x80\x80", ErrorCode::bad_argument);  // past U+10FFFF
  expect_error("cut \xe2\x82", ErrorCode::bad_argument);      // truncated
  expect_error(std::string("a\0b", 3), ErrorCode::bad_argument);
  expect_error(std::string(kMaxQuestionBytes + 1, 'a'), ErrorCode::too_large);
  EXPECT_NO_THROW(parse_query(std::string(kMaxQuestionBytes, 'a')));
}

TEST(Query, PunctuationAloneIsAVagueQuestion) {
  const Query query = parse_query("?!");
  EXPECT_TRUE(query.words.empty());
  EXPECT_TRUE(query.vague());
}

}  // namespace
}  // namespace arrcoc
