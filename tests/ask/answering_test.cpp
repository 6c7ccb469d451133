// Answers by any policy on one set of weights. The weights are random: behaviour, not skill.
#include "arrcoc/answering.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "arrcoc/error.h"
#include "ask/plan.h"
#include "folder.h"
#include "lab/fit/calibration_fit.h"
#include "lab/measure/cost.h"
#include "models/tiny/files.h"
#include "models/tiny/layers.h"
#include "models/tiny/query_former.h"

namespace arrcoc::answering {
namespace {

namespace fs = std::filesystem;

std::string weights_folder() {
  static const std::string folder = [] {
    const fs::path base = test::fresh_folder("answering");
    const tiny::Shape shape = tiny::shape_from_json(
        R"({"width":64,"heads":2,"encoder_layers":2,"decoder_layers":2,"mlp":128,"stem":8,"cell":32,
            "page":32,"page_layers":1,"ask":32,"ask_layers":1,"question_layers":1})");
    const tiny::Answerer answerer(shape);
    const tiny::Tensors weights = answerer.layout().initial(2);
    const std::string model = (base / "tiny").string();
    tiny::save_bundle(model, {shape, tiny::RealizerNet(shape).layout().initial(1), weights}, "t");
    // Learned queries, of the weights as they come back from the file.
    tiny::save_queries(tiny::queries_folder(model), shape,
                       {tiny::QueryFormer(shape).layout().initial(3),
                        tiny::answerer_tag(answerer, tiny::load_bundle(model).answerer)},
                       {});
    return model;
  }();
  return folder;
}

std::shared_ptr<const Answerer> answerer() {
  static const auto loaded = Answerer::load(weights_folder());
  return loaded;
}

Picture noise(int width, int height, int64_t seed = 5) {
  at::manual_seed(seed);
  return make_picture(at::randint(0, 255, {3, height, width}, at::kByte), "noise");
}

AskOptions with_budget(const std::string& policy, int tokens) {
  AskOptions options = options_for(policy);
  options.look.budget = std::to_string(tokens);
  return options;
}

TEST(Ask, EveryPolicyKeepsTheBudgetButNative) {
  const Picture picture = noise(400, 300);
  for (const char* policy : {"realized", "resize", "random", "breadth_first", "uniform", "lexical",
                             "saliency", "top-k", "diverse", "bands"}) {
    const Reply reply = answerer()->ask(picture, "What is the total?", with_budget(policy, 80));
    EXPECT_LE(reply.tokens, 80) << policy;
    EXPECT_GT(reply.tokens, 0) << policy;
    EXPECT_EQ(reply.native_tokens, 25 * 19) << policy;
  }
  const Reply native = answerer()->ask(picture, "What is the total?", with_budget("native", 80));
  EXPECT_EQ(native.tokens, 25 * 19);
  for (const Leaf& leaf : native.allocation.leaves) EXPECT_EQ(leaf.level, 0);
}

TEST(Ask, FixedRulesSpendTheirOwnBudget) {
  const Picture picture = noise(512, 512);
  const auto tokens = [&](const char* policy, int budget) {
    return answerer()->ask(picture, "What is the total?", with_budget(policy, budget)).tokens;
  };
  EXPECT_EQ(tokens("fixed-16x", 64), 256);
  EXPECT_EQ(tokens("fixed-16x", 400), 256);
  EXPECT_EQ(tokens("fixed-tiers", 64), tokens("fixed-tiers", 400));
}

TEST(Cost, CountsTheProductsThatAreRun) {
  at::NoGradGuard no_grad;
  const at::Tensor x = at::randn({2, 10, 16}), w = at::randn({24, 16}), b = at::randn({24});
  FlopCounter counter;
  at::linear(x, w, b);
  EXPECT_EQ(counter.flops(), 2.0 * 20 * 16 * 24);
  at::conv2d(at::randn({1, 3, 8, 8}), at::randn({5, 3, 3, 3}), {}, 2, 1);
  EXPECT_EQ(counter.flops(), 2.0 * 20 * 16 * 24 + 2.0 * 4 * 4 * 5 * 27);
  const std::vector<int64_t> ones = {1, 1}, wide = {0, 2};
  at::conv2d(at::randn({1, 4, 1, 9}), at::randn({4, 4, 1, 5}), {}, ones, wide);
  EXPECT_EQ(counter.flops(), 2.0 * 20 * 16 * 24 + 2.0 * 4 * 4 * 5 * 27 + 2.0 * 9 * 4 * 4 * 5);
  const double before = counter.flops();
  const at::Tensor q = at::randn({1, 2, 7, 16}), k = at::randn({1, 2, 9, 16});
  tiny::attend(q, k, k, {}, false);
  EXPECT_EQ(counter.flops() - before, 2 * 2.0 * 2 * 7 * 9 * 16);
}

TEST(Ask, ResizeShowsTheWholePictureAtOneScale) {
  const Picture picture = noise(640, 320);
  const Reply reply = answerer()->ask(picture, "what?", with_budget("resize", 100));
  const Geometry& g = reply.allocation.geometry;
  EXPECT_NEAR(static_cast<double>(g.width) / g.height, 2.0, 0.05);
  EXPECT_GT(reply.tokens, 80);  // as much of the budget as whole patches allow
  EXPECT_EQ(g.native_tokens(), reply.tokens);
  // A small picture is not enlarged.
  const Reply small = answerer()->ask(noise(64, 64), "what?", with_budget("resize", 100));
  EXPECT_EQ(small.tokens, 16);
}

TEST(Ask, ReducersEncodeEveryPatchAndLeaveTheBudget) {
  const Picture picture = noise(400, 300);
  const auto gflop = [&](const AskOptions& options, Reply& reply) {
    FlopCounter counter;
    reply = answerer()->ask(picture, "What is the total?", options);
    return counter.flops();
  };
  Reply reply;
  const double native = gflop(with_budget("native", 80), reply);
  const double resized = gflop(with_budget("resize", 80), reply);
  for (const char* policy : {"tome", "visionzip", "fastv", "cdpruner"}) {
    const double flops = gflop(with_budget(policy, 80), reply);
    EXPECT_EQ(reply.tokens, 80) << policy;
    EXPECT_EQ(reply.native_tokens, 25 * 19) << policy;
    EXPECT_EQ(reply.allocation.leaves.size(), 80U) << policy;
    // All patches go through the first layer; after it the work differs.
    EXPECT_GT(flops, 1.5 * resized) << policy;
    EXPECT_LT(flops, 1.5 * native) << policy;
    // A budget that all patches fit in is native reading.
    const Reply all = answerer()->ask(noise(64, 64), "what?", with_budget(policy, 80));
    const Reply whole = answerer()->ask(noise(64, 64), "what?", with_budget("native", 80));
    EXPECT_EQ(all.answer, whole.answer) << policy;
    EXPECT_NEAR(all.probabilities[0], whole.probabilities[0], 1e-6) << policy;
    EXPECT_EQ(all.allocation.leaves, whole.allocation.leaves) << policy;
  }
}

TEST(Ask, QformerGivesTheWriterAsManyTokensWhateverWasAsked) {
  // The budget, the picture and the question have no say.
  for (const auto& [width, height] : {std::pair{400, 300}, std::pair{48, 32}}) {
    const Picture picture = noise(width, height);
    for (int budget : {16, 300}) {
      const auto replies =
          answerer()->ask(picture, {{"how many?", {}, {}}, {"what is written there?", {}, {}}},
                          with_budget("qformer", budget));
      for (const Reply& reply : replies) {
        EXPECT_EQ(reply.tokens, tiny::kQueries);
        EXPECT_TRUE(reply.allocation.leaves.empty());
        EXPECT_FALSE(reply.box);
      }
    }
  }
  // Every patch is encoded, once for all questions of the picture.
  const Picture picture = noise(400, 300);
  const auto products = [&](const std::string& policy, size_t questions) {
    const FlopCounter counter;
    answerer()->ask(picture, std::vector<Inquiry>(questions, {"how many?", {}, {}}),
                    with_budget(policy, 64));
    return counter.flops();
  };
  EXPECT_GT(products("qformer", 1), 3 * products("resize", 1));
  EXPECT_LT(products("qformer", 4), 3 * products("qformer", 1));
}

TEST(Ask, SlicesFollowTheAspectRatioAndShareTheBudget) {
  const auto crops = [&](int width, int height, int budget) {
    const Reply reply =
        answerer()->ask(noise(width, height), "what?", with_budget("slices", budget));
    EXPECT_LE(reply.tokens, budget);
    EXPECT_EQ(reply.tokens, reply.allocation.tokens());
    return reply.allocation.crops;
  };
  // An overview, then two slices beside each other: 672x336 is twice the encoder's square.
  const std::vector<Crop> wide = crops(672, 336, 90);
  ASSERT_EQ(wide.size(), 3U);
  EXPECT_EQ(wide[0].box, (Box{0, 0, 672, 336}));
  EXPECT_EQ(wide[1].box, (Box{0, 0, 336, 336}));
  EXPECT_EQ(wide[2].box, (Box{336, 0, 672, 336}));
  for (const Crop& crop : wide) EXPECT_LE(crop.tokens, 30);
  const std::vector<Crop> high = crops(300, 900, 90);
  ASSERT_EQ(high.size(), 4U);  // three on top of each other
  EXPECT_EQ(high[2].box, (Box{0, 300, 300, 600}));
  EXPECT_EQ(crops(200, 200, 90).size(), 1U);  // smaller than the encoder: only itself
  crops(672, 336, 1);
}

TEST(Ask, OnlyTheOracleReadsTheEvidence) {
  const Picture picture = noise(512, 512);
  const std::vector<Inquiry> plain = {{"what?", {}, {}}},
                             told = {{"what?", {{32, 32, 64, 64}}, {}}};
  for (const char* policy : {"realized", "random", "lexical"}) {
    const AskOptions options = with_budget(policy, 70);
    EXPECT_EQ(answerer()->ask(picture, plain, options)[0].allocation.leaves,
              answerer()->ask(picture, told, options)[0].allocation.leaves)
        << policy;
  }
  const Reply seen = answerer()->ask(picture, told, with_budget("oracle", 70))[0];
  for (int cell = 2; cell < 4; ++cell)
    EXPECT_EQ(std::count_if(
                  seen.allocation.leaves.begin(), seen.allocation.leaves.end(),
                  [&](const Leaf& l) { return l.level == 0 && l.row == cell && l.col == cell; }),
              1);
  EXPECT_THROW(answerer()->ask(picture, plain, with_budget("oracle", 70)), Error);
}

TEST(Ask, TogetherIsTheSameAsOneByOne) {
  const Picture picture = noise(300, 200);
  const std::vector<Inquiry> inquiries = {
      {"What is the total?", {}, {}}, {"Who?", {}, {}}, {"which of the two came first?", {}, {}}};
  const AskOptions options = with_budget("realized", 90);
  const auto together = answerer()->ask(picture, inquiries, options);
  for (size_t i = 0; i < inquiries.size(); ++i) {
    const Reply alone = answerer()->ask(picture, inquiries[i].question, options);
    EXPECT_LT(cosine_distance(together[i].relevance.map, alone.relevance.map), 1e-6F);
    // On one map, so that rounding cannot choose other tokens.
    std::vector<Inquiry> known = inquiries;
    for (Inquiry& inquiry : known) inquiry.opinion = alone.opinion;
    const Reply again = answerer()->ask(picture, known, options)[i];
    EXPECT_EQ(again.allocation.leaves, alone.allocation.leaves);
    EXPECT_EQ(again.answer, alone.answer);
    EXPECT_NEAR(again.likelihood, alone.likelihood, 1e-4);
  }
}

TEST(Ask, PageFeaturesAreComputedOncePerPicture) {
  const Answerer fresh(tiny::TinyModel::load(weights_folder()), {});
  const Picture picture = noise(200, 100, 9);
  const auto has_page = [](const Reply& reply) {
    return std::any_of(reply.stages.begin(), reply.stages.end(),
                       [](const Stage& s) { return s.name == "page"; });
  };
  EXPECT_TRUE(has_page(fresh.ask(picture, "what is it?")));
  EXPECT_FALSE(has_page(fresh.ask(picture, "who is it?")));
  EXPECT_TRUE(has_page(fresh.ask(noise(200, 100, 10), "who is it?")));
}

TEST(Ask, UnknownPoliciesAndBadQuestionsAreRefused) {
  try {
    options_for("nobody");
    ADD_FAILURE();
  } catch (const Error& problem) {
    EXPECT_EQ(problem.code(), ErrorCode::not_found);
    EXPECT_NE(std::string(problem.what()).find("realized"), std::string::npos);
  }
  EXPECT_THROW(answerer()->ask(noise(32, 32), ""), Error);
  EXPECT_THROW(answerer()->ask(noise(32, 32), "what?", with_budget("zoom", 80)), Error);
}

TEST(AnswerBox, GrowsAlongTheLineAndStopsWhereAttentionEnds) {
  Allocation a;
  a.geometry = {160, 64, 0};
  for (int c = 0; c < 10; ++c) a.leaves.push_back({0, 1, c, 0});
  //                          0     1    2     3    4     5  6  7     8    9
  const std::vector<float> f = {0.30F, 0, 0.2F, 0.4F, 0.3F, 0, 0, 0.01F, 0.2F, 0};
  EXPECT_EQ(answer_box(a, f), (Box{32, 16, 80, 32}));
  EXPECT_EQ(answer_box(a, std::vector<float>(10, 0.0F)), std::nullopt);
}

TEST(Calibration, ComesBackFromJsonAndRefusesWhatCannotBe) {
  Calibration c;
  c.slope = 0.5;
  c.scale = 1.5;
  c.weights = 0xFFFFFFFFFFFFFFFFULL;
  EXPECT_EQ(calibration_from_json(to_json(c)), c);
  for (const char* bad : {"[]", R"({"colour":1})", R"({"slope":"x"})", R"({"threshold":2})",
                          R"({"power":0})", R"({"weights":-1})", "{"})
    EXPECT_THROW(calibration_from_json(bad), Error) << bad;
  const std::string folder = weights_folder() + "_fitted";
  fs::remove_all(folder);
  fs::copy(weights_folder(), folder);
  std::ofstream(folder + "/calibration.json") << to_json(c);
  EXPECT_EQ(Answerer::load(folder)->calibration(), c);
  std::ofstream(folder + "/calibration.json") << "{broken";
  EXPECT_THROW(Answerer::load(folder), Error);
}

TEST(Calibration, AutoBudgetsStayInRangeAndFollowTheTierHead) {
  tiny::Opinion low, high;
  low.tier = {9, 0, 0, 0, 0};
  high.tier = {0, 0, 0, 0, 9};
  const Query simple = parse_query("total?");
  for (double power : {0.5, 1.0, 3.0})
    for (double scale : {0.2, 1.0, 5.0}) {
      Calibration c;
      c.scale = scale;
      c.power = power;
      const int few = auto_budget(c, low, simple).tokens,
                many = auto_budget(c, high, simple).tokens;
      EXPECT_GE(few, kMinBudget);
      EXPECT_LE(many, kMaxBudget);
      EXPECT_LE(few, many);
    }
  EXPECT_NEAR(auto_budget({}, high, simple).tokens, 400, 3);
  // Another range, the same share of it.
  const AutoRange range = auto_range("auto:32-200").value();
  EXPECT_NEAR(auto_budget({}, high, simple, range).tokens, 200, 2);
  EXPECT_NEAR(auto_budget({}, low, simple, range).tokens,
              32 + (auto_budget({}, low, simple).tokens - 64) / 2.0, 1.1);
  EXPECT_EQ(auto_range("auto")->high, kMaxBudget);
  EXPECT_EQ(auto_range("learned")->low, kMinBudget);
  EXPECT_FALSE(auto_range("automatic"));
  EXPECT_FALSE(auto_range("180"));
  for (const char* bad : {"auto:", "auto:5", "auto:9-3", "auto:0-10", "auto:1-99999", "auto:1-2x"})
    EXPECT_THROW(auto_range(bad), Error) << bad;
}

// Two kinds of questions; the harder need 256 tokens. Half of all confident answers are wrong.
std::vector<Trial> trials() {
  std::vector<Trial> out;
  for (int i = 0; i < 120; ++i) {
    const bool hard = i % 3 == 0;
    auto opinion = std::make_shared<tiny::Opinion>();
    opinion->tier =
        hard ? std::array<float, 5>{0, 0, 4, 0, 0} : std::array<float, 5>{4, 1, 0, 0, 0};
    Trial t;
    t.complexity = hard ? "complex" : "simple";
    t.query = parse_query("what is it?");
    t.opinion = opinion;
    for (const int budget : kFitBudgets) {
      t.right.push_back(i % 2 == 0 && budget >= (hard ? 256 : 64));
      t.likelihood.push_back(0.95);
    }
    out.push_back(t);
  }
  return out;
}

TEST(Fit, GivesHardQuestionsTheTokensThatTheyNeedWithinTheTargets) {
  const Fit found = fit(trials(), 7);
  EXPECT_TRUE(found.met);
  EXPECT_LE(found.mean_tokens, Targets{}.mean_tokens);
  EXPECT_LE(found.simple, Targets{}.simple_share * found.complex);
  EXPECT_GE(found.complex, 230);
  EXPECT_GT(found.exact_match, found.exact_match_180);
  EXPECT_EQ(found.calibration.weights, 7U);
}

TEST(Fit, MakesConfidenceMeanHowOftenItIsRight) {
  const Fit found = fit(trials(), 7);
  EXPECT_NEAR(calibrated(found.calibration, 0.95), 0.5, 0.1);
  EXPECT_LT(found.error_after, 0.1);
  EXPECT_GT(found.error_before, 0.3);
  EXPECT_THROW(fit({}, 7), Error);
}

TEST(Measure, APolicyThatOverspendsIsAnErrorThatNamesIt) {
  std::vector<Record> records(3);
  for (Record& r : records) r.tokens = 100;
  EXPECT_NO_THROW(check_budget("greedy", 100, records));
  records[1].tokens = 101;
  try {
    check_budget("greedy", 100, records);
    ADD_FAILURE();
  } catch (const Error& problem) {
    EXPECT_NE(std::string(problem.what()).find("policy greedy spent 101"), std::string::npos);
  }
}

TEST(Measure, TheWorstTenthIsOfPictures) {
  std::vector<Record> records(40);
  for (int i = 0; i < 40; ++i) {
    records[i].group = i / 2;  // 20 pictures; the first two are the worst
    records[i].answered = true;
    records[i].anls = i < 2 ? 0.0 : i < 4 ? 0.5 : 1.0;
  }
  std::vector<const Record*> all;
  for (const Record& r : records) all.push_back(&r);
  EXPECT_DOUBLE_EQ(summarise(all).worst_decile, 0.25);
}

TEST(Measure, SuitesAskTheSameEveryTime) {
  ::setenv("ARRCOC_ASSETS", ARRCOC_SOURCE_DIR "/assets", 0);
  const auto take = [] {
    std::vector<std::string> out;
    const GroupSource source = ahead(suite_groups({"charts", "unseen"}, 4));
    while (const auto group = source())
      for (const Case& one : group->cases)
        out.push_back(group->suite + one.item.question + one.item.answer.value_or(""));
    return out;
  };
  const auto first = take();
  EXPECT_EQ(first.size(), suite_questions({"charts", "unseen"}, 4));
  EXPECT_EQ(first, take());
  EXPECT_THROW(suite_groups({"nowhere"}, 4), Error);
}

}  // namespace
}  // namespace arrcoc::answering
