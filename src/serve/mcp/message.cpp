#include "serve/mcp/message.h"

#include <algorithm>

#include "arrcoc/version.h"
#include "serve/mcp/tools.h"
#include "serve/replies.h"

namespace arrcoc::serving::mcp {

namespace {

constexpr size_t kMostCalls = 16;  // of one client at once
constexpr const char* kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr int64_t kTimeToLive = 3'600'000;  // milliseconds that lists may be remembered

const char* const kInstructions =
    "Pictures at the price of what a question needs. read answers a question about a picture with "
    "how sure it is and where it was read; look says where the answer lies; zoom gives parts of "
    "the picture with every pixel they have, for you to read; count counts things. Use look or "
    "zoom before you take in a large picture as a whole.";

ordered_json server_info() {
  return {{"name", "arrcoc"}, {"title", "ARR-COC"}, {"version", kVersion}};
}

ordered_json capabilities() { return {{"tools", ordered_json::object()}}; }

ordered_json initialize(const Message& message) {
  const json& wanted =
      message.params.contains("protocolVersion") ? message.params["protocolVersion"] : json();
  if (!wanted.is_string())
    throw RpcError(Code::bad_params, "initialize needs 'protocolVersion', a string");
  // The newest of those that agree by initialize, where the client's is none of them.
  std::string version = versions()[1];
  if (wanted != kModern && known_version(wanted)) version = wanted;
  return {{"protocolVersion", version},
          {"capabilities", capabilities()},
          {"serverInfo", server_info()},
          {"instructions", kInstructions}};
}

ordered_json discover() {
  return {{"supportedVersions", versions()},
          {"capabilities", capabilities()},
          {"instructions", kInstructions}};
}

ordered_json call_tool(const Message& message, const CallTool& call) {
  const json& params = message.params;
  if (!params.contains("name") || !params["name"].is_string())
    throw RpcError(Code::bad_params, "tools/call needs 'name', a string");
  const json arguments = params.value("arguments", json::object());
  if (!arguments.is_object()) throw RpcError(Code::bad_params, "'arguments' must be an object");
  return call(params["name"], arguments);
}

void require_id(const json& id) {
  const bool good = id.is_string() || id.is_number_integer();
  if (!good || (id.is_string() && id.get_ref<const std::string&>().size() > 256))
    throw RpcError(Code::invalid_request, "'id' must be a string or a whole number");
}

}  // namespace

const std::vector<std::string>& versions() {
  static const std::vector<std::string> all = {kModern, "2025-11-25", "2025-06-18", "2024-11-05"};
  return all;
}

bool known_version(const std::string& version) {
  return std::find(versions().begin(), versions().end(), version) != versions().end();
}

json Message::meta(const char* key) const {
  const auto meta = params.find("_meta");
  return meta != params.end() && meta->is_object() ? meta->value(key, json()) : json();
}

bool Message::modern() const { return method == "server/discover" || !meta(kVersionKey).is_null(); }

Message parse_message(std::string_view text) {
  json given;
  try {
    given = parse_json(text, "the message");
  } catch (const Error& problem) {
    throw RpcError(Code::parse, problem.what());
  }
  if (given.is_array())
    throw RpcError(Code::invalid_request, "batches are not taken: one message at a time");
  if (!given.is_object()) throw RpcError(Code::invalid_request, "a message is a JSON object");
  Message out;
  // An error about a message whose id could not be read has none, and gets no error back.
  const bool nameless =
      given.contains("error") && !given.contains("method") && given.value("id", json()).is_null();
  if (given.contains("id") && !nameless) {
    require_id(given["id"]);
    out.id = given["id"];
  }
  const auto wrong = [&](const char* why) {
    return RpcError(Code::invalid_request, why, nullptr, out.id);
  };
  if (given.value("jsonrpc", json()) != "2.0") throw wrong("'jsonrpc' must be \"2.0\"");
  if (!given.contains("method")) {
    if (!given.contains("result") && !given.contains("error")) throw wrong("'method' is missing");
    out.kind = Kind::response;
    return out;
  }
  if (!given["method"].is_string()) throw wrong("'method' must be a string");
  out.kind = out.id.is_null() ? Kind::notification : Kind::request;
  out.method = given["method"];
  if (given.contains("params")) {
    if (!given["params"].is_object()) throw wrong("'params' must be an object");
    out.params = std::move(given["params"]);
  }
  return out;
}

void require_modern(const Message& message) {
  const json version = message.meta(kVersionKey);
  if (!version.is_string())
    throw RpcError(Code::bad_params, std::string("_meta needs '") + kVersionKey + "', a string");
  if (version != kModern)
    throw RpcError(Code::unsupported_version, "Unsupported protocol version",
                   {{"supported", versions()}, {"requested", version}});
  if (!message.meta(kCapabilitiesKey).is_object())
    throw RpcError(Code::bad_params,
                   std::string("_meta needs '") + kCapabilitiesKey + "', an object");
}

std::string reply_text(const json& id, const ordered_json& result) {
  return dump({{"jsonrpc", "2.0"}, {"id", id}, {"result", result}});
}

std::string reply_text(const json& id, const RpcError& problem) {
  ordered_json error = {{"code", static_cast<int>(problem.code)}, {"message", problem.what()}};
  if (!problem.data.is_null()) error["data"] = problem.data;
  return dump({{"jsonrpc", "2.0"}, {"id", id}, {"error", error}});
}

std::string progress_text(const json& token, double progress, const std::string& text) {
  return dump({{"jsonrpc", "2.0"},
               {"method", "notifications/progress"},
               {"params", {{"progressToken", token}, {"progress", progress}, {"message", text}}}});
}

ordered_json result_of(const Message& message, const CallTool& call) {
  const bool modern = message.modern();
  const std::string& method = message.method;
  ordered_json out = ordered_json::object();
  if (method == "tools/list") {
    out["tools"] = tools();
  } else if (method == "tools/call") {
    out = call_tool(message, call);
  } else if (modern && method == "server/discover") {
    out = discover();
  } else if (!modern && method == "initialize") {
    out = initialize(message);
  } else if (modern || method != "ping") {
    throw RpcError(Code::no_method, "there is no method '" + method + "'");
  }
  if (!modern) return out;
  out["resultType"] = "complete";
  if (method != "tools/call") {
    out["ttlMs"] = kTimeToLive;
    out["cacheScope"] = "public";
  }
  out["_meta"] = {{"io.modelcontextprotocol/serverInfo", server_info()}};
  return out;
}

void Calls::forget_ended() {
  std::erase_if(flags_, [](const auto& one) { return one.second.expired(); });
}

Calls::Flag Calls::begin(const json& id) {
  const std::scoped_lock lock(mutex_);
  forget_ended();
  if (flags_.size() >= kMostCalls)
    throw RpcError(Code::invalid_request,
                   "at most " + std::to_string(kMostCalls) + " calls at once: wait for some");
  auto& flag = flags_[id.dump()];
  if (!flag.expired()) throw RpcError(Code::invalid_request, "a running call has this 'id'");
  const Flag out = std::make_shared<std::atomic<bool>>(false);
  flag = out;
  return out;
}

void Calls::cancel(const json& id) {
  const std::scoped_lock lock(mutex_);
  const auto found = flags_.find(id.dump(-1, ' ', false, json::error_handler_t::replace));
  if (found == flags_.end()) return;
  if (const Flag flag = found->second.lock()) *flag = true;
}

}  // namespace arrcoc::serving::mcp
