// The example log: what was acknowledged is there, whatever happens to the process.
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "arrcoc/error.h"
#include "other.h"

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
  EXPECT_EQ(log.rate("b", Rating::down, "it is 34"), ExampleLog::Rated::done);
  EXPECT_EQ(log.rate("x", Rating::up, ""), ExampleLog::Rated::unknown);
  EXPECT_EQ(log.count(), 3);
  const auto all = log.list(2);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].id, "c") << "newest first";
  ASSERT_EQ(log.list(10, {.rating = Rating::down}).size(), 1U);
  const Example b = log.show("b");
  EXPECT_EQ(b.comment, "it is 34");
  EXPECT_EQ(b.question, example("b").question);
  EXPECT_EQ(b.picture, example("b").picture);
  EXPECT_EQ(b.time.size(), 24U) << b.time;
  EXPECT_THROW(log.show("x"), Error);
  EXPECT_THROW(log.add(example("a")), Error) << "ids are unique";
}

TEST(ExampleLog, FiltersByModelAndRater) {
  Folder folder;
  ExampleLog log(folder / "log.db");
  for (const char* id : {"a", "b", "c"}) log.add(example(id));
  Example other = example("d");
  other.model = "qwen";
  log.add(other);
  const std::string one = log.rater("192.0.2.1"), two = log.rater("192.0.2.2");
  EXPECT_EQ(one, log.rater("192.0.2.1"));
  EXPECT_NE(one, two);
  EXPECT_NE(one, ExampleLog(folder / "other.db").rater("192.0.2.1")) << "every log has its salt";
  log.rate("a", Rating::up, "", one);
  log.rate("b", Rating::up, "", two);
  log.rate("d", Rating::down, "", two);
  const auto ids = [&](const ExampleFilter& filter) {
    std::string out;
    for (const Example& e : log.list(10, filter)) out += e.id;
    return out;
  };
  EXPECT_EQ(ids({}), "dcba");
  EXPECT_EQ(ids({.model = "qwen"}), "d");
  EXPECT_EQ(ids({.raters = one}), "a");
  EXPECT_EQ(ids({.raters = one + "," + two}), "dba");
  EXPECT_EQ(ids({.not_raters = two}), "ca");
  EXPECT_EQ(ids({.rating = Rating::up, .raters = two}), "b");
}

TEST(ExampleLog, AnAnswerIsRatedTenTimesAtMost) {
  Folder folder;
  ExampleLog log(folder / "log.db");
  log.add(example("a"));
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(log.rate("a", Rating::up, "", ""), ExampleLog::Rated::done);
  EXPECT_EQ(log.rate("a", Rating::down, "", ""), ExampleLog::Rated::too_often);
  EXPECT_EQ(log.show("a").rating, Rating::up);
}

TEST(ExampleLog, OlderFilesAreBroughtUpToDate) {
  Folder folder;
  const std::string file = folder / "log.db";
  Other{file}(R"sql(
    CREATE TABLE examples(
      number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
      time TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
      model TEXT NOT NULL, question TEXT NOT NULL, answer TEXT NOT NULL, policy TEXT NOT NULL,
      confidence REAL NOT NULL, milliseconds REAL NOT NULL,
      budget INTEGER NOT NULL, kept INTEGER NOT NULL, native INTEGER NOT NULL,
      allocation TEXT NOT NULL, picture BLOB,
      rating TEXT NOT NULL DEFAULT '', comment TEXT NOT NULL DEFAULT '');
    CREATE INDEX examples_time ON examples(time);
    INSERT INTO examples VALUES(1, 'a', '2026-01-01T00:00:00.000Z', 'm', 'q', '42', 'p', 1, 2, 3, 4,
      5, '[]', x'00', 'up', 'good'))sql");
  {
    ExampleLog log(file), twice(file);
    EXPECT_EQ(log.show("a").comment, "good");
    EXPECT_EQ(log.show("a").rater, "");
    EXPECT_EQ(log.rate("a", Rating::down, "", log.rater("x")), ExampleLog::Rated::done);
    EXPECT_EQ(twice.show("a").rater, log.rater("x")) << "the same salt";
  }
  Other{file}("PRAGMA user_version = 99");
  EXPECT_THROW(ExampleLog{file}, Error) << "a newer program's";
}

int mode_of(const std::string& file) {
  struct stat now {};
  return ::stat(file.c_str(), &now) == 0 ? static_cast<int>(now.st_mode & 0777U) : -1;
}

TEST(ExampleLog, ItsFilesAreTheirOwnersAlone) {
  Folder folder;
  const std::string file = folder / "log.db";
  const mode_t before = ::umask(0);
  {
    ExampleLog log(file);
    log.add(example("a"));
    for (const char* end : {"", "-wal", "-shm"}) EXPECT_EQ(mode_of(file + end), 0600) << end;
    for (const char* end : {"", "-wal", "-shm"}) ::chmod((file + end).c_str(), 0644);
    ExampleLog again(file);
    for (const char* end : {"", "-wal", "-shm"}) EXPECT_EQ(mode_of(file + end), 0600) << end;
  }
  std::ofstream(folder / "text") << std::string(5000, 'x');
  EXPECT_THROW(ExampleLog(folder / "text"), Error);
  EXPECT_EQ(mode_of(folder / "text"), 0666) << "what is no log is left alone";
  ::umask(before);
}

std::string all_bytes(const std::string& file) {
  std::string out;
  for (const char* end : {"", "-wal"}) {
    const auto bytes = bytes_of(file + end);
    out.append(bytes.begin(), bytes.end());
  }
  return out;
}

void make_old(const std::string& file) {
  EXPECT_EQ(Other{file}("UPDATE examples SET time = '2020-01-01T00:00:00.000Z'"), "");
}

TEST(ExampleLog, WhatIsDeletedIsGone) {
  Folder folder;
  const std::string file = folder / "log.db", secret = "my account is 12345678";
  ExampleLog log(file);
  Example e = example("a");
  e.question = e.comment = secret;
  e.picture.assign(100000, 'X');
  log.add(e);
  log.rate("a", Rating::down, secret);
  EXPECT_NE(all_bytes(file).find(secret), std::string::npos);
  make_old(file);
  EXPECT_EQ(log.forget(30), 1);
  EXPECT_EQ(all_bytes(file).find(secret), std::string::npos);
  EXPECT_EQ(all_bytes(file).find("XXXXXXXX"), std::string::npos);
}

TEST(ExampleLog, AReaderDelaysTheErasureNotTheDeleting) {
  Folder folder;
  const std::string file = folder / "log.db";
  ExampleLog log(file, {.patience_ms = 1});
  Example e = example("a");
  e.question = "my account is 12345678";
  log.add(e);
  make_old(file);
  {
    Other reader(file);
    reader("BEGIN");
    EXPECT_EQ(reader("SELECT count(*) FROM examples"), "1");
    EXPECT_EQ(log.forget(30), 1);
    EXPECT_NE(all_bytes(file).find(e.question), std::string::npos);
    reader("COMMIT");
  }
  log.tidy();
  EXPECT_EQ(all_bytes(file).find(e.question), std::string::npos);
}

TEST(ExampleLog, OverItsSizeTheOldestUnratedGo) {
  Folder folder;
  const std::string file = folder / "log.db";
  ExampleLog log(file, {.megabytes = 1});
  Example e = example("rated");
  e.picture.assign(100 << 10, 7);
  log.add(e);
  log.rate("rated", Rating::up, "");
  for (int i = 0; i < 40; ++i) {
    e.id = std::to_string(i);
    log.add(e);
  }
  const auto left = log.list(100);
  ASSERT_GE(left.size(), 5U);
  ASSERT_LE(left.size(), 11U);
  EXPECT_EQ(left.front().id, "39");
  EXPECT_EQ(left.back().id, "rated");
  EXPECT_EQ(left[left.size() - 2].id, std::to_string(40 - left.size() + 1)) << "the newest stay";
  log.tidy();
  EXPECT_LT(std::filesystem::file_size(file), 1.5 * (1 << 20));
  for (const Example& one : left) log.rate(one.id, Rating::up, "");
  e.id = "one more";
  EXPECT_THROW(log.add(e), Error) << "what people rated is not thrown away";
  EXPECT_EQ(log.count(), static_cast<int64_t>(left.size()));
}

TEST(ExampleLog, TheJournalIsLimitedAlsoWhileSomebodyReads) {
  Folder folder;
  const std::string file = folder / "log.db";
  ExampleLog log(file, {.patience_ms = 1, .journal_megabytes = 1});
  Example e = example("first");
  e.picture.assign(100 << 10, 7);
  log.add(e);
  Other reader(file);
  reader("BEGIN");
  EXPECT_EQ(reader("SELECT count(*) FROM examples"), "1");
  int written = 0;
  try {
    for (; written < 100; ++written) {
      e.id = std::to_string(written);
      log.add(e);
    }
  } catch (const Error& problem) {
    EXPECT_NE(std::string(problem.what()).find("journal"), std::string::npos) << problem.what();
  }
  EXPECT_LT(written, 20);
  EXPECT_LT(std::filesystem::file_size(file + "-wal"), 2U << 20U);
  reader("COMMIT");
  log.add(example("after"));
  EXPECT_EQ(log.count(), written + 2);
}

TEST(ExampleLog, ForgetsWhatIsOld) {
  Folder folder;
  ExampleLog log(folder / "log.db");
  for (int i = 0; i < 40; ++i) log.add(example("old" + std::to_string(i)));
  log.add(example("new"));
  Other(folder /
        "log.db")("UPDATE examples SET time = '2020-01-01T00:00:00.000Z' WHERE id LIKE 'old%'");
  EXPECT_EQ(log.forget(30), 40);
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
  EXPECT_EQ(Other(folder / "log.db")("PRAGMA integrity_check"), "ok");
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

TEST(LogCommand, WhatStrangersWroteDoesNotDriveTheTerminal) {
  Folder folder;
  const std::string file = folder / "log.db";
  {
    ExampleLog log(file);
    Example e = example("a\x1b[2J");
    e.question =
        "\x1b]0;pwned\x07 caf\xc3\xa9\x7f\xc2\x9b\x33\x31m\r\nx  y \xe2\x80\xaetxt.exe \x9b";
    e.answer = std::string(39, 'a') + "\xe2\x82\xac and more";
    e.model = "m\x1b[31m";
    log.add(e);
    log.rate(e.id, Rating::down, "\x1b[8m hidden \xc2\x85");
  }
  for (const std::string& command :
       {"list " + file, "list --json " + file, "show " + file + " \"$(printf 'a\\033[2J')\"",
        "show " + file + " \"$(printf 'none\\033[2J')\""}) {
    const std::string said = said_by(command);
    EXPECT_NE(said.find("\\u001b"), std::string::npos) << "shown, not done: " << said;
    for (size_t i = 0; i < said.size(); ++i) {
      const auto c = static_cast<unsigned char>(said[i]);
      EXPECT_TRUE(c == '\n' || (c >= 0x20 && c != 0x7f)) << command << " byte " << i;
      EXPECT_FALSE(c == 0xc2 && static_cast<unsigned char>(said[i + 1]) < 0xa0) << command;
      EXPECT_NE(said.compare(i, 3, "\xe2\x80\xae"), 0) << command;
    }
  }
  const std::string list = said_by("list " + file);
  EXPECT_NE(list.find("caf\xc3\xa9"), std::string::npos) << "letters stay";
  EXPECT_NE(list.find("a\xe2\x82\xac"), std::string::npos) << "cut between characters";
  EXPECT_EQ(std::count(list.begin(), list.end(), '\n'), 3) << "one line an example: " << list;
  EXPECT_EQ(json::parse(said_by("list --json " + file))["comment"], "\x1b[8m hidden \xc2\x85")
      << "JSON means the same";
}

}  // namespace
}  // namespace arrcoc::serving::test
