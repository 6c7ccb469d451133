#include "models/hub/transport.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

#include "arrcoc/error.h"
#include "arrcoc/version.h"
#include "base/distance.h"
#include "base/join.h"
#include "base/json.h"
#include "models/hub/proxy.h"

namespace arrcoc::hub {

namespace {

constexpr int kMostRedirects = 8, kMostFailures = 5;
constexpr double kFirstWait = 0.25, kLongestWait = 120;
constexpr size_t kMostHints = 3, kLargestHint = size_t{4} << 20;
constexpr const char* kHowToLogIn = "set HF_TOKEN, or log in with `hf auth login`";

std::unique_ptr<httplib::Client> client_for(const std::string& origin, const Settings& settings) {
  auto out = std::make_unique<httplib::Client>(origin);
  if (const auto proxy = proxy_for(origin, settings)) {
    out->set_proxy(proxy->host, proxy->port);
    if (!proxy->user.empty()) out->set_proxy_basic_auth(proxy->user, proxy->password);
  }
  const std::chrono::milliseconds silence(static_cast<int64_t>(1e3 * settings.seconds));
  out->set_connection_timeout(silence);
  out->set_read_timeout(silence);
  out->set_write_timeout(silence);
  out->set_follow_location(false);
  out->set_keep_alive(false);
  out->set_url_encode(false);
  out->set_decompress(false);
  return out;
}

}  // namespace

std::string escaped(const std::string& text, bool keep_slash) {
  std::string out;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' ||
                       c == '_' || c == '~' || (c == '/' && keep_slash);
    char code[4];
    std::snprintf(code, sizeof code, "%%%02X", static_cast<unsigned char>(c));
    out += plain ? std::string(1, c) : code;
  }
  return out;
}

Url parse_url(const std::string& text) {
  const size_t scheme = text.find("://");
  const std::string kind = text.substr(0, scheme);
  const size_t slash = scheme == std::string::npos ? scheme : text.find_first_of("/?", scheme + 3);
  Url out{text.substr(0, slash), slash == std::string::npos ? "/" : text.substr(slash)};
  const bool odd =
      std::any_of(text.begin(), text.end(), [](char c) { return c <= ' ' || c > 126; });
  if ((kind != "http" && kind != "https") || out.origin.size() <= kind.size() + 3 || odd ||
      out.origin.find('@') != std::string::npos)
    throw Error(ErrorCode::bad_argument,
                "'" + text.substr(0, 200) + "' is no http(s)://host[:port] address");
  out.path = out.path.substr(0, out.path.find('#'));
  if (out.path.front() != '/') out.path.insert(0, "/");
  return out;
}

Url redirected(const Url& from, const std::string& location) {
  if (location.rfind("//", 0) == 0)
    return redirected(from, from.origin.substr(0, from.origin.find("//")) + location);
  if (location.rfind('/', 0) == 0) return parse_url(from.origin + location);
  const Url to = parse_url(location);
  if (from.origin.rfind("https:", 0) == 0 && to.origin.rfind("https:", 0) != 0)
    throw Error(ErrorCode::io, from.origin + " leads to " + to.origin + ", which is not encrypted");
  return to;
}

std::string Reply::header(const char* name) const {
  const auto at = headers.find(name);
  return at == headers.end() ? "" : at->second.substr(0, 1000);
}

bool Reply::passing() const {
  return status == 0 || status == 408 || status == 429 || (status >= 500 && status != 501);
}

double Reply::wait() const {
  std::string said = header("Retry-After");
  const std::string limit = header("RateLimit");  // there on good replies, too
  if (const size_t at = limit.find(";t="); said.empty() && status == 429 && at != std::string::npos)
    said = limit.substr(at + 3);
  return said.empty() || said[0] < '0' || said[0] > '9' ? -1 : std::atof(said.c_str());
}

Transport::Transport(const Name& name, const Settings& settings, const Progress& progress)
    : name_(name), settings_(settings), progress_(progress) {
  parse_url(settings.endpoint);
}

std::string Transport::host() const {
  return settings_.endpoint.substr(settings_.endpoint.find("//") + 2);
}

Reply Transport::send(const char* method, const std::string& path, const httplib::Headers& headers,
                      const Sink& sink) const {
  Url at = parse_url(settings_.endpoint + path);
  const std::string endpoint = at.origin;
  bool home = true;  // for good: who was away may have been told what to ask here
  for (int hops = 0; hops <= kMostRedirects; ++hops) {
    Reply reply;
    httplib::Request request;
    request.method = method;
    request.path = at.path;
    request.headers = headers;
    request.set_header("Accept-Encoding", "identity");
    request.set_header("User-Agent", std::string("arrcoc/") + kVersion);
    if (home && !settings_.token.empty())
      request.set_header("Authorization", "Bearer " + settings_.token);
    // Through a tunnel httplib would tell the proxy's password to who is behind it.
    if (at.origin.rfind("https:", 0) == 0 && !settings_.https_proxy.empty())
      request.set_header("Proxy-Authorization", "");
    std::exception_ptr thrown;  // httplib is not made for exceptions
    const auto guarded = [&](const auto& call) {
      try {
        return call();
      } catch (...) {
        thrown = std::current_exception();
        return false;
      }
    };
    request.response_handler = [&](const httplib::Response& response) {
      reply.status = response.status;
      reply.headers = response.headers;
      return reply.good() && guarded([&] { return sink.head(reply); });
    };
    request.content_receiver = [&](const char* data, size_t size, uint64_t, uint64_t) {
      return guarded([&] { return sink.body(data, size); });
    };
    const auto client = client_for(at.origin, settings_);
    const httplib::Result result = client->send(request);
    if (thrown) std::rethrow_exception(thrown);
    reply.error = result.error();
    if (result) {  // HEAD has no handler
      reply.status = result->status;
      reply.headers = result->headers;
    }
    const std::string location = reply.header("Location");
    if (reply.status / 100 != 3 || location.empty()) return reply;
    const Url next = redirected(at, location);
    home = home && next.origin == endpoint;
    if (!home && request.method == "HEAD") return reply;
    at = next;
  }
  throw Error(ErrorCode::io, host() + " only leads from one address to another");
}

void Transport::be_patient(const Reply& reply, int failures) const {
  double wait = reply.wait();
  if (failures >= kMostFailures || wait > kLongestWait) explain(reply, name_.repo());
  if (wait < 0) wait = kFirstWait * (1 << std::min(failures, 10));
  const std::string what = reply.status == 0 || reply.good()
                               ? "the connection was lost"
                               : "the hub says " + std::to_string(reply.status);
  progress_.note(what + ": again in " + std::to_string(std::max(1, static_cast<int>(wait))) + " s");
  std::this_thread::sleep_for(std::chrono::duration<double>(wait));
}

template <class Try>
Reply Transport::tried(const Try& once, const std::string& what) const {
  for (int failures = 0;; ++failures) {
    Reply reply = once();
    if (reply.good() && reply.error == httplib::Error::Success) return reply;
    if (!reply.passing() && !reply.good()) {
      if (reply.status / 100 == 3) return reply;
      explain(reply, what);
    }
    be_patient(reply, failures);
  }
}

std::string Transport::text(const std::string& path, size_t most) const {
  std::string out;
  const Sink sink{[&](const Reply&) {
                    out.clear();
                    return true;
                  },
                  [&](const char* data, size_t size) {
                    if (out.size() + size > most)
                      throw Error(ErrorCode::too_large, host() + path + ": more than " +
                                                            std::to_string(most >> 20) + " MB");
                    out.append(data, size);
                    return true;
                  }};
  tried([&] { return send("GET", path, {}, sink); }, name_.repo());
  return out;
}

Reply Transport::head(const std::string& path) const {
  return tried([&] { return send("HEAD", path, {}, {}); }, path);
}

// Names spelt nearly so among what the hub lists there; "" when there are none.
std::string Transport::nearest(const std::string& wanted,
                               const std::vector<std::string>& paths) const {
  std::vector<std::pair<size_t, std::string>> near;
  const auto consider = [&](const json& entry) {
    for (const char* key : {"id", "name"})
      if (entry.is_object() && entry.contains(key) && entry[key].is_string() && near.size() < 1000)
        if (const auto text = entry[key].get<std::string>(); text.size() < 200)
          near.emplace_back(edit_distance(text, wanted), text);
  };
  for (const std::string& path : paths) {
    std::string body;
    const Sink sink{[](const Reply&) { return true; },
                    [&](const char* data, size_t size) {
                      body.append(data, size);
                      return body.size() <= kLargestHint;
                    }};
    try {
      if (!send("GET", path, {}, sink).good()) continue;
      const json reply = parse_json(body, path);
      for (const json& entry : reply.is_array() ? reply : json::array()) consider(entry);
      for (const char* kind : {"branches", "tags"})
        if (reply.is_object() && reply.contains(kind) && reply[kind].is_array())
          for (const json& entry : reply[kind]) consider(entry);
    } catch (const Error&) {  // no hint then
    }
  }
  std::sort(near.begin(), near.end());
  near.erase(std::unique(near.begin(), near.end()), near.end());
  std::vector<std::string> out;
  for (const auto& [distance, text] : near)
    if (distance <= std::max<size_t>(2, wanted.size() / 3) && out.size() < kMostHints)
      out.push_back(text);
  return out.empty() ? "" : "; did you mean " + joined(out, " or ") + "?";
}

void Transport::explain(const Reply& reply, const std::string& what) const {
  const std::string code = reply.header("X-Error-Code"), said = reply.header("X-Error-Message");
  const std::string repo = name_.repo(), page = settings_.endpoint + "/" + repo;
  if (reply.good())
    throw Error(ErrorCode::io, host() + " breaks off again and again while it sends " + what);
  if (reply.status == 0)
    throw Error(ErrorCode::io,
                host() + " cannot be reached (" + httplib::to_string(reply.error) +
                    "): check the network, HF_ENDPOINT and HTTPS_PROXY; --offline takes only "
                    "what is in the cache");
  if (reply.status == 407)
    throw Error(ErrorCode::bad_argument,
                "the proxy wants a user and a password: set HTTPS_PROXY to "
                "http://USER:PASSWORD@HOST:PORT");
  if (code == "GatedRepo")
    throw Error(ErrorCode::bad_argument,
                repo + " is gated: ask for access on " + page + ", then " + kHowToLogIn);
  if (code == "RevisionNotFound")
    throw Error(ErrorCode::not_found,
                repo + " has no revision '" + name_.revision + "'" +
                    nearest(name_.revision, {"/api/models/" + repo + "/refs"}));
  if (reply.status == 401 && !settings_.token.empty() && said.find("credentials") != said.npos)
    throw Error(ErrorCode::bad_argument, host() + " does not accept the token: " + kHowToLogIn);
  // The hub does not tell strangers whether a private model exists.
  if (code == "RepoNotFound" || reply.status == 401)
    throw Error(ErrorCode::not_found,
                "no model " + repo + " on " + host() + ", or it is private (" + kHowToLogIn + ")" +
                    nearest(repo, {"/api/models?limit=500&author=" + name_.owner,
                                   "/api/models?limit=100&search=" + name_.name}));
  if (reply.status == 403)
    throw Error(ErrorCode::bad_argument, host() + " refuses " + what + ": " +
                                             (said.empty() ? "no reason given" : said) + " (" +
                                             kHowToLogIn + ")");
  if (reply.status == 429)
    throw Error(
        ErrorCode::io,
        host() + " says there were too many requests" +
            (reply.wait() > 0
                 ? ": try again in " +
                       std::to_string(static_cast<int64_t>(std::min(reply.wait(), 1e9))) + " s"
                 : "") +
            "; with a token more are allowed (" + kHowToLogIn + ")");
  throw Error(reply.status == 404 ? ErrorCode::not_found : ErrorCode::io,
              host() + " answers " + std::to_string(reply.status) + " for " + what +
                  (said.empty() ? "" : ": " + said));
}

}  // namespace arrcoc::hub
