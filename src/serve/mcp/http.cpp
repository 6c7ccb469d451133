// The streamable HTTP transport: POST /mcp gets JSON, or events where a call reports its progress.
#include "serve/api_error.h"
#include "serve/encoding.h"
#include "serve/service.h"

namespace arrcoc::serving {

namespace {

using mcp::Code;
using mcp::Kind;
using mcp::reply_text;
using mcp::result_of;
using mcp::RpcError;

constexpr const char* kSessionHeader = "Mcp-Session-Id";
constexpr const char* kVersionHeader = "MCP-Protocol-Version";

// Headers say the same as the body, or somebody between us may have judged by something else.
void require_header(const httplib::Request& from, const char* name, const std::string& wanted) {
  std::string given = from.get_header_value(name);
  constexpr std::string_view kStart = "=?base64?", kEnd = "?=";
  if (given.size() >= kStart.size() + kEnd.size() && given.starts_with(kStart) &&
      given.ends_with(kEnd)) {
    try {
      const auto bytes = from_base64(std::string_view(given).substr(
          kStart.size(), given.size() - kStart.size() - kEnd.size()));
      given.assign(bytes.begin(), bytes.end());
    } catch (const Error&) {
      given.clear();
    }
  }
  if (given != wanted)
    throw RpcError(Code::header_mismatch,
                   std::string("Header mismatch: ") + name + " must be '" + wanted + "'");
}

void require_headers(const httplib::Request& from, const mcp::Message& message) {
  require_modern(message);
  require_header(from, kVersionHeader, mcp::kModern);
  require_header(from, "Mcp-Method", message.method);
  if (const json name = message.params.value("name", json());
      message.method == "tools/call" && name.is_string())
    require_header(from, "Mcp-Name", name);
}

// What is wrong with a message as HTTP says it; calls that fail are answers like others.
int status_of(const RpcError& problem, bool modern) {
  switch (problem.code) {
    case Code::parse:
    case Code::invalid_request:
    case Code::header_mismatch:
    case Code::unsupported_version:
      return 400;
    case Code::no_method:
      return modern ? 404 : 200;
    case Code::bad_params:
    case Code::internal:
      return 200;
  }
  return 200;
}

void say(httplib::Response& response, const std::string& body, int status = 200) {
  response.status = status;
  response.set_content(body, "application/json");
}

bool takes_events(const httplib::Request& from) {
  return from.get_header_value("Accept").find("text/event-stream") != std::string::npos;
}

std::string event_of(const std::string& message) { return "data: " + message + "\n\n"; }

}  // namespace

void Service::speak_mcp(const Request& from, const std::string& body, Response& response) {
  json id;
  bool modern = false;
  try {
    const auto message = std::make_shared<const mcp::Message>(mcp::parse_message(body));
    id = message->id;
    if (message->method == "initialize" && !message->modern()) {
      const std::string reply = reply_text(id, result_of(*message, {}));
      response.set_header(kSessionHeader, sessions_.begin());
      return say(response, reply);
    }
    const std::string version = from.get_header_value(kVersionHeader);
    modern = message->modern() || version == mcp::kModern;
    std::shared_ptr<mcp::Calls> calls;  // of the session, where there is one
    if (!modern) {
      if (!from.has_header(kSessionHeader))
        throw RpcError(Code::invalid_request, "no session: send initialize first");
      calls = sessions_.find(from.get_header_value(kSessionHeader));
      if (!calls)
        return say(response,
                   reply_text(id, RpcError(Code::invalid_request, "no such session any more")),
                   404);
      if (!version.empty() && !mcp::known_version(version))
        throw RpcError(Code::invalid_request, "unknown protocol version '" + version + "'");
    } else if (message->kind == Kind::request) {
      try {
        require_headers(from, *message);
      } catch (const RpcError& problem) {
        return say(response, reply_text(id, problem), 400);
      }
    }
    if (message->kind != Kind::request) {
      if (calls && message->method == "notifications/cancelled")
        calls->cancel(message->params.value("requestId", json()));
      response.status = 202;
      return;
    }
    const mcp::Calls::Flag flag = calls ? calls->begin(id) : nullptr;
    if (flag)
      connection().gone = [gone = connection().gone, flag] { return *flag || (gone && gone()); };
    answer_mcp(message, takes_events(from), response);
  } catch (const RpcError& problem) {
    say(response, reply_text(id.is_null() ? problem.id : id, problem), status_of(problem, modern));
  }
}

void Service::answer_mcp(const std::shared_ptr<const mcp::Message>& message, bool events,
                         Response& response) {
  const auto run = [this, message](const mcp::Progress& progress) {
    // The call is over before the client can know it.
    const std::shared_ptr<void> over(nullptr, [](void*) { connection().gone = nullptr; });
    return reply_text(message->id, result_of(*message, [&](const auto& name, const auto& given) {
                        return call_tool(name, given, progress);
                      }));
  };
  const json token = message->meta("progressToken");
  if (token.is_null() || !events || message->method != "tools/call")
    return say(response, run([](double, const std::string&) {}));
  provide(
      response, "text/event-stream",
      [message, token, run](httplib::DataSink& sink) {
        const auto send = [&](const std::string& text) {
          const std::string event = event_of(text);
          return sink.write(event.data(), event.size());
        };
        std::string reply;
        try {
          reply = run([&](double progress, const std::string& text) {
            send(mcp::progress_text(token, progress, text));
          });
        } catch (const RpcError& problem) {
          reply = reply_text(message->id, problem);
        }
        if (!send(reply)) return false;
        sink.done();
        return true;
      },
      [message](const ApiError& problem) {
        return event_of(reply_text(message->id, RpcError(Code::internal, problem.what())));
      });
}

void Service::end_mcp(const Request& from, Response& response) {
  if (!sessions_.end(from.get_header_value(kSessionHeader)))
    throw ApiError(404, "not_found", "there is no such session");
  response.status = 204;
}

}  // namespace arrcoc::serving
