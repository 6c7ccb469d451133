// The Model Context Protocol as a client meets it over HTTP, and what its tools cut out.
#include "arrcoc/media.h"
#include "serve/mcp/message.h"
#include "support.h"

namespace arrcoc::serving::test {
namespace {

constexpr const char* kPath = "/mcp";

class McpHttp : public ::testing::Test {
 protected:
  static Options options() {
    Options out = usual_options();
    out.file_root = {source("examples/pictures"), source("tests")};
    return out;
  }
  httplib::Result post(const json& body, const httplib::Headers& headers = {}) const {
    return server.client().Post(kPath, headers, body.dump(), "application/json");
  }
  static json request(const std::string& method, const json& params, const json& id = 1) {
    return {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}};
  }
  static json call(const std::string& tool, const json& arguments) {
    return request("tools/call", {{"name", tool}, {"arguments", arguments}});
  }
  std::string greet() const {
    const auto reply = post(request("initialize", {{"protocolVersion", "2025-11-25"},
                                                   {"capabilities", json::object()},
                                                   {"clientInfo", json::object()}}));
    EXPECT_EQ(reply->status, 200) << reply->body;
    return reply->get_header_value("Mcp-Session-Id");
  }
  json result(const json& body) const {
    const auto reply = post(body, {{"Mcp-Session-Id", session}});
    EXPECT_EQ(reply->status, 200) << reply->body;
    return json::parse(reply->body)["result"];
  }
  static json modern(json body) {
    body["params"]["_meta"] = {{"io.modelcontextprotocol/protocolVersion", mcp::kModern},
                               {"io.modelcontextprotocol/clientCapabilities", json::object()}};
    return body;
  }
  static int code(const httplib::Result& reply) {
    return json::parse(reply->body)["error"]["code"];
  }

  Running server{options()};
  const std::string session = greet();
};

TEST_F(McpHttp, SessionsBeginWithInitializeAndEndWithDelete) {
  EXPECT_FALSE(session.empty());
  EXPECT_TRUE(
      std::all_of(session.begin(), session.end(), [](char c) { return c > 0x20 && c < 0x7f; }));
  const json list = request("tools/list", json::object());
  EXPECT_EQ(post(list)->status, 400) << "no session";
  EXPECT_EQ(post(list, {{"Mcp-Session-Id", "invented"}})->status, 404);
  EXPECT_EQ(post(list, {{"Mcp-Session-Id", session}})->status, 200);
  EXPECT_EQ(post(list, {{"Mcp-Session-Id", session}, {"MCP-Protocol-Version", "1"}})->status, 400);
  const json told = {{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}};
  const auto heard = post(told, {{"Mcp-Session-Id", session}});
  EXPECT_EQ(heard->status, 202);
  EXPECT_EQ(heard->body, "");
  auto client = server.client();
  EXPECT_EQ(client.Get(kPath)->status, 405);
  EXPECT_EQ(client.Delete(kPath, {{"Mcp-Session-Id", session}})->status, 204);
  EXPECT_EQ(client.Delete(kPath, {{"Mcp-Session-Id", session}})->status, 404);
  EXPECT_EQ(post(list, {{"Mcp-Session-Id", session}})->status, 404);
}

TEST_F(McpHttp, ModernRequestsNeedNoSessionButTheSameWordsInTheirHeaders) {
  const json read =
      modern(call("read", {{"path", "receipt.jpg"}, {"question", "What is the total?"}}));
  const auto ask = [&](const char* version, const char* method, const char* name) {
    return post(read,
                {{"MCP-Protocol-Version", version}, {"Mcp-Method", method}, {"Mcp-Name", name}});
  };
  const auto reply = ask(mcp::kModern, "tools/call", "read");
  ASSERT_EQ(reply->status, 200) << reply->body;
  const json found = json::parse(reply->body)["result"];
  EXPECT_EQ(found["structuredContent"]["answer"], "33.10");
  EXPECT_EQ(found["resultType"], "complete");
  EXPECT_FALSE(reply->has_header("Mcp-Session-Id"));
  EXPECT_EQ(ask(mcp::kModern, "tools/call", "=?base64?cmVhZA==?=")->status, 200);
  for (const auto& wrong :
       {ask("2025-11-25", "tools/call", "read"), ask(mcp::kModern, "ping", "read"),
        ask(mcp::kModern, "tools/call", "look"), post(read)}) {
    EXPECT_EQ(wrong->status, 400);
    EXPECT_EQ(code(wrong), -32020);
  }
  json other = modern(request("tools/list", json::object()));
  other["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2099-01-01";
  EXPECT_EQ(code(post(other)), -32022);
  const auto unknown = post(modern(request("sing", json::object())),
                            {{"MCP-Protocol-Version", mcp::kModern}, {"Mcp-Method", "sing"}});
  EXPECT_EQ(unknown->status, 404);
  EXPECT_EQ(code(unknown), -32601);
}

TEST_F(McpHttp, ZoomGivesTheNativePixels) {
  const Picture whole = media::load(source("examples/pictures/receipt.jpg"));
  const json found = result(call("zoom", {{"path", "receipt.jpg"}, {"box", {31, 57, 231, 140}}}));
  const auto png = from_base64(found["content"][1]["data"].get<std::string>());
  const Picture part = media::decode(png);
  EXPECT_TRUE(part.rgb.equal(whole.rgb.narrow(1, 57, 83).narrow(2, 31, 200)));
  const json boxes =
      result(call("zoom", {{"path", "receipt.jpg"}, {"question", "What is the total?"}}));
  ASSERT_FALSE(boxes["structuredContent"]["crops"].empty());
  for (size_t i = 0; i < boxes["structuredContent"]["crops"].size(); ++i) {
    const auto box = boxes["structuredContent"]["crops"][i]["box"].get<std::vector<int>>();
    const Picture crop =
        media::decode(from_base64(boxes["content"][i + 1]["data"].get<std::string>()));
    EXPECT_TRUE(crop.rgb.equal(
        whole.rgb.narrow(1, box[1], box[3] - box[1]).narrow(2, box[0], box[2] - box[0])));
  }
}

TEST_F(McpHttp, PathsMayBeBelowAnyOfTheFolders) {
  const json arguments = {{"question", "What?"}, {"path", "data/suite_hashes.txt"}};
  const json found = result(call("read", arguments));
  EXPECT_EQ(found["isError"], true);
  EXPECT_EQ(found["content"][0]["text"].get<std::string>().find("no such"), std::string::npos)
      << "it is found, and is no picture: " << found;
}

TEST_F(McpHttp, ProgressComesAsEventsBeforeTheReply) {
  json body = call("read", {{"path", "receipt.jpg"}, {"question", "What is the date?"}});
  body["params"]["_meta"] = {{"progressToken", "p"}};
  const auto reply =
      post(body, {{"Mcp-Session-Id", session}, {"Accept", "application/json, text/event-stream"}});
  EXPECT_EQ(reply->get_header_value("Content-Type"), "text/event-stream");
  const auto said = events(reply->body);
  ASSERT_GE(said.size(), 2U);
  double before = 0;
  for (size_t i = 0; i + 1 < said.size(); ++i) {
    const json params = json::parse(said[i])["params"];
    EXPECT_EQ(params["progressToken"], "p");
    EXPECT_GT(params["progress"].get<double>(), before);
    before = params["progress"];
  }
  EXPECT_EQ(json::parse(said.back())["result"]["structuredContent"]["answer"], "10 jul 2024");
  body["params"]["name"] = "sing";
  const auto wrong = post(body, {{"Mcp-Session-Id", session}, {"Accept", "text/event-stream"}});
  EXPECT_EQ(json::parse(events(wrong->body).back())["error"]["code"], -32602);
}

TEST_F(McpHttp, ServersWithoutAFolderTakeDataOnly) {
  Running bare;
  const json greeting = request("initialize", {{"protocolVersion", "2025-11-25"}});
  const std::string id = bare.post(kPath, greeting)->get_header_value("Mcp-Session-Id");
  const auto said = [&](const json& arguments) {
    const auto reply = bare.client().Post(kPath, {{"Mcp-Session-Id", id}},
                                          call("read", arguments).dump(), "application/json");
    return json::parse(reply->body)["result"];
  };
  const json file =
      said({{"path", source("examples/pictures/receipt.jpg")}, {"question", "What?"}});
  EXPECT_EQ(file["isError"], true);
  const json data = said({{"data", picture_url()}, {"question", "What is the total?"}});
  EXPECT_EQ(data["structuredContent"]["answer"], "33.10");
}

}  // namespace
}  // namespace arrcoc::serving::test
