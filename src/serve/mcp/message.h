// Messages of the Model Context Protocol: JSON-RPC 2.0, one object each.
//
// Two eras are spoken (docs/mcp.md): "modern" (2026-07-28) says its version in every request, the
// older versions agree on one by `initialize`.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace arrcoc::serving::mcp {

inline constexpr const char* kModern = "2026-07-28";
// Newest first; the modern one leads.
const std::vector<std::string>& versions();
bool known_version(const std::string& version);

enum class Code {
  parse = -32700,
  invalid_request = -32600,
  no_method = -32601,
  bad_params = -32602,
  internal = -32603,
  header_mismatch = -32020,
  unsupported_version = -32022,
};

class RpcError : public std::runtime_error {
 public:
  RpcError(Code code, const std::string& message, json data = nullptr, json id = nullptr)
      : std::runtime_error(message), code(code), data(std::move(data)), id(std::move(id)) {}
  Code code;
  json data;  // null: none
  json id;    // of the request, where it could be read
};

enum class Kind { request, notification, response };

struct Message {
  Kind kind = Kind::request;
  json id;  // a string or a whole number; null where there is none
  std::string method;
  json params = json::object();
  json meta(const char* key) const;  // params._meta[key]; null where it is not there
  bool modern() const;               // says its version by itself, or asks for nothing older
};
// RpcError{parse} for what is no JSON or nested too deep, {invalid_request} for anything but one
// JSON-RPC object.
Message parse_message(std::string_view text);

// A modern request must say a version that is spoken here, and capabilities.
// RpcError{unsupported_version, bad_params}.
void require_modern(const Message& message);

std::string reply_text(const json& id, const ordered_json& result);
std::string reply_text(const json& id, const RpcError& problem);
std::string progress_text(const json& token, double progress, const std::string& text);

// How far a call is, with some words.
using Progress = std::function<void(double progress, const std::string& text)>;
// A tool's result; RpcError{bad_params} where there is no such tool.
using CallTool = std::function<ordered_json(const std::string& name, const json& arguments)>;
// The result of a request. RpcError{no_method, bad_params}.
ordered_json result_of(const Message& message, const CallTool& call);

// Calls that run for one client, by the ids that it gave them.
class Calls {
 public:
  using Flag = std::shared_ptr<std::atomic<bool>>;
  // The flag is raised by cancel(); it counts as running while somebody else holds it.
  // RpcError{invalid_request} when a running call has that id, or too many run.
  Flag begin(const json& id);
  void cancel(const json& id);  // nothing where none runs

 private:
  void forget_ended();

  mutable std::mutex mutex_;
  std::map<std::string, std::weak_ptr<std::atomic<bool>>> flags_;
};

}  // namespace arrcoc::serving::mcp
