// A proxy in front of a double.
#pragma once

#include "support.h"

namespace arrcoc::serving::test {

inline Options proxy_to(const std::string& url) {
  Options options = usual_options();
  options.upstream = url;
  options.upstream_seconds = 30;
  return options;
}

inline httplib::Result send(const Running& proxy, const std::string& path, const std::string& body,
                            httplib::Headers headers = {}) {
  return proxy.client().Post(path, headers, body, "application/json");
}

}  // namespace arrcoc::serving::test
