// arrcoc watch as users run it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "arrcoc/media.h"
#include "process.h"
#include "temporal/films.h"

using arrcoc::test::Folder;
using arrcoc::test::run_arrcoc;
using nlohmann::json;

namespace {

// Ten frames with a crossing square; frame 4 is broken, frame 8 has another size.
void write_film(const Folder& folder) {
  for (int i = 0; i < 10; ++i) {
    at::Tensor rgb = films::ground(i == 8 ? 120 : 160, 120, 1);
    films::paint(rgb, {5.0F + 10 * i, 40, 20.0F + 10 * i, 80}, 20, 20, 20);
    const std::string path = folder / ("f" + std::to_string(i) + ".png");
    if (i == 4) {
      std::ofstream(path) << "torn";
    } else {
      arrcoc::media::write_png(path, rgb);
    }
  }
}

std::vector<json> lines_of(const std::string& text) {
  std::vector<json> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(json::parse(line));
  return out;
}

}  // namespace

TEST(Watch, OneLineAFrameAndNothingIsLost) {
  Folder folder;
  write_film(folder);
  const std::string call = "watch " + folder.path() +
                           " 'what moves?' --policy saliency --answer none --json --budget 48"
                           " --timeline " +
                           folder / "time.png" + " --video " + folder / "seen.avi";
  const auto o = run_arrcoc(call);
  ASSERT_EQ(o.code, 0) << o.err;
  const std::vector<json> lines = lines_of(o.out);
  ASSERT_EQ(lines.size(), 10U);
  for (int i = 0; i < 10; ++i) {
    const json& l = lines[static_cast<size_t>(i)];
    EXPECT_EQ(l["frame"], i);
    EXPECT_LE(l["tokens"], 48);
    EXPECT_EQ(l["coherence"].is_null(), i == 0 || i == 8 || i == 9);
    EXPECT_EQ(l["cut"], i == 8 || i == 9);  // the size changes there and back
    EXPECT_FALSE(l["leaves"].empty());
  }
  EXPECT_EQ(lines[4]["tokens"], 0);
  EXPECT_NE(lines[4]["notes"][0].get<std::string>().find("f4.png"), std::string::npos);
  EXPECT_EQ(lines[4]["leaves"], lines[3]["leaves"]);
  EXPECT_TRUE(std::filesystem::exists(folder / "time.png"));
  EXPECT_TRUE(std::filesystem::exists(folder / "seen.avi"));
  EXPECT_EQ(run_arrcoc(call).out, o.out);  // the same again
}

TEST(Watch, BudgetsAndLimitsHold) {
  Folder folder;
  write_film(folder);
  const auto o = run_arrcoc("watch " + folder.path() +
                            " 'what moves?' --policy saliency --answer none --json"
                            " --max-frames 4 --clip-budget 100");
  ASSERT_EQ(o.code, 0) << o.err;
  const std::vector<json> lines = lines_of(o.out);
  ASSERT_EQ(lines.size(), 4U);
  int spent = 0;
  for (const json& l : lines) spent += l["tokens"].get<int>();
  EXPECT_LE(spent, 100);
  EXPECT_GT(spent, 0);
}

TEST(Watch, WhatCannotBeWatchedIsOneLine) {
  Folder folder;
  for (const std::string& source : {folder.path(), folder / "none.mp4", std::string("camera:77")}) {
    const auto o = run_arrcoc("watch " + source + " 'what?' --answer none");
    EXPECT_EQ(o.code, 1) << source;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  }
}
