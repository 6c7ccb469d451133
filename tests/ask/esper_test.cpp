// Looking again: when to stop, where to look next, what it may cost.
#include <gtest/gtest.h>

#include <ATen/ATen.h>

#include <random>
#include <set>

#include "arrcoc/answering.h"
#include "arrcoc/error.h"
#include "arrcoc/esper.h"
#include "arrcoc/media.h"
#include "arrcoc/strip.h"
#include "models/tiny/tiny.h"

using namespace arrcoc;

namespace {

// Answers with probabilities that the test chooses, pass by pass: the rules see nothing else.
class Script : public esper::Backend {
 public:
  explicit Script(std::vector<float> probabilities) : probabilities_(std::move(probabilities)) {}
  esper::Reply answer(const TokenSequence& tokens, const Geometry&,
                      const std::string&) const override {
    tokens_.push_back(tokens);
    const float p = probabilities_[std::min(tokens_.size(), probabilities_.size()) - 1];
    std::vector<float> focus;
    if (focus_ >= 0) {
      focus.assign(static_cast<size_t>(tokens.size()), 1e-4F);
      focus[std::min(focus.size() - 1, static_cast<size_t>(focus_))] = 1;
    }
    return {"pass " + std::to_string(tokens_.size()), {p, p}, std::move(focus), {}};
  }
  int focus_ = -1;  // the token that all attention is on; below 0: attention is not reported
  mutable std::vector<TokenSequence> tokens_;

 private:
  std::vector<float> probabilities_;
};

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

esper::Options options_of(const std::string& budget) {
  esper::Options out;
  out.look = policy("saliency");
  out.look.budget = budget;
  return out;
}

}  // namespace

TEST(Esper, UncertaintyIsOneLessTheGeometricMean) {
  EXPECT_NEAR(esper::uncertainty({0.5F, 0.5F}), 0.5, 1e-6);
  EXPECT_NEAR(esper::uncertainty({0.9F, 0.4F}), 0.4, 1e-6);
  EXPECT_EQ(esper::uncertainty({}), 1);
  EXPECT_EQ(esper::uncertainty({0.9F, 0}), 1);
  EXPECT_THROW(esper::uncertainty({1.5F}), Error);
}

TEST(Esper, StopsByTheRules) {
  const auto passes = [](std::vector<float> p, int most = 4) {
    esper::Options options = options_of("64");
    options.rules.passes = most;
    const Script script(std::move(p));
    return esper::ask(page(), "What is it?", script, options);
  };
  EXPECT_EQ(passes({0.97F}).passes.size(), 1U);
  EXPECT_EQ(passes({0.9F, 0.9F}).passes.size(), 2U);
  EXPECT_EQ(passes({0.9F, 0.9F}).stopped, "sure");
  const esper::Result unsure = passes({0.2F, 0.5F, 0.4F, 0.3F});
  EXPECT_EQ(unsure.passes.size(), 4U);
  EXPECT_EQ(unsure.stopped, "passes");
  EXPECT_EQ(unsure.best, 1U);  // the surest pass answers
  EXPECT_EQ(unsure.answer().answer, "pass 2");
  EXPECT_EQ(passes({0.2F}, 1).passes.size(), 1U);
  EXPECT_DOUBLE_EQ(unsure.passes[1].explore, 0.5);  // uncertainty 0.8 before
  EXPECT_DOUBLE_EQ(unsure.passes[2].explore, 0.3);  // 0.5 before
}

TEST(Esper, TheTotalBudgetHolds) {
  esper::Options options = options_of("90");
  options.total_budget = 190;
  const Script script({0.2F});
  const esper::Result r = esper::ask(page(), "What is it?", script, options);
  EXPECT_LE(r.tokens, 190);
  ASSERT_EQ(r.passes.size(), 3U);  // 63 + 54 + 54: what is left would be too few for a fourth
  EXPECT_LE(r.passes[0].tokens, 63);
  EXPECT_LE(r.passes[1].tokens, 54);
  EXPECT_EQ(r.stopped, "budget");
}

TEST(Esper, LooksWhereItHasNotLookedAndReusesWhatItHas) {
  const Script script({0.1F});
  const esper::Result r = esper::ask(page(), "What is it?", script, options_of("100"));
  ASSERT_EQ(r.passes.size(), 4U);
  // Share of the picture that was seen at 32 pixels or finer, by the first pass and by all.
  const auto seen = [](const std::vector<esper::Pass>& passes, size_t count) {
    std::set<std::pair<int, int>> cells;
    for (size_t i = 0; i < count; ++i)
      for (const Leaf& l : passes[i].allocation.leaves)
        if (l.level == 1)
          cells.insert({l.row, l.col});
        else if (l.level == 0)
          cells.insert({l.row / 2, l.col / 2});
    return cells.size();
  };
  EXPECT_GT(seen(r.passes, 4), 3 * seen(r.passes, 1) / 2);
  EXPECT_EQ(r.passes[0].reused, 0);
  EXPECT_GT(r.passes[1].reused, 0);
  // Reused or not, a pass hands over exactly what cutting it afresh gives.
  const TokenSequence afresh = cutting::realize(Pyramid(page()), r.passes[1].allocation);
  EXPECT_TRUE(at::equal(afresh.pixels, script.tokens_[1].pixels));
  EXPECT_TRUE(at::equal(afresh.around, script.tokens_[1].around));
  EXPECT_TRUE(at::equal(afresh.centre, script.tokens_[1].centre));
  EXPECT_TRUE(at::equal(afresh.scale, script.tokens_[1].scale));
}

TEST(Esper, IsDeterministicUnderASeed) {
  const Script a({0.1F}), b({0.1F});
  const auto run = [](const Script& s) {
    return esper::ask(page(), "What is it?", s, options_of("80"));
  };
  const esper::Result x = run(a), y = run(b);
  ASSERT_EQ(x.passes.size(), y.passes.size());
  for (size_t i = 0; i < x.passes.size(); ++i)
    EXPECT_EQ(x.passes[i].allocation.leaves, y.passes[i].allocation.leaves);
}

// Unsure, but read from one place: that place is shown again in more detail, the rest in less.
TEST(Esper, LooksCloserWhereTheAnswerWasRead) {
  Script script({0.7F});
  script.focus_ = 20;
  esper::Options options = options_of("100");
  options.rules.passes = 2;
  const esper::Result r = esper::ask(page(), "What is it?", script, options);
  ASSERT_EQ(r.passes.size(), 2U);
  EXPECT_EQ(r.passes[0].manner, "first");
  EXPECT_EQ(r.passes[1].manner, "closer");
  EXPECT_GT(r.passes[0].gathered, 0.9);
  const Box read =
      allocating::box_of(r.passes[0].allocation.geometry, r.passes[0].allocation.leaves[20]);
  const auto finest = [&](const esper::Pass& p) {
    int level = 99;
    for (const Leaf& l : p.allocation.leaves)
      if (intersect(allocating::box_of(p.allocation.geometry, l), read).area() > 0)
        level = std::min(level, l.level);
    return level;
  };
  EXPECT_LT(finest(r.passes[1]), finest(r.passes[0]));
  EXPECT_EQ(finest(r.passes[1]), -1);  // enlarged
}

TEST(Esper, AnAnswerGatheredFromAllOverEndsTheRoundsOfPolicyPasses) {
  esper::Options options = options_of("100");
  options.rules.wander = false;
  options.rules.gathered = 1.1;  // nothing is read from one place
  Script script({0.7F});
  script.focus_ = 3;
  const esper::Result r = esper::ask(page(), "What is it?", script, options);
  EXPECT_EQ(r.passes.size(), 1U);
  EXPECT_EQ(r.stopped, "spread");
}

// Unsure, and not read from one place: the question's own map with all of the budget, which is what
// a single look would have been.
TEST(Esper, AWiderLookIsTheSingleLook) {
  esper::Options options = options_of("100");
  options.rules.passes = 3;
  options.rules.wander = false;
  options.rules.wider = 1;
  options.rules.gathered = 1.1;
  Script script({0.7F});
  script.focus_ = 3;
  const esper::Result r = esper::ask(page(), "What is it?", script, options);
  ASSERT_EQ(r.passes.size(), 2U);
  EXPECT_EQ(r.passes[1].manner, "wider");
  EXPECT_EQ(r.stopped, "spread");
  EXPECT_GT(r.passes[1].tokens, r.passes[0].tokens);
  options.rules = {};
  options.rules.passes = 1;
  const esper::Result single = esper::ask(page(), "What is it?", script, options);
  EXPECT_EQ(r.passes[1].allocation.leaves, single.passes[0].allocation.leaves);
  // Where no more is left than the first look had, there is nothing to widen.
  options.rules.passes = 3;
  options.rules.wider = 1;
  options.rules.wander = false;
  options.rules.gathered = 1.1;
  options.total_budget = 130;
  EXPECT_EQ(esper::ask(page(), "What is it?", script, options).stopped, "budget");
}

// A closer look that is not sure has to lead by a margin.
TEST(Esper, ACloserLookThatIsUnsureIsDoubted) {
  const auto best = [](float closer, double doubt) {
    Script script({0.5F, closer});
    script.focus_ = 20;
    esper::Options options = options_of("100");
    options.rules.passes = 2;
    options.rules.doubt = doubt;
    options.confidence = [](const esper::Pass& p) {
      return static_cast<double>(p.probabilities.front());
    };
    options.confident = 0.75;
    const esper::Result r = esper::ask(page(), "What is it?", script, options);
    EXPECT_EQ(r.passes.back().manner, "closer");
    return r.best;
  };
  EXPECT_EQ(best(0.6F, 0), 1U);
  EXPECT_EQ(best(0.6F, 0.15), 0U);
  EXPECT_EQ(best(0.7F, 0.15), 1U);
  EXPECT_EQ(best(0.8F, 0.5), 1U);  // sure outright
}

// What passes read is handed on in texture channels 37 to 39, and the scorer reads it there.
TEST(Esper, ChannelsCarryWhatEarlierPassesRead) {
  esper::Trace trace;
  trace.attention_previous = {2, 2, 64, 64, {1, 0, 0, 0}};
  trace.attention_accumulated = {2, 2, 64, 64, {1, 0.6F, 0, 0}};
  trace.gaze = {2, 2, 64, 64, {0, 0, 0, 0.9F}};
  const Texture t = esper::texture_of(trace, {128, 128, 0});
  ASSERT_EQ(t.channels, (std::vector<Channel>{Channel::attention_previous,
                                              Channel::attention_accumulated, Channel::gaze}));
  EXPECT_FLOAT_EQ(t.of(Channel::attention_accumulated)[0][1].item<float>(), 0.6F);
  const Picture picture = page();
  const at::Tensor frame = frame_of(picture, 64);
  const Query query = parse_query("What is it?");
  const Map read =
      registry<Scorer>().make("attention")->score({picture, frame, t, query, trace.gaze});
  EXPECT_EQ(read.values, (std::vector<float>{1, 0.3F, 0, 0.9F}));
  // A map that is the same everywhere is not so any more after looking closer.
  const Map even = like(trace.gaze, 0.5F);
  const Map closer = esper::temper(even, {}, trace, "closer", 0.3, 0.3, {}, 1);
  EXPECT_GT(closer.values[0], closer.values[1]);
  EXPECT_GT(closer.values[1], closer.values[2]);
}

// The zoo: somebody looks at the tiger, the question is about the snack. The first map goes to
// both; what the model reads there sends the second to the packet, in more detail.
TEST(Esper, TheMapLeavesTheTigerForThePacket) {
  const Picture zoo = media::load(std::string(ARRCOC_SOURCE_DIR) + "/examples/pictures/zoo.jpg");
  const Box tiger{428, 232, 623, 429}, print{292, 676, 341, 687};
  answering::AskOptions options = answering::options_for("passes");
  options.look.budget = "64";
  options.confident = 1.1;  // the second look is what this is about
  options.rules.gathered = 0;
  options.gaze = {8, 8, static_cast<float>(zoo.width()) / 8, static_cast<float>(zoo.height()) / 8,
                  std::vector<float>(64, 0)};
  for (int r = 2; r < 4; ++r)
    for (int c = 3; c < 5; ++c) options.gaze.at(r, c) = 1;
  const auto answerer = answering::Answerer::load(tiny::find_model());
  const answering::Reply reply =
      answerer->ask(zoo, "What are the ingredients of the snack?", options);
  const std::vector<esper::Pass>& passes = reply.passes->passes;
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
  const auto tokens_on = [](const esper::Pass& pass, const Box& box) {
    int out = 0;
    for (const Leaf& l : pass.allocation.leaves)
      out += intersect(allocating::box_of(pass.allocation.geometry, l), box).area() > 0 ? 1 : 0;
    return out;
  };
  EXPECT_GT(largest(passes[0].relevance, tiger), 0.9F);
  EXPECT_LT(largest(passes[1].relevance, tiger), 0.5F * largest(passes[1].relevance, print));
  EXPECT_LT(tokens_on(passes[1], tiger), tokens_on(passes[0], tiger));
  EXPECT_GT(tokens_on(passes[1], print), tokens_on(passes[0], print));
  const at::Tensor strip = media::draw_passes(zoo, *reply.passes);
  EXPECT_GE(strip.size(2), 2 * 480);
}

TEST(Esper, APolicyLearnsWhenAnotherLookPays) {
  // A closer look helps where attention was gathered and the answer was unlikely.
  std::mt19937 random(5);
  std::vector<esper::Logged> logged;
  for (int i = 0; i < 400; ++i) {
    const double likely = (random() % 1000) / 500.0 - 1, gathered = (random() % 1000) / 1000.0;
    esper::Logged l;
    l.first = {1, likely, likely, gathered, 0.2, 0.3, 0};
    l.first_right = likely > 0;
    l.closer_right = gathered > 0.5;
    l.closer = {1, l.closer_right ? 1.0 : -1.0, 0, gathered, 0, 0.3, 1};
    l.wider = {1, -1, -1, gathered, 0.2, 0.3, 1};
    l.elsewhere = {1, -1, -1, gathered, 0.2, 0.3, 1};
    logged.push_back(l);
  }
  const esper::Policy policy = esper::fit(logged);
  const auto closer = [&](double likely, double gathered) {
    return esper::chance(policy.closer, {1, likely, likely, gathered, 0.2, 0.3, 0});
  };
  EXPECT_GT(closer(-0.8, 0.9), 0.5);
  EXPECT_LT(closer(-0.8, 0.1), 0.3);
  EXPECT_LT(closer(0.8, 0.9), 0.2);
  EXPECT_EQ(esper::policy_from_json(esper::to_json(policy)), policy);
  EXPECT_THROW(esper::policy_from_json("[]"), Error);
  EXPECT_THROW(esper::policy_from_json(R"({"worth": 7})"), Error);
  EXPECT_THROW(esper::policy_from_json(R"({"left": {}})"), Error);
  EXPECT_THROW(esper::policy_from_json("{}"), Error);  // without its models it would decide nothing
  EXPECT_THROW(esper::fit({}), Error);
}

TEST(Pictures, OneBudgetIsSharedWithAMinimumEach) {
  const Geometry g{1024, 1024, 0};
  Relevance hot, cold;
  hot.map = cold.map = {64, 64, 16, 16, std::vector<float>(64 * 64, 0.01F)};
  for (int i = 0; i < 40; ++i) hot.map.values[static_cast<size_t>(600 + i * 3)] = 1;
  Budget budget;
  budget.tokens = 180;
  const auto shares = esper::allocate_union({hot, cold}, {g, g}, budget, 24);
  EXPECT_LE(shares[0].tokens() + shares[1].tokens(), 180);
  EXPECT_GE(shares[0].tokens() + shares[1].tokens(), 176);
  EXPECT_GE(shares[1].tokens(), 24);
  EXPECT_GT(shares[0].tokens(), 2 * shares[1].tokens());
  for (const Allocation& a : shares) {  // every pixel of every picture is seen
    double area = 0;
    for (const Leaf& l : a.leaves) area += allocating::box_of(g, l).area();
    EXPECT_DOUBLE_EQ(area, 1024.0 * 1024.0);
  }
  budget.tokens = 1;
  EXPECT_THROW(esper::allocate_union({hot, cold}, {g, g}, budget, 24), Error);
}

TEST(Pictures, TheQuestionMayNameAPicture) {
  const auto named = [](const char* text) { return esper::named_picture(parse_query(text), 2); };
  EXPECT_EQ(named("What does the apple cost in the second picture?"), 1);
  EXPECT_EQ(named("Look at the first picture: what is the date?"), 0);
  EXPECT_EQ(named("In which picture is the apple cheaper?"), std::nullopt);
  EXPECT_EQ(named("What is in the third picture?"), std::nullopt);
}

TEST(Pictures, AQuestionMayCompareThem) {
  using By = esper::Comparison::By;
  const auto of = [](const char* text) { return esper::comparison_in(parse_query(text)); };
  EXPECT_EQ(of("In which picture is the hot dog cheaper?"),
            (esper::Comparison{By::smaller, "What does the hot dog cost?"}));
  EXPECT_EQ(of("Where does the apple cost less?"),
            (esper::Comparison{By::smaller, "What does the apple cost?"}));
  EXPECT_EQ(of("Where is the tiger: first or second picture?"),
            (esper::Comparison{By::presence, "Where is the tiger?"}));
  EXPECT_EQ(of("Which picture has more goats?"),
            (esper::Comparison{By::larger, "How many goats are there?"}));
  EXPECT_EQ(of("What is in the first picture but not in the second?")->by, By::difference);
  EXPECT_EQ(of("What does the apple cost in the second picture?"), std::nullopt);
  EXPECT_EQ(of("Where is the total?"), std::nullopt);
  EXPECT_EQ(esper::number_in("RM 33.90"), 33.9);
  EXPECT_EQ(esper::number_in("1,234"), 1234);
  EXPECT_EQ(esper::number_in("2,5"), 2.5);
  EXPECT_EQ(esper::number_in("none"), std::nullopt);
}

// Prices that a backend reads: the cheaper picture is named.
TEST(Pictures, TheComparisonIsMadeFromWhatEachAnswered) {
  class Prices : public esper::Backend {
   public:
    esper::Reply answer(const TokenSequence&, const Geometry&,
                        const std::string& question) const override {
      EXPECT_EQ(question, "What does the apple cost?");
      return {asked_++ == 0 ? "12.50" : "9.90", {0.9F}, {}, {}};
    }
    mutable int asked_ = 0;
  };
  Options look = policy("saliency");
  look.budget = "100";
  const auto r = esper::ask_pictures({page(), page()}, "In which picture is the apple cheaper?",
                                     Prices{}, look);
  EXPECT_EQ(r.text, "second picture");
  EXPECT_EQ(r.picture, 1);
}

TEST(Pictures, TheSurestPictureAnswersUnlessOneIsNamed) {
  const Picture a = page(), b = page();
  Options look = policy("saliency");
  look.budget = "120";
  const Script script({0.3F, 0.9F});
  const auto r = esper::ask_pictures({a, b}, "What is it?", script, look);
  EXPECT_EQ(r.picture, 1);
  EXPECT_LE(r.tokens, 120);
  const Script again({0.3F, 0.9F});
  const auto first = esper::ask_pictures({a, b}, "What is in the first picture?", again, look);
  EXPECT_EQ(first.picture, 0);
  EXPECT_GT(first.seen[0].allocation.tokens(), first.seen[1].allocation.tokens());
}
