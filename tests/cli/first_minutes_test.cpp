// What somebody meets who starts the program for the first time.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <pty.h>
#include <sys/socket.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/hints.h"
#include "cli/process.h"
#include "ports.h"

namespace {

using namespace arrcoc::test;
using nlohmann::json;

TEST(Welcome, ShowsThreeCommandsThatRun) {
  const Outcome bare = run_arrcoc("");
  ASSERT_EQ(bare.code, 0) << bare.err;
  std::istringstream lines(bare.out);
  int commands = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("  arrcoc ", 0) != 0) continue;
    ++commands;
    const Outcome tried = run_arrcoc(line.substr(9));
    EXPECT_EQ(tried.code, 0) << line << tried.err;
    EXPECT_NE(tried.out.find("tokens"), std::string::npos) << line;
  }
  EXPECT_EQ(commands, 3);
}

json states(const Outcome& o) {
  json out;
  const json report = json::parse(o.out);
  for (const json& check : report["checks"]) {
    out[check["name"].get<std::string>()] = check["state"];
    EXPECT_EQ(check["state"] == "ok", check["remedy"] == "") << check;
  }
  return out;
}

// A port that nobody else takes meanwhile: bound here, without SO_REUSEADDR.
class TakenPort {
 public:
  TakenPort() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(socket_, 1), 0);
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
  }
  ~TakenPort() { ::close(socket_); }
  int port = 0;

 private:
  int socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
};

TEST(Doctor, FindsWhatIsWrongAndSaysWhatToDo) {
  const TakenPort taken;
  const std::string flags = "doctor --json --port " + std::to_string(taken.port);
  const Outcome busy = run_arrcoc(flags);
  EXPECT_EQ(busy.code, 1);
  EXPECT_EQ(states(busy)["port"], "problem");
  EXPECT_EQ(states(busy)["model"], "ok") << busy.out;
  EXPECT_EQ(states(busy)["answers"], "ok") << busy.out;
  EXPECT_FALSE(json::parse(busy.out)["ok"]);
  EXPECT_NE(busy.err.find("1 problem"), std::string::npos) << busy.err;
  const Outcome bare = run_arrcoc(flags, "ARRCOC_MODELS=/nonexistent TMPDIR=/proc");
  EXPECT_EQ(states(bare)["model"], "problem") << bare.out;
  EXPECT_EQ(states(bare)["temporary"], "problem") << bare.out;
}

TEST(Doctor, IsContentWhereAllIsWell) {
  const Outcome o =
      run_arrcoc("doctor --port " + std::to_string(arrcoc::test::free_port()), "cd /tmp &&");
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_NE(o.out.find("33.10"), std::string::npos) << o.out;
  EXPECT_EQ(o.out.find('\033'), std::string::npos) << "colours only on terminals";
}

TEST(Doctor, BlamesNoOtherProgramForAPortOfTheSystem) {
  std::ifstream file("/proc/sys/net/ipv4/ip_unprivileged_port_start");
  int first = 1024;  // that everybody may take
  file >> first;
  if (first <= 1) GTEST_SKIP() << "this system keeps no port for itself: there is none to refuse";
  const Outcome o = run_arrcoc("doctor --json --port " + std::to_string(std::min(81, first - 1)),
                               ::getuid() == 0 ? "setpriv --bounding-set=-net_bind_service" : "");
  const json report = json::parse(o.out);
  int ports = 0;
  for (const json& check : report["checks"]) {
    if (check["name"] != "port") continue;
    ++ports;
    EXPECT_EQ(check["state"], "problem");
    EXPECT_NE(check["remedy"].get<std::string>().find("below 1024"), std::string::npos) << check;
  }
  EXPECT_EQ(ports, 1) << o.out;
}

// Readline adds a slash to folders among file names.
TEST(Completion, AFolderOfACommandsNameChangesNothing) {
  Folder folder;
  std::filesystem::create_directory(folder / "models");
  std::filesystem::create_directory(folder / "pictures");
  std::ofstream(folder / "script") << run_arrcoc("completion bash").out;
  const auto typed = [&](const std::string& keys) {  // and made an echo of
    std::ofstream(folder / "keys") << "source ./script\n" << keys << "\t\001echo \005\nexit\n";
    const std::string line =
        "cd " + folder.path() +
        " && env -i PATH=/usr/bin:/bin TERM=dumb script -qec 'bash --norc --noprofile -i' /dev/null"
        " <keys >said 2>&1";
    EXPECT_EQ(std::system(line.c_str()), 0);
    return slurp(folder / "said");
  };
  EXPECT_NE(typed("arrcoc mod").find("\narrcoc models\r"), std::string::npos);
  EXPECT_NE(typed("arrcoc look pict").find("\narrcoc look pictures/\r"), std::string::npos);
}

TEST(Hints, NearestFlagPolicyNameAndFile) {
  const std::string receipt = ARRCOC_SOURCE_DIR "/examples/pictures/receipt.jpg";
  const auto said = [](const std::string& arguments) {
    const Outcome o = run_arrcoc(arguments);
    EXPECT_NE(o.code, 0) << arguments;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    return o.err;
  };
  const auto expect = [&](const std::string& arguments, const std::string& hint) {
    const std::string err = said(arguments);
    EXPECT_NE(err.find("did you mean " + hint + "?"), std::string::npos) << err;
  };
  expect("ask " + receipt + " what --bugdet 64", "--budget");
  expect("serve --prot 1", "--port");
  expect("ask " + receipt + " what --policy relized", "realized");
  expect("ask " + receipt + " what --allocator quadtre", "quadtree");
  expect("ask " + receipt + " what --gain peek", "peak");
  expect("ask " ARRCOC_SOURCE_DIR "/examples/pictures/reciept.jpg what", receipt);
  EXPECT_EQ(said("ask " + receipt + " what --zzzzzzz").find("did you mean"), std::string::npos);
  EXPECT_EQ(said("ask /nonexistent/x.jpg what").find("did you mean"), std::string::npos);
}

TEST(Hints, AreNearestFirstAndFew) {
  using arrcoc::cli::nearly;
  using Names = std::vector<std::string>;
  EXPECT_EQ(nearly("lok", {"log", "look", "lock", "lo", "zebra"}), (Names{"lo", "lock", "log"}));
  EXPECT_EQ(nearly("x", {"y", "z"}), Names{}) << "one letter is nothing to go by";
  EXPECT_EQ(nearly("", {"ask"}), Names{});
  EXPECT_EQ(nearly(std::string(100'000, 'a'), {std::string(100'000, 'b')}), Names{});
  EXPECT_EQ(arrcoc::cli::with_hint("no such thing"), "no such thing");
}

// A terminal of 80 columns; what is written there can be read back, up to a few kilobytes.
class Tty {
 public:
  Tty() { EXPECT_EQ(::openpty(&master_, &slave_, nullptr, nullptr, nullptr), 0); }
  ~Tty() {
    ::close(master_);
    ::close(slave_);
  }
  std::string name() const { return ::ttyname(slave_); }
  std::string written() const {
    std::string out;
    char some[4096];
    // The kernel hands it over in pieces: until none has come for a while.
    for (pollfd ready{master_, POLLIN, 0};
         ::poll(&ready, 1, 500) > 0 && (ready.revents & POLLIN);) {
      const ssize_t n = ::read(master_, some, sizeof some);
      if (n <= 0) break;
      out.append(some, static_cast<size_t>(n));
    }
    return out;
  }

 private:
  int master_ = -1, slave_ = -1;
};

int run_on(const std::string& arguments, const std::string& before = "") {
  return std::system((before + " " ARRCOC_BINARY " " + arguments).c_str());
}

TEST(Batch, ProgressIsShownOnATerminalAndNeverInTheAnswers) {
  Folder folder;
  const std::string receipt = ARRCOC_SOURCE_DIR "/examples/pictures/receipt.jpg";
  std::ofstream(folder / "q.jsonl")
      << json{{"image", receipt}, {"question", "What is the total?"}} << "\n";
  const std::string ask = "ask --batch " + folder / "q.jsonl" + " >" + folder / "out";
  const Tty tty;
  EXPECT_EQ(run_on(ask + " 2>" + tty.name()), 0);
  EXPECT_NE(tty.written().find("asking 1/1"), std::string::npos);
  EXPECT_EQ(json::parse(slurp(folder / "out"))["answer"], "33.10");
  EXPECT_EQ(run_on(ask + " 2>" + folder / "err"), 0);
  EXPECT_EQ(slurp(folder / "err"), "") << "over before a log would hear of it";
}

TEST(Colours, AreForTerminalsUnlessNoColorIsSet) {
  const Tty coloured, plain;
  run_on("doctor >" + coloured.name() + " 2>/dev/null", "env -u NO_COLOR TERM=xterm");
  EXPECT_NE(coloured.written().find("\033[32mok"), std::string::npos);
  run_on("doctor >" + plain.name() + " 2>/dev/null", "NO_COLOR=1 TERM=xterm");
  const std::string said = plain.written();
  EXPECT_NE(said.find("ok"), std::string::npos);
  EXPECT_EQ(said.find('\033'), std::string::npos);
}

TEST(Colours, ShowTakesTheTerminalsOwnForm) {
  const Tty tty;
  const std::string look = "look " ARRCOC_SOURCE_DIR "/examples/pictures/zoo.jpg 'the dog' --show";
  run_on(look + " >" + tty.name() + " 2>/dev/null", "env -u NO_COLOR -u TMUX TERM=dumb");
  const std::string said = tty.written();
  EXPECT_EQ(said.find('\033'), std::string::npos);
  EXPECT_NE(said.find("\u2592"), std::string::npos) << said;
}

}  // namespace
