// Routes, keys, headers, start and stop.
#include <algorithm>
#include <atomic>
#include <future>
#include <set>
#include <thread>

#include "serve/admission.h"
#include "serve/api_error.h"
#include "serve/encoding.h"
#include "serve/http.h"
#include "serve/page.h"
#include "serve/protocols/ollama.h"
#include "serve/routes.h"
#include "serve/service.h"

namespace arrcoc::serving {

namespace {

constexpr int kOpened = 4;  // times its body: text, JSON, a request, the bytes of its pictures
constexpr auto kLastWords = std::chrono::seconds(2);  // for clients that are broken off
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "media-src blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
    "'none'";

void refuse(const httplib::Request& request, httplib::Response& response, const ApiError& error) {
  response.status = error.status();
  response.set_content(spoken_at(request.path).error(error), "application/json");
  if (error.status() == 429 || error.status() == 503) response.set_header("Retry-After", "1");
  if (error.status() == 401) response.set_header("WWW-Authenticate", "Bearer");
}

bool is_loopback(const std::string& host) {
  return host == "127.0.0.1" || host == "localhost" || host == "::1" || host == "[::1]";
}

std::string without_port(const std::string& host) {
  const size_t colon = host.rfind(':');
  const bool port = colon != std::string::npos && host.find(']', colon) == std::string::npos &&
                    (host[0] == '[' || host.find(':') == colon);
  return port ? host.substr(0, colon) : host;
}

// A page of another site made this request.
bool foreign(const httplib::Request& request) {
  const std::string origin = request.get_header_value("Origin");
  const size_t host = origin.find("://");
  return !origin.empty() &&
         (host == std::string::npos || origin.substr(host + 3) != request.get_header_value("Host"));
}

// httplib takes multipart bodies apart unless it does not know what they are.
class HiddenType {
 public:
  HiddenType(const httplib::Request& request, bool hide)
      : request_(const_cast<httplib::Request&>(request)) {
    if (!hide) return;
    type_ = request.get_header_value("Content-Type");
    request_.headers.erase("Content-Type");
  }
  ~HiddenType() {
    if (!type_.empty()) request_.headers.emplace("Content-Type", type_);
  }

 private:
  httplib::Request& request_;
  std::string type_;
};

// A target that another server may get: a path of its own, without ways out of it.
void require_plain(const std::string& target) {
  std::string path = target.substr(0, target.find('?'));
  for (size_t at; (at = path.find('%')) != std::string::npos && path.size() > at + 2;) {
    const std::string code = path.substr(at + 1, 2);
    path.replace(at, 3,
                 code == "2e" || code == "2E"   ? "."
                 : code == "2f" || code == "2F" ? "/"
                                                : "x");
  }
  const bool plain = std::all_of(target.begin(), target.end(), [](char c) {
    return static_cast<unsigned char>(c) > 0x20 && c != 0x7f;
  });
  const bool climbs = (path + "/").find("/../") != std::string::npos;
  if (!plain || climbs || target.empty() || target[0] != '/')
    throw ApiError(400, "invalid_request", "the request's path cannot be sent on");
}

constexpr Route kUpstreamRoute{"", "", true, true};

}  // namespace

struct Server::State {
  Options options;
  Log log;
  Metrics metrics;
  std::unique_ptr<Admission> admission;
  std::unique_ptr<Service> service;
  std::unique_ptr<HttpServer> http;
  std::thread loader;
  std::atomic<int> running{0};  // requests
  std::promise<void> loaded;
  std::shared_future<void> ready = loaded.get_future().share();
  int port = 0;
  bool started = false;

  void route();
  using Handler =
      std::function<void(const httplib::Request&, const std::string&, httplib::Response&)>;
  using Poster = std::function<void(const char* path, Handler handler)>;
  void add_posts();
  void add_protocols(const Poster& post);
  void add_relay();
  // What handlers throw becomes the reply.
  void answer(const httplib::Request& request, httplib::Response& response,
              const std::function<void()>& handler);
  // The request has been read: runs its handler, which takes it apart.
  void enter(const std::function<void()>& handler);
  void add_gets();
  httplib::Server::HandlerResponse guard(const httplib::Request& request,
                                         httplib::Response& response);
  bool allowed(const httplib::Request& request) const;
  // any: of whatever type, for the upstream.
  std::string read_body(const httplib::Request& request, const httplib::ContentReader& reader,
                        bool any = false);
  void done(const httplib::Request& request, const httplib::Response& response);
};

bool Server::State::allowed(const httplib::Request& request) const {
  if (options.api_key.empty()) return true;
  const std::string given = request.get_header_value("Authorization");
  const bool bearer = given.rfind("Bearer ", 0) == 0;
  // Anthropic's clients have a header of their own.
  const std::string key = bearer ? given.substr(7) : request.get_header_value("x-api-key");
  return equal_secret(key, options.api_key) && (bearer || request.has_header("x-api-key"));
}

// Before the body is read: unknown paths, wrong methods, missing keys. Whoever is refused here has
// an unread body, so the connection ends.
httplib::Server::HandlerResponse Server::State::guard(const httplib::Request& request,
                                                      httplib::Response& response) {
  connection().close_after = true;
  connection().passed_on = false;
  try {
    // DNS rebinding: a foreign page whose name resolves to 127.0.0.1 must not use a server without
    // a key.
    const std::string host = without_port(request.get_header_value("Host"));
    if (options.api_key.empty() && is_loopback(options.host) && !host.empty() && !is_loopback(host))
      throw ApiError(403, "forbidden", "this server answers on the loopback address only");
    static const std::set<std::string> known = {"GET", "HEAD",  "OPTIONS", "POST",
                                                "PUT", "PATCH", "DELETE"};
    if (!known.count(request.method))  // httplib reads bodies of others into memory
      throw ApiError(405, "method_not_allowed", "this method is not served");
    const Route* found = nullptr;
    std::string methods;
    const std::string method = request.method == "HEAD" ? "GET" : request.method;
    for (const Route& route : routes()) {
      if (!route.matches(request.path)) continue;
      methods += (methods.empty() ? "" : ", ") + std::string(route.method);
      if (method == route.method) found = &route;
    }
    if (service->relays() && (found == nullptr || found->upstream)) {
      found = &kUpstreamRoute;
      require_plain(request.target);
      // What comes back is passed on as it is, not compressed by httplib.
      const_cast<httplib::Request&>(request).headers.erase("Accept-Encoding");
    } else if (found == nullptr && !methods.empty()) {
      response.set_header("Allow", methods);
      throw ApiError(405, "method_not_allowed", "use " + methods + " here");
    }
    if (found == nullptr) throw ApiError(404, "not_found", "there is nothing at this path");
    if (request.path == kMcpPath && !service->relays() && foreign(request))
      throw ApiError(403, "forbidden", "pages of other sites may not use this");
    if (found->key && !allowed(request))
      throw ApiError(401, "invalid_api_key",
                     "a valid key is needed: Authorization: Bearer KEY, or x-api-key: KEY");
  } catch (const ApiError& e) {
    refuse(request, response, e);
    response.set_header("Connection", "close");
    return httplib::Server::HandlerResponse::Handled;
  }
  // A GET with a body is nothing that a client does.
  const std::string& m = request.method;
  const bool bodiless = m != "POST" && m != "PUT" && m != "PATCH" && m != "DELETE";
  connection().close_after =
      bodiless && (request.has_header("Content-Length") || request.has_header("Transfer-Encoding"));
  return httplib::Server::HandlerResponse::Unhandled;
}

std::string Server::State::read_body(const httplib::Request& request,
                                     const httplib::ContentReader& reader, bool any) {
  connection().close_after = true;
  const std::string type = request.get_header_value("Content-Type");
  const bool plain = type.rfind("application/json", 0) != 0;
  // Foreign pages may send other types without asking.
  if (plain && any && foreign(request))
    throw ApiError(403, "forbidden", "pages of other sites may send application/json only");
  if (plain && !any)
    throw ApiError(415, "unsupported_media_type", "send Content-Type: application/json");
  // httplib would leave the chunks to the next request.
  if (request.method == "DELETE" && request.has_header("Transfer-Encoding"))
    throw ApiError(411, "length_required", "send a Content-Length");
  const auto most = static_cast<size_t>(options.max_body_mb * (1 << 20));
  const ApiError large(413, "body_too_large",
                       "the request is larger than " + json(options.max_body_mb).dump() + " MB");
  if (request.has_header("Content-Length")) {
    const std::string length = request.get_header_value("Content-Length");
    if (length.empty() || length.find_first_not_of("0123456789") != std::string::npos)
      throw ApiError(400, "invalid_request", "Content-Length is no number");
    if (length.size() > 12 || std::stoull(length) > most) throw large;
  }
  std::string body;
  bool over = false;
  const auto share = std::make_shared<Admission::Share>(*admission);
  std::optional<ApiError> refused;
  const HiddenType hidden(request, any);
  // Counts after decompression: a small gzip may be a large body.
  const bool whole = reader([&](const char* data, size_t size) {
    over = body.size() + size > most;
    if (over) return false;
    try {  // not through httplib
      share->arrived(size);
    } catch (const ApiError& problem) {
      refused = problem;
      return false;
    }
    body.append(data, size);
    return true;
  });
  if (over) throw large;
  if (refused) throw *refused;
  if (!whole) throw ApiError(408, "request_timeout", "the request did not arrive in time");
  connection().close_after = false;
  connection().held = share;
  return body;
}

void Server::State::enter(const std::function<void()>& handler) {
  const auto share = std::static_pointer_cast<Admission::Share>(connection().held);
  ++running;
  connection().held = std::shared_ptr<void>(nullptr, [this, share](void*) { --running; });
  if (!share) return handler();
  share->open(kOpened, Clock::now() + seconds(options.request_seconds),
              [this] { service->require_patience(); });
  handler();
  share->opened();
}

void Server::State::answer(const httplib::Request& request, httplib::Response& response,
                           const std::function<void()>& handler) {
  try {
    handler();
  } catch (...) {
    const ApiError problem = api_error(std::current_exception());
    metrics.count("arrcoc_failures_total", label("code", problem.code()));
    refuse(request, response, problem);
    if (connection().close_after) response.set_header("Connection", "close");
  }
}

// Whatever is not ours goes to the upstream.
void Server::State::add_relay() {
  const char* const all = ".*";
  const auto bare = [this](const httplib::Request& request, httplib::Response& response) {
    answer(request, response, [&] { enter([&] { service->relay(request, "", response); }); });
  };
  const auto with_body = [this](const httplib::Request& request, httplib::Response& response,
                                const httplib::ContentReader& reader) {
    answer(request, response, [&] {
      std::string body = read_body(request, reader, true);
      enter([&] { service->relay(request, std::move(body), response); });
    });
  };
  http->Get(all, bare);
  http->Options(all, bare);
  http->Post(all, with_body);
  http->Put(all, with_body);
  http->Patch(all, with_body);
  http->Delete(all, with_body);
}

// Of models in this process.
void Server::State::add_protocols(const Poster& post) {
  post(kMcpPath, [this](const auto& request, const auto& body, auto& response) {
    service->speak_mcp(request, body, response);
  });
  http->Delete(kMcpPath, [this](const httplib::Request& request, httplib::Response& response,
                                const httplib::ContentReader& reader) {
    answer(request, response, [&] {
      read_body(request, reader, true);
      service->end_mcp(request, response);
    });
  });
  for (const Endpoint& at : endpoints())
    if (std::string(at.path) != kCountPath)
      post(at.path, [this, &at](const auto& request, const auto& body, auto& response) {
        at.counts ? service->count_tokens(at, request, body, response)
                  : service->chat(at, request, body, response);
      });
  post("/api/show", [this](const auto&, const auto& body, auto& response) {
    const json request = parse_json(body, "the request");
    response.set_content(dump(ollama_show(service->card(), request)), "application/json");
  });
  post("/tokenize", [this](const auto&, const auto& body, auto& response) {
    const json request = parse_json(body, "the request");
    response.set_content(dump(tokenize(service->model(), request)), "application/json");
  });
}

void Server::State::add_posts() {
  const Poster post = [this](const char* path, Handler handler) {
    http->Post(path, [this, handler](const httplib::Request& request, httplib::Response& response,
                                     const httplib::ContentReader& reader) {
      answer(request, response, [&] {
        const std::string body = read_body(request, reader);
        require_few_values(body);
        enter([&] { handler(request, body, response); });
      });
    });
  };
  post(kCountPath, [this](const auto& request, const auto& body, auto& response) {
    service->count_tokens({kCountPath, openai_chat(), true}, request, body, response);
  });
  if (!service->relays()) add_protocols(post);
  post("/v1/relevance", [this](const auto&, const auto& body, auto& response) {
    service->relevance(body, response);
  });
  post("/v1/feedback", [this](const auto& request, const auto& body, auto& response) {
    service->feedback(request, body, response);
  });
}

void Server::State::add_gets() {
  using Handler = std::function<ordered_json(const httplib::Request&)>;
  const auto get = [this](const char* path, Handler handler) {
    http->Get(path, [this, handler](const httplib::Request& request, httplib::Response& response) {
      answer(request, response,
             [&] { response.set_content(dump(handler(request)), "application/json"); });
    });
  };
  http->Get("/v1/models", [this](const auto& request, auto& response) {
    answer(request, response, [&] { service->models(response); });
  });
  get("/v1/models/(.+)", [this](const httplib::Request& request) {
    const ModelCard& card = service->card();
    if (request.matches[1] != card.name)
      throw ApiError(404, "model_not_found", "there is no such model, only " + card.name);
    return openai_model(card);
  });
  get("/props", [this](const auto&) { return props(service->card(), options); });
  get("/version", [](const auto&) { return version(); });
  get("/api/version", [](const auto&) { return version(); });
  get("/api/tags", [this](const auto&) { return ollama_tags(service->card()); });
}

void Server::State::route() {
  http->set_default_headers({{"Content-Security-Policy", kPolicy},
                             {"X-Content-Type-Options", "nosniff"},
                             {"X-Frame-Options", "DENY"},
                             {"Referrer-Policy", "no-referrer"},
                             {"Cross-Origin-Opener-Policy", "same-origin"},
                             {"Cross-Origin-Resource-Policy", "same-origin"},
                             {"Cache-Control", "no-store"}});
  http->set_pre_routing_handler(
      [this](const auto& request, auto& response) { return guard(request, response); });
  http->set_logger([this](const auto& request, const auto& response) { done(request, response); });
  http->set_exception_handler([](const auto& request, auto& response, std::exception_ptr problem) {
    refuse(request, response, api_error(problem));
  });
  // What httplib itself refuses (bad request lines, long headers) gets the same form.
  http->set_error_handler([](const httplib::Request& request, httplib::Response& response) {
    if (!response.body.empty() || connection().passed_on) return;
    refuse(request, response,
           ApiError(response.status, "bad_request", "the request could not be read"));
    connection().close_after = true;
  });
  for (const PageFile& file : page_files())
    http->Get(file.path, [&file](const auto&, auto& response) {
      response.set_content(reinterpret_cast<const char*>(file.data), file.size, file.type);
    });
  http->Get("/health", [this](const auto&, auto& response) {
    if (service->health() != Health::ok) response.status = 503;
    response.set_content(dump(service->health_report()), "application/json");
  });
  http->Get("/metrics", [this](const auto&, auto& response) {
    metrics.set("arrcoc_connections", http->open());
    metrics.set("arrcoc_requests_running", running);
    metrics.set("arrcoc_inflight_bytes", static_cast<double>(admission->bytes()));
    response.set_content(service->metrics_text(), "text/plain; version=0.0.4; charset=utf-8");
  });
  http->Get("/v1/savings", [this](const auto&, auto& response) { service->savings(response); });
  http->Get("/v1/pictures/(.+)", [this](const auto& request, auto& response) {
    answer(request, response,
           [&] { service->picture(request.matches[1].str(), request, response); });
  });
  if (!service->relays()) add_gets();
  add_posts();
  if (service->relays()) add_relay();
}

void Server::State::done(const httplib::Request& request, const httplib::Response& response) {
  std::string path = "other";
  for (const Route& route : routes())
    if (route.matches(request.path)) path = route.path;
  metrics.count("arrcoc_requests_total",
                label("path", path) + "," + label("status", std::to_string(response.status)));
  if (!log || path == "/health" || path == "/metrics") return;
  const double spent =
      std::chrono::duration<double, std::milli>(Clock::now() - connection().start).count();
  log(dump({{"level", "info"},
            {"event", "request"},
            {"method", request.method.substr(0, 16)},
            {"path", path},
            {"status", response.status},
            {"milliseconds", std::round(spent)},
            {"client", request.remote_addr}}));
}

Server::Server(Options options, Log log) : state_(std::make_unique<State>()) {
  check(options);
  state_->options = with_keys(std::move(options));
  state_->log = std::move(log);
}

Server::~Server() {
  stop();
  if (state_->loader.joinable()) state_->loader.join();
}

int Server::port() const { return state_->port; }

void Server::start() {
  State& s = *state_;
  s.admission = std::make_unique<Admission>(int64_t{s.options.inflight_mb} << 20);
  s.service = std::make_unique<Service>(s.options, s.metrics, s.log);
  HttpLimits limits;
  limits.requests = s.options.connections;
  limits.per_address = s.options.connections_per_address;
  limits.read_seconds = s.options.read_seconds;
  limits.idle_seconds = s.options.idle_seconds;
  s.http = std::make_unique<HttpServer>(limits);
  s.http->set_payload_max_length(static_cast<size_t>(s.options.max_body_mb * (1 << 20)));
  s.route();
  const std::string where = s.options.host + ":" + std::to_string(s.options.port);
  if (s.options.port == 0) {
    s.port = s.http->bind_to_any_port(s.options.host);
  } else {
    s.port = s.http->bind_to_port(s.options.host, s.options.port) ? s.options.port : -1;
  }
  if (s.port <= 0)
    throw Error(ErrorCode::io, "cannot listen on " + where + ": address in use or not ours");
  if (s.log && s.options.api_key.empty() && !is_loopback(s.options.host))
    s.log(dump({{"level", "warning"},
                {"event", "open"},
                {"message",
                 "anybody who reaches " + where + " may use this server: set --api-key-file"}}));
  s.started = true;
  s.http->run();
  s.loader = std::thread([&s] {
    try {
      s.service->load();
      const std::string free = s.service->unconfined();
      if (s.log && !free.empty())
        s.log(dump({{"level", "warning"}, {"event", "decoders"}, {"unconfined", free}}));
      s.loaded.set_value();
    } catch (...) {
      s.service->fail();
      s.loaded.set_exception(std::current_exception());
    }
  });
}

void Server::wait_ready() { state_->ready.get(); }

bool Server::wait_ready(double patience) {
  if (state_->ready.wait_for(seconds(patience)) != std::future_status::ready) return false;
  state_->ready.get();
  return true;
}

// First those who run may finish, then they are told that it is over, then nobody is asked.
bool Server::stop() {
  State& s = *state_;
  if (!s.started) return true;
  s.started = false;
  const auto until = Clock::now() + seconds(s.options.shutdown_seconds);
  s.service->drain();
  s.http->drain();
  if (!s.http->wait_idle(until)) {
    s.service->abort();
    if (!s.http->wait_idle(Clock::now() + kLastWords)) s.http->cut();
  }
  const bool idle = s.http->wait_idle(Clock::now() + kLastWords);
  const bool loaded = s.ready.wait_for(kLastWords) == std::future_status::ready;
  if (idle && loaded) s.service->stop();
  return idle && loaded;
}

}  // namespace arrcoc::serving
