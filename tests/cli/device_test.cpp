// --device and --dtype of the bundled networks.
#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/process.h"

using namespace arrcoc::test;
using nlohmann::json;

namespace {

const std::string kReceipt = std::string(ARRCOC_SOURCE_DIR) + "/examples/pictures/receipt.jpg";
const std::string kAsk = "ask " + kReceipt + " 'What is the total?' --json ";
const std::string kLook = "look " + kReceipt + " 'What is the total?' --json ";

json asked(const std::string& command) {
  const Outcome o = run_arrcoc(command);
  EXPECT_EQ(o.code, 0) << o.err;
  return json::parse(o.out);
}

void expect_refused(const std::string& command, const std::string& why) {
  const Outcome o = run_arrcoc(command);
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find(why), std::string::npos) << o.err;
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
}

}  // namespace

TEST(Device, TheCpuIsTheReference) {
  const json reference = asked(kAsk + "--kernels reference");
  const json placed = asked(kAsk + "--kernels reference --device cpu --dtype float32");
  EXPECT_EQ(placed["answer"], reference["answer"]);
  EXPECT_EQ(placed["confidence"], reference["confidence"]);
}

// Every state and weight in the type that a GPU computes in, converted where it has to be.
TEST(Device, HalfTheBitsGiveTheSameAnswer) {
  const json reference = asked(kAsk + "--kernels reference");
  const json placed = asked(kAsk + "--dtype bfloat16");
  EXPECT_EQ(placed["answer"], reference["answer"]);
  EXPECT_NEAR(placed["confidence"].get<double>(), reference["confidence"].get<double>(), 0.1);
  const auto map = [](const std::string& flags) {
    return asked(kLook + flags)["map"]["values"].get<std::vector<double>>();
  };
  const std::vector<double> whole = map("--kernels reference"), half = map("--dtype bfloat16");
  EXPECT_NE(half, whole);  // it was computed otherwise
  ASSERT_EQ(half.size(), whole.size());
  for (size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(half[i], whole[i], 0.1) << i;
}

// Questions and tokens are padded to the lengths that there are graphs for.
TEST(Device, LengthsOfGraphsGiveTheSameAnswer) {
  const json reference = asked(kAsk + "--kernels reference");
  ::setenv("ARRCOC_GRAPHS", "first", 1);
  const json padded = asked(kAsk + "--kernels reference");
  ::unsetenv("ARRCOC_GRAPHS");
  EXPECT_EQ(padded["answer"], reference["answer"]);
  EXPECT_NEAR(padded["confidence"].get<double>(), reference["confidence"].get<double>(), 1e-3);
}

// Questions alone and together: float32 may differ less than half the bits may.
TEST(Device, ABundlesCheckAllowsWhatItsTypeLoses) {
  const std::string check = "models check " + std::string(ARRCOC_SOURCE_DIR) + "/models/tiny";
  const Outcome whole = run_arrcoc(check + " --device cpu");
  EXPECT_EQ(whole.code, 0) << whole.err;
  EXPECT_NE(whole.out.find("(allowed 0.001)"), std::string::npos) << whole.out;
  const Outcome half = run_arrcoc(check, "ARRCOC_DTYPE=bfloat16");
  EXPECT_EQ(half.code, 0) << half.out << half.err;
  EXPECT_NE(half.out.find("(allowed 0.05)"), std::string::npos) << half.out;
  expect_refused(check + " --device warp", "unknown device 'warp'");
}

TEST(Device, WhatCannotBeIsOneLine) {
  for (const std::string& command : {kAsk, kLook}) {
    expect_refused(command + "--device warp", "unknown device 'warp'");
    expect_refused(command + "--device meta", "unknown device 'meta'");
    expect_refused(command + "--dtype int3", "unknown dtype 'int3'");
    if (!at::hasCUDA()) expect_refused(command + "--device cuda", "no CUDA, or no GPU");
    expect_refused(command + "--kernels fast --dtype bfloat16", "fast kernels are 8 bits");
  }
  if (!at::hasCUDA()) {
    expect_refused("eval --suite charts --limit 1 --device cuda", "no CUDA, or no GPU");
    expect_refused("serve --port 0 --device cuda", "no CUDA, or no GPU");
  }
}
