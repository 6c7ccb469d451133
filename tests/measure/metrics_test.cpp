// Expected values. VQA: the authors' vqaEval.py (commit a013f00) was run on these inputs. TextVQA
// (MMF's EvalAIAnswerProcessor), ChartQA (relaxed_correctness) and ANLS: their published code,
// transcribed. GQA and multiple choice (HR-Bench's can_infer): worked by hand from the published
// rules.
#include "lab/measure/metrics.h"

#include <gtest/gtest.h>

#include "lab/measure/evaluation.h"

namespace arrcoc::measuring::official {
namespace {

TEST(VqaText, IsWhatVqaEvalMakesOfAnswers) {
  struct Known {
    const char *given, *vqa, *evalai;
  };
  const Known all[] = {
      {"The Yellow Bus.", "yellow bus", "yellow bus"},
      {"two dogs", "2 dogs", "2 dogs"},
      {"a one-way street", "1 way street", "1 way street"},
      {"dont walk", "don't walk", "don't walk"},
      {"1,000", "1000", "1000"},
      {"$5.99", "$5.99", "$5.99"},
      {"p.m.", "pm", "pm"},
      {"3.5 in.", "3.5 in", "3.5 in"},
      {"Hello, World!", "hello world", "hello world"},
      {"yes/no", "yes no", "yes no"},
      {"couldnt've", "couldn't've", "couldn't've"},
      {"couldntve", "couldntve", "couldntve"},
      {"somebody'd", "somebodyd", "somebodyd"},
      {"'ow's'at", "'ow's'at", "'ow 's'at"},
      {"ows'at", "ows'at", "ows'at"},
      {"it's", "it's", "it 's"},
      {"None", "0", "0"},
      {"ten, nine", "10 9", "10 9"},
      {"A.B.C.", "abc", "abc"},
      {"left - right", "left right", "left right"},
      {"e-mail@home", "e mail home", "e mail home"},
      {"what?", "what", "what"},
      {"Im here", "im here", "im here"},
      {"the an a", "", ""},
      {"y'alld've", "y'all'd've", "y'all'd've"},
      {"lets go", "lets go", "lets go"},
      {"10:30", "10:30", "10:30"},
      {"Café  Noir\n2", "café noir 2", "café noir 2"},
      {"wed've", "we'd've", "we'd've"},
      {"shes", "shes", "shes"},
      {"12.", "12", "12"},
      {"1.2.3.", "1.2.3", "1.2.3"},
      {"(left)", "left", "left"},
      {"[left] right", "left right", "left right"},
      {"St. Mary's", "st mary's", "st mary 's"},
  };
  for (const Known& one : all) {
    EXPECT_EQ(vqa_text(one.given), one.vqa) << one.given;
    EXPECT_EQ(evalai_text(one.given), one.evalai) << one.given;
  }
}

std::vector<std::string> people(int count, const std::string& say, const std::string& others) {
  std::vector<std::string> out(10, others);
  std::fill_n(out.begin(), count, say);
  return out;
}

TEST(VqaAccuracy, CountsTheOthersWhoSaidTheSame) {
  const std::pair<int, double> known[] = {{8, 1}, {3, 0.9}, {2, 0.6}, {1, 0.3}, {0, 0}};
  for (const auto& [count, accuracy] : known) {
    EXPECT_NEAR(vqa("yes", people(count, "yes", "no")), accuracy, 1e-12) << count;
    EXPECT_NEAR(textvqa("yes", people(count, "yes", "no")), accuracy, 1e-12) << count;
  }
  EXPECT_NEAR(vqa("two", people(4, "2", "3")), 1, 1e-12);
  std::vector<std::string> cats = people(2, "cat", "dog");
  cats.back() = "a cat";
  EXPECT_NEAR(vqa("the cat", cats), 0.9, 1e-12);
}

TEST(VqaAccuracy, LeavesTextsAsTheyAreWherePeopleAgree) {
  EXPECT_DOUBLE_EQ(vqa("Yes.", people(10, "yes", "")), 0);
  EXPECT_DOUBLE_EQ(vqa("Yes.", people(9, "yes", "no")), 1);
  EXPECT_DOUBLE_EQ(textvqa("Yes.", people(10, "yes", "")), 1);
}

TEST(Relaxed, IsChartQasCorrectness) {
  struct Known {
    const char *given, *wanted;
    bool right;
  };
  const Known all[] = {{"41", "42", true},       {"39", "42", false},     {"5%", "0.05", true},
                       {"5%", "5", false},       {"0", "0", true},        {"0.0", "0", false},
                       {"1,000", "1000", false}, {"1_000", "1000", true}, {"Yes", "yes", true},
                       {" 42 ", "42", true},     {"42 %", "0.42", true},  {"0x10", "16", false},
                       {"1e3", "1000", true},    {"-95", "-100", true},   {"95", "-100", false},
                       {"inf", "5", false},      {"nan", "nan", false},   {"", "5", false}};
  for (const Known& one : all)
    EXPECT_EQ(relaxed(one.given, one.wanted), one.right) << one.given << " for " << one.wanted;
}

TEST(OfficialAnls, IsDocVqas) {
  EXPECT_DOUBLE_EQ(anls("1980", {"1980"}), 1);
  EXPECT_NEAR(anls("university of california, san diego", {"University of California"}),
              0.6857142857142857, 1e-12);
  EXPECT_DOUBLE_EQ(anls("trrf vice", {"TRRF Vice President", "VP"}), 0);
  EXPECT_DOUBLE_EQ(anls(".28", {"0.28"}), 0.75);
  EXPECT_DOUBLE_EQ(anls("ax", {"ab"}), 0.5);
  EXPECT_DOUBLE_EQ(anls("axy", {"abc"}), 0);
  EXPECT_DOUBLE_EQ(anls("ab", {"a  b"}), 0.75);  // the length is that of the text as it came
  EXPECT_NEAR(anls("40", {"£40"}), 2.0 / 3, 1e-12);
  EXPECT_DOUBLE_EQ(anls("vp", {"TRRF Vice President", "VP"}), 1);
}

TEST(Gqa, IgnoresCaseAndPunctuation) {
  EXPECT_TRUE(gqa("Yes.", "yes"));
  EXPECT_TRUE(gqa("t-shirt", "tshirt"));
  EXPECT_FALSE(gqa("a dog", "dog"));
}

TEST(Chosen, IsALetterOfItsOwnOrTheOnlyOptionThatIsThere) {
  const std::vector<std::string> options = {"red", "blue", "dark red", ""};
  EXPECT_EQ(chosen("A", options), "A");
  EXPECT_EQ(chosen("(B).", options), "B");
  EXPECT_EQ(chosen("The answer is C: dark red", options), "C");
  EXPECT_EQ(chosen("It is blue", options), "B");
  EXPECT_EQ(chosen("dark red", options), "");  // holds both "red" and "dark red"
  EXPECT_EQ(chosen("A or B", options), "");
  EXPECT_EQ(chosen("D", options), "");  // is none
  EXPECT_EQ(chosen("Bright", options), "");
}

}  // namespace
}  // namespace arrcoc::measuring::official

namespace arrcoc::measuring {
namespace {

TEST(Score, IsByTheItemsOwnMetric) {
  Item item;
  item.answer = "1000";
  EXPECT_EQ(score(item, "1020"), 0);
  item.metric = Metric::relaxed;
  EXPECT_EQ(score(item, "1020"), 1);
  item.metric = Metric::anls;
  EXPECT_EQ(score(item, "1020"), 0.75);
  item.metric = Metric::choice;
  item.answer = "B";
  item.options = {"one", "two"};
  EXPECT_EQ(score(item, "two"), 1);
  EXPECT_EQ(score(item, "A"), 0);
}

}  // namespace
}  // namespace arrcoc::measuring
