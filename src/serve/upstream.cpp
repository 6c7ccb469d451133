#include "serve/upstream.h"

#include <algorithm>

#include "arrcoc/query.h"
#include "serve/api_error.h"
#include "serve/encoding.h"
#include "serve/images.h"
#include "serve/upstream_flow.h"

namespace arrcoc::serving {

namespace {

constexpr size_t kLargestReply = size_t{64} << 20;
constexpr auto kSlice = std::chrono::milliseconds(250);
constexpr const char* kCloser = "Closer views of parts of the picture above:";

// Statuses that say "not like this": the original picture may still be welcome.
bool refuses_pictures(int status) {
  return status == 400 || status == 413 || status == 415 || status == 422;
}

json image_part(const json& like, std::string url) {
  json part = like;
  part["image_url"]["url"] = std::move(url);
  return part;
}

}  // namespace

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

// A request on its way: as it came, as it goes, and what is known about it.
struct Upstream::Prepared {
  std::string id, model, question, answer, policy;
  json original, shrunk;  // bodies
  bool smaller = false;   // they differ
  bool stream = false;
  bool finished = false;  // [DONE] has come
  bool whole = true;      // what was passed on ends with a whole event
  Family family;
  int64_t budget = 0;
  Usage usage;
  std::vector<std::string> fallbacks;
  ordered_json pictures = ordered_json::array();
  SeenRef first;
  Clock::time_point start = Clock::now(), deadline;

  ordered_json extension() const {
    return {{"family", family.name},
            {"budget", budget},
            {"pictures", pictures},
            {"fallbacks", fallbacks}};
  }
  void fall_back(const std::string& why) {
    fallbacks.push_back(why);
    usage.kept = usage.native;
    smaller = false;
  }
};

struct Upstream::Flow : UpstreamFlow {
  using UpstreamFlow::UpstreamFlow;
};

Upstream::Upstream(Service& service)
    : service_(service), address_(parse_address(service.options_.upstream)) {}

Shrunk Upstream::shrink_one(const SeenRef& seen, const Prepared& p, int64_t budget,
                            const std::string& question) {
  return shrink(*seen, p.family, budget, [&](int token_pixels) {
    Question q;
    q.picture = seen;
    q.text = question;
    q.policy = p.policy;
    q.budget = std::to_string(budget);
    q.answer = false;
    q.allocator = "zoom";
    q.token_pixels = token_pixels;
    const Ticket ticket = service_.engine().ask(q);
    Service::Asked asked;
    asked.deadline = p.deadline;
    std::string text;
    while (service_.wait_for(asked, *ticket, text.max_size(), text) != Job::Progress::done)
      continue;
    return ticket->outcome()->allocation();
  });
}

std::shared_ptr<Upstream::Prepared> Upstream::prepare(const json& request) {
  const ChatRequest chat = parse_chat(request);
  auto p = std::make_shared<Prepared>();
  p->id = random_id("chatcmpl-");
  p->deadline = service_.deadline();
  p->model = chat.model;
  p->stream = chat.stream;
  p->original = request;
  const Options& options = service_.options_;
  p->family = options.upstream_family == "auto" ? family_of(chat.model)
                                                : family_named(options.upstream_family);
  p->usage.estimated = p->family.estimated;
  std::string rule = options.budget;
  for (const std::string& line : options.upstream_budgets) {
    const size_t equals = line.rfind('=');
    if (matches(line.substr(0, equals), chat.model)) rule = line.substr(equals + 1);
  }
  if (!chat.extension.budget.empty()) rule = chat.extension.budget;
  if (rule == "learned") rule = "auto";  // the tier head speaks of the bundled model's tokens
  p->policy = chat.extension.policy.empty() ? options.policy : chat.extension.policy;
  policy(p->policy);  // says when there is none of that name
  p->question = chat.question().text;
  for (const Turn& turn : chat.turns)
    p->usage.text += static_cast<int64_t>(turn.text.size() + 3) / 4;
  const std::vector<SeenRef> seen = service_.see_all(chat, p->deadline);
  // Strict servers refuse keys that they do not know.
  p->original.erase("arrcoc");
  p->shrunk = p->original;
  if (seen.empty()) return p;
  p->first = seen[0];
  // A rule looks at the map; levels and numbers do not, so any map will do for them.
  const std::string asked = p->question.find_first_not_of(" \t\r\n") == std::string::npos
                                ? "What is in the picture?"
                                : p->question;
  Relevance even;
  even.map = seen[0]->blind.information;
  p->budget = allocating::budget(even, parse_query(asked), rule).tokens;
  shrink_all(*p, seen, asked, !chat.extension.budget.empty());
  return p;
}

// Replaces every picture of the conversation by its views.
void Upstream::shrink_all(Prepared& p, const std::vector<SeenRef>& seen,
                          const std::string& question, bool strict) {
  const int64_t share = std::max<int64_t>(1, p.budget / static_cast<int64_t>(seen.size()));
  size_t number = 0;
  for (json& message : p.shrunk["messages"]) {
    if (!message.contains("content") || !message["content"].is_array()) continue;
    json parts = json::array();
    for (const json& part : message["content"]) {
      if (part["type"] != "image_url") {
        parts.push_back(part);
        continue;
      }
      const SeenRef& picture = seen[number++];
      const Shrunk small = shrink_one(picture, p, share, question);
      p.usage.kept += small.kept;
      p.usage.native += small.native;
      p.pictures.push_back(to_json(small, picture->picture));
      if (!small.fallbacks.empty() && strict)
        throw ApiError(400, "budget_too_small", small.fallbacks[0]);
      p.smaller = p.smaller || !small.views.empty();
      if (small.views.empty()) parts.push_back(part);
      for (size_t v = 0; v < small.views.size(); ++v) {
        if (v == 1) parts.push_back({{"type", "text"}, {"text", kCloser}});
        parts.push_back(image_part(part, png_url(render(picture->picture, small.views[v]))));
      }
    }
    message["content"] = std::move(parts);
  }
}

std::shared_ptr<Upstream::Flow> Upstream::try_once(const httplib::Request& from,
                                                   const std::string& body) {
  httplib::Request request;
  request.method = "POST";
  request.path = address_.base + "/chat/completions";
  request.headers = headers(from);
  request.set_header("Content-Type", "application/json");
  request.body = body;
  auto flow = std::make_shared<Flow>(client(), std::move(request));
  while (flow->wait_head(Clock::now() + kSlice) == UpstreamFlow::Head::waiting) {
    if (connection().gone && connection().gone())
      throw ApiError(499, "client_gone", "the client has hung up");
    if (service_.aborting_) throw ApiError(503, "shutting_down", "the server is shutting down");
  }
  return flow;
}

std::shared_ptr<Upstream::Flow> Upstream::send(const httplib::Request& from, Prepared& p) {
  Metrics& metrics = service_.metrics_;
  const Options& options = service_.options_;
  int tries = 0;
  while (true) {
    auto flow = try_once(from, (p.smaller ? p.shrunk : p.original).dump());
    const int status = flow->status();
    if (p.smaller && refuses_pictures(status)) {
      metrics.count("arrcoc_fallbacks_total", label("kind", "original"));
      p.fall_back("the upstream refused the crops (" + std::to_string(status) +
                  "): the original picture was sent");
      continue;
    }
    if (status != 0 && status < 500) return flow;
    if (status == 0 && flow->seconds() >= options.upstream_seconds)
      throw ApiError(504, "upstream_timeout", "the upstream did not answer in time");
    if (tries++ >= options.upstream_retries) {
      if (status == 0)
        throw ApiError(502, "upstream_unreachable",
                       "the upstream cannot be reached: " + httplib::to_string(flow->error()));
      throw ApiError(502, "upstream_failed",
                     "the upstream failed with status " + std::to_string(status));
    }
    metrics.count("arrcoc_upstream_retries_total");
    std::this_thread::sleep_for(std::chrono::milliseconds(100) * (1 << std::min(tries, 5)));
  }
}

void Upstream::chat(const httplib::Request& from, const json& request,
                    httplib::Response& response) {
  auto p = prepare(request);
  auto flow = send(from, *p);
  const bool events = flow->header("Content-Type").rfind("text/event-stream", 0) == 0;
  if (p->stream && events && flow->status() == 200) {
    stream(std::move(p), std::move(flow), response);
  } else {
    pass_on(std::move(p), std::move(flow), response);
  }
}

void Upstream::pass_on(std::shared_ptr<Prepared> p, std::shared_ptr<Flow> flow,
                       httplib::Response& response) {
  std::string body;
  while (true) {
    const auto state = flow->take(Clock::now() + kSlice, body);
    if (state == UpstreamFlow::Body::ended) break;
    if (state == UpstreamFlow::Body::broken || body.size() > kLargestReply)
      throw ApiError(502, "upstream_died", "the upstream's answer broke off");
    if (service_.aborting_) throw ApiError(503, "shutting_down", "the server is shutting down");
  }
  json reply = json::parse(body, nullptr, false);
  response.status = flow->status();
  if (const std::string after = flow->header("Retry-After");
      !after.empty() && after.find_first_not_of("0123456789") == std::string::npos)
    response.set_header("Retry-After", after);
  if (!reply.is_object())
    throw ApiError(502, "upstream_failed", "the upstream's answer is no JSON object");
  if (flow->status() == 200) {
    extend_usage(reply, *p);
    if (reply.contains("id") && reply["id"].is_string()) p->id = reply["id"].get<std::string>();
    const auto text = "/choices/0/message/content"_json_pointer;
    if (reply.contains(text) && reply[text].is_string()) p->answer = reply[text].get<std::string>();
    account(*p);
  }
  response.set_content(reply.dump(-1, ' ', false, json::error_handler_t::replace),
                       "application/json");
}

void Upstream::extend_usage(json& reply, Prepared& p) const {
  if (!reply.contains("usage") || !reply["usage"].is_object()) return;
  json& usage = reply["usage"];
  // What the upstream itself reports beats any formula.
  int64_t reported = -1;
  for (const auto& pointer :
       {"/image_tokens/kept"_json_pointer, "/prompt_tokens_details/image_tokens"_json_pointer})
    if (usage.contains(pointer) && usage[pointer].is_number_integer())
      reported = usage[pointer].get<int64_t>();
  if (reported >= 0 && p.usage.kept > 0) {
    service_.metrics_.observe("arrcoc_upstream_tokens_off",
                              static_cast<double>(reported) / static_cast<double>(p.usage.kept));
    p.usage.kept = reported;
    p.usage.estimated = false;
  }
  usage["image_tokens"] = {{"kept", p.usage.kept}, {"native", p.usage.native}};
  if (p.usage.estimated) usage["image_tokens"]["estimated"] = true;
  json extension = p.extension();
  if (reply.contains("arrcoc")) extension["upstream"] = reply["arrcoc"];
  reply["arrcoc"] = std::move(extension);
}

std::string Upstream::extend_event(const std::string& line, Prepared& p) const {
  if (line.rfind("data:", 0) != 0) return line;
  if (line.find("[DONE]") != std::string::npos && line.size() < 16) p.finished = true;
  json data = json::parse(line.substr(5), nullptr, false);
  if (!data.is_object()) return line;
  if (data.contains("id") && data["id"].is_string()) p.id = data["id"].get<std::string>();
  const auto text = "/choices/0/delta/content"_json_pointer;
  if (data.contains(text) && data[text].is_string() && p.answer.size() < 65536)
    p.answer += data[text].get<std::string>();
  if (!data.contains("usage") || !data["usage"].is_object()) return line;
  extend_usage(data, p);
  return "data: " + data.dump(-1, ' ', false, json::error_handler_t::replace);
}

void Upstream::stream(std::shared_ptr<Prepared> p, std::shared_ptr<Flow> flow,
                      httplib::Response& response) {
  response.set_header("X-Accel-Buffering", "no");
  const auto pending = std::make_shared<std::string>();
  const auto pump = [this, p, flow, pending](httplib::DataSink& sink) {
    const auto send = [&](const std::string& text) {
      return text.empty() || sink.write(text.data(), text.size());
    };
    const auto state = flow->take(Clock::now() + kSlice, *pending);
    if (state == UpstreamFlow::Body::ended && !pending->empty()) *pending += "\n";
    if (state == UpstreamFlow::Body::waiting) return sink.is_writable() && !service_.aborting_;
    // Whole lines only: an event may arrive in pieces.
    std::string out;
    size_t at = 0;
    for (size_t end; (end = pending->find('\n', at)) != std::string::npos; at = end + 1)
      out += extend_event(pending->substr(at, end - at), *p) + "\n";
    pending->erase(0, at);
    if (!out.empty()) p->whole = out == "\n" || out.ends_with("\n\n");
    if (pending->size() > kLargestReply || !send(out)) return false;
    if (state == UpstreamFlow::Body::more) return true;
    // httplib 0.11 takes a chunked body that breaks off for a whole one: only [DONE] is the end.
    if (state == UpstreamFlow::Body::broken || !p->finished) {
      service_.metrics_.count("arrcoc_failures_total", label("code", "upstream_died"));
      const ApiError died(502, "upstream_died", "the upstream's answer broke off");
      send((p->whole ? "data: " : "\ndata: ") + died.body() + "\n\n");
    } else {
      account(*p);
    }
    sink.done();
    return true;
  };
  response.set_chunked_content_provider(
      "text/event-stream", [this, pump](size_t, httplib::DataSink& sink) {
        try {
          return pump(sink);
        } catch (...) {  // nothing above would catch it
          const ApiError problem = api_error(std::current_exception());
          service_.metrics_.count("arrcoc_failures_total", label("code", problem.code()));
          const std::string last = "\ndata: " + problem.body() + "\n\n";
          return sink.write(last.data(), last.size()) && false;
        }
      });
}

void Upstream::account(Prepared& p) {
  Metrics& metrics = service_.metrics_;
  const double spent = seconds_since(p.start);
  metrics.observe("arrcoc_upstream_seconds", spent);
  if (!p.first) return;
  metrics.observe("arrcoc_request_seconds", spent, label("budget", budget_bucket(p.budget)));
  metrics.observe("arrcoc_budget_tokens", static_cast<double>(p.budget));
  metrics.count("arrcoc_image_tokens_kept_total", "", static_cast<double>(p.usage.kept));
  metrics.count("arrcoc_image_tokens_native_total", "", static_cast<double>(p.usage.native));
  Example e;
  e.id = p.id;
  e.model = p.model;
  e.question = p.question;
  e.answer = p.answer;
  e.policy = p.policy;
  e.milliseconds = 1e3 * spent;
  e.budget = p.budget;
  e.kept = p.usage.kept;
  e.native = p.usage.native;
  e.allocation = dump(p.pictures);
  service_.remember(std::move(e), p.first);
}

void Upstream::count_tokens(const json& request, httplib::Response& response) {
  const auto p = prepare(request);
  ordered_json tokens = {{"kept", p->usage.kept}, {"native", p->usage.native}};
  if (p->usage.estimated) tokens["estimated"] = true;
  response.set_content(dump({{"object", "response.input_tokens"},
                             {"input_tokens", p->usage.kept + p->usage.text},
                             {"text_tokens", p->usage.text},
                             {"text_estimated", true},
                             {"image_tokens", tokens},
                             {"arrcoc", p->extension()}}),
                       "application/json");
}

void Upstream::models(const httplib::Request& from, httplib::Response& response) {
  const auto result = client()->Get(address_.base + "/models", headers(from));
  if (!result)
    throw ApiError(502, "upstream_unreachable",
                   "the upstream cannot be reached: " + httplib::to_string(result.error()));
  response.status = result->status;
  response.set_content(result->body, "application/json");
}

}  // namespace arrcoc::serving
