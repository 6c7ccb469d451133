// What the server says it saved.
#include "serve/savings.h"

#include "recording.h"

namespace arrcoc::serving::test {
namespace {

TEST(SavingsTest, AddsUpByModelAndPrice) {
  Metrics metrics;
  Savings savings({"*=1", "gpt-*=2.5"}, metrics);
  savings.add("gpt-4o", 1000000, 200000, std::nullopt);
  savings.add("gpt-4o", 1000000, 200000, 210000);
  savings.add("other", 500, 500, std::nullopt);
  const json report = savings.report();
  ASSERT_EQ(report["models"].size(), 2U);
  const json& line = report["models"][0];
  EXPECT_EQ(line["model"], "gpt-4o");
  EXPECT_EQ(line["requests"], 2);
  EXPECT_EQ(line["saved_tokens"], 1600000);
  EXPECT_EQ(line["saved_share"], 0.8);
  EXPECT_EQ(line["reported_tokens"], 210000);
  EXPECT_EQ(line["saved_dollars"], 4.0);
  EXPECT_EQ(report["total"]["native_tokens"], 2000500);
  EXPECT_EQ(report["total"]["saved_dollars"], 4.0);
  EXPECT_EQ(metrics.value("arrcoc_model_image_tokens_total", R"(model="gpt-4o",kind="kept")"),
            400000);
  EXPECT_NEAR(metrics.value("arrcoc_saved_dollars_total", R"(model="gpt-4o")"), 4, 1e-9);
  EXPECT_EQ(metrics.value("arrcoc_image_tokens_native_total"), 2000500);
}

TEST(SavingsTest, NamesFromClientsAreBounded) {
  Metrics metrics;
  Savings savings({}, metrics);
  for (int i = 0; i < 1000; ++i) savings.add("m" + std::to_string(i), 10, 1, std::nullopt);
  EXPECT_LE(savings.report()["models"].size(), 65U);
  EXPECT_EQ(savings.report()["total"]["requests"], 1000);
}

TEST(SavingsTest, BadPricesAreRefused) {
  for (const char* rule : {"gpt-4o", "gpt=x", "gpt=-1", "gpt=", "gpt=1e999", "gpt=nan"})
    EXPECT_THROW(price_of({rule}, "gpt"), Error) << rule;
  EXPECT_FALSE(price_of({"a*=1"}, "b"));
  Options options = usual_options();
  options.prices = {"x"};
  EXPECT_THROW(check(options), Error);
}

TEST(SavingsTest, AServerReportsThem) {
  Options options = usual_options();
  options.prices = {"arrcoc*=3"};
  options.api_key = "k";
  Running server(options);
  auto client = server.client();
  client.set_bearer_token_auth("k");
  const json before = json::parse(client.Get("/v1/savings")->body)["models"][0];
  EXPECT_EQ(before["model"], "arrcoc-tiny");
  EXPECT_EQ(before["requests"], 0);
  EXPECT_EQ(before["dollars_per_million"], 3) << "known before anybody asks";
  ASSERT_EQ(client.Post("/v1/chat/completions", question().dump(), "application/json")->status,
            200);
  const json report = json::parse(client.Get("/v1/savings")->body);
  EXPECT_EQ(report["models"][0]["model"], "arrcoc-tiny");
  EXPECT_GT(report["total"]["saved_tokens"], 0);
  const std::string table = savings_table(server.origin(), "k");
  EXPECT_NE(table.find("arrcoc-tiny"), std::string::npos);
  EXPECT_NE(table.find(" %"), std::string::npos);
  EXPECT_THROW(savings_table(server.origin(), "wrong"), Error);
  EXPECT_THROW(savings_table("http://127.0.0.1:1", ""), Error);
}

}  // namespace
}  // namespace arrcoc::serving::test
