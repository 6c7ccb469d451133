// Every endpoint of the server.
#pragma once

#include <string>
#include <vector>

namespace arrcoc::serving {

// Counts before sending; also a proxy's own.
inline constexpr const char* kCountPath = "/v1/chat/completions/input_tokens";

inline constexpr const char* kMcpPath = "/mcp";

struct Route {
  const char* method;
  const char* path;
  bool key;               // needs the API key where one is set
  bool upstream = false;  // the upstream's, where there is one
  // A path that ends with {id} stands for all that begin so and go on.
  bool matches(const std::string& asked) const;
};
const std::vector<Route>& routes();

}  // namespace arrcoc::serving
