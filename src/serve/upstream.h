// The server behind the proxy: where it is and how it is reached.
#pragma once

#include <memory>
#include <string>

#include "arrcoc/serve.h"
#include "serve/discovery.h"
#include "serve/http.h"
#include "serve/metrics.h"

namespace arrcoc::serving {

// http(s)://host[:port][/base]. Error{bad_argument} for anything else.
struct Address {
  std::string origin;  // http://host:port
  std::string base;    // "/v1" unless the URL has a path of its own
};
Address parse_address(const std::string& url);

// "qwen*" style patterns: * stands for any characters.
bool matches(const std::string& pattern, const std::string& text);

struct Upstream {
  Upstream(const Options& given, Metrics& counters);

  // As the options say; what they leave open, as the upstream tells, or by the model's name.
  Family family(const std::string& model) const;
  std::string budget(const std::string& model) const;  // of upstream_budgets; "" when none matches
  // Of requests that go there for this one. ApiError{400} for a key with control characters.
  httplib::Headers headers(const httplib::Request& from) const;
  std::unique_ptr<httplib::Client> client() const;

  const Options options;
  Metrics& metrics;
  const Address address;

 private:
  const std::string processor_;  // text of upstream_processor
  const std::unique_ptr<Discovery> discovery_;
};

}  // namespace arrcoc::serving
