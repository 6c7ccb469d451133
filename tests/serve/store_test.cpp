// The example log: what was acknowledged is there, whatever happens to the process.
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "arrcoc/error.h"
#include "support.h"

namespace arrcoc::serving::test {
namespace {

Example example(const std::string& id) {
  Example e;
  e.id = id;
  e.model = "arrcoc-tiny";
  e.question = "What's the \xe2\x82\xac total?";
  e.answer = "33.10";
  e.policy = "realized";
  e.confidence = 0.9;
  e.budget = 180;
  e.kept = 178;
  e.native = 1624;
  e.allocation = "[]";
  e.picture = {0x89, 'P', 0, 'G'};
  return e;
}

TEST(ExampleLog, KeepsAndRatesExamples) {
  Folder folder;
  ExampleLog log(folder / "log.db");
  for (const char* id : {"a", "b", "c"}) log.add(example(id));
  EXPECT_TRUE(log.rate("b", Rating::down, "it is 34"));
  EXPECT_FALSE(log.rate("x", Rating::up, ""));
  EXPECT_EQ(log.count(), 3);
  const auto all = log.list(2);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].id, "c") << "newest first";
  ASSERT_EQ(log.list(10, Rating::down).size(), 1U);
  const Example b = log.show("b");
  EXPECT_EQ(b.comment, "it is 34");
  EXPECT_EQ(b.question, example("b").question);
  EXPECT_EQ(b.picture, example("b").picture);
  EXPECT_EQ(b.time.size(), 24U) << b.time;
  EXPECT_THROW(log.show("x"), Error);
  EXPECT_THROW(log.add(example("a")), Error) << "ids are unique";
}

TEST(ExampleLog, ForgetsWhatIsOld) {
  Folder folder;
  ExampleLog log(folder / "log.db");
  log.add(example("old"));
  log.add(example("new"));
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open((folder / "log.db").c_str(), &db), SQLITE_OK);
  sqlite3_exec(db, "UPDATE examples SET time = '2020-01-01T00:00:00.000Z' WHERE id = 'old'",
               nullptr, nullptr, nullptr);
  sqlite3_close(db);
  EXPECT_EQ(log.forget(30), 1);
  EXPECT_EQ(log.count(), 1);
  EXPECT_EQ(log.forget(0), 1);
}

TEST(ExampleLog, SurvivesKill) {
  Folder folder;
  int pipes[2];
  ASSERT_EQ(::pipe(pipes), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ExampleLog log(folder / "log.db");
    for (char i = 0; i < 100; ++i) {
      log.add(example("e" + std::to_string(i)));
      if (::write(pipes[1], &i, 1) != 1) ::_exit(1);
    }
    ::pause();
    ::_exit(0);
  }
  // Every byte in the pipe acknowledges one example.
  char last = 0;
  for (int i = 0; i < 40; ++i) ASSERT_EQ(::read(pipes[0], &last, 1), 1);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(pipes[1]);
  while (::read(pipes[0], &last, 1) == 1) continue;
  ::close(pipes[0]);
  ExampleLog log(folder / "log.db");
  for (int i = 0; i <= last; ++i) EXPECT_EQ(log.show("e" + std::to_string(i)).answer, "33.10") << i;
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open((folder / "log.db").c_str(), &db), SQLITE_OK);
  std::string verdict;
  sqlite3_exec(
      db, "PRAGMA integrity_check",
      [](void* to, int, char** values, char**) {
        *static_cast<std::string*>(to) = values[0];
        return 0;
      },
      &verdict, nullptr);
  sqlite3_close(db);
  EXPECT_EQ(verdict, "ok");
}

// In a child, because the limit is for the whole process.
TEST(ExampleLog, AFullDiskIsAnErrorAndSpoilsNothing) {
  Folder folder;
  { ExampleLog(folder / "log.db").add(example("before")); }
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    ExampleLog log(folder / "log.db");
    const rlimit limit{64 << 10, 64 << 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    Example large = example("large");
    large.picture.assign(1 << 20, 7);
    try {
      log.add(large);
    } catch (const Error& e) {
      ::_exit(e.code() == ErrorCode::io && log.count() == 1 ? 0 : 2);
    }
    ::_exit(1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  ExampleLog log(folder / "log.db");
  EXPECT_EQ(log.count(), 1);
  log.add(example("after"));
}

TEST(ExampleLog, WhatIsNoLogIsRefused) {
  Folder folder;
  std::ofstream(folder / "text") << std::string(5000, 'x');
  EXPECT_THROW(ExampleLog(folder / "text"), Error);
  EXPECT_THROW(ExampleLog(folder / "no/such/folder.db"), Error);
}

std::string said_by(const std::string& arguments) {
  FILE* out = ::popen((std::string(ARRCOC_BINARY) + " log " + arguments + " 2>&1").c_str(), "r");
  std::string text;
  for (int c; (c = std::fgetc(out)) != EOF;) text += static_cast<char>(c);
  ::pclose(out);
  return text;
}

TEST(LogCommand, ListsShowsExportsAndCleans) {
  Folder folder;
  const std::string file = folder / "log.db";
  {
    ExampleLog log(file);
    for (const char* id : {"a", "b"}) log.add(example(id));
    log.rate("b", Rating::down, "it is 34");
  }
  EXPECT_NE(said_by("list " + file).find("33.10"), std::string::npos);
  const json one = json::parse(said_by("list " + file + " --rating down --json"));
  EXPECT_EQ(one["id"], "b");
  EXPECT_EQ(one["comment"], "it is 34");
  EXPECT_EQ(json::parse(said_by("show " + file + " a --picture " + (folder / "a.png")))["kept"],
            178);
  EXPECT_EQ(bytes_of(folder / "a.png"), example("a").picture);
  said_by("export " + file + " --out " + (folder / "out"));
  std::ifstream lines(folder / "out/examples.jsonl");
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    EXPECT_TRUE(
        std::filesystem::exists(folder / ("out/" + json::parse(line)["image"].get<std::string>())));
  EXPECT_EQ(count, 2);
  EXPECT_EQ(said_by("clean " + file + " --days 0"), "2 examples deleted\n");
  EXPECT_NE(said_by("show " + file + " a").find("no example"), std::string::npos);
  EXPECT_NE(said_by("list " + (folder / "none.db")).find("no file"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder / "none.db")) << "looking must not create a log";
}

TEST(ServerFeedback, JoinsTheExample) {
  Folder folder;
  Options options = usual_options();
  options.log = folder / "log.db";
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

TEST(ServerFeedback, EveryRequestIsLoggedAtShareOne) {
  Folder folder;
  Options options = usual_options();
  options.log = folder / "log.db";
  options.log_share = 1;
  Running server(options);
  EXPECT_TRUE(server.ask(question())["arrcoc"]["logged"]);
  EXPECT_EQ(ExampleLog(options.log).count(), 1);
  EXPECT_EQ(server.metric("arrcoc_logged_total"), "1");
}

TEST(ServerFeedback, ALockedLogCostsTheExampleNotTheAnswer) {
  Folder folder;
  Options options = usual_options();
  options.log = folder / "log.db";
  options.log_share = 1;
  Running server(options);
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(options.log.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  const json reply = server.ask(question());
  EXPECT_EQ(reply["choices"][0]["message"]["content"], "33.10");
  EXPECT_FALSE(reply["arrcoc"]["logged"]);
  EXPECT_EQ(server.metric("arrcoc_log_failures_total"), "1");
  EXPECT_NE(server.lines().find("example_log"), std::string::npos);
  sqlite3_exec(db, "COMMIT", nullptr, nullptr, nullptr);
  sqlite3_close(db);
  EXPECT_TRUE(server.ask(question())["arrcoc"]["logged"]);
}

TEST(ServerFeedback, WithoutALogItSaysSo) {
  Running server;
  EXPECT_EQ(server.post("/v1/feedback", {{"id", "x"}, {"rating", "up"}})->status, 501);
}

}  // namespace
}  // namespace arrcoc::serving::test
