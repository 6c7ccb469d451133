#include "arrcoc/look.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "arrcoc/error.h"
#include "look/reading/layout.h"
#include "look/reading/match.h"
#include "look/reading/shape.h"

namespace arrcoc {
namespace {

using reading::WordShape;

// A page typed by hand: letters are `height` high and 0.6 `height` wide.
class Typed {
 public:
  Typed& at(float x, float y, const std::string& text, float height = 20) {
    std::istringstream in(text);
    std::string word;
    while (in >> word) {
      const float width = 0.6F * height * static_cast<float>(word.size());
      words_.push_back({word, {x, y, x + width, y + height}, 0.95F, -1, -1});
      x += width + 0.6F * height;
    }
    return *this;
  }

  float score(const std::string& question, const std::string& word) const {
    const std::vector<float> scores = reading::score_words(words_, parse_query(question));
    float best = -1;
    for (size_t i = 0; i < words_.size(); ++i) {
      if (words_[i].text == word) best = std::max(best, scores[i]);
    }
    EXPECT_GE(best, 0) << "no word " << word;
    return best;
  }

  // The word with the highest score.
  std::string best(const std::string& question) const {
    const std::vector<float> scores = reading::score_words(words_, parse_query(question));
    const auto it = std::max_element(scores.begin(), scores.end());
    return words_[static_cast<size_t>(it - scores.begin())].text;
  }

  const std::vector<Word>& words() const { return words_; }

 private:
  std::vector<Word> words_;
};

Typed receipt() {
  Typed page;
  page.at(60, 20, "GOLDEN LEAF TRADING SDN BHD", 24)
      .at(60, 60, "(1234567-K)")
      .at(60, 90, "LOT 12, JALAN MAWAR 3")
      .at(60, 120, "TEL: 03-5551234")
      .at(20, 170, "DATE: 14/03/2018")
      .at(300, 170, "TIME: 10:42:11")
      .at(20, 200, "INVOICE NO: 771205")
      .at(20, 250, "RICE 5KG")
      .at(400, 250, "24.50")
      .at(20, 280, "TEA")
      .at(400, 280, "8.20")
      .at(20, 330, "SUBTOTAL")
      .at(400, 330, "32.70")
      .at(20, 360, "GST 6%")
      .at(400, 360, "1.96")
      .at(20, 390, "TOTAL")
      .at(400, 390, "34.66")
      .at(20, 420, "CASH")
      .at(400, 420, "50.00")
      .at(20, 450, "CHANGE")
      .at(400, 450, "15.34");
  return page;
}

TEST(Reading, TotalOfAReceiptBeatsItsLookAlikes) {
  const Typed page = receipt();
  const std::string question = "What is the total amount in the invoice?";
  EXPECT_EQ(page.best(question), "34.66");
  for (const char* other : {"32.70", "50.00", "15.34", "24.50", "8.20", "1.96"}) {
    EXPECT_LT(page.score(question, other), page.score(question, "34.66")) << other;
  }
  // Still ahead of everything that is no amount, so that a second guess is an amount too.
  EXPECT_GT(page.score(question, "50.00"), page.score(question, "JALAN"));
}

TEST(Reading, OtherAmountsAreFoundByTheirOwnLabels) {
  const Typed page = receipt();
  EXPECT_EQ(page.best("How much change was given?"), "15.34");
  EXPECT_EQ(page.best("What is the price of the tea?"), "8.20");
  EXPECT_EQ(page.best("How much is the subtotal?"), "32.70");
}

TEST(Reading, DateTimePhoneAndNumberAreToldApartByTheirLook) {
  const Typed page = receipt();
  EXPECT_EQ(page.best("What is the date in the invoice?"), "14/03/2018");
  EXPECT_EQ(page.best("At what time was it printed?"), "10:42:11");
  EXPECT_EQ(page.best("What is the telephone number?"), "03-5551234");
  EXPECT_EQ(page.best("What is the invoice number?"), "771205");
}

TEST(Reading, CompanyIsTheWholeHeadingWithItsLegalForm) {
  const Typed page = receipt();
  const std::string question = "What is the company in the invoice?";
  const float address = page.score(question, "MAWAR");
  for (const char* word : {"GOLDEN", "LEAF", "TRADING", "SDN", "BHD"}) {
    EXPECT_GT(page.score(question, word), address) << word;
    EXPECT_GT(page.score(question, word), 0.8F) << word;
  }
}

TEST(Reading, AValueIsFoundRightOfItsLabelAndBelowIt) {
  Typed page;
  page.at(40, 40, "Applicant:")
      .at(220, 40, "Jane Porter")
      .at(40, 80, "Branch:")
      .at(220, 80, "Northfield")
      .at(40, 160, "ORDER NO.")
      .at(300, 160, "VOUCHER NO.")
      .at(40, 190, "88213")
      .at(300, 190, "40977");
  EXPECT_EQ(page.best("Who is the applicant?"), "Jane");
  EXPECT_GT(page.score("Who is the applicant?", "Porter"),
            page.score("Who is the applicant?", "Northfield"));
  EXPECT_EQ(page.best("What is the order no.?"), "88213");
  EXPECT_EQ(page.best("What is the voucher no.?"), "40977");
}

TEST(Reading, ACellOfATableIsFoundByItsRowAndColumn) {
  Typed page;
  page.at(200, 20, "Height").at(350, 20, "Weight").at(500, 20, "Age");
  const char* rows[] = {"Chile", "Ghana", "Nepal", "Tonga"};
  for (int r = 0; r < 4; ++r) {
    const float y = 60 + 40.0F * static_cast<float>(r);
    page.at(20, y, rows[r]);
    for (int c = 0; c < 3; ++c) {
      page.at(200 + 150.0F * static_cast<float>(c), y,
              std::to_string(100 * (c + 1) + 10 * r + 1) + ".5");
    }
  }
  EXPECT_EQ(page.best("What is the weight in Nepal?"), "221.5");
  EXPECT_EQ(page.best("What is the height in Ghana?"), "111.5");
  EXPECT_EQ(page.best("What is the mean age in Tonga?"), "331.5");
}

TEST(Reading, AnItemOfSeveralLinesLabelsTheValueBesideItsLastLine) {
  Typed page;
  page.at(20, 20, "Walnut desk with two drawers")
      .at(20, 44, "and a leather top")
      .at(500, 44, "310.00");
  page.at(20, 120, "Oak shelf with glass doors")
      .at(20, 144, "and a brass lock")
      .at(500, 144, "95.00");
  EXPECT_EQ(page.best("What is the value of the walnut desk?"), "310.00");
  EXPECT_EQ(page.best("What is the value of the oak shelf?"), "95.00");
}

TEST(Reading, MisspeltPluralAndMisreadLabelsStillCount) {
  Typed page;
  page.at(20, 20, "Bookcases").at(300, 20, "51").at(20, 60, "Cabinet").at(300, 60, "77");
  page.at(20, 100, "T0TAL").at(300, 100, "128").at(20, 140, "Lamps").at(300, 140, "93");
  EXPECT_EQ(page.best("What is the value of the bookcase?"), "51");
  EXPECT_EQ(page.best("What is the value of the cabinets?"), "77");
  EXPECT_EQ(page.best("What is the value of the cabnet?"), "77");
  EXPECT_EQ(page.best("What is the total number?"), "128");
}

TEST(Reading, PlaceAndSizeWordsChooseAmongEquals) {
  Typed page;
  for (int i = 0; i < 5; ++i) {
    page.at(40, 40 + 60.0F * static_cast<float>(i), std::to_string(20 + 13 * ((i * 3) % 5)));
  }
  EXPECT_EQ(page.best("What is the value of the largest bar?"), "72");
  EXPECT_EQ(page.best("What is the value of the smallest bar?"), "20");
  EXPECT_EQ(page.best("What is the value of the topmost bar?"), page.words().front().text);
  EXPECT_EQ(page.best("What is the value at the bottom?"), page.words().back().text);
}

TEST(Reading, AChoiceAmongLabelsIsNotTheSentenceThatRepeatsTheQuestion) {
  Typed page;
  page.at(20, 20, "Most people trust the local library more than the market");
  const char* labels[] = {"Library", "Market", "Harbour", "Station"};
  const char* values[] = {"41", "73", "12", "55"};
  for (int i = 0; i < 4; ++i) {
    const float y = 80 + 40.0F * static_cast<float>(i);
    page.at(20, y, labels[i]).at(400, y, values[i]);
  }
  const std::string question = "Which place do people trust the most?";
  EXPECT_GT(page.score(question, "Market"), page.score(question, "trust"));
  EXPECT_GT(page.score(question, "Market"), page.score(question, "Harbour"));
}

TEST(Reading, ATitleIsLargeAndNearTheTop) {
  Typed page;
  page.at(100, 20, "YEARLY HARVEST REPORT", 40);
  for (int i = 0; i < 12; ++i) {
    page.at(40, 120 + 30.0F * static_cast<float>(i), "the crop was weighed and stored again", 18);
  }
  EXPECT_GT(page.score("What is the title of the document?", "HARVEST"),
            1.2F * page.score("What is the title of the document?", "weighed"));
}

TEST(Reading, ScoresLieBetweenZeroAndOneAndDoNotDependOnWordOrder) {
  const Typed page = receipt();
  const Query query = parse_query("What is the date?");
  const std::vector<float> scores = reading::score_words(page.words(), query);
  for (const float score : scores) {
    EXPECT_GE(score, 0);
    EXPECT_LE(score, 1);
  }
  EXPECT_EQ(*std::max_element(scores.begin(), scores.end()), 1.0F);
  EXPECT_EQ(reading::score_words(page.words(), query), scores);
  std::vector<Word> reversed(page.words().rbegin(), page.words().rend());
  std::vector<float> again = reading::score_words(reversed, query);
  std::reverse(again.begin(), again.end());
  for (size_t i = 0; i < scores.size(); ++i) EXPECT_NEAR(again[i], scores[i], 1e-5F);
}

TEST(Reading, NoWordsAndOddWordsAreHarmless) {
  const Query query = parse_query("What is the total?");
  EXPECT_TRUE(reading::score_words({}, query).empty());
  const std::vector<Word> odd = {{"", {0, 0, 0, 0}, 0, -1, -1},
                                 {"\xff\xfe", {5, 5, 5, 9}, 0, -1, -1},
                                 {"%", {1, 1, 3, 3}, 1, -1, -1},
                                 {std::string(5000, '9'), {0, 10, 500, 20}, 1, -1, -1}};
  for (const float score : reading::score_words(odd, query)) {
    EXPECT_TRUE(std::isfinite(score));
    EXPECT_GE(score, 0);
    EXPECT_LE(score, 1);
  }
  EXPECT_EQ(reading::score_words(odd, parse_query("?")).size(), odd.size());
}

TEST(Reading, ThousandsOfWordsAllGetAScoreAndTheLabelledOneWins) {
  Typed page;
  for (int r = 0; r < 100; ++r) {
    for (int c = 0; c < 50; ++c) {
      page.at(60.0F * static_cast<float>(c), 25.0F * static_cast<float>(r),
              std::to_string(1000 + 50 * r + c));
    }
  }
  page.at(20, 2600, "Zebra").at(120, 2600, "31415");
  EXPECT_EQ(page.best("What is the number of the zebra?"), "31415");
}

TEST(Matching, ConfusedLettersCostLessThanOthers) {
  using reading::ocr_distance;
  EXPECT_EQ(ocr_distance("total", "total", 2), 0);
  EXPECT_LT(ocr_distance("total", "t0tal", 2), ocr_distance("total", "tptal", 2));
  EXPECT_LT(ocr_distance("bill", "b1ll", 2), 0.5F);
  EXPECT_LT(ocr_distance("date5", "dates", 2), 0.5F);
  EXPECT_LT(ocr_distance("8ox", "box", 2), 0.5F);
  EXPECT_GT(ocr_distance("total", "receipt", 2), 2);
}

TEST(Matching, SimilarWordsMatchAndDifferentNumbersDoNot) {
  using reading::similarity;
  EXPECT_EQ(similarity("date", "date"), 1);
  EXPECT_GT(similarity("females", "female"), 0.9F);
  EXPECT_GT(similarity("company", "companies"), 0.9F);
  EXPECT_GT(similarity("approve", "approval"), 0.5F);
  EXPECT_GT(similarity("invoice", "invo1ce"), 0.7F);
  EXPECT_EQ(similarity("cash", "card"), 0);
  EXPECT_EQ(similarity("2015", "2016"), 0);
  EXPECT_GT(similarity("2015", "15"), 0.5F);
  EXPECT_GT(similarity("2015", "2o15"), 0.5F);
  EXPECT_EQ(similarity("", "x"), 0);
}

TEST(Matching, SynonymsAreFoundThroughTheTable) {
  const reading::Term total{"total", reading::synonyms_of("total"), 1};
  EXPECT_GT(reading::match(total, "due"), 0.5F);
  EXPECT_EQ(reading::match(total, "due"), reading::match(total, "payable"));
  const reading::Term phone{"phone", reading::synonyms_of("phone"), 1};
  EXPECT_GT(reading::match(phone, "tel"), 0.5F);
  EXPECT_EQ(reading::match(phone, "ten"), 0);
  EXPECT_TRUE(reading::synonyms_of("xylophone").empty());
}

struct ShapeCase {
  const char* text;
  float WordShape::*shape;
};

class WordShapes : public testing::TestWithParam<ShapeCase> {};

TEST_P(WordShapes, AreRecognisedInManyFormats) {
  EXPECT_GE(reading::shape_of(GetParam().text).*GetParam().shape, 0.6F) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Table, WordShapes,
    testing::Values(
        ShapeCase{"33.90", &WordShape::money}, ShapeCase{"RM33.90", &WordShape::money},
        ShapeCase{"$1,234.50", &WordShape::money}, ShapeCase{"33.9O", &WordShape::money},
        ShapeCase{"(12.00)", &WordShape::money}, ShapeCase{"$15", &WordShape::money},
        ShapeCase{"10/17/67", &WordShape::date}, ShapeCase{"2018-03-14", &WordShape::date},
        ShapeCase{"14.03.2018", &WordShape::date}, ShapeCase{"12-JAN-2018", &WordShape::date},
        ShapeCase{"1O/17/67", &WordShape::date}, ShapeCase{"1976", &WordShape::year},
        ShapeCase{"10:42:11", &WordShape::time}, ShapeCase{"9:30", &WordShape::time},
        ShapeCase{"48%", &WordShape::percent}, ShapeCase{"61", &WordShape::percent},
        ShapeCase{"165.5", &WordShape::number}, ShapeCase{"1,204", &WordShape::number},
        ShapeCase{"03-80241112", &WordShape::phone}, ShapeCase{"CG-0577", &WordShape::code}));

TEST(WordShapes, TornAndStrangeTextIsNoValueAndNoCrash) {
  for (const char* text : {"12:x", ":", "1:", "-", "%", "$", "..", "1/2/3/4/5", "a1b2c3", "9:"}) {
    const WordShape shape = reading::shape_of(text);
    EXPECT_TRUE(std::isfinite(shape.value)) << text;
    EXPECT_LT(shape.time, 0.5F) << text;
  }
  EXPECT_EQ(reading::shape_of("-1,234.50").value, -1234.5);
  EXPECT_EQ(reading::shape_of("1,204").value, 1204);
}

TEST(WordShapes, DatesAndPhonesMayRunOverSeveralWords) {
  const auto joined = [](const std::vector<std::string>& texts) {
    std::vector<WordShape> shapes;
    for (const std::string& text : texts) shapes.push_back(reading::shape_of(text));
    reading::join_shapes(texts, shapes);
    return shapes;
  };
  for (const auto& texts : std::vector<std::vector<std::string>>{
           {"2", "July", "1971"}, {"November", "12,", "1976"}, {"30", "JAN", "74"}}) {
    for (const WordShape& shape : joined(texts)) EXPECT_GE(shape.date, 0.6F) << texts[1];
  }
  const std::vector<WordShape> phone = joined({"(03)", "8024", "1112"});
  for (const WordShape& shape : phone) EXPECT_GE(shape.phone, 0.6F);
  EXPECT_EQ(joined({"she", "may", "go"})[1].date, 0);
}

TEST(Layout, WideGapsPartPhrasesAndNarrowOnesDoNot) {
  Typed page;
  page.at(20, 20, "mean height in metres").at(500, 22, "1.75").at(20, 60, "next line");
  const reading::Page laid = reading::lay_out(page.words());
  EXPECT_EQ(laid.phrases.size(), 3U);
  EXPECT_EQ(laid.words[0].phrase, laid.words[3].phrase);
  EXPECT_NE(laid.words[0].phrase, laid.words[4].phrase);
  EXPECT_EQ(laid.words[3].place, 3);
}

TEST(Layout, SlightlyTiltedLinesStayTogether) {
  Typed page;
  float y = 20;
  for (int i = 0; i < 8; ++i, y += 3) page.at(20 + 70.0F * static_cast<float>(i), y, "words");
  EXPECT_EQ(reading::lay_out(page.words()).phrases.size(), 1U);
}

Map grid(int rows, int cols, float cell) {
  Map map;
  map.rows = rows;
  map.cols = cols;
  map.cell_width = map.cell_height = cell;
  map.values.assign(static_cast<size_t>(rows) * cols, 0.5F);
  return map;
}

TEST(Paint, EveryCellUnderAWordGetsItsScoreAndTheRestNothing) {
  const std::vector<Word> words = {{"a", {12, 11, 31, 19}, 1, -1, -1}};
  const Map map = reading::paint(words, {0.8F}, grid(4, 5, 10));
  for (int r = 0; r < 4; ++r) {
    for (int c = 0; c < 5; ++c) {
      EXPECT_EQ(map.at(r, c), r == 1 && c >= 1 && c <= 3 ? 0.8F : 0.0F) << r << " " << c;
    }
  }
}

TEST(Paint, TheLargerScoreWinsWhereWordsOverlap) {
  const std::vector<Word> words = {{"a", {0, 0, 20, 10}, 1, -1, -1},
                                   {"b", {10, 0, 30, 10}, 1, -1, -1}};
  for (const auto& scores : {std::vector<float>{0.9F, 0.3F}, std::vector<float>{0.3F, 0.9F}}) {
    const Map map = reading::paint(words, scores, grid(1, 3, 10));
    EXPECT_EQ(map.at(0, 0), scores[0]);
    EXPECT_EQ(map.at(0, 1), 0.9F);
    EXPECT_EQ(map.at(0, 2), scores[1]);
  }
}

TEST(Paint, OneScoreAWordIsAsked) {
  EXPECT_THROW(reading::paint({}, {1.0F}, grid(2, 2, 10)), Error);
}

TEST(Paint, WordsBeyondTheEdgeAreClipped) {
  const std::vector<Word> words = {{"a", {-50, -50, 5, 5}, 1, -1, -1},
                                   {"b", {25, 25, 900, 900}, 1, -1, -1},
                                   {"c", {500, 0, 600, 10}, 1, -1, -1}};
  const Map map = reading::paint(words, {0.4F, 0.6F, 1.0F}, grid(3, 3, 10));
  EXPECT_EQ(map.at(0, 0), 0.4F);
  EXPECT_EQ(map.at(2, 2), 0.6F);
  EXPECT_EQ(map.at(1, 1), 0.0F);
  EXPECT_EQ(map.at(0, 2), 0.0F);
}

}  // namespace
}  // namespace arrcoc
