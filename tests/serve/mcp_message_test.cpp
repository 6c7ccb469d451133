// Messages of the Model Context Protocol, apart from what carries them.
#include "serve/mcp/message.h"

#include <gtest/gtest.h>

#include "arrcoc/error.h"
#include "serve/mcp/sessions.h"
#include "serve/mcp/tools.h"

namespace arrcoc::serving::mcp {
namespace {

// The code that a text is refused with; 0 when it is a message.
int refused(const std::string& text) {
  try {
    parse_message(text);
    return 0;
  } catch (const RpcError& problem) {
    return static_cast<int>(problem.code);
  }
}

Message modern(const std::string& method, const std::string& version = kModern) {
  const json meta = {{"io.modelcontextprotocol/protocolVersion", version},
                     {"io.modelcontextprotocol/clientCapabilities", json::object()}};
  return parse_message(
      json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", {{"_meta", meta}}}}
          .dump());
}

Message older(const std::string& method, const json& params = json::object()) {
  return parse_message(
      json{{"jsonrpc", "2.0"}, {"id", "a"}, {"method", method}, {"params", params}}.dump());
}

TEST(McpMessage, WhatIsNoMessageHasTheCodeOfJsonRpc) {
  EXPECT_EQ(refused("{"), -32700);
  EXPECT_EQ(refused("\xff"), -32700);
  EXPECT_EQ(refused(std::string(100'000, '[')), -32700) << "nesting is refused before parsing";
  EXPECT_EQ(refused(R"("x")"), -32600);
  EXPECT_EQ(refused(R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])"), -32600) << "batches";
  EXPECT_EQ(refused(R"({"id":1,"method":"ping"})"), -32600);
  EXPECT_EQ(refused(R"({"jsonrpc":"1.0","id":1,"method":"ping"})"), -32600);
  EXPECT_EQ(refused(R"({"jsonrpc":"2.0","id":null,"method":"ping"})"), -32600);
  EXPECT_EQ(refused(R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})"), -32600);
  EXPECT_EQ(refused(R"({"jsonrpc":"2.0","id":{},"method":"ping"})"), -32600);
  EXPECT_EQ(refused(R"({"jsonrpc":"2.0","id":1})"), -32600);
  EXPECT_EQ(refused(R"({"jsonrpc":"2.0","id":1,"method":7})"), -32600);
  EXPECT_EQ(refused(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[]})"), -32600);
}

TEST(McpMessage, ARefusalNamesTheRequestWhereItCanBeRead) {
  try {
    parse_message(R"({"jsonrpc":"2.0","id":"seven","method":7})");
    FAIL();
  } catch (const RpcError& problem) {
    EXPECT_EQ(problem.id, "seven");
    EXPECT_EQ(json::parse(reply_text(problem.id, problem))["error"]["code"], -32600);
  }
}

TEST(McpMessage, KindsAreTold) {
  EXPECT_EQ(parse_message(R"({"jsonrpc":"2.0","id":0,"method":"ping"})").kind, Kind::request);
  EXPECT_EQ(parse_message(R"({"jsonrpc":"2.0","method":"x"})").kind, Kind::notification);
  EXPECT_EQ(parse_message(R"({"jsonrpc":"2.0","id":1,"result":{}})").kind, Kind::response);
  EXPECT_EQ(parse_message(R"({"jsonrpc":"2.0","id":1,"error":{}})").kind, Kind::response);
  // JSON-RPC 2.0, 5: null where the request's id could not be read.
  EXPECT_EQ(parse_message(R"({"jsonrpc":"2.0","id":null,"error":{}})").kind, Kind::response);
  EXPECT_TRUE(older("x", {{"_meta", 7}}).meta("progressToken").is_null());
}

TEST(McpVersions, InitializeAgreesOnTheClientsVersionOrTheNewestOfItsEra) {
  const auto agreed = [](const json& wanted) {
    return result_of(older("initialize", {{"protocolVersion", wanted}}), {})["protocolVersion"];
  };
  for (const char* version : {"2025-11-25", "2025-06-18", "2024-11-05"})
    EXPECT_EQ(agreed(version), version);
  EXPECT_EQ(agreed("2025-03-26"), "2025-11-25") << "its batches are not taken here";
  EXPECT_EQ(agreed("1999-01-01"), "2025-11-25");
  EXPECT_EQ(agreed(kModern), "2025-11-25") << "has no initialize";
  EXPECT_THROW(agreed(7), RpcError);
}

TEST(McpVersions, ModernRequestsSayTheirVersionEach) {
  EXPECT_NO_THROW(require_modern(modern("tools/list")));
  try {
    require_modern(modern("tools/list", "1900-01-01"));
    FAIL();
  } catch (const RpcError& problem) {
    EXPECT_EQ(static_cast<int>(problem.code), -32022);
    EXPECT_EQ(problem.data["requested"], "1900-01-01");
    EXPECT_EQ(problem.data["supported"][0], kModern);
  }
  Message bare = modern("tools/list");
  bare.params["_meta"].erase("io.modelcontextprotocol/clientCapabilities");
  EXPECT_THROW(require_modern(bare), RpcError);
  const ordered_json found = result_of(modern("server/discover"), {});
  EXPECT_EQ(found["supportedVersions"], versions());
  EXPECT_EQ(found["resultType"], "complete");
  EXPECT_TRUE(found["capabilities"].contains("tools"));
}

TEST(McpVersions, EachEraHasItsMethods) {
  EXPECT_EQ(result_of(older("ping"), {}).dump(), "{}");
  for (const Message& unknown : {modern("ping"), modern("initialize"), older("resources/list")})
    try {
      result_of(unknown, {});
      FAIL() << unknown.method;
    } catch (const RpcError& problem) {
      EXPECT_EQ(problem.code, Code::no_method);
    }
}

TEST(McpTools, AreNamedOnceAndOnlyRead) {
  std::vector<std::string> names;
  for (const ordered_json& tool : tools()) {
    names.push_back(tool["name"]);
    EXPECT_EQ(tool["annotations"]["readOnlyHint"], true);
    EXPECT_EQ(tool["inputSchema"]["type"], "object");
    EXPECT_EQ(tool["outputSchema"]["type"], "object");
    EXPECT_TRUE(tool["inputSchema"]["required"].is_array());
    for (const char* word : {"oneOf", "anyOf", "allOf"})  // some clients refuse them here
      EXPECT_FALSE(tool["inputSchema"].contains(word));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"look", "zoom", "read", "count"}));
}

TEST(McpCalls, AreCancelledByTheirIdAndOnlyWhileTheyRun) {
  Calls calls;
  Calls::Flag one = calls.begin(1), word = calls.begin("1");
  EXPECT_THROW(calls.begin(1), RpcError) << "still runs";
  calls.cancel(1);
  calls.cancel(json::array());
  calls.cancel("\xff");
  EXPECT_TRUE(*one);
  EXPECT_FALSE(*word) << "\"1\" is not 1";
  one.reset();
  one = calls.begin(1);
  EXPECT_FALSE(*one);
  std::vector<Calls::Flag> many;
  EXPECT_THROW(for (int i = 2; i < 1000; ++i) many.push_back(calls.begin(i)), RpcError);
}

TEST(McpSessions, EndAndMakeRoomForNewOnes) {
  Sessions sessions;
  const std::string first = sessions.begin(), second = sessions.begin();
  EXPECT_NE(first, second);
  EXPECT_GE(first.size(), 32U);
  EXPECT_TRUE(sessions.end(second));
  EXPECT_FALSE(sessions.end(second));
  EXPECT_EQ(sessions.find(second), nullptr);
  for (size_t i = 0; i + 1 < Sessions::kMost; ++i) sessions.begin();
  EXPECT_NE(sessions.find(first), nullptr);
  sessions.begin();
  EXPECT_NE(sessions.find(first), nullptr) << "was heard of last but one";
  for (size_t i = 0; i < Sessions::kMost; ++i) sessions.begin();
  EXPECT_EQ(sessions.find(first), nullptr);
}

}  // namespace
}  // namespace arrcoc::serving::mcp
