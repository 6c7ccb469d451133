#include "serve/upstream.h"

#include <algorithm>

#include "arrcoc/error.h"
#include "base/json.h"
#include "serve/api_error.h"

namespace arrcoc::serving {

Address parse_address(const std::string& url) {
  const size_t scheme = url.find("://");
  const std::string kind = url.substr(0, scheme);
  const size_t slash = scheme == std::string::npos ? scheme : url.find('/', scheme + 3);
  Address out{url.substr(0, slash), slash == std::string::npos ? "" : url.substr(slash)};
  while (!out.base.empty() && out.base.back() == '/') out.base.pop_back();
  const bool bad = url.find_first_of(" \r\n?#@") != std::string::npos;
  if ((kind != "http" && kind != "https") || out.origin.size() <= kind.size() + 3 || bad)
    throw Error(ErrorCode::bad_argument, "upstream '" + url + "' is no http(s)://host[:port] URL");
  if (out.base.empty()) out.base = "/v1";
  return out;
}

bool matches(const std::string& pattern, const std::string& text) {
  size_t p = 0, t = 0;
  size_t star = std::string::npos, from = 0;  // the last * and where its text began
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string::npos) {  // the * takes one more
      p = star + 1;
      t = ++from;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string::npos;
}

Upstream::Upstream(const Options& given, Metrics& counters)
    : options(given),
      metrics(counters),
      address(parse_address(given.upstream)),
      processor_(given.upstream_processor.empty() ? "" : read_text(given.upstream_processor)),
      discovery_(std::make_unique<Discovery>(
          [this] { return client(); }, address.base,
          given.upstream_key.empty()
              ? httplib::Headers{}
              : httplib::Headers{{"Authorization", "Bearer " + given.upstream_key}})) {}

Family Upstream::family(const std::string& model) const {
  Family out = options.upstream_family == "auto" ? discovery_->family(model)
                                                 : family_named(options.upstream_family);
  if (!processor_.empty()) {
    try {
      out = with_processor(out, processor_);
    } catch (const Error&) {  // it is of another model than this one
      out.estimated = true;
    }
  }
  if (options.upstream_image_min_tokens > 0)
    out.limits.min_tokens = options.upstream_image_min_tokens;
  if (options.upstream_image_max_tokens > 0)
    out.limits.max_tokens = options.upstream_image_max_tokens;
  return out;
}

std::string Upstream::budget(const std::string& model) const {
  std::string out;
  for (const std::string& rule : options.upstream_budgets) {
    const size_t equals = rule.rfind('=');
    if (matches(rule.substr(0, equals), model)) out = rule.substr(equals + 1);
  }
  return out;
}

httplib::Headers Upstream::headers(const httplib::Request& from) const {
  httplib::Headers out = {{"Accept", "application/json, text/event-stream"}};
  // The client's key is passed on only where it is not ours.
  if (!options.upstream_key.empty()) {
    out.emplace("Authorization", "Bearer " + options.upstream_key);
  } else if (options.api_key.empty() && from.has_header("Authorization")) {
    const std::string given = from.get_header_value("Authorization");
    // httplib unescapes values: %0d%0a would become a header of our own request.
    for (const char c : given)
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
        throw ApiError(400, "invalid_request", "Authorization has control characters");
    out.emplace("Authorization", given);
  }
  return out;
}

std::unique_ptr<httplib::Client> Upstream::client() const {
  auto out = std::make_unique<httplib::Client>(address.origin);
  const auto ms = [](double s) { return std::chrono::milliseconds(static_cast<int64_t>(1e3 * s)); };
  const double patience = options.upstream_seconds;
  out->set_connection_timeout(ms(std::min(10.0, patience)));
  out->set_read_timeout(ms(patience));
  out->set_write_timeout(ms(patience));
  out->set_follow_location(false);
  out->set_keep_alive(false);
  return out;
}

}  // namespace arrcoc::serving
