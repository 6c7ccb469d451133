// The stdio transport: a message a line.
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "arrcoc/error.h"
#include "serve/admission.h"
#include "serve/api_error.h"
#include "serve/service.h"
#include "serve/spare_threads.h"

namespace arrcoc::serving {

namespace {

using mcp::Code;
using mcp::Kind;
using mcp::reply_text;
using mcp::result_of;
using mcp::RpcError;

// Lines from a descriptor, of at most so many bytes.
class Lines {
 public:
  Lines(int in, size_t most) : in_(in), most_(most) {}
  // False at the end. `whole` is false for a line that was too long: it is thrown away.
  bool next(std::string& line, bool& whole) {
    whole = true;
    line.clear();
    for (;;) {
      const size_t end = buffer_.find('\n', at_);
      const size_t stop = std::min(end, buffer_.size());
      if (whole) line.append(buffer_, at_, stop - at_);
      if (line.size() > most_) {
        whole = false;
        line = {};
      }
      if (end != std::string::npos) {
        at_ = end + 1;
        return true;
      }
      at_ = 0;
      buffer_.resize(size_t{64} << 10);
      ssize_t n = 0;
      while ((n = ::read(in_, buffer_.data(), buffer_.size())) < 0 && errno == EINTR) {
      }
      buffer_.resize(n > 0 ? static_cast<size_t>(n) : 0);
      if (n <= 0) return !line.empty();  // a last line may lack its end
    }
  }

 private:
  int in_;
  size_t most_, at_ = 0;
  std::string buffer_;
};

class Dialogue {
 public:
  Dialogue(Service& service, int out) : service_(service), out_(out) {}

  void hear(const std::string& line) {
    json id;
    try {
      try {
        require_few_values(line);
      } catch (const ApiError& problem) {
        throw RpcError(Code::invalid_request, problem.what());
      }
      const auto message = std::make_shared<const mcp::Message>(mcp::parse_message(line));
      id = message->id;
      if (message->kind == Kind::notification) {
        if (message->method == "notifications/cancelled")
          calls_.cancel(message->params.value("requestId", json()));
      } else if (message->kind == Kind::request) {
        answer(message);
      }
    } catch (const RpcError& problem) {
      say(reply_text(id.is_null() ? problem.id : id, problem));
    } catch (const std::exception&) {  // no memory, no threads: others will give some back
      say(reply_text(id, RpcError(Code::internal, "too much at once, try again")));
    }
  }

  void say(std::string text) {
    text += '\n';
    const std::scoped_lock lock(mutex_);
    for (size_t at = 0; at < text.size();) {
      const ssize_t n = ::write(out_, text.data() + at, text.size() - at);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return;  // nobody reads: the end of the input comes next
      at += static_cast<size_t>(n);
    }
  }

 private:
  void answer(const std::shared_ptr<const mcp::Message>& message) {
    if (message->modern()) {
      require_modern(*message);
    } else if (message->method == "initialize") {
      greeted_ = true;
    } else if (!greeted_ && message->method != "ping") {
      throw RpcError(Code::bad_params, "no protocol version: send initialize, or name it in _meta");
    }
    if (message->method != "tools/call")
      return say(reply_text(message->id, result_of(*message, {})));
    threads_.run([this, message, flag = calls_.begin(message->id)]() mutable {
      connection() = {};
      connection().gone = [&flag] { return flag->load(); };
      const std::string reply = run(*message);
      connection() = {};
      flag.reset();  // before the client can know that it is over
      if (!reply.empty()) say(reply);
    });
  }

  // "" when it was cancelled: nobody wants to hear of it.
  std::string run(const mcp::Message& message) {
    const json token = message.meta("progressToken");
    const mcp::Progress progress = [&](double at, const std::string& text) {
      if (!token.is_null()) say(mcp::progress_text(token, at, text));
    };
    try {
      return reply_text(message.id, result_of(message, [&](const auto& name, const auto& given) {
                          return service_.call_tool(name, given, progress);
                        }));
    } catch (const RpcError& problem) {
      return reply_text(message.id, problem);
    } catch (const std::exception&) {
      return "";
    }
  }

  Service& service_;
  const int out_;
  std::mutex mutex_;
  bool greeted_ = false;
  mcp::Calls calls_;
  SpareThreads threads_;  // last: its jobs use all of the above
};

}  // namespace

void serve_mcp(const Options& options, int in, int out, const Server::Log& log) {
  check(options);
  Metrics metrics;
  Service service(options, metrics, log);
  service.load();
  const auto most = static_cast<size_t>(options.max_body_mb * (1 << 20));
  Lines lines(in, most);
  Dialogue dialogue(service, out);
  std::string line;
  for (bool whole = true; lines.next(line, whole);) {
    if (!whole) {
      dialogue.say(reply_text(
          nullptr, RpcError(Code::invalid_request, "a message is larger than " +
                                                       json(options.max_body_mb).dump() + " MB")));
    } else if (line.find_first_not_of(" \t\r") != std::string::npos) {
      dialogue.hear(line);
    }
  }
}

}  // namespace arrcoc::serving
