// Looking again: when to stop, where to look next, what it may cost.
#include "ask/passes.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "arrcoc/error.h"
#include "arrcoc/media.h"
#include "models.h"

using namespace arrcoc;
using namespace arrcoc::test;

namespace {

// Something to see everywhere, here and there more of it.
Picture page() {
  at::Tensor rgb = at::empty({3, 512, 512}, at::kByte);
  std::mt19937 random(3);
  uint8_t* p = rgb.data_ptr<uint8_t>();
  for (int c = 0; c < 3; ++c)
    for (int y = 0; y < 512; ++y)
      for (int x = 0; x < 512; ++x) {
        const unsigned strength = 20 + 30 * ((x / 64 * 5 + y / 64 * 3) % 7);
        *p++ = static_cast<uint8_t>(20 + random() % strength);
      }
  return make_picture(rgb);
}

// Rules that never give up by themselves: looks elsewhere while unsure.
AskOptions wandering(const std::string& budget, int passes = 4) {
  AskOptions out = policy("saliency");
  out.budget = budget;
  out.passes.passes = passes;
  out.passes.first = 0.7;
  out.passes.wander = true;
  out.passes.doubt = 0;
  out.least_side = 0;
  return out;
}

Answer ask(const std::shared_ptr<Scripted>& model, const AskOptions& options) {
  return Asker(nullptr, model).ask(page(), "What is it?", options);
}

}  // namespace

TEST(Passes, UncertaintyIsOneLessTheGeometricMean) {
  EXPECT_NEAR(asking::uncertainty({0.5F, 0.5F}), 0.5, 1e-6);
  EXPECT_NEAR(asking::uncertainty({0.9F, 0.4F}), 0.4, 1e-6);
  EXPECT_EQ(asking::uncertainty({}), 1);
  EXPECT_EQ(asking::uncertainty({0.9F, 0}), 1);
  EXPECT_THROW(asking::uncertainty({1.5F}), Error);
}

TEST(Passes, StopByTheRules) {
  const auto run = [](std::vector<float> p, int most = 4) {
    return ask(script(std::move(p)), wandering("64", most));
  };
  EXPECT_EQ(run({0.97F}).from().passes.size(), 1U);
  EXPECT_EQ(run({0.97F}).stop, Stop::sure);
  const Answer second = run({0.5F, 0.9F});
  EXPECT_EQ(second.from().passes.size(), 2U);
  EXPECT_EQ(second.stop, Stop::sure);
  const Answer unsure = run({0.2F, 0.5F, 0.4F, 0.3F});
  ASSERT_EQ(unsure.from().passes.size(), 4U);
  EXPECT_EQ(unsure.stop, Stop::passes);
  EXPECT_EQ(unsure.from().best, 1U);  // the surest pass answers
  EXPECT_EQ(unsure.text, "pass 2");
  EXPECT_EQ(run({0.2F}, 1).from().passes.size(), 1U);
  EXPECT_EQ(run({0.2F}, 1).stop, Stop::passes);
  EXPECT_EQ(unsure.from().passes[0].explore, 0);           // the first look is the question's own
  EXPECT_DOUBLE_EQ(unsure.from().passes[1].explore, 0.5);  // uncertainty 0.8 before
  EXPECT_DOUBLE_EQ(unsure.from().passes[2].explore, 0.3);  // 0.5 before
}

TEST(Passes, TheTotalBudgetHolds) {
  AskOptions options = wandering("90");
  options.passes.total_budget = 190;
  const Answer r = ask(script({0.2F}), options);
  EXPECT_LE(r.tokens, 190);
  const auto& passes = r.from().passes;
  ASSERT_EQ(passes.size(), 3U);  // 63 + 54 + 54: what is left would be too few for a fourth
  EXPECT_LE(passes[0].tokens, 63);
  EXPECT_LE(passes[1].tokens, 54);
  EXPECT_EQ(r.stop, Stop::budget);
}

TEST(Passes, LookWhereNobodyHasLookedAndReuseWhatIsThere) {
  const auto model = script({0.1F});
  const Answer r = ask(model, wandering("100"));
  const auto& passes = r.from().passes;
  ASSERT_EQ(passes.size(), 4U);
  // Share of the picture that was seen at 32 pixels or finer, by the first pass and by all.
  const auto seen = [&](size_t count) {
    std::set<std::pair<int, int>> cells;
    for (size_t i = 0; i < count; ++i)
      for (const Leaf& l : passes[i].allocation.leaves)
        if (l.level == 1)
          cells.insert({l.row, l.col});
        else if (l.level == 0)
          cells.insert({l.row / 2, l.col / 2});
    return cells.size();
  };
  EXPECT_GT(seen(4), 3 * seen(1) / 2);
  EXPECT_EQ(passes[0].reused, 0);
  EXPECT_GT(passes[1].reused, 0);
  // Reused or not, a pass hands over exactly what cutting it afresh gives.
  const TokenSequence afresh = cutting::cut(Pyramid(page()), passes[1].allocation);
  EXPECT_TRUE(at::equal(afresh.around, model->given[1].pictures[0].tokens.around));
}

TEST(Passes, AreDeterministicUnderASeed) {
  const Answer x = ask(script({0.1F}), wandering("80")), y = ask(script({0.1F}), wandering("80"));
  ASSERT_EQ(x.from().passes.size(), y.from().passes.size());
  for (size_t i = 0; i < x.from().passes.size(); ++i)
    EXPECT_EQ(x.from().passes[i].allocation.leaves, y.from().passes[i].allocation.leaves);
}

// Unsure, but read from one place: that place is shown again in more detail, the rest in less.
TEST(Passes, LookCloserWhereTheAnswerWasRead) {
  const Answer r = ask(script({0.7F}, 20), wandering("100", 2));
  const auto& passes = r.from().passes;
  ASSERT_EQ(passes.size(), 2U);
  EXPECT_EQ(passes[0].manner, Manner::first);
  EXPECT_EQ(passes[1].manner, Manner::closer);
  EXPECT_EQ(passes[1].explore, 0);
  EXPECT_GT(passes[0].gathered, 0.9);
  const Box read =
      allocating::box_of(passes[0].allocation.geometry, passes[0].allocation.leaves[20]);
  const auto finest = [&](const Pass& p) {
    int level = 99;
    for (const Leaf& l : p.allocation.leaves)
      if (intersect(allocating::box_of(p.allocation.geometry, l), read).area() > 0)
        level = std::min(level, l.level);
    return level;
  };
  EXPECT_LT(finest(passes[1]), finest(passes[0]));
  EXPECT_EQ(finest(passes[1]), -1);  // enlarged
}

TEST(Passes, AnAnswerGatheredFromAllOverEndsThem) {
  AskOptions options = wandering("100");
  options.passes.wander = false;
  options.passes.gathered = 1.1;  // nothing is read from one place
  const Answer r = ask(script({0.7F}, 3), options);
  EXPECT_EQ(r.from().passes.size(), 1U);
  EXPECT_EQ(r.stop, Stop::spread);
}

// Unsure, and not read from one place: the question's own map with all of the budget, which is what
// a single look would have been.
TEST(Passes, AWiderLookIsTheSingleLook) {
  AskOptions options = wandering("100", 3);
  options.passes.wander = false;
  options.passes.wider = 1;
  options.passes.gathered = 1.1;
  const Answer r = ask(script({0.7F}, 3), options);
  ASSERT_EQ(r.from().passes.size(), 2U);
  EXPECT_EQ(r.from().passes[1].manner, Manner::wider);
  EXPECT_EQ(r.stop, Stop::spread);
  EXPECT_GT(r.from().passes[1].tokens, r.from().passes[0].tokens);
  const Answer single = ask(script({0.7F}, 3), wandering("100", 1));
  EXPECT_EQ(r.from().passes[1].allocation.leaves, single.from().passes[0].allocation.leaves);
  // Where no more is left than the first look had, there is nothing to widen.
  options.passes.total_budget = 130;
  EXPECT_EQ(ask(script({0.7F}, 3), options).stop, Stop::budget);
}

// A closer look that is not sure has to lead by a margin.
TEST(Passes, ACloserLookThatIsUnsureIsDoubted) {
  const auto best = [](float closer, double doubt) {
    AskOptions options = wandering("100", 2);
    options.passes.doubt = doubt;
    const Answer r = ask(script({0.5F, closer}, 20), options);
    EXPECT_EQ(r.from().passes.back().manner, Manner::closer);
    return r.from().best;
  };
  EXPECT_EQ(best(0.6F, 0), 1U);
  EXPECT_EQ(best(0.6F, 0.15), 0U);
  EXPECT_EQ(best(0.7F, 0.15), 1U);
  EXPECT_EQ(best(0.8F, 0.5), 1U);  // sure outright
}

TEST(Passes, AMapIsTemperedByWhatWasRead) {
  History history;
  history.attention_previous = {2, 2, 64, 64, {1, 0, 0, 0}};
  history.attention_accumulated = {2, 2, 64, 64, {1, 0.6F, 0, 0}};
  history.seen = {2, 2, 64, 64, {1, 1, 0, 0}};
  history.uncertainty = 0.8;
  const Map even{2, 2, 64, 64, {0.5F, 0.5F, 0.5F, 0.5F}};
  const Map interest{2, 2, 64, 64, {1, 1, 1, 0}};
  const PassRules rules;
  const Map closer = asking::temper(even, interest, history, Manner::closer, 0.3, rules, 1);
  EXPECT_GT(closer.values[0], closer.values[1]);
  EXPECT_GT(closer.values[1], closer.values[2]);
  const Map away = asking::temper(even, interest, history, Manner::elsewhere, 0.5, rules, 1);
  EXPECT_LT(away.values[0], away.values[1]);         // read in vain
  EXPECT_GT(away.values[2], away.values[3] + 0.1F);  // never seen, and something is there
  EXPECT_EQ(asking::temper(even, interest, history, Manner::wider, 0.5, rules, 1), even);
}

// The zoo: somebody looks at the tiger, the question is about the snack. The first map goes to
// both; what the model reads there sends the second to the packet, in more detail.
TEST(Passes, TheMapLeavesTheTigerForThePacket) {
  const Picture zoo = media::load(std::string(ARRCOC_SOURCE_DIR) + "/examples/pictures/zoo.jpg");
  const Box tiger{428, 232, 623, 429}, print{292, 676, 341, 687};
  AskOptions options = policy("passes");
  options.budget = "64";
  options.passes.confident = 1.1;  // the second look is what this is about
  options.passes.gathered = 0;
  options.gaze = {8, 8, static_cast<float>(zoo.width()) / 8, static_cast<float>(zoo.height()) / 8,
                  std::vector<float>(64, 0)};
  for (int r = 2; r < 4; ++r)
    for (int c = 3; c < 5; ++c) options.gaze.at(r, c) = 1;
  const Answer answer =
      Asker(load_bundle()).ask(zoo, "What are the ingredients of the snack?", options);
  const std::vector<Pass>& passes = answer.from().passes;
  ASSERT_EQ(passes.size(), 2U);
  const auto largest = [](const Map& map, const Box& box) {
    float out = 0;
    for (int r = 0; r < map.rows; ++r)
      for (int c = 0; c < map.cols; ++c) {
        const Box cell{c * map.cell_width, r * map.cell_height, (c + 1) * map.cell_width,
                       (r + 1) * map.cell_height};
        if (intersect(cell, box).area() > 0) out = std::max(out, map.at(r, c));
      }
    return out;
  };
  const auto tokens_on = [](const Pass& pass, const Box& box) {
    int out = 0;
    for (const Leaf& l : pass.allocation.leaves)
      out += intersect(allocating::box_of(pass.allocation.geometry, l), box).area() > 0 ? 1 : 0;
    return out;
  };
  EXPECT_GT(largest(passes[0].relevance, tiger), 0.9F);
  EXPECT_LT(largest(passes[1].relevance, tiger), 0.5F * largest(passes[1].relevance, print));
  EXPECT_LT(tokens_on(passes[1], tiger), tokens_on(passes[0], tiger));
  EXPECT_GT(tokens_on(passes[1], print), tokens_on(passes[0], print));
  const at::Tensor strip = media::draw_passes(zoo, answer.from());
  EXPECT_GE(strip.size(2), 2 * 480);
}

TEST(PassPolicy, ComesBackFromJsonAndRefusesWhatCannotBe) {
  PassPolicy policy;
  for (int i = 0; i < PassPolicy::kFeatures; ++i) policy.closer[static_cast<size_t>(i)] = 0.5 * i;
  policy.worth = 0.25;
  policy.weights = 77;
  EXPECT_EQ(pass_policy_from_json(to_json(policy)), policy);
  for (const char* bad : {"[]", R"({"worth": 7})", R"({"left": {}})", "{}"})
    EXPECT_THROW(pass_policy_from_json(bad), Error) << bad;
}

TEST(PassPolicy, DecidesInsteadOfTheRules) {
  AskOptions options = wandering("100");
  options.pass_policy.emplace();
  options.pass_policy->closer[0] = -9;     // never
  options.pass_policy->wider[0] = -9;      // never
  options.pass_policy->elsewhere[0] = -9;  // never
  EXPECT_EQ(ask(script({0.3F}), options).stop, Stop::not_worth_it);
  options.pass_policy->elsewhere[0] = 9;
  const Answer r = ask(script({0.3F}), options);
  EXPECT_EQ(r.from().passes.size(), 4U);
  EXPECT_EQ(r.from().passes[1].manner, Manner::elsewhere);
}

namespace {

// A looker that says the left half first, and the right half once something was read.
class Recalling : public Looker {
 public:
  explicit Recalling(bool recalls) : recalls_(recalls) {}
  std::shared_ptr<const Seen> see(const Picture& picture, const at::Tensor& frame) const override {
    return given_map(half(0))->see(picture, frame);
  }
  std::vector<Look> look(const Seen&, std::span<const Query> questions,
                         const History& history) const override {
    histories.push_back(history);
    if (history.passes > 0 && fails) throw Error(ErrorCode::numeric, "[look] not finite");
    Look one;
    one.relevance.map = half(history.passes > 0 ? 1 : 0);
    return std::vector<Look>(questions.size(), one);
  }
  bool recalls() const override { return recalls_; }
  mutable std::vector<History> histories;
  bool fails = false;  // at the second look

 private:
  static Map half(int side) {
    Map out{8, 8, 64, 64, {}};
    for (int i = 0; i < 64; ++i) out.values.push_back(i % 8 / 4 == side ? 0.9F : 0.1F);
    return out;
  }
  bool recalls_;
};

Answer ask_recalling(const std::shared_ptr<Recalling>& looker, const std::string& name) {
  AskOptions options = policy(name);
  options.budget = "100";
  options.least_side = 0;
  return Asker(nullptr, script({0.7F, 0.9F}, 20), looker).ask(page(), "What is it?", options);
}

}  // namespace

// The network is asked again, with what was read: where, how finely, and the answer.
TEST(Passes, TheNextMapIsComputedWhereTheLookerRecalls) {
  const auto looker = std::make_shared<Recalling>(true);
  const Answer r = ask_recalling(looker, "history");
  const auto& passes = r.from().passes;
  ASSERT_EQ(passes.size(), 2U);
  EXPECT_EQ(passes[1].manner, Manner::again);
  ASSERT_EQ(looker->histories.size(), 2U);
  EXPECT_EQ(looker->histories[0].passes, 0);
  const History& past = looker->histories[1];
  EXPECT_EQ(past.passes, 1);
  EXPECT_EQ(past.answer, "pass 1");
  EXPECT_NEAR(past.uncertainty, 0.3, 1e-6);
  EXPECT_EQ(maximum(past.detail), 1);
  EXPECT_EQ(maximum(past.attention_previous), 1);
  const Map& next = passes[1].relevance;
  EXPECT_GT(next.at(0, next.cols - 1), next.at(0, 0));  // that map, not the first
}

TEST(Passes, WithoutALookerThatRecallsTheRulesHold) {
  const auto looker = std::make_shared<Recalling>(false);
  const Answer r = ask_recalling(looker, "history");
  const Answer rules = ask_recalling(std::make_shared<Recalling>(false), "passes");
  EXPECT_EQ(looker->histories.size(), 1U);
  ASSERT_EQ(r.from().passes.size(), rules.from().passes.size());
  for (size_t i = 0; i < r.from().passes.size(); ++i) {
    EXPECT_EQ(r.from().passes[i].manner, rules.from().passes[i].manner);
    EXPECT_EQ(r.from().passes[i].allocation.leaves, rules.from().passes[i].allocation.leaves);
  }
  const auto told = [](const Answer& answer) {
    return std::count_if(answer.fallbacks.begin(), answer.fallbacks.end(),
                         [](const std::string& one) { return one.starts_with("history:"); });
  };
  EXPECT_EQ(told(r), 1);
  EXPECT_EQ(told(rules), 0);
}

TEST(Passes, ASecondLookThatFailsLeavesTheQuestionsOwnMap) {
  const auto looker = std::make_shared<Recalling>(true);
  looker->fails = true;
  const Answer r = ask_recalling(looker, "history");
  const auto& passes = r.from().passes;
  ASSERT_EQ(passes.size(), 2U);
  EXPECT_EQ(passes[1].manner, Manner::again);
  EXPECT_EQ(passes[1].relevance, passes[0].relevance);
  EXPECT_TRUE(std::any_of(r.fallbacks.begin(), r.fallbacks.end(), [](const std::string& one) {
    return one.find("not finite") != std::string::npos;
  }));
}

// Pictures that share a budget, and pictures that somebody else has looked at, go by the rules.
TEST(Passes, AMapIsComputedForOnePictureThatNobodyElseLookedAt) {
  AskOptions options = policy("history");
  options.budget = "100";
  options.least_side = 0;
  const auto asked = [&](const std::vector<Picture>& pictures, const AskOptions& how) {
    const auto looker = std::make_shared<Recalling>(true);
    const Answer r =
        Asker(nullptr, script({0.7F, 0.9F}, 20), looker).ask(pictures, "What is it?", how);
    for (const PictureAnswer& picture : r.pictures)
      for (const Pass& pass : picture.passes) EXPECT_NE(pass.manner, Manner::again);
    return std::count_if(r.fallbacks.begin(), r.fallbacks.end(), [](const std::string& one) {
      return one.starts_with("history: not used: ");
    });
  };
  EXPECT_EQ(asked({page(), page()}, options), 1);
  options.gaze = {2, 2, 256, 256, {1, 0, 0, 0}};
  EXPECT_EQ(asked({page()}, options), 1);
}
