#include "serve/routes.h"

#include <string_view>

#include "serve/page.h"
#include "serve/protocols/protocol.h"

namespace arrcoc::serving {

const std::vector<Route>& routes() {
  static const std::vector<Route> all = [] {
    std::vector<Route> out = {
        {"GET", "/health", false},
        {"GET", "/metrics", true},
        {"GET", "/v1/savings", true},
        {"GET", "/v1/pictures/{id}", true},
        {"GET", "/v1/models", true, true},
        {"GET", "/v1/models/{id}", true, true},
        {"GET", "/props", true, true},
        {"GET", "/version", false, true},
        {"GET", "/api/version", false, true},
        {"GET", "/api/tags", true, true},
        {"POST", "/api/show", true, true},
        {"POST", "/tokenize", true, true},
        {"POST", "/v1/relevance", true},
        {"POST", "/v1/feedback", true},
        {"POST", kMcpPath, true, true},
        {"DELETE", kMcpPath, true, true},
    };
    for (const PageFile& file : page_files()) out.push_back({"GET", file.path, false});
    for (const Endpoint& at : endpoints())
      out.push_back({"POST", at.path, true, std::string(at.path) != kCountPath});
    return out;
  }();
  return all;
}

bool Route::matches(const std::string& asked) const {
  const std::string_view all = path;
  if (!all.ends_with("{id}")) return asked == all;
  const std::string_view start = all.substr(0, all.size() - 4);
  return asked.size() > start.size() && asked.starts_with(start);
}

}  // namespace arrcoc::serving
