// Every endpoint of the server.
#pragma once

#include <vector>

namespace arrcoc::serving {

struct Route {
  const char* method;
  const char* path;
  bool key;               // needs the API key where one is set
  bool upstream = false;  // the upstream's, where there is one
};
const std::vector<Route>& routes();

}  // namespace arrcoc::serving
