// Requests to the hub: redirects, the token, patience, and what its refusals mean.
#pragma once

#include <httplib.h>

#include <functional>
#include <string>
#include <vector>

#include "arrcoc/hub.h"

namespace arrcoc::hub {

// http(s)://host[:port]/path?query. Error{bad_argument}.
struct Url {
  std::string origin, path;
};
Url parse_url(const std::string& text);
// Where a Location header leads. Error{io} for other schemes, and from https to http.
Url redirected(const Url& from, const std::string& location);

struct Reply {
  int status = 0;  // 0: none came
  httplib::Headers headers;
  httplib::Error error = httplib::Error::Success;
  std::string header(const char* name) const;
  bool good() const { return status == 200 || status == 206; }
  // Whether the same request may succeed later.
  bool passing() const;
  // Seconds that the hub asks for: Retry-After, or t= of RateLimit. Below 0: it does not say.
  double wait() const;
};

// For the body of a good reply; either ends the request by saying false.
struct Sink {
  std::function<bool(const Reply&)> head;
  std::function<bool(const char*, size_t)> body;
};

class Transport {
 public:
  Transport(const Name& name, const Settings& settings, const Progress& progress);

  // One try, through redirects; the token goes to the endpoint and nowhere else. HEAD stops where
  // it would leave the endpoint.
  Reply send(const char* method, const std::string& path, const httplib::Headers& headers,
             const Sink& sink) const;
  // Waits before another try; failures: how many there were in a row. Error{io} after too many, or
  // when the hub wants us to wait too long.
  void be_patient(const Reply& reply, int failures) const;
  // Tries until the reply is final, throws what it means unless it is good.
  std::string text(const std::string& path, size_t most) const;
  Reply head(const std::string& path) const;
  [[noreturn]] void explain(const Reply& reply, const std::string& what) const;

 private:
  template <class Try>
  Reply tried(const Try& once, const std::string& what) const;
  std::string host() const;
  std::string nearest(const std::string& wanted, const std::vector<std::string>& paths) const;

  const Name name_;
  const Settings settings_;
  const Progress& progress_;
};

// %-escapes of everything but letters, digits and -._~, and of / unless it may stay.
std::string escaped(const std::string& text, bool keep_slash = false);

}  // namespace arrcoc::hub
