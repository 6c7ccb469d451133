// The queue, with models that do as the test says.
#include "serve/engine.h"

#include <future>
#include <thread>

#include "arrcoc/error.h"
#include "ask/models.h"
#include "support.h"

namespace arrcoc::serving::test {
namespace {

using arrcoc::test::noise;
using arrcoc::test::reply_of;
using arrcoc::test::Scripted;

// A bundle of a model and a map that is the same for every question.
struct WithEngine {
  explicit WithEngine(std::shared_ptr<const Model> model, Options options = one_worker(),
                      bool bundled = true)
      : bundle(std::make_shared<Bundle>()) {
    bundle->looker = given_map({2, 2, 1, 1, {0.1F, 0.2F, 0.3F, 0.9F}});
    bundle->model = bundled ? model : arrcoc::test::script({0.9F});
    asker = std::make_shared<Asker>(bundle, model, nullptr, 0);
    engine = std::make_unique<Engine>(options, metrics, asker, decoders_for(options));
    usual.budget = "64";
    picture = see(noise(200, 160), asker->looker(usual), usual);
  }
  static Options one_worker() {
    Options out;
    out.workers = 1;
    out.batch_tokens = 4096;
    return out;
  }
  Question question(const std::string& text, Wanted wanted = Wanted::answer) const {
    return {{picture}, asker->model(), text, usual, wanted};
  }
  static std::string wait(const Job& job) {
    std::string text;
    const auto soon = Clock::now() + std::chrono::seconds(60);
    while (job.wait(text.max_size(), soon, text) == AnswerStream::Progress::more) continue;
    return text;
  }
  // Keeps the one worker busy until `go`.
  Ticket blocked() { return engine->ask(question("block")); }

  std::shared_ptr<Bundle> bundle;
  std::shared_ptr<Asker> asker;
  Metrics metrics;
  AskOptions usual;
  SeenRef picture;
  std::unique_ptr<Engine> engine;
};

// A model whose reading of "block" waits for the test.
class Blocking {
 public:
  std::shared_ptr<Scripted> model(Capabilities takes = {}) {
    return std::make_shared<Scripted>(
        [this](size_t, const Reading& reading) {
          if (reading.question == "block") {
            entered.set_value();
            go.get_future().wait();
          }
          if (reading.question == "bad") throw Error(ErrorCode::numeric, "bad");
          return reply_of("to " + reading.question, 0.9F, reading);
        },
        takes);
  }
  std::promise<void> entered, go;
};

TEST(EngineTest, EqualQuestionsAreReadOnceAndOthersTogether) {
  Blocking blocking;
  const auto model = blocking.model();
  WithEngine s(model);
  const Ticket first = s.blocked();
  blocking.entered.get_future().wait();
  std::vector<Ticket> tickets;
  for (const char* text : {"one", "two", "one", "one"})
    tickets.push_back(s.engine->ask(s.question(text)));
  Question other = s.question("one");
  other.options.budget = "70";
  tickets.push_back(s.engine->ask(other));
  blocking.go.set_value();
  EXPECT_EQ(WithEngine::wait(*tickets[0]), "to one");
  EXPECT_EQ(WithEngine::wait(*tickets[1]), "to two");
  EXPECT_EQ(WithEngine::wait(*tickets[4]), "to one");
  EXPECT_EQ(tickets[0], tickets[2]);
  EXPECT_EQ(tickets[0]->answer(), tickets[3]->answer());
  EXPECT_NE(tickets[0]->answer(), tickets[4]->answer()) << "another budget, another answer";
  EXPECT_EQ(model->given.size(), 4U);
  EXPECT_EQ(s.metrics.value("arrcoc_coalesced_total"), 2);
  EXPECT_NE(s.metrics.text().find("arrcoc_batch_questions_count 2\n"), std::string::npos)
      << "the first alone, then all that waited";
}

TEST(EngineTest, WhatNobodyWaitsForIsDropped) {
  Blocking blocking;
  const auto model = blocking.model();
  WithEngine s(model);
  const Ticket first = s.blocked();
  blocking.entered.get_future().wait();
  Ticket kept = s.engine->ask(s.question("kept"));
  s.engine->ask(s.question("gone")).reset();
  blocking.go.set_value();
  WithEngine::wait(*kept);
  s.engine->stop();
  for (const Reading& reading : model->given) EXPECT_NE(reading.question, "gone");
}

TEST(EngineTest, OneBadQuestionFailsAlone) {
  Blocking blocking;
  WithEngine s(blocking.model());
  const Ticket first = s.blocked();
  blocking.entered.get_future().wait();
  const Ticket good = s.engine->ask(s.question("good")), bad = s.engine->ask(s.question("bad"));
  blocking.go.set_value();
  EXPECT_EQ(WithEngine::wait(*good), "to good");
  EXPECT_THROW(WithEngine::wait(*bad), Error);
}

TEST(EngineTest, PassesGoOnUntilTheRoadStops) {
  const auto model = arrcoc::test::script({0.3F, 0.4F, 0.95F}, 3);
  WithEngine s(model);
  Question q = s.question("what is it?");
  q.options.passes.passes = 4;
  q.pictures = {see(noise(200, 160), s.asker->looker(q.options), q.options)};
  const Ticket job = s.engine->ask(q);
  EXPECT_EQ(WithEngine::wait(*job), "pass 3");
  const Answer alone = Asker(s.bundle, arrcoc::test::script({0.3F, 0.4F, 0.95F}, 3))
                           .ask(noise(200, 160), "what is it?", q.options);
  EXPECT_EQ(job->answer()->from().passes.size(), alone.from().passes.size());
  EXPECT_EQ(job->answer()->stop, Stop::sure);
  EXPECT_EQ(job->answer()->tokens, alone.tokens);
}

// Streams a sentence with white space around it, and lets the test look in between.
class Talker : public Model {
 public:
  std::string name() const override { return "talker"; }
  Capabilities capabilities() const override {
    Capabilities out;
    out.takes = TokenKind::views;
    out.several = out.turns = true;
    return out;
  }
  int64_t view_tokens(int width, int height) const override {
    return Geometry{width, height, 0}.native_tokens();
  }
  void read(std::span<const Reading> readings, Sink& sink) const override {
    for (size_t i = 0; i < readings.size(); ++i) {
      Reply reply;
      reply.text = "a b";
      for (const PictureTokens& picture : readings[i].pictures)
        reply.kept.push_back(picture.allocation.tokens());
      if (readings[i].answer) {
        for (const char* piece : {" ", "\na", " "}) wanted = sink.text(i, piece);
        if (!paused.exchange(true)) {
          half.set_value();
          go.get_future().wait();
        }
        for (const char* piece : {"b", "  "}) wanted = sink.text(i, piece);
      }
      ++reads;
      sink.done(i, std::move(reply));
    }
  }
  mutable std::promise<void> half, go;
  mutable std::atomic<bool> paused{false}, wanted{true};
  mutable std::atomic<int> reads{0};
};

TEST(EngineTest, TextIsHeardAsItComesWithoutWhiteSpaceAround) {
  const auto model = std::make_shared<Talker>();
  WithEngine s(model, WithEngine::one_worker(), false);
  const Ticket job = s.engine->ask(s.question("tell"));
  model->half.get_future().wait();
  std::string text;
  const auto soon = Clock::now() + std::chrono::seconds(60);
  EXPECT_EQ(job->wait(0, soon, text), AnswerStream::Progress::more);
  EXPECT_EQ(text, "a");
  model->go.set_value();
  EXPECT_EQ(WithEngine::wait(*job), "a b");
  EXPECT_TRUE(model->wanted);
}

TEST(EngineTest, AModelIsToldWhenNobodyListens) {
  const auto model = std::make_shared<Talker>();
  WithEngine s(model, WithEngine::one_worker(), false);
  Ticket job = s.engine->ask(s.question("tell"));
  model->half.get_future().wait();
  job.reset();
  model->go.set_value();
  s.engine->stop();
  EXPECT_FALSE(model->wanted);
}

TEST(EngineTest, CountsAndLooksWithoutReading) {
  const auto model = std::make_shared<Talker>();
  WithEngine s(model, WithEngine::one_worker(), false);
  const Ticket count = s.engine->ask(s.question("how much?", Wanted::count));
  WithEngine::wait(*count);
  EXPECT_EQ(model->reads, 1);
  EXPECT_FALSE(model->paused) << "nothing was written";
  EXPECT_GT(count->answer()->tokens, 0);
  const Ticket look = s.engine->ask(s.question("where?", Wanted::look));
  WithEngine::wait(*look);
  EXPECT_EQ(look->answer()->stop, Stop::open);
  EXPECT_EQ(look->answer()->tokens, count->answer()->tokens);
  const Ticket readings = s.engine->ask(s.question("where?", Wanted::readings));
  WithEngine::wait(*readings);
  ASSERT_EQ(readings->readings().size(), 1U);
  EXPECT_EQ(model->reads, 1);
  Reply reply;
  reply.text = "there";
  readings->asking().hear({reply});
  EXPECT_EQ(readings->asking().finish().text, "there");
}

TEST(EngineTest, ModelsThatCannotLookAgainRefusePasses) {
  Capabilities all;
  all.takes = TokenKind::native;
  const auto model = std::make_shared<arrcoc::test::Scripted>(
      [](size_t, const Reading& reading) { return arrcoc::test::reply_of("all", 0.1F, reading); },
      all);
  WithEngine s(model, WithEngine::one_worker(), false);
  Question q = s.question("what?");
  q.options.passes.passes = 2;
  const Ticket job = s.engine->ask(q);
  try {
    WithEngine::wait(*job);
    ADD_FAILURE() << "whoever reads all of a picture has nothing to look at again";
  } catch (const Error& problem) {
    EXPECT_EQ(problem.code(), ErrorCode::unsupported);
  }
}

TEST(EngineTest, APictureIsDecodedOnceForAllWaysOfSeeingIt) {
  WithEngine s(arrcoc::test::script({0.9F}));
  const auto bytes = bytes_of(source("examples/pictures/receipt.jpg"));
  const auto until = Clock::now() + std::chrono::seconds(60);
  AskOptions again = s.usual;
  again.passes.passes = 2;
  const SeenRef first = s.engine->see(bytes, s.usual, until);
  EXPECT_EQ(s.engine->see(bytes, s.usual, until), first);
  const SeenRef second = s.engine->see(bytes, again, until);
  EXPECT_NE(second, first) << "passes may need the enlarged level";
  EXPECT_EQ(second->seen, first->seen);
  EXPECT_EQ(second->picture.rgb.data_ptr(), first->picture.rgb.data_ptr());
  EXPECT_NE(s.metrics.text().find("arrcoc_stage_seconds_count{stage=\"decoding\"} 1\n"),
            std::string::npos);
  EXPECT_EQ(s.engine->cache_bytes(), first->bytes() + second->bytes());
}

}  // namespace
}  // namespace arrcoc::serving::test
