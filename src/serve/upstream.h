// The proxy: requests go to another server with smaller pictures.
#pragma once

#include <memory>
#include <string>

#include "serve/json.h"
#include "serve/service.h"
#include "serve/shrink.h"

namespace arrcoc::serving {

// http(s)://host[:port][/base]. Error{bad_argument} for anything else.
struct Address {
  std::string origin;  // http://host:port
  std::string base;    // "/v1" unless the URL has a path of its own
};
Address parse_address(const std::string& url);

// "qwen*" style patterns: * stands for any characters.
bool matches(const std::string& pattern, const std::string& text);

class Upstream {
 public:
  explicit Upstream(Service& service);

  void chat(const httplib::Request& from, const json& request, httplib::Response& response);
  void count_tokens(const json& request, httplib::Response& response);
  void models(const httplib::Request& from, httplib::Response& response);

 private:
  struct Prepared;
  struct Flow;
  std::shared_ptr<Prepared> prepare(const json& request);
  void shrink_all(Prepared& p, const std::vector<SeenRef>& seen, const std::string& question,
                  bool strict);
  Shrunk shrink_one(const SeenRef& seen, const Prepared& p, int64_t budget,
                    const std::string& question);
  httplib::Headers headers(const httplib::Request& from) const;
  std::unique_ptr<httplib::Client> client() const;
  // Sends until there is a reply worth passing on; starts with the shrunk body.
  std::shared_ptr<Flow> send(const httplib::Request& from, Prepared& p);
  std::shared_ptr<Flow> try_once(const httplib::Request& from, const std::string& body);
  void pass_on(std::shared_ptr<Prepared> p, std::shared_ptr<Flow> flow,
               httplib::Response& response);
  void stream(std::shared_ptr<Prepared> p, std::shared_ptr<Flow> flow, httplib::Response& response);
  void extend_usage(json& reply, Prepared& p) const;
  std::string extend_event(const std::string& line, Prepared& p) const;
  void account(Prepared& p);

  Service& service_;
  Address address_;
};

}  // namespace arrcoc::serving
