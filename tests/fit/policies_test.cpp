#include "lab/fit/policies_fit.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "arrcoc/error.h"
#include "base/json.h"

namespace arrcoc::fitting {
namespace {

TEST(PoliciesFit, AreFittedOnScenesAndTheSameFromOneSeed) {
  ::setenv("ARRCOC_ASSETS", ARRCOC_SOURCE_DIR "/assets", 0);
  PolicyOptions options;
  options.questions = 72;
  options.steps = 100;
  options.couplings = {"lexical"};
  int heard = 0;
  const PolicyReport report = fit_policies(options, nullptr, [&](int done, int of) {
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
  // Both parts are what a bundle reads.
  const json out = json::parse(report.json);
  EXPECT_NE(balance_policy_from_json(out["balancer"].dump()).bias[0], 0);  // it moved
  EXPECT_NE(experts_from_json(out["experts"].dump()), nullptr);
  EXPECT_EQ(out["experts"]["experts"].size(), 4U);
  EXPECT_EQ(fit_policies(options, nullptr).json, report.json);
}

TEST(PoliciesFit, RefusesTooFewQuestionsAndAMissingNetwork) {
  EXPECT_THROW(fit_policies({3, 1, 10, {"lexical"}}, nullptr), Error);
  EXPECT_THROW(fit_policies({72, 1, 10, {kNetwork}}, nullptr), Error);
}

}  // namespace
}  // namespace arrcoc::fitting
