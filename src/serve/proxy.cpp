// The part of the service that stands in front of another server.
#include "arrcoc/error.h"
#include "serve/api_error.h"
#include "serve/encoding.h"
#include "serve/service.h"

namespace arrcoc::serving {

namespace {

constexpr const char* kUsualQuestion = "What is in the picture?";

bool blank(const std::string& text) {
  return text.find_first_not_of(" \t\r\n") == std::string::npos;
}

}  // namespace

// A request that was sent on, and its reply.
struct Service::Proxied {
  std::shared_ptr<Asked> asked;
  std::unique_ptr<UpstreamReply> reply;
  Clock::time_point sent = Clock::now();
  std::optional<Answered> answered;  // once the road has heard the reply
  bool whole = true;                 // what was passed on ends with a whole event
};

std::shared_ptr<Service::Asked> Service::begin_proxied(const Request& from, json given,
                                                       Wanted wanted) {
  auto asked = std::make_shared<Asked>();
  asked->id = random_id("chatcmpl-");
  asked->deadline = deadline();
  const ChatRequest& request = asked->request = parse_chat(given);
  asked->upstream =
      std::make_shared<UpstreamModel>(*upstream_, request, std::move(given),
                                      upstream_->headers(from), [this] { require_patience(); });
  if (request.pictures().empty()) return asked;
  require_few(request);
  Question question;
  question.text = request.question().text;
  if (blank(question.text)) question.text = kUsualQuestion;
  question.wanted = wanted == Wanted::answer ? Wanted::readings : wanted;
  question.model = asked->upstream;
  engine();  // says when it is still loading
  question.options = options_for(request.extension, upstream_->budget(request.model));
  question.options.least_side = question.options.most_side = 0;  // it resizes by its own rule
  asked->job = ask(*asked, std::move(question));
  return asked;
}

// Whoever names a budget does not want to pay more.
void Service::require_affordable(const Asked& asked, const std::vector<std::string>& notes) const {
  if (asked.request.extension.budget.empty()) return;
  for (const std::string& note : notes)
    if (note.ends_with(kAnySize)) throw ApiError(400, "budget_too_small", note);
}

void Service::forward(std::shared_ptr<Asked> asked, Response& response) {
  Reading reading;
  if (asked->job) {
    wait_all(*asked->job, asked->deadline);
    reading = asked->job->readings().front();
    for (const PictureTokens& picture : reading.pictures)
      require_affordable(*asked, picture.allocation.fallbacks);
  }
  auto proxied = std::make_shared<Proxied>();
  proxied->reply = asked->upstream->send(reading);
  proxied->asked = std::move(asked);
  const UpstreamReply& reply = *proxied->reply;
  if (!proxied->asked->request.stream || !reply.streams() || reply.status() != 200)
    return pass_body(*proxied, response);
  provide_events(
      response, [this, proxied](httplib::DataSink& sink) { return pass_events(*proxied, sink); },
      "\ndata: ");
}

// The road hears the reply, once.
void Service::conclude(Proxied& proxied) {
  if (proxied.answered) return;
  Asked& asked = *proxied.asked;
  const UpstreamReply& reply = *proxied.reply;
  Answered& out = proxied.answered.emplace();
  metrics_.observe("arrcoc_upstream_seconds", seconds_since(asked.start));
  if (!asked.job) return;
  if (!reply.id().empty()) asked.id = reply.id();
  if (const double off = reply.tokens_off(); off > 0)
    metrics_.observe("arrcoc_upstream_tokens_off", off);
  Asking& asking = asked.job->asking();
  asking.spent("reading", 1e3 * seconds_since(proxied.sent));
  const Reply said = reply.reply();
  asking.hear({said});
  out.answer = std::make_shared<const Answer>(asking.finish());
  out.text = said.text;
  out.usage.kept = out.answer->tokens;
  out.usage.native = out.answer->native_tokens;
  out.usage.estimated = said.estimated;
  account(asked, out);
}

// Adds what we know to the reply, or to the last event that says something.
void Service::extend(Proxied& proxied, json& data) {
  conclude(proxied);
  if (!proxied.asked->job) return;
  const Answered& answered = *proxied.answered;
  if (data.contains("usage") && data["usage"].is_object())
    data["usage"]["image_tokens"] = answered.usage.image_tokens();
  json extension = this->extension(*proxied.asked, answered);
  if (data.contains("arrcoc")) extension["upstream"] = data["arrcoc"];
  data["arrcoc"] = std::move(extension);
}

void Service::pass_body(Proxied& proxied, Response& response) {
  json data = proxied.reply->whole([this] { require_patience(); });
  response.status = proxied.reply->status();
  if (const std::string after = proxied.reply->header("Retry-After");
      !after.empty() && after.find_first_not_of("0123456789") == std::string::npos)
    response.set_header("Retry-After", after);
  if (response.status == 200) extend(proxied, data);
  response.set_content(data.dump(-1, ' ', false, json::error_handler_t::replace),
                       "application/json");
}

bool Service::pass_events(Proxied& proxied, httplib::DataSink& sink) {
  UpstreamReply& reply = *proxied.reply;
  const auto send = [&](const std::string& text) {
    return text.empty() || sink.write(text.data(), text.size());
  };
  std::vector<std::string> lines;
  const auto state = reply.next(lines);
  if (state == HttpExchange::Body::waiting) return sink.is_writable() && !aborting_;
  const ChatRequest& request = proxied.asked->request;
  std::string out;
  for (const std::string& line : lines) {
    std::optional<json> data = reply.hear_line(line);
    const auto reason = "/choices/0/finish_reason"_json_pointer;
    const bool last =
        data &&
        (request.include_usage ? data->contains("usage") && data->value("choices", json()).empty()
                               : data->contains(reason) && !(*data)[reason].is_null());
    if (last) extend(proxied, *data);
    out += (last ? "data: " + data->dump(-1, ' ', false, json::error_handler_t::replace) : line) +
           "\n";
  }
  if (!out.empty()) proxied.whole = out == "\n" || out.ends_with("\n\n");
  if (!send(out)) return false;
  if (state == HttpExchange::Body::more) return true;
  // httplib 0.11 takes a chunked body that breaks off for a whole one: only [DONE] is the end.
  if (state == HttpExchange::Body::broken || !reply.finished()) {
    metrics_.count("arrcoc_failures_total", label("code", "upstream_died"));
    const ApiError died(502, "upstream_died", "the upstream's answer broke off");
    send((proxied.whole ? "data: " : "\ndata: ") + died.body() + "\n\n");
  } else {
    conclude(proxied);
  }
  sink.done();
  return true;
}

}  // namespace arrcoc::serving
