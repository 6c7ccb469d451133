#include "serve/upstream.h"

#include <algorithm>
#include <set>
#include <thread>

#include "arrcoc/error.h"
#include "base/json.h"
#include "serve/api_error.h"

namespace arrcoc::serving {

namespace {

constexpr size_t kMostModels = 256;  // whose counts are learned
constexpr double kLearning = 0.3;    // weight of the newest count
constexpr const char* kNameCharacters = "abcdefghijklmnopqrstuvwxyz0123456789-_.!#$%&'*+^`|~";

}  // namespace

Address parse_address(const std::string& url, bool https) {
  const size_t scheme = url.find("://");
  const std::string kind = url.substr(0, scheme);
  const size_t slash = scheme == std::string::npos ? scheme : url.find('/', scheme + 3);
  Address out{url.substr(0, slash), slash == std::string::npos ? "" : url.substr(slash)};
  while (!out.base.empty() && out.base.back() == '/') out.base.pop_back();
  const bool bad = url.find_first_of(" \r\n?#@") != std::string::npos;
  if ((kind != "http" && kind != "https") || out.origin.size() <= kind.size() + 3 || bad)
    throw Error(ErrorCode::bad_argument, "upstream '" + url + "' is no http(s)://host[:port] URL");
  if (kind == "https" && !https)
    throw Error(ErrorCode::unsupported, "upstream '" + url +
                                            "': https is not in this build, which was made without "
                                            "OpenSSL: only http://");
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

std::string Upstream::host() const {
  const std::string all = address.origin.substr(address.origin.find("://") + 3);
  const size_t colon = all.rfind(':');
  const bool port = colon != std::string::npos && all.find(']', colon) == std::string::npos;
  return port ? all.substr(0, colon) : all;
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

bool of_connection(const std::string& name) {
  static const std::set<std::string> names = {"connection",
                                              "keep-alive",
                                              "proxy-authenticate",
                                              "proxy-authorization",
                                              "proxy-connection",
                                              "te",
                                              "trailer",
                                              "transfer-encoding",
                                              "upgrade",
                                              "content-length"};
  return names.count(name) > 0;
}

httplib::Headers Upstream::headers(const httplib::Request& from) const {
  // The request's own line and body are made anew; httplib adds the first three by itself.
  static const std::set<std::string> ours = {
      "remote_addr", "remote_port",      "local_addr",      "local_port", "host",
      "expect",      "content-encoding", "accept-encoding", "origin"};
  const bool own_key = !options.upstream_key.empty();
  httplib::Headers out;
  bool x_api_key = false;
  for (const auto& [given, value] : from.headers) {
    std::string name = given;
    for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    if (name == "x-arrcoc-range") out.emplace("Range", value);  // see http_head.h
    if (of_connection(name) || ours.count(name) || name.rfind("x-arrcoc-", 0) == 0) continue;
    if (name.find_first_not_of(kNameCharacters) != std::string::npos) continue;
    const bool key = name == "authorization" || name == "x-api-key";
    x_api_key = x_api_key || name == "x-api-key";
    // The client's key is passed on only where it is not ours.
    if (key && (own_key || !options.api_key.empty())) continue;
    out.emplace(given, value);
  }
  if (own_key) out.emplace("Authorization", "Bearer " + options.upstream_key);
  if (own_key && x_api_key) out.emplace("x-api-key", options.upstream_key);
  return out;
}

std::string Upstream::path(const std::string& target) const {
  if (target.rfind("/v1/", 0) == 0) return address.base + target.substr(3);
  const bool versioned = address.base.ends_with("/v1");
  return (versioned ? address.base.substr(0, address.base.size() - 3) : address.base) + target;
}

std::unique_ptr<httplib::Client> Upstream::client() const {
  auto out = std::make_unique<httplib::Client>(address.origin);
  const auto ms = [](double s) { return std::chrono::milliseconds(static_cast<int64_t>(1e3 * s)); };
  const double patience = options.upstream_seconds;
  out->set_connection_timeout(ms(std::min(patience, 10.0)));
  out->set_read_timeout(ms(patience));
  out->set_write_timeout(ms(patience));
  out->set_follow_location(false);
  out->set_keep_alive(false);
  out->set_tcp_nodelay(true);
  out->set_url_encode(false);
  out->set_decompress(false);
  return out;
}

std::unique_ptr<HttpExchange> Upstream::try_once(const Outgoing& request,
                                                 const std::function<void()>& patience) const {
  httplib::Request out;
  out.method = request.method;
  out.path = path(request.target);
  out.headers = request.headers;
  out.set_header("Accept-Encoding", "identity");
  out.body = request.body;
  auto exchange = std::make_unique<HttpExchange>(threads_, client(), std::move(out));
  while (exchange->wait_head(Clock::now() + kSlice) == HttpExchange::Head::waiting)
    if (patience) patience();
  return exchange;
}

std::unique_ptr<HttpExchange> Upstream::send(const Outgoing& request,
                                             const std::function<void()>& patience) const {
  for (int tries = 0;;) {
    auto exchange = try_once(request, patience);
    const int status = exchange->status();
    if (status != 0 && (status < 500 || request.untouched)) return exchange;
    if (status == 0 && exchange->seconds() >= options.upstream_seconds)
      throw ApiError(504, "upstream_timeout", "the upstream did not answer in time");
    // What may have been done already is not done twice.
    const bool safe = !request.untouched || exchange->error() == httplib::Error::Connection ||
                      request.method == "GET" || request.method == "HEAD";
    if (!safe || tries++ >= options.upstream_retries) {
      if (status == 0)
        throw ApiError(502, "upstream_unreachable",
                       "the upstream cannot be reached: " + httplib::to_string(exchange->error()));
      throw ApiError(502, "upstream_failed",
                     "the upstream failed with status " + std::to_string(status));
    }
    metrics.count("arrcoc_upstream_retries_total");
    std::this_thread::sleep_for(std::chrono::milliseconds(100) * (1 << std::min(tries, 5)));
  }
}

void Upstream::learn(const std::string& model, double ratio) const {
  if (!(ratio > 0.01 && ratio < 100)) return;
  const std::scoped_lock lock(mutex_);
  if (ratios_.size() >= kMostModels && !ratios_.count(model)) return;
  const auto [entry, fresh] = ratios_.emplace(model, ratio);
  if (!fresh) entry->second += kLearning * (ratio - entry->second);
}

double Upstream::learned(const std::string& model) const {
  const std::scoped_lock lock(mutex_);
  const auto found = ratios_.find(model);
  return found == ratios_.end() ? 1 : found->second;
}

}  // namespace arrcoc::serving
