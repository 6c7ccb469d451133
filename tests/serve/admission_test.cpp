// What requests may hold at once.
#include "serve/admission.h"

#include <thread>

#include "raw.h"
#include "serve/api_error.h"
#include "support.h"

namespace arrcoc::serving::test {
namespace {

const auto kSoon = std::chrono::milliseconds(20);

TEST(AdmissionTest, BodiesBeyondTheLimitAreRefusedUnlessTheyAreAlone) {
  Admission admission(100);
  Admission::Share first(admission);
  first.arrived(90);
  first.arrived(90);  // alone, however large
  Admission::Share second(admission);
  EXPECT_THROW(second.arrived(1), ApiError);
  EXPECT_EQ(admission.bytes(), 180);
}

TEST(AdmissionTest, OneIsAlwaysTakenApartAndOthersWait) {
  Admission admission(100);
  auto first = std::make_unique<Admission::Share>(admission);
  Admission::Share second(admission);
  first->arrived(40);
  second.arrived(40);
  first->open(4, Clock::now() + kSoon);
  EXPECT_EQ(admission.bytes(), 200);
  EXPECT_THROW(second.open(4, Clock::now() + kSoon), ApiError);
  std::thread later([&] { first->opened(); });
  second.open(4, Clock::now() + std::chrono::seconds(60));
  later.join();
  EXPECT_EQ(admission.bytes(), 200);
  first.reset();
  EXPECT_EQ(admission.bytes(), 160);
}

TEST(AdmissionTest, ValuesAreCountedOutsideStrings) {
  require_few_values(R"({"a": "[[[[,,,,\"[[[[\\", "b": [1, 2]})", 4);
  EXPECT_THROW(require_few_values("[0,0,0,0]", 3), ApiError);
  EXPECT_THROW(require_few_values("[[[[", 3), ApiError);
  require_few_values("\"" + std::string(1000, ','), 3);  // no end: no JSON either
}

TEST(AdmissionTest, AServerThatIsFullSaysSoAndGoesOn) {
  Options options = usual_options();
  options.inflight_mb = 2;
  Running server(options);
  const std::string head =
      "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
      "Content-Type: application/json\r\nContent-Length: ";
  const std::string half(size_t{3} << 19, ' ');
  const std::string request = head + std::to_string(2 * half.size()) + "\r\n\r\n" + half;
  {
    Raw first(server.port()), second(server.port());
    first.send(request);
    second.send(request);
    while (!first.readable() && !second.readable()) std::this_thread::yield();
    const std::string reply = (first.readable() ? first : second).rest();
    EXPECT_EQ(reply.substr(0, 12), "HTTP/1.1 503") << reply;
    EXPECT_NE(reply.find("overloaded"), std::string::npos);
    EXPECT_NE(reply.find("Retry-After"), std::string::npos);
  }
  while (server.metric("arrcoc_inflight_bytes") != "0") std::this_thread::yield();
  EXPECT_EQ(server.post("/v1/chat/completions", question())->status, 200);
}

TEST(AdmissionTest, JsonOfManyValuesIsRefused) {
  Running server;
  std::string body = "{\"messages\": [";
  for (int i = 0; i < 300'000; ++i) body += "0,";
  const auto reply = server.client().Post("/v1/chat/completions", body + "0]}", "application/json");
  EXPECT_EQ(reply->status, 413);
  EXPECT_EQ(error_code(reply), "too_many_values");
}

}  // namespace
}  // namespace arrcoc::serving::test
