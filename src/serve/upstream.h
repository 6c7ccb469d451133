// The server behind the proxy: where it is, how it is reached and how it counts.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "arrcoc/serve.h"
#include "serve/discovery.h"
#include "serve/http.h"
#include "serve/http_exchange.h"
#include "serve/metrics.h"

namespace arrcoc::serving {

// Whether this build speaks https, which takes httplib with OpenSSL.
#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
inline constexpr bool kHttps = true;
#else
inline constexpr bool kHttps = false;
#endif

// http(s)://host[:port][/base]. Error{bad_argument} for anything else, Error{unsupported} for https
// without it.
struct Address {
  std::string origin;  // http://host:port
  std::string base;    // "/v1" unless the URL has a path of its own
};
Address parse_address(const std::string& url, bool https = kHttps);

// "qwen*" style patterns: * stands for any characters.
bool matches(const std::string& pattern, const std::string& text);

// A request on its way there.
struct Outgoing {
  std::string method, target;  // target: as the client spelled it, /v1/...
  httplib::Headers headers;
  std::string body;
  bool untouched = true;  // whatever comes back is passed on
};

struct Upstream {
  Upstream(const Options& given, Metrics& counters);

  // As the options say; what they leave open, as the upstream tells, or by the model's name.
  Family family(const std::string& model) const;
  std::string budget(const std::string& model) const;  // of upstream_budgets; "" when none matches
  // The client's headers as they go on: without those of the connection and our own; its key only
  // where we have none. ApiError{400} for values with control characters.
  httplib::Headers headers(const httplib::Request& from) const;
  std::string path(const std::string& target) const;  // the client's target, there
  std::unique_ptr<httplib::Client> client() const;
  std::string host() const;  // without its port

  // Sends until the head of a reply is there; failed connections and, unless it is untouched, 5xx
  // are tried again. patience: called while waiting, may throw. ApiError{502, 504}.
  std::unique_ptr<HttpExchange> send(const Outgoing& request,
                                     const std::function<void()>& patience) const;

  // Estimated counts learn from what the upstream reports: reported over reckoned, by model.
  void learn(const std::string& model, double ratio) const;
  double learned(const std::string& model) const;  // 1 where nothing is known

  const Options options;
  Metrics& metrics;
  const Address address;

 private:
  const std::string processor_;  // text of upstream_processor
  const std::unique_ptr<Discovery> discovery_;
  std::unique_ptr<HttpExchange> try_once(const Outgoing& request,
                                         const std::function<void()>& patience) const;
  mutable std::mutex mutex_;
  mutable std::map<std::string, double> ratios_;
  mutable SpareThreads threads_;  // last: its jobs use none of the above, but end first
};

// Headers that concern one connection only, lower case.
bool of_connection(const std::string& name);

}  // namespace arrcoc::serving
