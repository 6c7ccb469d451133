// arrcoc bench, the real program on a few questions.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/process.h"

using namespace arrcoc::test;
using nlohmann::json;

namespace {

// What may differ between two runs: how long it took and how much memory there was.
void without_costs(json& j) {
  if (j.is_object())
    for (const char* key : {"milliseconds", "peak_mb", "wall_ms", "cpu_ms"}) j.erase(key);
  if (j.is_structured())
    for (json& part : j) without_costs(part);
}

json report_of(const std::string& folder) {
  json out = json::parse(slurp(folder + "/report.json"));
  without_costs(out);
  return out;
}

std::vector<json> lines_of(const std::string& folder) {
  std::vector<json> out;
  std::ifstream in(folder + "/records.jsonl");
  for (std::string line; std::getline(in, line);) out.push_back(json::parse(line));
  for (json& line : out) without_costs(line);
  return out;
}

const char* const kFew = "bench --suite charts --limit 6 --policies realized,resize --budgets 64 ";

// Starts the program and kills it the moment that it has written a line.
void run_and_kill(const std::string& out) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const int nowhere = ::open("/dev/null", O_WRONLY);
    ::dup2(nowhere, 1);
    ::dup2(nowhere, 2);
    const std::string line = "exec " + std::string(ARRCOC_BINARY) + " " + kFew + "--out " + out;
    ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  while (slurp(out + "/records.jsonl").find('\n') == std::string::npos) {
    ASSERT_EQ(::waitpid(child, &status, WNOHANG), 0) << "it ended before it wrote a line";
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
}

TEST(Bench, WritesAReportOfEveryPolicyAtEveryBudget) {
  Folder folder;
  const Outcome o = run_arrcoc(
      "bench --quick --suite charts --limit 2 --policies "
      "realized,passes,oracle,resize,slices,fastv,tome,fixed-16x --budgets 64,100 --ablation "
      "--json "
      "--out " +
      folder / "out");
  ASSERT_EQ(o.code, 0) << o.err;
  const json j = json::parse(o.out);
  EXPECT_EQ(j, json::parse(slurp(folder / "out/report.json")));
  ASSERT_EQ(j["cells"].size(), 15U);  // seven at two budgets, fixed-16x at its own
  for (const json& cell : j["cells"]) {
    const std::string name = cell["policy"];
    EXPECT_EQ(cell["questions"], 2) << name;
    EXPECT_GT(cell["gflop"].get<double>(), 0) << name;
    if (name != "fixed-16x")
      EXPECT_LE(cell["most_tokens"].get<int>(), std::stoi(cell["budget"].get<std::string>()))
          << name;
    for (const char* key : {"exact_match", "exact_match_95", "anls", "qc3", "p3", "p2f", "suites",
                            "kinds", "worst_decile_anls"})
      EXPECT_TRUE(cell.contains(key)) << name << " " << key;
  }
  // Without weights of its own the row of the learned queries is left out.
  const size_t left_out = o.err.find("without qformer") == std::string::npos ? 0 : 1;
  ASSERT_EQ(j["ablation"].size(), 24U - left_out);
  for (const json& row : j["ablation"]) EXPECT_EQ(row["questions"], 2) << row["pipeline"];
  EXPECT_EQ(j["ablation"][0]["points_against_the_whole"], json({0.0, 0.0, 0.0}));
  EXPECT_EQ(j["patterns"].size(), 1U);
  EXPECT_EQ(j["patterns"][0]["examples"].size(), 2U);
  // Every baseline is compared with the realized policy, one way or the other.
  EXPECT_GE(j["conclusion"].size(), 9U);
  const std::string page = slurp(folder / "out/report.html");
  for (const char* part : {"<svg", "Exact match against time", "Ablation", "Where the tokens go"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  EXPECT_EQ(page.find("http"), std::string::npos);  // one file
  EXPECT_NE(slurp(folder / "out/report.md").find("| fastv | 100 | 2 |"), std::string::npos);
}

TEST(Bench, APolicyMayHaveABudgetOfItsOwnAndLargeOnesFewerQuestions) {
  Folder folder;
  const std::string flags =
      "bench --suite charts --limit 4 --policies realized,resize,realized@512,realized@auto "
      "--budgets 64,100 --large-limit 1 --json ";
  const Outcome o = run_arrcoc(flags + "--remember --out " + folder / "a");
  ASSERT_EQ(o.code, 0) << o.err;
  const json j = json::parse(o.out);
  ASSERT_EQ(j["cells"].size(), 6U);
  EXPECT_EQ(j["cells"][4]["budget"], "512");
  EXPECT_LT(j["cells"][4]["questions"].get<int>(), 4);
  EXPECT_EQ(j["cells"][5]["questions"], 4);
  // Counts are all compared with the middle one of --budgets, the least tokens first.
  ASSERT_EQ(j["counts"].size(), 4U);
  for (const json& row : j["counts"]) EXPECT_EQ(row["against"], "100");
  EXPECT_EQ(j["counts"][0]["budget"], "64");
  EXPECT_EQ(j["counts"][3]["budget"], "512");
  // Pictures that are read once are answered as before; only what it costs differs.
  const Outcome anew = run_arrcoc(flags + "--out " + folder / "b");
  ASSERT_EQ(anew.code, 0) << anew.err;
  const json b = json::parse(anew.out);
  for (size_t i = 0; i < j["cells"].size(); ++i) {
    EXPECT_EQ(j["cells"][i]["anls"], b["cells"][i]["anls"]) << i;
    EXPECT_EQ(j["cells"][i]["mean_tokens"], b["cells"][i]["mean_tokens"]) << i;
  }
  EXPECT_LT(j["cells"][0]["gflop"].get<double>(), b["cells"][0]["gflop"].get<double>());
  EXPECT_EQ(j["cells"][2]["gflop"], b["cells"][2]["gflop"]);  // resize reads no page
}

TEST(Bench, SameSettingsGiveTheSameReportEvenAfterAKill) {
  Folder folder;
  ASSERT_EQ(run_arrcoc(kFew + std::string("--out ") + folder / "a").code, 0);
  ASSERT_EQ(run_arrcoc(kFew + std::string("--out ") + folder / "b").code, 0);
  const json whole = report_of(folder / "a");
  EXPECT_EQ(whole["cells"][0]["questions"], 6);
  EXPECT_EQ(whole, report_of(folder / "b"));
  EXPECT_EQ(lines_of(folder / "a"), lines_of(folder / "b"));

  run_and_kill(folder / "c");
  const size_t before = lines_of(folder / "c").size();
  EXPECT_LT(before, 12U);
  ASSERT_EQ(run_arrcoc(kFew + std::string("--out ") + folder / "c").code, 0);
  EXPECT_EQ(report_of(folder / "c"), whole);
  EXPECT_EQ(lines_of(folder / "c"), lines_of(folder / "a"));

  // A kill in the middle of a picture's lines, and of a line.
  const std::string all = slurp(folder / "a/records.jsonl");
  const size_t first = all.find('\n') + 1;
  for (size_t cut : {first, first + 40, all.size() - 3}) {
    std::ofstream(folder / "b/records.jsonl", std::ios::binary) << all.substr(0, cut);
    ASSERT_EQ(run_arrcoc(kFew + std::string("--out ") + folder / "b").code, 0);
    EXPECT_EQ(report_of(folder / "b"), whole) << cut;
  }
}

TEST(Bench, AFinishedRunIsNotMeasuredAgainAndOtherSettingsAreRefused) {
  Folder folder;
  const std::string out = "--out " + folder / "out";
  const std::string one = "bench --suite charts --limit 2 --policies resize --budgets 64 ";
  ASSERT_EQ(run_arrcoc(one + out).code, 0);
  const std::string lines = slurp(folder / "out/records.jsonl");
  const std::string report = slurp(folder / "out/report.json");
  ASSERT_EQ(run_arrcoc(one + out).code, 0);
  EXPECT_EQ(slurp(folder / "out/records.jsonl"), lines);  // times included
  EXPECT_EQ(slurp(folder / "out/report.json"), report);
  const Outcome other = run_arrcoc(one + "--seed 3 " + out);
  EXPECT_EQ(other.code, 1);
  EXPECT_NE(other.err.find("other settings"), std::string::npos) << other.err;
}

TEST(Bench, BadUsageIsOneLine) {
  Folder folder;
  const std::string out = " --out " + folder / "out";
  const std::pair<std::string, const char*> cases[] = {
      {"bench --suite charts", "--out"},
      {"bench" + out, "--suite"},
      {"bench --suite nowhere" + out, "nowhere"},
      {"bench --suite charts --policies nobody" + out, "nobody"},
      {"bench --suite charts --budgets lots" + out, "lots"},
      {"bench --suite charts --budgets auto:9-3" + out, "auto:9-3"},
      {"bench --suite charts --policies resize@many" + out, "many"},
      {"bench --suite charts --policies realized,realized@64 --budgets 64" + out, "twice"},
      {"bench --suite charts --policies resize,resize" + out, "twice"},
      {"bench --data " + folder.path() + out, "items.jsonl"}};
  for (const auto& [line, part] : cases) {
    const Outcome o = run_arrcoc(line);
    EXPECT_TRUE(o.code == 1 || o.code == 2) << line;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    EXPECT_NE(o.err.find(part), std::string::npos) << o.err;
  }
}

}  // namespace
