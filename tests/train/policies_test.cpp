#include "lab/fit/policies_fit.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "arrcoc/allocate.h"
#include "arrcoc/error.h"
#include "arrcoc/look.h"

namespace arrcoc::training {
namespace {

struct Policies : testing::Test {
  void SetUp() override { ::setenv("ARRCOC_ASSETS", ARRCOC_SOURCE_DIR "/assets", 0); }
  void TearDown() override {
    balancing::install_policy("");
    allocating::install_experts("");
  }
};

TEST_F(Policies, AreFittedOnScenesAndTheSameFromOneSeed) {
  PolicyOptions options;
  options.questions = 72;
  options.steps = 100;
  options.couplings = {"lexical"};
  int heard = 0;
  const PolicyReport report = fit_policies(options, [&](int done, int of) {
    heard = done;
    EXPECT_EQ(of, 72);
  });
  EXPECT_EQ(heard, 72);
  ASSERT_EQ(report.rows.size(), 5U);
  for (const PolicyRow& row : report.rows) {
    EXPECT_GT(row.questions, 0) << row.what;
    EXPECT_GT(row.at_180, 0) << row.what;
    EXPECT_LE(row.at_180, 1) << row.what;
  }
  const auto json = nlohmann::json::parse(report.json);
  EXPECT_NE(json["balancer"]["bias"][0], 0);  // it moved
  EXPECT_EQ(json["experts"]["experts"].size(), 4U);
  install_policies(report.json);
  EXPECT_EQ(fit_policies(options).json, report.json);
}

TEST_F(Policies, InstallsBothPartsOrNone) {
  EXPECT_THROW(install_policies("{}"), Error);
  EXPECT_THROW(install_policies(R"({"balancer": {}, "experts": {}})"), Error);
  EXPECT_THROW(fit_policies({3, 1, 10, {"lexical"}}), Error);
}

}  // namespace
}  // namespace arrcoc::training
