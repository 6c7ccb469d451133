// The road with the bundled architecture. The weights are random: behaviour, not skill.
#include "arrcoc/ask.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <thread>

#include "arrcoc/error.h"
#include "arrcoc/json.h"
#include "ask/passes.h"
#include "models.h"
#include "models/tiny/kinds.h"
#include "models/tiny/signs.h"

using namespace arrcoc;
using namespace arrcoc::test;

namespace {

const std::shared_ptr<const Bundle>& small() {
  static const std::shared_ptr<const Bundle> bundle = load_bundle(small_weights());
  return bundle;
}

const Asker& asker() {
  static const Asker one(small());
  return one;
}

AskOptions with_budget(const std::string& policy, int tokens) {
  AskOptions options = arrcoc::policy(policy);
  options.budget = std::to_string(tokens);
  return options;
}

bool has_note(const Answer& answer, const std::string& start) {
  return std::any_of(answer.fallbacks.begin(), answer.fallbacks.end(),
                     [&](const std::string& note) { return note.rfind(start, 0) == 0; });
}

}  // namespace

TEST(Ask, EveryPolicyKeepsTheBudgetButNative) {
  const Picture picture = noise(400, 300);
  for (const char* policy : {"realized", "resize", "random", "breadth_first", "uniform", "lexical",
                             "saliency", "top-k", "diverse", "bands", "zoom", "learned"}) {
    const Answer answer = asker().ask(picture, "What is the total?", with_budget(policy, 80));
    EXPECT_LE(answer.tokens, 80) << policy;
    EXPECT_GT(answer.tokens, 0) << policy;
    EXPECT_EQ(answer.native_tokens, 25 * 19) << policy;
    EXPECT_NE(answer.stop, Stop::open) << policy;
    EXPECT_EQ(answer.model, "arrcoc-tiny");
  }
  const Answer native = asker().ask(picture, "What is the total?", with_budget("native", 80));
  EXPECT_EQ(native.tokens, 25 * 19);
}

TEST(Ask, FixedRulesSpendTheirOwnBudget) {
  const Picture picture = noise(512, 512);
  const auto tokens = [&](const char* policy, int budget) {
    return asker().ask(picture, "What is the total?", with_budget(policy, budget)).tokens;
  };
  EXPECT_EQ(tokens("fixed-16x", 64), 256);
  EXPECT_EQ(tokens("fixed-16x", 400), 256);
  EXPECT_EQ(tokens("fixed-tiers", 64), tokens("fixed-tiers", 400));
}

TEST(Ask, AutoIsTheNetworksNeedUnderEveryPolicy) {
  const Picture picture = noise(512, 512);
  const auto budget = [&](const char* policy) {
    return asker().ask(picture, "What is the total?", arrcoc::policy(policy)).from().budget.tokens;
  };
  for (const char* policy : {"resize", "random", "lexical", "learned"})
    EXPECT_EQ(budget(policy), budget("realized")) << policy;
}

TEST(Ask, TogetherIsTheSameAsOneByOne) {
  const Picture picture = noise(300, 200);
  const std::vector<Inquiry> inquiries = {
      {"What is the total?", {}}, {"Who?", {}}, {"which of the two came first?", {}}};
  const AskOptions options = with_budget("breadth-first", 90);  // rounding cannot choose others
  const auto together = asker().ask(picture, inquiries, options);
  for (size_t i = 0; i < inquiries.size(); ++i) {
    const Answer alone = asker().ask(picture, inquiries[i].question, options);
    EXPECT_EQ(together[i].from().answer().allocation.leaves,
              alone.from().answer().allocation.leaves);
    EXPECT_EQ(together[i].text, alone.text);
    EXPECT_NEAR(together[i].likelihood, alone.likelihood, 1e-4);
    const AskOptions realized = with_budget("realized", 90);
    EXPECT_LT(cosine_distance(
                  asker().ask(picture, inquiries, realized)[i].from().look.relevance.map,
                  asker().ask(picture, inquiries[i].question, realized).from().look.relevance.map),
              1e-6F);
  }
}

TEST(Ask, APictureIsSeenOnce) {
  const Asker fresh(small());
  const Picture picture = noise(200, 100, 9);
  const AskOptions options = fresh.fitted({});
  const auto first = fresh.see(picture, options);
  EXPECT_EQ(fresh.see(picture, options), first);
  EXPECT_NE(fresh.see(noise(200, 100, 10), options), first);
  AskOptions canvas = options;
  canvas.canvas = 512;
  EXPECT_NE(fresh.see(picture, canvas), first);
  EXPECT_EQ(fresh.see(picture, canvas)->pyramid->geometry().width, 512);
  EXPECT_GT(first->bytes(), 200 * 100 * 3);
}

// Tokens of small and large pictures are cut from a resampled one, for models that take patches.
TEST(Ask, SmallPicturesAreEnlargedAndLargeOnesReduced) {
  const auto side = [](int width, int height, const AskOptions& options) {
    return geometry_of(width, height, options).width;
  };
  EXPECT_EQ(side(420, 300, {}), 1024);
  EXPECT_EQ(side(300, 420, {}), 731);
  EXPECT_EQ(side(100, 80, {}), 400);  // four times at most
  EXPECT_EQ(side(1024, 80, {}), 1024);
  EXPECT_EQ(side(1200, 800, {}), 1200);
  EXPECT_EQ(side(1600, 1200, {}), 1280);
  EXPECT_EQ(side(4000, 3000, {}), 2000);  // to a half at most
  AskOptions native;
  native.least_side = native.most_side = 0;
  EXPECT_EQ(side(420, 300, native), 420);
  EXPECT_EQ(side(4000, 300, native), 4000);
  EXPECT_EQ(side(420, 300, policy("native")), 420);
  AskOptions canvas;
  canvas.canvas = 512;
  EXPECT_EQ(side(420, 300, canvas), 512);
  EXPECT_EQ(asker().fitted({}).least_side, 1024);
  const Answer answer = asker().ask(noise(420, 300), "what is it?");
  EXPECT_EQ(answer.from().answer().allocation.geometry.width, 1024);
  EXPECT_EQ(answer.native_tokens, 27 * 19);  // of the picture as it came
  if (const auto& box = answer.box()) EXPECT_LE(box->x1, 420);
}

TEST(Ask, BadQuestionsAndOptionsAreRefused) {
  EXPECT_THROW(asker().ask(noise(32, 32), ""), Error);
  EXPECT_THROW(asker().ask(std::vector<Picture>{}, "what?"), Error);
  AskOptions options;
  options.passes.passes = 17;
  EXPECT_THROW(asker().ask(noise(32, 32), "what?", options), Error);
  options = {};
  options.canvas = 5;
  EXPECT_THROW(asker().ask(noise(32, 32), "what?", options), Error);
  options = {};
  options.least_side = -3;
  EXPECT_THROW(asker().ask(noise(32, 32), "what?", options), Error);
  options = {};
  options.budget = "many";
  EXPECT_THROW(asker().ask(noise(32, 32), "what?", options), Error);
}

TEST(Ask, LongQuestionsSayThatTheyWereCut) {
  const Answer answer = asker().ask(noise(64, 64), std::string(300, 'a') + "?");
  EXPECT_TRUE(has_note(answer, kShortened));
  EXPECT_FALSE(has_note(asker().ask(noise(64, 64), "what?"), kShortened));
}

// The same steps as Asker takes, by hand: what a queue does with many questions.
TEST(Asking, IsTheRoadStepByStep) {
  const Picture picture = noise(400, 300);
  AskOptions options = asker().fitted(with_budget("passes", 90));
  options.passes.confident = 1.1;
  options.passes.gathered = 0;
  const Answer whole = asker().ask(picture, "what?", options);
  Asking asking({asker().see(picture, options)}, small()->model, "what?", options);
  int steps = 0;
  for (std::vector<Reading> readings = asking.next(); !readings.empty(); readings = asking.next()) {
    ASSERT_EQ(readings.size(), 1U);
    EXPECT_EQ(readings[0].question, "what?");
    const Answer looked = asking.finish();  // where the tokens go; the road goes on
    EXPECT_EQ(looked.stop, Stop::open);
    EXPECT_EQ(looked.from().passes.back().allocation.leaves,
              readings[0].pictures[0].allocation.leaves);
    asking.hear({read_one(*small()->model, readings[0])});
    ++steps;
  }
  EXPECT_TRUE(asking.next().empty());
  const Answer stepped = asking.finish();
  EXPECT_EQ(steps, 2);
  EXPECT_EQ(stepped.text, whole.text);
  EXPECT_EQ(stepped.confidence, whole.confidence);
  EXPECT_EQ(stepped.tokens, whole.tokens);
  EXPECT_EQ(stepped.stop, whole.stop);
  ASSERT_EQ(stepped.from().passes.size(), 2U);
  for (size_t i = 0; i < 2; ++i)
    EXPECT_EQ(stepped.from().passes[i].allocation.leaves, whole.from().passes[i].allocation.leaves);
}

TEST(Asking, HearsOneReplyAReading) {
  Asking asking({asker().see(noise(64, 64), {})}, small()->model, "what?", {});
  EXPECT_THROW(asking.finish(), Error);  // nothing has been looked at
  asking.next();
  EXPECT_THROW(asking.hear({}), Error);
}

// A looker that fails costs detail, not the answer.
TEST(Asking, FallsBackToEvenDetailWhenLookingFails) {
  class Broken : public Looker {
   public:
    std::shared_ptr<const Seen> see(const Picture&, const at::Tensor&) const override {
      throw Error(ErrorCode::numeric, "page features are NaN");
    }
    std::vector<Look> look(const Seen&, std::span<const Query>, const History&) const override {
      return {};
    }
  };
  const auto seen = see(noise(512, 512), std::make_shared<Broken>(), {});
  Asking asking({seen}, small()->model, "what?", {});
  asking.hear({read_one(*small()->model, asking.next().front())});
  const Answer answer = asking.finish();
  EXPECT_TRUE(has_note(answer, kLookerFailed));
  EXPECT_EQ(answer.from().budget.tokens, 180);
  EXPECT_EQ(answer.from().look.relevance.weights, (Weights{0, 0, 0}));
}

TEST(Asking, RefusesPassesForModelsThatCannotLookAgain) {
  Capabilities takes;
  takes.takes = TokenKind::native;
  const auto model = std::make_shared<Scripted>(
      [](size_t, const Reading& reading) { return reply_of("x", 0.5F, reading); }, takes);
  AskOptions options = policy("saliency");
  options.passes.passes = 2;
  try {
    Asker(nullptr, model).ask(noise(64, 64), "what?", options);
    ADD_FAILURE();
  } catch (const Error& problem) {
    EXPECT_EQ(problem.code(), ErrorCode::unsupported);
  }
}

TEST(Asking, AModelOfViewsGetsCropsThatFitItsOwnCount) {
  Capabilities takes;
  takes.takes = TokenKind::views;
  takes.token_pixels = 16;
  const auto model = std::make_shared<Scripted>(
      [](size_t, const Reading& reading) {
        EXPECT_TRUE(reading.pictures[0].allocation.leaves.empty());
        EXPECT_LE(reading.pictures[0].allocation.tokens(), 200);
        return reply_of("x", 0.5F, reading);
      },
      takes);
  AskOptions options = policy("saliency");
  options.budget = "200";
  const Answer answer = Asker(nullptr, model).ask(noise(1024, 768), "what?", options);
  EXPECT_LE(answer.tokens, 200);
  EXPECT_EQ(answer.native_tokens, 64 * 48);
}

TEST(AnswerBox, GrowsAlongTheLineAndStopsWhereAttentionEnds) {
  Pass read;
  read.allocation.geometry = {160, 64, 0};
  for (int c = 0; c < 10; ++c) read.allocation.leaves.push_back({0, 1, c, 0});
  const auto tokens = asking::tokens_of(read, 160, 64);
  //                          0     1    2     3    4     5  6  7     8    9
  const std::vector<float> f = {0.30F, 0, 0.2F, 0.4F, 0.3F, 0, 0, 0.01F, 0.2F, 0};
  EXPECT_EQ(asking::answer_box(tokens, f), (Box{32, 16, 80, 32}));
  EXPECT_EQ(asking::answer_box(tokens, std::vector<float>(10, 0.0F)), std::nullopt);
}

TEST(AnswerJson, SaysWhatWasAnsweredAndWhy) {
  const Answer answer =
      asker().ask(noise(400, 300), "What is the total?", with_budget("passes", 80));
  const auto out = to_json(answer);
  for (const char* key :
       {"image",  "question",      "answer",        "confidence", "likelihood", "uncertainty",
        "unsure", "box",           "probabilities", "policy",     "budget",     "budget_reason",
        "tokens", "native_tokens", "stopped",       "best_pass",  "picture",    "weights",
        "passes", "pictures",      "milliseconds",  "fallbacks"})
    EXPECT_TRUE(out.contains(key)) << key;
  EXPECT_FALSE(out.contains("tensions"));  // the balancer of this policy has none
  EXPECT_FALSE(out.contains("leaves"));
  EXPECT_TRUE(to_json(answer, {true}).contains("leaves"));
  EXPECT_EQ(out["picture"], 1);
  EXPECT_EQ(out["pictures"][0]["canvas"], out["canvas"]) << "400 x 300 was enlarged";
  const auto looked = to_json(asker().look(noise(400, 300), "What is the total?"), {true});
  EXPECT_FALSE(looked.contains("answer"));
  EXPECT_TRUE(looked.contains("map"));
  at::Tensor half = at::full({3, 300, 400}, 200, at::kByte);
  half.narrow(1, 40, 80).narrow(2, 50, 90).fill_(10);
  EXPECT_TRUE(
      to_json(asker().look(make_picture(half), "what?", policy("lexical"))).contains("tensions"));
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
}

// A calibration.json of old has no "place" and no "kind"; what cannot be one names it.
TEST(Calibration, KeepsWhatPlaceAndKindCountBesideTheRest) {
  Calibration c;
  c.slope = 0.5;
  EXPECT_EQ(calibration_from_json(tiny::to_json({c, 0.75, 0.5})), c);
  const tiny::SignWeights back = tiny::sign_weights_from_json(tiny::to_json({c, 0.75, 0.5}));
  EXPECT_EQ(back.calibration, c);
  EXPECT_EQ(back.place, 0.75);
  EXPECT_EQ(back.kind, 0.5);
  EXPECT_EQ(tiny::sign_weights_from_json(to_json(c)).place, 0);
  EXPECT_EQ(tiny::sign_weights_from_json(to_json(c)).kind, 0);
  for (const char* bad : {R"({"place":"x"})", R"({"place":1e9})", R"({"kind":[]})", "{"})
    EXPECT_THROW(tiny::sign_weights_from_json(bad), Error) << bad;
  const std::string folder = small_weights(8);
  std::ofstream(folder + "/calibration.json") << R"({"place":"x"})";
  try {
    load_bundle(folder);
    ADD_FAILURE() << "was accepted";
  } catch (const Error& problem) {
    EXPECT_NE(std::string(problem.what()).find("calibration.json"), std::string::npos);
  }
}

// Whatever was fitted, alone: the answer's confidence is the logistic of weight x sign.
TEST(Calibration, EverySignReachesTheConfidence) {
  const std::string folder = small_weights(9);
  const Picture picture = noise(300, 200);
  const std::string question = "What is the total?";
  std::ofstream(folder + "/kinds.json") << R"({"usual":-9,"rows":{}})";
  const auto ask_with = [&](const tiny::SignWeights& weights) {
    std::ofstream(folder + "/calibration.json") << tiny::to_json(weights);
    return Asker(load_bundle(folder)).ask(picture, question, with_budget("realized", 80));
  };
  tiny::SignWeights none;
  none.calibration.slope = 0;
  const Answer plain = ask_with(none);
  EXPECT_NEAR(plain.confidence, 0.5, 1e-9);
  const Pass& pass = plain.from().answer();
  const auto kinds = tiny::kinds_of(folder);
  const tiny::ReadSigns signs{signs_of(question, plain.text, plain.probabilities),
                              tiny::place_sign(pass.reply.focus, pass.allocation.leaves),
                              tiny::kind_sign(kinds.get(), question, plain.text)};
  EXPECT_NE(signs.place, 0);
  EXPECT_NE(signs.kind, 0);
  const tiny::ConfidenceValues values = tiny::confidence_values(signs);
  for (size_t i = 0; i < values.size(); ++i) {
    tiny::ConfidenceValues one{};
    one[i] = 0.1;
    EXPECT_NEAR(ask_with(tiny::weights_of(none.calibration, one)).confidence,
                1 / (1 + std::exp(-0.1 * values[i])), 1e-5)
        << i;
  }
}

TEST(Calibration, PlaceIsTheRelevanceOfWhatWasRead) {
  const std::vector<Leaf> leaves = {{0, 0, 0, 0.9F}, {0, 0, 1, 0.1F}, {1, 1, 0, 0.5F}};
  const auto of = [&](std::vector<float> focus) { return tiny::place_sign(focus, leaves); };
  EXPECT_NEAR(of({0.4F, 0, 0}), std::log(9), 1e-5);
  EXPECT_NEAR(of({0, 0.2F, 0}), -std::log(9), 1e-5);
  EXPECT_NEAR(of({0.3F, 0.3F, 0}), 0, 1e-5);
  EXPECT_EQ(of({0, 0, 0}), 0);
  EXPECT_EQ(of({}), 0);
  const std::vector<Leaf> blind = {{0, 0, 0, 0}};
  EXPECT_EQ(tiny::place_sign(std::vector<float>{1}, blind), 0);
}

TEST(Bundle, BringsEverythingThatWasFitted) {
  const std::string folder = small_weights(7);
  EXPECT_FALSE(load_bundle(folder)->balancer);
  EXPECT_FALSE(load_bundle(folder)->experts);
  EXPECT_EQ(load_bundle(folder)->film, FilmConstants{});
  Calibration c;
  c.threshold = 0.25;
  c.weights = 5;  // of other weights
  std::ofstream(folder + "/calibration.json") << to_json(c);
  std::ofstream(folder + "/film.json") << R"({"decay": 0.3, "novelty": 0.1, "measured": {}})";
  std::ifstream shipped(find_bundle() + "/policies.json");
  std::ofstream(folder + "/policies.json") << shipped.rdbuf();
  const auto bundle = load_bundle(folder);
  EXPECT_EQ(bundle->calibration, c);
  EXPECT_TRUE(bundle->stale);
  EXPECT_FLOAT_EQ(bundle->film.decay, 0.3F);
  EXPECT_TRUE(bundle->balancer && bundle->experts);
  EXPECT_EQ(bundle->model->capabilities().threshold, 0.25);
  const Answer answer = Asker(bundle).ask(noise(64, 64), "what?");
  EXPECT_TRUE(has_note(answer, kStaleCalibration));
  EXPECT_FALSE(has_note(answer, "no experts"));
  for (const char* file : {"calibration.json", "film.json", "kinds.json", "policies.json"}) {
    std::ofstream(folder + "/" + file) << "{broken";
    try {
      load_bundle(folder);
      ADD_FAILURE() << file;
    } catch (const Error& problem) {
      EXPECT_NE(std::string(problem.what()).find(file), std::string::npos);
    }
    std::filesystem::remove(folder + "/" + file);
  }
  EXPECT_THROW(load_bundle(folder + "/nowhere"), Error);
}

// Nothing of a bundle is global: two of them answer in turn and at once as each does alone.
TEST(Bundle, TwoAnswerSideBySide) {
  const std::string folder = small_weights(21);
  Calibration c;
  c.slope = 0.3;
  std::ofstream(folder + "/calibration.json") << to_json(c);
  std::ifstream shipped(find_bundle() + "/policies.json");
  std::ofstream(folder + "/policies.json") << shipped.rdbuf();
  const Picture picture = noise(300, 200);
  const auto all = [&](const Asker& one) {
    std::vector<std::string> out;
    for (const char* policy : {"realized", "learned", "passes"}) {
      auto json = to_json(one.ask(picture, "What is the total?", with_budget(policy, 80)), {true});
      json.erase("milliseconds");
      out.push_back(json.dump());
    }
    return out;
  };
  const auto first = all(Asker(small()));
  const auto second = all(Asker(load_bundle(folder)));
  EXPECT_NE(first, second);
  const Asker a(small()), b(load_bundle(folder));
  EXPECT_EQ(all(a), first);
  EXPECT_EQ(all(b), second);
  EXPECT_EQ(all(a), first);
  std::vector<std::string> one, two;
  std::thread other([&] { two = all(b); });
  one = all(a);
  other.join();
  EXPECT_EQ(one, first);
  EXPECT_EQ(two, second);
}
