// Hugging Face folders behind Model and Asker: modes, sources of relevance, conversations, streams.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "arrcoc/ask.h"
#include "arrcoc/error.h"
#include "base/cancel.h"
#include "hf/small_models.h"

namespace arrcoc {
namespace {

using testing_support::data;
using testing_support::folder_of;
using testing_support::picture;
using testing_support::Scratch;

constexpr const char* kQuestion = "Where is the red car?";

// Answers of few tokens, wherever salience is highest.
AskOptions settings(const std::string& budget = "20") {
  AskOptions options = policy("saliency");
  options.budget = budget;
  options.generate.max_new_tokens = 5;
  return options;
}

// The same with the looker that the Asker was given.
AskOptions by_looker(const std::string& budget = "20") {
  AskOptions options = settings(budget);
  options.look = LookOptions{};
  return options;
}

Reading reading_of(const Model& model, const std::vector<Picture>& pictures,
                   const std::string& question = kQuestion) {
  Reading out;
  out.question = question;
  out.generate.max_new_tokens = 8;
  for (const Picture& one : pictures) {
    PictureTokens& tokens = out.pictures.emplace_back();
    tokens.picture = &one;
    const Geometry geometry{one.width(), one.height(), 0};
    const Relevance even{
        {1, 1, static_cast<float>(one.width()), static_cast<float>(one.height()), {0.5F}},
        {},
        {},
        {}};
    const Budget budget{12, "", ""};
    tokens.allocation =
        model.capabilities().takes == TokenKind::selection
            ? allocating::allocate(even, geometry, budget, "quadtree")
            : allocating::allocate_views(even, geometry, budget, {}, [&](int width, int height) {
                return model.view_tokens(width, height);
              });
  }
  return out;
}

// What a sink heard, up to `most` pieces of every reading.
class Heard : public Sink {
 public:
  explicit Heard(size_t count, size_t most = 1000) : pieces(count), replies(count), most_(most) {}
  bool text(size_t i, std::string_view piece) override {
    pieces[i].emplace_back(piece);
    return pieces[i].size() < most_;
  }
  void done(size_t i, Reply reply) override {
    ++done_;
    replies[i] = std::move(reply);
  }
  std::string joined(size_t i) const {
    return std::accumulate(pieces[i].begin(), pieces[i].end(), std::string());
  }
  std::vector<std::vector<std::string>> pieces;
  std::vector<Reply> replies;
  size_t done_ = 0;

 private:
  size_t most_;
};

class EachFamily : public ::testing::TestWithParam<const char*> {
 protected:
  bool zooms() const { return std::string(GetParam()).rfind("qwen", 0) == 0; }
  bool tiles() const { return std::string(GetParam()) == "smolvlm"; }  // zoom by its own tiles
  std::shared_ptr<const Model> open(ReadMode mode) const { return open_model(folder, {mode}); }
  std::vector<ReadMode> modes() const {
    std::vector<ReadMode> out = {ReadMode::native, ReadMode::prune, ReadMode::patches};
    if (zooms() || tiles()) out.push_back(ReadMode::zoom);
    return out;
  }
  Scratch scratch;
  std::string folder = folder_of(GetParam(), scratch);
};

TEST_P(EachFamily, SaysWhatItTakesAndRefusesZoomWithAReason) {
  const auto takes = [&](ReadMode mode) { return open(mode)->capabilities().takes; };
  EXPECT_EQ(takes(ReadMode::native), TokenKind::native);
  EXPECT_EQ(takes(ReadMode::prune), TokenKind::selection);
  EXPECT_EQ(takes(ReadMode::patches), TokenKind::selection);
  EXPECT_EQ(takes(ReadMode::automatic), zooms() ? TokenKind::views : TokenKind::selection);
  const auto model = open(ReadMode::automatic);
  EXPECT_EQ(model->name(), GetParam());
  const Capabilities able = model->capabilities();
  EXPECT_TRUE(able.several && able.probabilities && able.focus && able.turns);
  EXPECT_GE(able.token_pixels, 8);
  if (tiles()) EXPECT_EQ(takes(ReadMode::zoom), TokenKind::selection);
  if (zooms() || tiles()) return;
  try {
    open(ReadMode::zoom);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_NE(std::string(error.what()).find("prune or patches"), std::string::npos);
  }
}

TEST_P(EachFamily, EveryModeStaysWithinTheBudgetOfAllPictures) {
  const std::vector<Picture> pictures = {picture(256, 256), picture(200, 300)};
  for (ReadMode mode : modes()) {
    const auto model = open(mode);
    const Answer answer = Asker(nullptr, model).ask(pictures, kQuestion, settings());
    SCOPED_TRACE(to_string(mode));
    ASSERT_EQ(answer.pictures.size(), 2U);
    EXPECT_EQ(answer.model, GetParam());
    EXPECT_EQ(answer.native_tokens, model->view_tokens(256, 256) + model->view_tokens(300, 200));
    if (mode == ReadMode::native) {
      EXPECT_EQ(answer.tokens, answer.native_tokens);
    } else {
      EXPECT_LE(answer.tokens, 20);
    }
    EXPECT_EQ(answer.probabilities.size(), 5U);
    EXPECT_FALSE(answer.calibrated);
    const double geometric = std::pow(answer.likelihood, 1.0 / 5);
    EXPECT_NEAR(answer.confidence, geometric, 1e-6);
    EXPECT_NEAR(answer.uncertainty, 1 - geometric, 1e-5);
    for (const PictureAnswer& one : answer.pictures) {
      const Reply& reply = one.answer().reply;
      EXPECT_GT(one.tokens, 0);
      if (mode == ReadMode::zoom && zooms())
        EXPECT_EQ(one.tokens, one.answer().allocation.tokens());
      ASSERT_EQ(reply.attention.size(), 1U);
      EXPECT_EQ(maximum(reply.attention[0]), 1);
      EXPECT_TRUE(reply.cut);
      EXPECT_EQ(reply.completion_tokens, 5);
      EXPECT_GT(reply.prompt_tokens, answer.tokens);
    }
    EXPECT_EQ(Asker(nullptr, open(mode)).ask(pictures, kQuestion, settings()).text, answer.text);
  }
}

TEST_P(EachFamily, StreamsWholeCharactersThatJoinToTheAnswer) {
  const auto model = open(ReadMode::prune);
  const std::vector<Picture> pictures = {picture(128, 160)};
  Reading reading = reading_of(*model, pictures);
  reading.generate.max_new_tokens = 24;
  Heard heard(1);
  model->read({&reading, 1}, heard);
  EXPECT_EQ(heard.done_, 1U);
  const std::string text = heard.joined(0);
  EXPECT_EQ(text, heard.replies[0].text);
  EXPECT_GT(heard.pieces[0].size(), 1U);
  for (const std::string& piece : heard.pieces[0]) {
    EXPECT_FALSE(piece.empty());
    EXPECT_NO_THROW(nlohmann::json(piece).dump()) << "not whole characters";
  }
  EXPECT_EQ(text.find_first_not_of(" \n\r\t"), 0U);
  EXPECT_EQ(text.find_last_not_of(" \n\r\t"), text.size() - 1);

  Heard little(1, 2);
  model->read({&reading, 1}, little);
  EXPECT_EQ(little.done_, 1U);
  EXPECT_EQ(little.pieces[0].size(), 2U);
  EXPECT_EQ(little.joined(0), heard.pieces[0][0] + heard.pieces[0][1]);
  EXPECT_LT(little.replies[0].completion_tokens, 24);
  EXPECT_FALSE(little.replies[0].cut);
}

// Reading asks between the layers of the picture's encoder and of the language model.
TEST_P(EachFamily, GivesUpBetweenLayersWhenNobodyWaits) {
  const auto model = open(ReadMode::native);
  const std::vector<Picture> pictures = {picture(128, 160)};
  const Reading reading = reading_of(*model, pictures);
  int asked = 0;
  {
    const CancelScope scope([&] { return ++asked, false; });
    read_one(*model, reading);
  }
  EXPECT_GE(asked, 4);
  for (int left : {0, 1, asked - 1}) {
    const auto fresh = open(ReadMode::native);  // no features of earlier readings
    const CancelScope scope([&] { return left-- <= 0; });
    EXPECT_THROW(read_one(*fresh, reading), Cancelled);
  }
}

TEST_P(EachFamily, ConversationsBeyondTheContextAreRefused) {
  const auto model = open(ReadMode::prune);
  const std::vector<Picture> pictures = {picture(128, 160)};
  Reading reading = reading_of(*model, pictures);
  reading.generate.max_new_tokens = 1 << 20;
  const auto config = nlohmann::json::parse(std::ifstream(folder + "/config.json"));
  const auto& text = config.contains("text_config") ? config["text_config"] : config;
  const int64_t context = text.value("max_position_embeddings", int64_t{0});
  ASSERT_GT(context, 0);
  for (int64_t i = 0; i < context; ++i) reading.question += " word";
  EXPECT_THROW(read_one(*model, reading), Error);
  reading.answer = false;
  EXPECT_GT(read_one(*model, reading).prompt_tokens, context) << "counting it is no harm";
}

TEST_P(EachFamily, CountsWhatItWouldRead) {
  const std::vector<Picture> pictures = {picture(128, 160), picture(90, 60)};
  for (ReadMode mode : modes()) {
    const auto model = open(mode);
    Reading reading = reading_of(*model, pictures);
    reading.before = {{Role::user, "What is this?", 1}, {Role::assistant, "A car.", 0}};
    const Reply whole = read_one(*model, reading);
    reading.answer = false;
    const Reply counted = read_one(*model, reading);
    EXPECT_EQ(counted.prompt_tokens, whole.prompt_tokens);
    EXPECT_EQ(counted.kept, whole.kept);
    ASSERT_EQ(whole.kept.size(), 2U);
    EXPECT_EQ(whole.attention.size(), 2U);
    EXPECT_TRUE(counted.text.empty());
    EXPECT_EQ(counted.completion_tokens, 0);
    if (mode == ReadMode::native) {
      EXPECT_EQ(whole.kept[0], model->view_tokens(160, 128));
    } else {
      EXPECT_LE(whole.kept[0], 12);
    }
  }
}

TEST_P(EachFamily, SeveralReadingsGetTheAnswersTheyGetAlone) {
  const std::vector<Picture> first = {picture(128, 160)}, second = {picture(60, 60)};
  for (ReadMode mode : modes()) {
    const auto model = open(mode);
    std::vector<Reading> readings = {reading_of(*model, first),
                                     reading_of(*model, first, "Who wrote the letter, and when?"),
                                     reading_of(*model, second), reading_of(*model, first, "Why?")};
    readings[1].before = {{Role::user, "Hello", 1}, {Role::assistant, "Hello.", 0}};
    Heard heard(readings.size());
    model->read(readings, heard);
    EXPECT_EQ(heard.done_, readings.size());
    for (size_t i = 0; i < readings.size(); ++i) {
      const Reply alone = read_one(*model, readings[i]);
      const Reply& together = heard.replies[i];
      EXPECT_EQ(together.text, alone.text) << to_string(mode) << " " << i;
      EXPECT_EQ(heard.joined(i), alone.text);
      EXPECT_EQ(together.prompt_tokens, alone.prompt_tokens);
      ASSERT_EQ(together.probabilities.size(), alone.probabilities.size());
      for (size_t t = 0; t < alone.probabilities.size(); ++t)
        EXPECT_NEAR(together.probabilities[t], alone.probabilities[t], 1e-4);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, EachFamily,
                         ::testing::Values("llava", "qwen2_vl", "qwen2_5_vl", "qwen3_vl", "ovis2",
                                           "smolvlm"));

TEST(Relevance, EverySourceLeadsToAnAnswerWithinTheBudget) {
  Scratch scratch;
  const std::string folder = folder_of("qwen3_vl", scratch), clip = folder_of("clip", scratch);
  const auto salience = make_looker(settings().look);
  const Picture shown = picture(256, 256);
  for (ReadMode mode : {ReadMode::prune, ReadMode::zoom}) {
    const ModelOptions options{mode};
    const auto model = open_model(folder, options);
    std::vector<Map> maps;
    for (RelevanceSource source :
         {RelevanceSource::clip, RelevanceSource::attention, RelevanceSource::combined}) {
      const Asker asker(nullptr, model, relevance_looker(source, *model, salience, clip, options));
      const Answer answer = asker.ask(shown, kQuestion, by_looker());
      EXPECT_LE(answer.tokens, 20);
      maps.push_back(answer.from().look.relevance.map);
      EXPECT_GT(variance(maps.back()), 0);
      EXPECT_TRUE(answer.fallbacks.empty()) << answer.fallbacks[0];
    }
    EXPECT_NE(maps[0], maps[1]);
    EXPECT_NE(maps[1], maps[2]);
    EXPECT_EQ(relevance_looker(RelevanceSource::network, *model, salience, "", options), nullptr);
    EXPECT_NE(relevance_looker(RelevanceSource::combined, *model, nullptr, "", options), nullptr);
  }
}

TEST(Conversation, TheNextQuestionChoosesAnewAndRemembersTheTurnsBefore) {
  Scratch scratch;
  const std::string folder = folder_of("qwen2_5_vl", scratch);
  std::vector<std::string> texts[2];
  for (int cached : {0, 1}) {
    const auto model =
        open_model(folder, {.mode = ReadMode::prune, .cache_bytes = cached ? int64_t{1} << 28 : 0});
    const Asker asker(nullptr, model, model->looker());
    AskOptions options = by_looker();
    std::vector<Answer> answers;
    for (const char* question : {kQuestion, "How many birds sit on the roof of the house?"}) {
      answers.push_back(asker.ask(picture(256, 256), question, options));
      const int shown = options.before.empty() ? 1 : 0;
      options.before.push_back({Role::user, question, shown});
      options.before.push_back({Role::assistant, answers.back().text, 0});
      texts[cached].push_back(answers.back().text);
      EXPECT_LE(answers.back().tokens, 20);
    }
    EXPECT_NE(answers[0].from().look.relevance.map, answers[1].from().look.relevance.map);
    EXPECT_GT(answers[1].from().answer().reply.prompt_tokens,
              answers[0].from().answer().reply.prompt_tokens);
  }
  EXPECT_EQ(texts[0], texts[1]);  // with features that are kept and with features made anew
}

TEST(Conversation, NativeIsTheModelsOwnAnswer) {
  Scratch scratch;
  const std::string folder = folder_of("qwen3_vl", scratch);
  const auto inside = hf::HfModel::open(folder, {}, load_tokenizer(folder));
  const hf::Features seen = inside->encode_image(picture(64, 96));
  const std::vector<Turn> turns = {
      {Role::system, "Be brief.", 0}, {Role::user, "Who?", 1}, {Role::assistant, "Me.", 0}};
  std::vector<Turn> talk = turns;
  talk.push_back({Role::user, "Where?", 0});
  const hf::Generation made = testing_support::answer(*inside, talk, {seen});
  AskOptions options = settings();
  options.before = turns;
  const Answer answer = Asker(nullptr, open_model(folder, {ReadMode::native}))
                            .ask(picture(64, 96), "Where?", options);
  EXPECT_EQ(answer.probabilities, made.probability);
  EXPECT_EQ(answer.from().answer().reply.prompt_tokens, made.prompt_tokens);
  EXPECT_EQ(answer.tokens, seen.size());
}

TEST(Conversation, AnswersAreWrittenAsTheyAreAskedFor) {
  Scratch scratch;
  const auto model = open_model(folder_of("llava", scratch), {});
  const std::vector<Picture> pictures = {picture(64, 64)};
  Reading reading = reading_of(*model, pictures);
  const auto said = [&](std::optional<double> temperature, uint64_t seed) {
    reading.generate.temperature = temperature;
    reading.generate.seed = seed;
    return read_one(*model, reading).text;
  };
  EXPECT_EQ(said(2, 3), said(2, 3));
  EXPECT_NE(said(2, 3), said(2, 4));
  EXPECT_EQ(said({}, 3), said({}, 4));  // generation_config.json: greedy
  EXPECT_EQ(said(0, 3), said({}, 3));
  reading.generate.top_p = 1e-6;
  EXPECT_EQ(said(2, 3), said({}, 3));
  reading.generate.top_p = 0;
  EXPECT_THROW(said(2, 3), Error);
}

TEST(Conversation, ThreadsShareAModelAndItsCache) {
  Scratch scratch;
  const auto model = open_model(folder_of("qwen2_vl", scratch), {ReadMode::prune});
  const std::vector<Picture> pictures = {picture(96, 96)};
  const Reading reading = reading_of(*model, pictures);
  std::vector<std::string> texts(4);
  std::vector<std::thread> threads;
  for (std::string& text : texts)
    threads.emplace_back([&] { text = read_one(*model, reading).text; });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : texts) EXPECT_EQ(text, texts[0]);
}

TEST(Conversation, RefusesWhatCannotWorkWithAReason) {
  Scratch scratch;
  const std::string folder = folder_of("llava", scratch);
  const auto model = open_model(folder, {});
  const std::vector<Picture> pictures = {picture(64, 64), picture(64, 64)};
  const auto refused = [&](const std::function<void()>& act, const std::string& reason) {
    try {
      act();
      ADD_FAILURE() << reason;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
  };
  refused([&] { open_model(data("goldens/clip"), {}); }, "clip has no language model");
  refused([&] { open_model(data("goldens/sam"), {}); }, "sam has no language model");
  refused([&] { open_model(data("goldens/llava"), {}); }, "tokenizer.json");
  refused([&] { open_model(scratch.path("nowhere"), {}); }, "nowhere");
  refused([&] { open_model(folder, {.device = "warp"}); }, "unknown device 'warp'");
  refused([&] { open_model(folder, {.dtype = "int3"}); }, "unknown dtype 'int3'");
  refused([] { parse_enum<ReadMode>("crop"); }, "no mode named 'crop'");
  refused([] { parse_enum<RelevanceSource>("guess"); }, "no relevance named 'guess'");
  refused([&] { relevance_looker(RelevanceSource::clip, *model, nullptr, "", {}); },
          "CLIP or SigLIP");
  refused([&] { relevance_looker(RelevanceSource::clip, *model, nullptr, folder, {}); },
          "does not compare pictures with texts");
  const Asker asker(nullptr, model);
  refused([&] { asker.ask(pictures, "Where?", settings("1")); }, "cannot show 2 pictures");
  AskOptions options = settings();
  options.before = {{Role::user, "Compare.", 3}};
  refused([&] { asker.ask(pictures, "Where?", options); }, "more pictures than were given");
  options = settings();
  options.passes.passes = 2;
  const Asker native(nullptr, open_model(folder, {ReadMode::native}));
  refused([&] { native.ask(pictures, "Where?", options); }, "looking again");
}

}  // namespace
}  // namespace arrcoc
