// The baselines behind their policies' names. The weights are random: behaviour, not skill.
#include "lab/baselines/baselines.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "arrcoc/error.h"
#include "folder.h"
#include "lab/measure/cost.h"
#include "models/tiny/files.h"
#include "models/tiny/layers.h"
#include "models/tiny/query_former.h"

namespace arrcoc::baselines {
namespace {

using measuring::FlopCounter;

class Registered : public ::testing::Environment {
  void SetUp() override { register_baselines(); }
};
const auto* const kRegistered = ::testing::AddGlobalTestEnvironment(new Registered);

const char* const kReducers[] = {"tome", "visionzip", "fastv", "cdpruner", "five-paths"};

tiny::Shape small_shape() {
  return tiny::shape_from_json(
      R"({"width":64,"heads":2,"encoder_layers":2,"decoder_layers":2,"mlp":128,"stem":8,"cell":32,
          "page":32,"page_layers":1,"ask":32,"ask_layers":1,"question_layers":1})");
}

// Weights and the learned queries that belong to them.
std::string weights_folder() {
  static const std::string folder = [] {
    const std::filesystem::path base = test::fresh_folder("baselines");
    const tiny::Shape shape = small_shape();
    const tiny::Answerer answerer(shape);
    const std::string model = (base / "tiny").string();
    tiny::save_networks(
        model, {shape, tiny::RealizerNet(shape).layout().initial(1), answerer.layout().initial(2)},
        "t");
    // Of the weights as they come back from the file.
    tiny::save_queries(tiny::queries_folder(model), shape,
                       {tiny::QueryFormer(shape).layout().initial(3),
                        tiny::answerer_tag(answerer, tiny::load_networks(model).answerer)},
                       {});
    return model;
  }();
  return folder;
}

const Askers& askers() {
  static const Askers all = [] {
    register_baselines();
    return Askers(load_bundle(weights_folder()));
  }();
  return all;
}

Picture noise(int width, int height, int64_t seed = 5) {
  at::manual_seed(seed);
  return make_picture(at::randint(0, 255, {3, height, width}, at::kByte), "noise");
}

AskOptions with_budget(const std::string& policy, const std::string& budget) {
  AskOptions options = arrcoc::policy(policy);
  options.budget = budget;
  return options;
}

Answer ask(const Picture& picture, const std::string& policy, const std::string& budget) {
  const AskOptions options = with_budget(policy, budget);
  const std::vector<Box> corner = {{16, 16, 64, 48}};  // for the oracle
  return askers().of(options).ask(picture, {{"What is the total?", corner}}, options)[0];
}

const Allocation& allocation_of(const Answer& answer) { return answer.from().answer().allocation; }

TEST(Baselines, EveryPolicySpendsWithinItsBudget) {
  askers();
  const Picture picture = noise(400, 300);
  for (const char* policy : {"oracle", "slices", "tome", "visionzip", "fastv", "cdpruner",
                             "five-paths", "resize", "random", "breadth-first", "uniform"})
    for (int budget : {40, 90}) {
      const Answer answer = ask(picture, policy, std::to_string(budget));
      EXPECT_LE(answer.tokens, budget) << policy;
      EXPECT_GT(answer.tokens, budget / 4) << policy;
      EXPECT_EQ(answer.tokens, allocation_of(answer).tokens()) << policy;
      EXPECT_EQ(answer.native_tokens, 25 * 19) << policy;
      EXPECT_EQ(answer.policy, policy);
    }
  EXPECT_EQ(ask(picture, "native", "80").tokens, 25 * 19);
}

TEST(Baselines, AutoIsTheNetworksNeedUnderEveryPolicy) {
  const Picture picture = noise(512, 512);
  const int usual = ask(picture, "realized", "auto").from().budget.tokens;
  EXPECT_NE(usual, 180);  // what a failed look would get
  for (const char* policy : {"oracle", "slices", "tome", "fastv", "five-paths", "resize"})
    EXPECT_EQ(ask(picture, policy, "auto").from().budget.tokens, usual) << policy;
}

TEST(Baselines, RegisteringAgainChangesNothing) {
  askers();
  const size_t policies = arrcoc::policies().size();
  register_baselines();
  EXPECT_EQ(arrcoc::policies().size(), policies);
  for (const char* policy : {"tome", "qformer", "native"})
    EXPECT_TRUE(encodes_all(arrcoc::policy(policy))) << policy;
  for (const char* policy : {"realized", "oracle", "slices", "resize"})
    EXPECT_FALSE(encodes_all(arrcoc::policy(policy))) << policy;
}

TEST(Baselines, ReducersEncodeEveryPatchAndLeaveTheBudget) {
  const Picture picture = noise(400, 300);
  const auto flops = [&](const std::string& policy, Answer& answer) {
    const FlopCounter counter;
    answer = ask(picture, policy, "80");
    return counter.flops();
  };
  Answer answer;
  const double native = flops("native", answer), resized = flops("resize", answer);
  for (const char* policy : kReducers) {
    const double own = flops(policy, answer);
    EXPECT_LE(answer.tokens, 80) << policy;
    EXPECT_GE(answer.tokens, 78) << policy;  // five paths step by several tokens
    EXPECT_EQ(allocation_of(answer).leaves.size(), static_cast<size_t>(answer.tokens)) << policy;
    EXPECT_EQ(answer.from().answer().reply.left->size(), static_cast<size_t>(answer.tokens));
    EXPECT_EQ(answer.from().answer().reply.focus.size(), static_cast<size_t>(answer.tokens));
    // All patches go through the first layer; after it the work differs.
    EXPECT_GT(own, 1.5 * resized) << policy;
    EXPECT_LT(own, 1.5 * native) << policy;
    // A budget that all patches fit in is native reading.
    const Answer all = ask(noise(64, 64), policy, "80"), whole = ask(noise(64, 64), "native", "80");
    EXPECT_EQ(all.text, whole.text) << policy;
    EXPECT_NEAR(all.probabilities[0], whole.probabilities[0], 1e-6) << policy;
    EXPECT_EQ(allocation_of(all).leaves, allocation_of(whole).leaves) << policy;
  }
}

tiny::AnswererInput some_tokens(int64_t n) {
  at::manual_seed(5);
  tiny::AnswererInput look;
  look.patches = at::randint(0, 255, {1, n, 24 * 24 * 3}, at::kByte);
  look.centre = at::rand({1, n, 2}) * 500;
  look.scale = at::rand({1, n}) * 4 - 1;
  look.relevance = at::rand({1, n});
  look.extent = at::full({1, 2}, 512.0F);
  look.real = at::ones({1, n}, at::kBool);
  look.question = at::randint(3, 190, {1, 16}, at::kLong);
  return look;
}

TEST(Baselines, AReducerThatTakesNothingChangesNothing) {
  register_baselines();
  at::NoGradGuard no_grad;
  const tiny::Answerer net(small_shape());
  const tiny::Tensors w = net.layout().initial(1);
  tiny::AnswererInput look = some_tokens(20);
  look.question.narrow(1, 14, 2).fill_(tiny::kPad);  // as every question ends
  Flow flow;
  tiny::Memory all = net.encode(w, look, at::kFloat);
  all.states = all.states.narrow(1, 0, 20 + 14);
  for (const auto& [name, summary] : registry<Reducer>().list()) {
    const auto reducer = registry<Reducer>().make(name);
    const tiny::Memory same = net.encode_fewer(w, look, *reducer, 20, flow);
    ASSERT_EQ(same.states.sizes(), all.states.sizes()) << name;
    EXPECT_TRUE(at::allclose(same.states, all.states, 1e-5, 1e-5)) << name;
    EXPECT_TRUE(at::allclose(same.quality, all.quality, 1e-5, 1e-5)) << name;
    const tiny::Memory fewer = net.encode_fewer(w, look, *reducer, 7, flow);
    EXPECT_EQ(flow.tokens(), 7) << name;
    EXPECT_EQ(fewer.states.size(1), 7 + 14) << name;
    EXPECT_EQ(fewer.quality.size(1), 7) << name;
  }
}

TEST(Baselines, QformerGivesTheWriterAsManyTokensWhateverWasAsked) {
  // The budget, the picture and the question have no say.
  for (const auto& [width, height] : {std::pair{400, 300}, std::pair{48, 32}})
    for (const char* budget : {"16", "300"}) {
      const Answer answer = ask(noise(width, height), "qformer", budget);
      EXPECT_EQ(answer.tokens, tiny::kQueries);
      EXPECT_TRUE(allocation_of(answer).leaves.empty());
      EXPECT_FALSE(answer.box());
    }
  // Every patch is encoded, once for all questions of the picture.
  const Picture picture = noise(400, 300);
  const auto products = [&](const std::string& policy, size_t questions) {
    const AskOptions options = with_budget(policy, "64");
    const FlopCounter counter;
    askers().of(options).ask(picture, std::vector<Inquiry>(questions, {"how many?", {}}), options);
    return counter.flops();
  };
  EXPECT_GT(products("qformer", 1), 3 * products("resize", 1));
  EXPECT_LT(products("qformer", 4), 3 * products("qformer", 1));
}

TEST(Baselines, SlicesFollowTheAspectRatioAndShareTheBudget) {
  const auto crops = [&](int width, int height, int budget) {
    const Answer answer = ask(noise(width, height), "slices", std::to_string(budget));
    EXPECT_LE(answer.tokens, budget);
    return allocation_of(answer).crops;
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

TEST(Baselines, OnlyTheOracleReadsTheEvidence) {
  const Picture picture = noise(512, 512);
  const auto seen = [&](const char* policy, const std::vector<Box>& evidence) {
    AskOptions options = with_budget(policy, "70");
    options.least_side = 0;
    return allocation_of(askers().of(options).ask(picture, {{"what?", evidence}}, options)[0])
        .leaves;
  };
  const std::vector<Box> told = {{32, 32, 64, 64}};
  for (const char* policy : {"realized", "random", "lexical"})
    EXPECT_EQ(seen(policy, {}), seen(policy, told)) << policy;
  const std::vector<Leaf> oracle = seen("oracle", told);
  for (int cell = 2; cell < 4; ++cell)
    EXPECT_EQ(std::count_if(
                  oracle.begin(), oracle.end(),
                  [&](const Leaf& l) { return l.level == 0 && l.row == cell && l.col == cell; }),
              1);
  EXPECT_THROW(seen("oracle", {}), Error);
}

TEST(Baselines, PoliciesShareWhatTheNetworkMadeOfAPicture) {
  const Askers fresh(load_bundle(weights_folder()));
  const Picture picture = noise(512, 384, 9);
  const auto flops = [&](const char* policy) {
    const AskOptions options = with_budget(policy, "auto");
    const FlopCounter counter;
    fresh.of(options).see(picture, options);
    return counter.flops();
  };
  EXPECT_GT(flops("realized"), 0);
  EXPECT_EQ(flops("resize"), 0);  // its budget needs the network, which has seen the picture
  EXPECT_EQ(flops("tome"), 0);    // and so has another asker
}

TEST(Cost, CountsTheProductsThatAreRun) {
  at::NoGradGuard no_grad;
  const at::Tensor x = at::randn({2, 10, 16}), w = at::randn({24, 16}), b = at::randn({24});
  const FlopCounter counter;
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

}  // namespace
}  // namespace arrcoc::baselines
