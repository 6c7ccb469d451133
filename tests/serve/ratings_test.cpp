// The example log of a running server, and what clients may do to it.
#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "other.h"
#include "process.h"
#include "serve/examples.h"

namespace arrcoc::serving::test {
namespace {

Options logging_into(const Folder& folder) {
  Options out = usual_options();
  out.log = folder / "log.db";
  return out;
}

TEST(ServerFeedback, JoinsTheExample) {
  Folder folder;
  Options options = logging_into(folder);
  options.log_share = 0;
  Running server(options);
  const json first = server.ask(question()), second = server.ask(question("What is the date?"));
  EXPECT_FALSE(first["arrcoc"]["logged"]);
  ExampleLog log(options.log);
  EXPECT_EQ(log.count(), 0);
  const auto rate = [&](const json& body) { return server.post("/v1/feedback", body); };
  EXPECT_EQ(rate({{"id", second["id"]}, {"rating", "down"}, {"comment", "no"}})->status, 200);
  const Example logged = log.show(second["id"].get<std::string>());
  EXPECT_EQ(logged.rating, Rating::down);
  EXPECT_EQ(logged.question, "What is the date?");
  EXPECT_EQ(logged.answer, "10 jul 2024");
  EXPECT_EQ(logged.kept, second["usage"]["image_tokens"]["kept"]);
  EXPECT_GT(logged.picture.size(), 100U);
  const json report = json::parse(logged.allocation);
  EXPECT_EQ(report["answer"], "10 jul 2024");
  EXPECT_EQ(report["pictures"][0]["passes"][0]["leaves"].size(), logged.kept);
  EXPECT_EQ(logged.allocation.find("\"map\""), std::string::npos) << "maps are large";
  EXPECT_EQ(log.count(), 1);
  EXPECT_EQ(rate({{"id", second["id"]}, {"rating", "up"}})->status, 200)
      << "people change their mind";
  EXPECT_EQ(rate({{"id", "chatcmpl-nothing"}, {"rating", "up"}})->status, 404);
  EXPECT_EQ(rate({{"id", first["id"]}, {"rating", "sideways"}})->status, 400);
  EXPECT_EQ(server.metric("arrcoc_feedback_total{rating=\"down\"}"), "1");
}

TEST(ServerFeedback, AtTheSameMomentOnAnAnswerThatIsNotLoggedYetAllAreHeard) {
  Folder folder;
  Options options = logging_into(folder);
  options.log_share = 0;
  Running server(options);
  for (int round = 0; round < 3; ++round) {
    const std::string id = server.ask(question())["id"];
    std::atomic<int> heard{0};
    std::vector<std::thread> raters;
    for (int i = 0; i < 4; ++i)
      raters.emplace_back([&] {
        heard += server.post("/v1/feedback", {{"id", id}, {"rating", "up"}})->status == 200;
      });
    for (std::thread& one : raters) one.join();
    EXPECT_EQ(heard, 4);
  }
}

TEST(ServerFeedback, OneClientRatesSoOftenAMinuteAndNoMore) {
  Folder folder;
  Options options = logging_into(folder);
  options.log_ratings = 5;
  Running server(options);
  const std::string id = server.ask(question())["arrcoc"]["id"];
  std::map<int, int> seen;
  for (int i = 0; i < 8; ++i) {
    const auto reply = server.post("/v1/feedback", {{"id", id}, {"rating", "up"}});
    ++seen[reply->status];
    if (reply->status == 429) EXPECT_EQ(error_code(reply), "too_many_ratings");
  }
  EXPECT_GE(seen[200], 5);
  EXPECT_GE(seen[429], 1);
  const Example rated = ExampleLog(options.log).show(id);
  EXPECT_EQ(rated.rater, ExampleLog(options.log).rater("127.0.0.1"));
  EXPECT_EQ(rated.rater.size(), 16U);
}

TEST(RateLimits, FillUpAgainAndForgetOldClients) {
  RateLimit limit(6);
  const auto start = Clock::now();
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(limit.allows("a", start));
  EXPECT_FALSE(limit.allows("a", start));
  EXPECT_TRUE(limit.allows("b", start));
  EXPECT_FALSE(limit.allows("a", start + std::chrono::seconds(9)));
  EXPECT_TRUE(limit.allows("a", start + std::chrono::seconds(20)));
  for (int i = 0; i < 20000; ++i)
    EXPECT_TRUE(limit.allows(std::to_string(i), start + std::chrono::seconds(21)));
  for (int i = 0; i < 9; ++i) EXPECT_TRUE(RateLimit(0).allows("a", start));
}

TEST(RateLimits, ANetworkOfIpv6IsOneClient) {
  EXPECT_EQ(client_of("2001:db8::1"), client_of("2001:db8:0:0:ffff::2"));
  EXPECT_NE(client_of("2001:db8::1"), client_of("2001:db8:0:1::1"));
  EXPECT_EQ(client_of("::ffff:192.0.2.1"), client_of("192.0.2.1"));
  EXPECT_NE(client_of("192.0.2.2"), client_of("192.0.2.1"));
}

TEST(ServerFeedback, OldExamplesGoAlsoWhenNobodyAsks) {
  Folder folder;
  Options options = logging_into(folder);
  options.log_share = 1;
  options.log_days = 5.0 / 86400;
  Running server(options);
  ASSERT_TRUE(server.ask(question())["arrcoc"]["logged"]);
  const ExampleLog log(options.log);
  while (log.count() > 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  server.server().stop();
}

// Killed while examples come, go for the size's sake, and are rated: whatever a rating acknowledged
// is there, and so are the newest examples.
TEST(ServerFeedback, KilledAtItsSizeItKeepsWhatPeopleRated) {
  Folder folder;
  const std::string file = folder / "log.db";
  std::set<std::string> rated;
  std::string newest;
  {
    Process server({"--log", file, "--log-share", "1", "--log-mb", "0.4", "--log-ratings", "0"});
    std::set<std::string> known;
    for (int i = 0; i < 24; ++i) {
      const json said = json::parse(server.post("/v1/chat/completions", question())->body);
      ASSERT_TRUE(said["arrcoc"]["logged"]) << i;
      newest = said["arrcoc"]["id"];
      if (i % 12 != 0) continue;
      ASSERT_EQ(server.post("/v1/feedback", {{"id", newest}, {"rating", "up"}})->status, 200);
      rated.insert(newest);
    }
    EXPECT_EQ(server.kill(SIGKILL), 128 + SIGKILL);
  }
  EXPECT_EQ(Other{file}("PRAGMA integrity_check"), "ok");
  const ExampleLog log(file);
  EXPECT_LT(log.count(), 24) << "the limit was never reached";
  EXPECT_EQ(log.show(newest).id, newest);
  for (const std::string& id : rated) EXPECT_EQ(log.show(id).rating, Rating::up);
}

TEST(ServerFeedback, EveryRequestIsLoggedAtShareOne) {
  Folder folder;
  Options options = logging_into(folder);
  options.log_share = 1;
  Running server(options);
  EXPECT_TRUE(server.ask(question())["arrcoc"]["logged"]);
  EXPECT_EQ(ExampleLog(options.log).count(), 1);
  EXPECT_EQ(server.metric("arrcoc_logged_total"), "1");
}

TEST(ServerFeedback, ALockedLogCostsTheExampleNotTheAnswer) {
  Folder folder;
  Options options = logging_into(folder);
  options.log_share = 1;
  Running server(options);
  Other other(options.log);
  ASSERT_EQ(other("BEGIN EXCLUSIVE"), "");
  const json reply = server.ask(question());
  EXPECT_EQ(reply["choices"][0]["message"]["content"], "33.10");
  EXPECT_FALSE(reply["arrcoc"]["logged"]);
  EXPECT_NE(server.metric("arrcoc_log_failures_total"), "");
  EXPECT_NE(server.lines().find("example_log"), std::string::npos);
  other("COMMIT");
  EXPECT_TRUE(server.ask(question())["arrcoc"]["logged"]);
}

TEST(ServerFeedback, ItIsOffUnlessAskedForInEveryDeployment) {
  EXPECT_EQ(Options().log, "");
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source("deploy"))) {
    if (!entry.is_regular_file() || entry.path().filename().string().ends_with("feedback.yaml"))
      continue;  // asks
    const auto bytes = bytes_of(entry.path());
    const std::string text(bytes.begin(), bytes.end());
    for (const char* on : {"--log", "ARRCOC_SERVE_LOG", "\"log\":"})
      EXPECT_EQ(text.find(on), std::string::npos) << entry.path() << " has " << on;
    ++files;
  }
  EXPECT_GE(files, 4);
}

TEST(ServerFeedback, HealthSaysWherePicturesGoAndWhatIsKept) {
  Folder folder;
  const auto health = [](const Running& server) {
    return json::parse(server.client().Get("/health")->body);
  };
  Options options = usual_options();
  Running plain(options);
  const json limits = {{"body_mb", 32.0}, {"pictures", 8}};
  EXPECT_EQ(health(plain), json({{"status", "ok"}, {"limits", limits}}));
  options.log = folder / "log.db";
  options.log_share = 0.25;
  options.upstream = plain.origin() + "/v1";
  EXPECT_EQ(health(Running(options)), json({{"status", "ok"},
                                            {"upstream", "127.0.0.1"},
                                            {"log", {{"share", 0.25}, {"days", 30.0}}},
                                            {"limits", limits}}));
}

TEST(ServerFeedback, WithoutALogItSaysSo) {
  Running server;
  EXPECT_EQ(server.post("/v1/feedback", {{"id", "x"}, {"rating", "up"}})->status, 501);
}

}  // namespace
}  // namespace arrcoc::serving::test
