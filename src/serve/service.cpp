#include "serve/service.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "allocate/leaves_json.h"
#include "arrcoc/media.h"
#include "serve/api_error.h"
#include "serve/encoding.h"
#include "serve/images.h"
#include "serve/upstream.h"

namespace arrcoc::serving {

namespace {

constexpr auto kSlice = std::chrono::milliseconds(250);  // between looks at the connection

Clock::duration seconds(double s) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
}

int64_t symbols(const std::string& text) {
  return static_cast<int64_t>(tiny::encode_question(text).size());
}

std::string or_else(const std::string& value, const std::string& usual) {
  return value.empty() ? usual : value;
}

void reply(httplib::Response& response, const ordered_json& body) {
  response.set_content(dump(body), "application/json");
}

}  // namespace

Service::Service(const Options& options, Metrics& metrics, Server::Log log)
    : options_(options), metrics_(metrics), log_(std::move(log)), cleaned_(Clock::now()) {
  if (!options.log.empty()) {
    examples_ = std::make_unique<ExampleLog>(options.log);
    if (options.log_days > 0) examples_->forget(options.log_days);
  }
  if (!options.upstream.empty()) upstream_ = std::make_unique<Upstream>(*this);
}

Service::~Service() { stop(); }

void Service::stop() {
  if (engine_) engine_->stop();
}

void Service::load() {
  limit_math_threads();
  media::install();
  const std::string folder = or_else(options_.tiny, tiny::find_model());
  if (folder.empty())
    throw Error(ErrorCode::not_found,
                "the bundled model was not found: set ARRCOC_MODELS or --tiny to its folder");
  tiny::install(folder);
  const auto answerer = answering::Answerer::load(folder);
  if (!options_.model.empty()) hosted_ = std::make_unique<Hosted>(options_);
  engine_ = std::make_unique<Engine>(options_, metrics_, answerer);
  ready_ = true;
}

std::string Service::state() const {
  if (draining_) return "draining";
  if (failed_) return "failed";
  return ready_ ? "ok" : "loading";
}

Engine& Service::engine() const {
  if (!ready_) throw ApiError(503, "loading", "the model is being loaded, try again");
  return *engine_;
}

std::string Service::model_name() const { return hosted_ ? hosted_->name() : kTinyName; }

Clock::time_point Service::deadline() const {
  return Clock::now() + seconds(options_.request_seconds);
}

std::vector<SeenRef> Service::see_all(const ChatRequest& request, Clock::time_point deadline) {
  const auto urls = request.pictures();
  if (urls.size() > static_cast<size_t>(options_.max_pictures))
    throw ApiError(400, "too_many_pictures",
                   "at most " + std::to_string(options_.max_pictures) + " pictures a request");
  std::vector<SeenRef> out;
  for (const std::string* url : urls)
    out.push_back(engine().see(picture_bytes(*url, options_), deadline));
  return out;
}

std::shared_ptr<Service::Asked> Service::begin(ChatRequest request, bool answer) {
  engine();  // says when it is still loading
  auto asked = std::make_shared<Asked>();
  asked->id = random_id("chatcmpl-");
  asked->start = Clock::now();
  asked->deadline = deadline();
  if (!request.model.empty() && request.model != model_name())
    throw ApiError(404, "model_not_found", "there is no such model, only " + model_name());
  request.model = model_name();
  const Turn& turn = request.question();
  const size_t count = request.pictures().size();
  if (count == 0)
    throw ApiError(400, "no_picture", "this model answers about pictures: add an image_url");
  Question question;
  question.text = turn.text;
  parse_query(question.text);
  question.policy = or_else(request.extension.policy, options_.policy);
  policy(question.policy);
  question.budget = or_else(request.extension.budget, options_.budget);
  question.sharers = static_cast<int>(count);
  question.passes = request.extension.passes;
  question.answer = answer && !hosted_;
  if (hosted_ && question.passes > 1)
    throw ApiError(400, "unsupported", "passes are for the bundled model only");
  // Numbers are checked by the parser to be positive.
  if (question.budget.find_first_not_of("0123456789") == std::string::npos &&
      std::stoul(question.budget.substr(0, 9)) < count)
    throw ApiError(400, "budget_too_small", "the budget is less than one token a picture");
  asked->pictures = see_all(request, asked->deadline);
  for (const SeenRef& picture : asked->pictures) {
    question.picture = picture;
    asked->tickets.push_back(engine().ask(question));
  }
  asked->request = std::move(request);
  if (hosted_) host(*asked, answer);
  return asked;
}

Telling::Progress Service::wait_for(const Asked& asked, const Telling& telling, size_t known,
                                    std::string& text) const {
  while (true) {
    const auto progress =
        telling.wait(known, std::min(asked.deadline, Clock::now() + kSlice), text);
    if (progress != Telling::Progress::waiting) return progress;
    if (Clock::now() >= asked.deadline)
      throw ApiError(504, "timeout", "the answer took longer than allowed");
    if (aborting_) throw ApiError(503, "shutting_down", "the server is shutting down");
    if (connection().gone && connection().gone())
      throw ApiError(499, "client_gone", "the client has hung up");
  }
}

void Service::wait_all(const Asked& asked, const Telling& telling) const {
  std::string text;
  while (wait_for(asked, telling, text.max_size(), text) != Telling::Progress::done) continue;
}

Service::Answered Service::collect(const Asked& asked) const {
  if (hosted_) return collect_hosted(asked);
  Answered out;
  for (const Ticket& ticket : asked.tickets) {
    wait_all(asked, *ticket);
    out.outcomes.push_back(ticket->outcome());
    const Outcome& outcome = *out.outcomes.back();
    out.usage.kept += outcome.kept;
    out.usage.native += outcome.native;
    if (outcome.confidence() > out.outcomes[out.best]->confidence())
      out.best = out.outcomes.size() - 1;
  }
  const tiny::Answer& answer = out.outcomes[out.best]->answer;
  out.text = first_characters(answer.text, asked.request.max_tokens, out.cut);
  out.usage.text = symbols(asked.request.question().text);
  const auto said = static_cast<int64_t>(answer.probabilities.size());
  out.usage.completion = out.cut ? asked.request.max_tokens : said;
  return out;
}

ordered_json Service::extension(const Asked& asked, const Answered& answered, bool logged) const {
  const Outcome& best = *answered.outcomes[answered.best];
  const double confidence = best.confidence();
  int64_t budget = 0;
  auto pictures = ordered_json::array();
  for (size_t i = 0; i < answered.outcomes.size(); ++i) {
    budget += answered.outcomes[i]->budget.tokens;
    pictures.push_back(
        describe(*asked.pictures[i], *answered.outcomes[i], asked.request.extension.map));
  }
  return {{"budget", budget},
          {"budget_reason", best.budget.why},
          {"policy", or_else(asked.request.extension.policy, options_.policy)},
          {"confidence", std::round(confidence * 1e4) / 1e4},
          {"uncertainty", std::round((1 - confidence) * 1e4) / 1e4},
          {"unsure", confidence < options_.threshold},
          {"passes", best.passes.size()},
          {"picture", answered.best},
          {"pictures", std::move(pictures)},
          {"logged", logged}};
}

void Service::chat(const Request& from, const std::string& body, Response& response) {
  const json request = parse_json(body, "the request");
  if (upstream_) return upstream_->chat(from, request, response);
  auto asked = begin(parse_chat(request), true);
  if (asked->request.stream) return stream(std::move(asked), response);
  const Answered answered = collect(*asked);
  const bool logged = account(*asked, answered);
  ordered_json out =
      completion(asked->id, model_name(), answered.text, answered.cut ? "length" : "stop");
  out["usage"] = to_json(answered.usage);
  out["arrcoc"] = extension(*asked, answered, logged);
  reply(response, out);
}

void Service::stream(std::shared_ptr<Asked> asked, Response& response) {
  response.set_header("Cache-Control", "no-store");
  response.set_header("X-Accel-Buffering", "no");
  response.set_chunked_content_provider(
      "text/event-stream", [this, asked](size_t, httplib::DataSink& sink) {
        try {
          if (!stream_text(*asked, sink)) return false;
        } catch (...) {
          const ApiError problem = api_error(std::current_exception());
          metrics_.count("arrcoc_failures_total", label("code", problem.code()));
          const std::string last = "data: " + problem.body() + "\n\n";
          sink.write(last.data(), last.size());
        }
        sink.done();
        return true;
      });
}

bool Service::stream_text(const Asked& asked, httplib::DataSink& sink) {
  const auto send = [&](const std::string& text) { return sink.write(text.data(), text.size()); };
  ordered_json piece = chunk(asked.id, model_name());
  piece["choices"][0]["delta"] = {{"role", "assistant"}, {"content", ""}};
  if (!send(event(piece))) return false;
  size_t sent = 0;
  bool cut = false;
  const int limit = hosted_ ? 0 : asked.request.max_tokens;  // a hosted model counts by itself
  const auto send_rest = [&](const std::string& all) {
    const std::string text = first_characters(all, limit, cut);
    if (text.size() <= sent) return true;
    piece["choices"][0]["delta"] = {{"content", text.substr(sent)}};
    sent = text.size();
    return send(event(piece));
  };
  std::string text;
  if (const Telling* heard = asked.heard())
    while (wait_for(asked, *heard, text.size(), text) == Telling::Progress::more)
      if (!send_rest(text)) return false;
  const Answered answered = collect(asked);
  if (!send_rest(answered.outcomes[answered.best]->answer.text)) return false;
  const bool logged = account(asked, answered);
  ordered_json last = chunk(asked.id, model_name());
  last["choices"][0]["finish_reason"] = answered.cut ? "length" : "stop";
  last["arrcoc"] = extension(asked, answered, logged);
  if (!send(event(last))) return false;
  if (asked.request.include_usage) {
    ordered_json usage = chunk(asked.id, model_name());
    usage["choices"] = ordered_json::array();
    usage["usage"] = to_json(answered.usage);
    if (!send(event(usage))) return false;
  }
  return send("data: [DONE]\n\n");
}

void Service::count_tokens(const std::string& body, Response& response) {
  const json request = parse_json(body, "the request");
  if (upstream_) return upstream_->count_tokens(request, response);
  const auto asked = begin(parse_chat(request), false);
  const Answered answered = collect(*asked);
  const Usage& usage = answered.usage;
  reply(response, {{"object", "response.input_tokens"},
                   {"input_tokens", usage.kept + usage.text},
                   {"text_tokens", usage.text},
                   {"image_tokens", {{"kept", usage.kept}, {"native", usage.native}}}});
}

void Service::relevance(const std::string& body, Response& response) {
  const RelevanceRequest request = parse_relevance(parse_json(body, "the request"));
  Asked asked;
  asked.deadline = deadline();
  parse_query(request.question);
  Question question;
  question.text = request.question;
  question.policy = or_else(request.extension.policy, options_.policy);
  policy(question.policy);
  question.budget = or_else(request.extension.budget, options_.budget);
  question.answer = false;
  question.picture = engine().see(picture_bytes(request.image, options_), asked.deadline);
  const Ticket ticket = engine().ask(question);
  wait_all(asked, *ticket);
  reply(response, relevance_report(*question.picture, *ticket->outcome(), request.question,
                                   question.policy, request.extension.map));
}

void Service::models(const Request& from, Response& response) {
  if (upstream_) return upstream_->models(from, response);
  engine();  // a hosted model's name is known when it is loaded
  const ordered_json model = {
      {"id", model_name()}, {"object", "model"}, {"created", 1794700800}, {"owned_by", "arrcoc"}};
  reply(response, {{"object", "list"}, {"data", {model}}});
}

bool Service::account(const Asked& asked, const Answered& answered) {
  const Outcome& best = *answered.outcomes[answered.best];
  Example e;
  e.id = asked.id;
  e.model = model_name();
  e.question = asked.request.question().text;
  e.answer = answered.text;
  e.policy = or_else(asked.request.extension.policy, options_.policy);
  e.confidence = best.confidence();
  e.kept = answered.usage.kept;
  e.native = answered.usage.native;
  auto allocation = ordered_json::array();
  for (const auto& outcome : answered.outcomes) {
    e.budget += outcome->budget.tokens;
    allocation.push_back(allocating::leaves_json(outcome->allocation()));
  }
  e.allocation = dump(allocation);
  const double spent = seconds_since(asked.start);
  e.milliseconds = 1e3 * spent;
  metrics_.observe("arrcoc_request_seconds", spent, label("budget", budget_bucket(e.budget)));
  metrics_.observe("arrcoc_passes", static_cast<double>(best.passes.size()));
  metrics_.observe("arrcoc_confidence", e.confidence);
  metrics_.observe("arrcoc_budget_tokens", static_cast<double>(e.budget));
  metrics_.count("arrcoc_image_tokens_kept_total", "", static_cast<double>(e.kept));
  metrics_.count("arrcoc_image_tokens_native_total", "", static_cast<double>(e.native));
  return remember(std::move(e), asked.pictures[answered.best]);
}

}  // namespace arrcoc::serving
