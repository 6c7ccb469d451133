// Which proxy an address is reached through.
#pragma once

#include <optional>
#include <string>

#include "arrcoc/hub.h"

namespace arrcoc::hub {

struct Proxy {
  std::string host;
  int port = 80;
  std::string user, password;  // "": none
};

// [http://][user:password@]host[:port][/], with %-escapes in user and password; IPv6 in brackets.
// Error{bad_argument} for anything else: other schemes (socks5, https) are not spoken.
Proxy parse_proxy(const std::string& text);

// Nothing for hosts that no_proxy names: itself, a domain above it (with or without a leading dot),
// or "*".
std::optional<Proxy> proxy_for(const std::string& origin, const Settings& settings);

}  // namespace arrcoc::hub
