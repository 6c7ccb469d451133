// Which of a request's wishes sets its budget.
#include "serve/knobs.h"

#include "serve/api_error.h"
#include "support.h"

namespace arrcoc::serving::test {
namespace {

constexpr Detail kLow = Detail::low, kAuto = Detail::automatic, kHigh = Detail::high;
using Pictures = std::vector<Knobs::Picture>;

struct Case {
  Knobs knobs;
  std::string of_model;
  std::string budget;
  int token_pixels = 16;
};

// arrcoc.budget > header > max_pixels > detail > the model's > the server's.
TEST(Knobs, TheStrongestSetsTheBudget) {
  const Pictures plain(1), rich{{kHigh, 0}};
  const Pictures limited{{kHigh, 25600}};
  const std::vector<Case> cases = {
      {{"", "", 0, plain}, "", "server"},
      {{"", "", 0, {}}, "", "server"},
      {{"", "", 0, plain}, "256", "256"},
      {{"", "", 0, rich}, "256", "accurate"},
      {{"", "", 0, limited}, "256", "100"},
      {{"", "fast", 0, limited}, "256", "fast"},
      {{"77", "fast", 0, limited}, "256", "77"},
      {{"77", "", 0, {}}, "", "77"},
      {{"", "auto:30-90", 0, plain}, "", "auto:30-90"},
      // detail: the picture that wants most; none is auto
      {{"", "", 0, {{kLow, 0}}}, "", "fast"},
      {{"", "", 0, {{kLow, 0}, {kLow, 0}}}, "", "fast"},
      {{"", "", 0, {{kLow, 0}, {kAuto, 0}}}, "", "server"},
      {{"", "", 0, {{kLow, 0}, {kHigh, 0}}}, "", "accurate"},
      // max_pixels: in tokens of the model, at least one, together
      {{"", "", 1, plain}, "", "1"},
      {{"", "", 512 * 512, plain}, "", "1024"},
      {{"", "", 512 * 512, plain}, "", "256", 32},
      {{"", "", 512 * 512, plain}, "", "334", 28},
      {{"", "", 512 * 512, {{kLow, 2560}}}, "", "10"},
      {{"", "", 512 * 512, Pictures(3)}, "", "3072"},
      {{"", "", 0, {{kAuto, 2560}, {kAuto, 5120}}}, "", "30"},
      {{"", "", 0, {{kAuto, 2560}, {kAuto, 0}, {kAuto, 5120}}}, "", "50"},
      {{"", "", 1 << 30, Pictures(8)}, "", "65536"},
      {{"", "", 512 * 512, rich}, "", "accurate", 0},  // size does not set its tokens
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    EXPECT_EQ(budget_of(c.knobs, c.token_pixels, c.of_model, "server"), c.budget) << "case " << i;
  }
}

TEST(Knobs, AHeaderThatIsNoBudgetIsRefused) {
  for (const char* bad : {"0", "-3", "70000", "much", "auto:9-3", "64 tokens", "1e2"})
    for (const char* body : {"", "64"}) {
      try {
        budget_of({body, bad, 0, Pictures(1)}, 16, "", "auto");
        ADD_FAILURE() << bad;
      } catch (const ApiError& e) {
        EXPECT_EQ(e.status(), 400);
        EXPECT_EQ(std::string(e.what()).rfind("X-Arrcoc-Budget: ", 0), 0U) << e.what();
      }
    }
}

// From the request to the tokens that are kept.
TEST(Knobs, RequestsAreAnsweredWithinThem) {
  Running server;
  const auto kept = [&](const json& body, const httplib::Headers& headers = {}) {
    const auto reply =
        server.client().Post("/v1/chat/completions", headers, body.dump(), "application/json");
    EXPECT_EQ(reply->status, 200) << reply->body.substr(0, 200);
    return json::parse(reply->body)["usage"]["image_tokens"]["kept"].get<int>();
  };
  json body = question();
  json& part = body["messages"][0]["content"][0];
  part["image_url"]["detail"] = "high";
  const int high = kept(body);
  EXPECT_GT(high, 200);
  EXPECT_LE(high, 400);
  part["image_url"]["detail"] = "low";
  EXPECT_LE(kept(body), 64);
  part["image_url"]["max_pixels"] = 40 * 256;
  EXPECT_LE(kept(body), 40);
  part["image_url"].erase("max_pixels");
  part["max_pixels"] = 30 * 256;
  EXPECT_LE(kept(body), 30);
  part.erase("max_pixels");
  body["mm_processor_kwargs"] = {{"min_pixels", 256}, {"max_pixels", 20 * 256}};
  EXPECT_LE(kept(body), 20);
  EXPECT_LE(kept(body, {{"X-Arrcoc-Budget", "12"}}), 12);
  body["arrcoc"] = {{"budget", 100}};
  const int own = kept(body, {{"X-Arrcoc-Budget", "12"}});
  EXPECT_GT(own, 50);
  EXPECT_LE(own, 100);
  const auto bad = server.client().Post("/v1/chat/completions", {{"X-Arrcoc-Budget", "x"}},
                                        body.dump(), "application/json");
  EXPECT_EQ(bad->status, 400);
  for (const auto& [pointer, value] : std::vector<std::pair<const char*, json>>{
           {"/mm_processor_kwargs", 3},
           {"/mm_processor_kwargs/max_pixels", 0},
           {"/messages/0/content/0/image_url/detail", "sharp"},
           {"/messages/0/content/0/max_pixels", "many"}}) {
    json wrong = body;
    wrong[json::json_pointer(pointer)] = value;
    EXPECT_EQ(server.post("/v1/chat/completions", wrong)->status, 400) << pointer;
  }
}

TEST(Knobs, AnOperatorsCapHoldsForEveryKindOfBudget) {
  const std::vector<std::tuple<std::string, int, std::string>> cases = {
      {"100", 0, "100"},
      {"100", 200, "100"},
      {"100", 50, "50"},
      {"99999999999", 50, "50"},
      {"auto", 0, "auto"},
      {"auto", 400, "auto"},
      {"auto", 100, "auto:64-100"},
      {"auto", 50, "auto:49-50"},
      {"auto", 1, "1"},
      {"auto:30-90", 100, "auto:30-90"},
      {"auto:30-90", 60, "auto:30-60"},
      {"auto:30-90", 20, "auto:19-20"},
      {"fast", 100, "64"},
      {"accurate", 100, "100"},
      {"learned", 100, "auto:64-100"},
      {"", 100, ""}};
  for (const auto& [budget, most, wanted] : cases)
    EXPECT_EQ(capped(budget, most), wanted) << budget << " " << most;
}

TEST(Knobs, NoRequestGetsMoreThanTheCap) {
  Options options = usual_options();
  options.max_budget = 40;
  Running server(options);
  for (const char* budget : {"400", "accurate", "auto", "auto:100-300"}) {
    json body = question();
    body["arrcoc"] = {{"budget", budget}};
    EXPECT_LE(server.ask(body)["usage"]["image_tokens"]["kept"], 40) << budget;
    body["arrcoc"]["passes"] = 4;
    body["arrcoc"]["total_budget"] = 500;
    EXPECT_LE(server.ask(body)["usage"]["image_tokens"]["kept"], 40) << budget << ", four looks";
  }
  json body = question();
  body["arrcoc"] = {{"policy", "fixed-16x"}, {"budget", 400}};
  EXPECT_LE(server.ask(body)["usage"]["image_tokens"]["kept"], 40) << "policies with their own";
  body["arrcoc"] = {{"policy", "native"}};
  EXPECT_EQ(server.post("/v1/chat/completions", body)->status, 400);
}

}  // namespace
}  // namespace arrcoc::serving::test
