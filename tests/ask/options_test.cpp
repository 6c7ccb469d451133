#include <gtest/gtest.h>

#include "arrcoc/error.h"
#include "arrcoc/json.h"

using namespace arrcoc;

TEST(Options, RoundTripThroughJson) {
  for (const auto& [name, summary] : policy_names()) {
    AskOptions options = policy(name);
    options.allocate.seed = 77;
    options.budget = "123";
    EXPECT_EQ(to_json(options_from_json(to_json(options))), to_json(options)) << name;
  }
}

TEST(Options, FlagsOverrideThePolicyWhateverTheOrder) {
  AskOptions o = options_from_json(R"({"balancer":"opponent","policy":"text","budget":99})");
  EXPECT_EQ(o.look.coupling, "print");
  EXPECT_EQ(o.look.balancer, "opponent");
  EXPECT_EQ(o.budget, "99");
}

TEST(Options, BadInputIsOneClearError) {
  for (const char* text :
       {"", "{", "[]", "3", "null", R"({"no_such":1})", R"({"cell":"x"})", R"({"cell":1e99})",
        R"({"policy":5})", R"({"balanced":1})", R"({"gain":"sum"})", R"({"providers":"text"})",
        R"({"seed":-1})", R"({"falloff":null})"}) {
    try {
      options_from_json(text);
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::bad_json) << text;
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
    }
  }
  EXPECT_THROW(options_from_json(std::string(100000, '[')), Error);
  EXPECT_THROW(options_from_json(R"({"policy":"nobody"})"), Error);
  EXPECT_THROW(policy("nobody"), Error);
}

TEST(Options, NamesOfPoliciesAreListedWhenOneIsUnknown) {
  try {
    policy("nobody");
    ADD_FAILURE();
  } catch (const Error& problem) {
    EXPECT_EQ(problem.code(), ErrorCode::not_found);
    EXPECT_NE(std::string(problem.what()).find("realized"), std::string::npos);
  }
  EXPECT_EQ(policy("breadth_first").allocator, "breadth-first");
  EXPECT_EQ(policy("top-k").allocator, "top-k");  // the network's map, another allocator
  EXPECT_EQ(policy("top-k").look.coupling, kNetwork);
}
