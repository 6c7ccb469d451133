#include "serve/service.h"

#include <algorithm>

#include "arrcoc/error.h"
#include "arrcoc/json.h"
#include "arrcoc/media.h"
#include "serve/api_error.h"
#include "serve/encoding.h"
#include "serve/images.h"

namespace arrcoc::serving {

namespace {

std::string or_else(const std::string& value, const std::string& usual) {
  return value.empty() ? usual : value;
}

void reply(httplib::Response& response, const ordered_json& body) {
  response.set_content(dump(body), "application/json");
}

// The messages before the question, for models that read them.
std::vector<Turn> turns_of(const ChatRequest& request) {
  std::vector<Turn> out;
  for (const Message& message : request.messages) {
    if (message.role == ChatRole::tool)
      throw ApiError(400, "unsupported", "messages of tools are not supported");
    const Role role = message.role == ChatRole::system ? Role::system
                      : message.role == ChatRole::user ? Role::user
                                                       : Role::assistant;
    out.push_back({role, message.text, static_cast<int>(message.pictures.size())});
  }
  if (out.back().role != Role::user)
    throw ApiError(400, "invalid_request", "the last message must be the user's");
  out.pop_back();
  return out;
}

GenerateOptions generation_of(const ChatRequest& request, int most) {
  GenerateOptions out;
  out.max_new_tokens = most > 0 && request.max_tokens > 0 ? std::min(most, request.max_tokens)
                                                          : std::max(most, request.max_tokens);
  out.temperature = request.temperature;
  if (request.top_p) out.top_p = std::max(1e-6, *request.top_p);
  if (request.seed) out.seed = static_cast<uint64_t>(*request.seed);
  return out;
}

// Only numbers: levels and rules give enough for any picture.
void require_enough(const std::string& budget, size_t pictures) {
  if (!budget.empty() && budget.find_first_not_of("0123456789") == std::string::npos &&
      std::stoul(budget.substr(0, 9)) < pictures)
    throw ApiError(400, "budget_too_small", "the budget is less than one token a picture");
}

}  // namespace

Service::Service(const Options& options, Metrics& metrics, Server::Log log)
    : options_(options), metrics_(metrics), examples_(options, metrics, std::move(log)),
      savings_(options.prices, metrics),
      memory_(static_cast<size_t>(options.upstream_memory_mb) << 20) {
  if (!options.upstream.empty()) upstream_ = std::make_unique<Upstream>(options, metrics);
}

Service::~Service() { stop(); }

void Service::stop() {
  if (engine_) engine_->stop();
}

void Service::load() {
  limit_math_threads();
  media::register_strategies();
  const bool other = !options_.model.empty() && !holds_bundle(options_.model);
  const auto bundle = load_bundle(other || options_.model.empty() ? options_.tiny : options_.model);
  std::shared_ptr<const Model> model;
  std::shared_ptr<const Looker> looker;
  if (other) {
    ModelOptions open;
    open.mode = options_.mode;
    open.device = options_.device;
    open.dtype = options_.dtype;
    open.cache_bytes = int64_t{options_.cache_mb} << 20;
    model = open_model(options_.model, open);
    looker = relevance_looker(options_.relevance, *model, bundle->looker, options_.relevance_model,
                              open);
  }
  // The engine has a cache of its own.
  asker_ = std::make_shared<const Asker>(bundle, model, looker, 0);
  engine_ = std::make_unique<Engine>(options_, metrics_, asker_);
  ready_ = true;
}

Health Service::health() const {
  if (draining_) return Health::draining;
  if (failed_) return Health::failed;
  return ready_ ? Health::ok : Health::loading;
}

Engine& Service::engine() const {
  if (!ready_) throw ApiError(503, "loading", "the model is being loaded, try again");
  return *engine_;
}

bool Service::bundled() const { return asker_->model() == asker_->bundle()->model; }

Clock::time_point Service::deadline() const {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(options_.request_seconds));
}

AskOptions Service::options_for(const Extension& extension, const std::string& usual_budget) const {
  AskOptions out = asker_->fitted(policy(or_else(extension.policy, options_.policy)));
  out.budget = or_else(extension.budget, or_else(usual_budget, options_.budget));
  if (extension.passes > 0) out.passes.passes = extension.passes;
  out.passes.total_budget = extension.total_budget;
  out.threshold = options_.threshold;
  return out;
}

std::vector<SeenRef> Service::see(const std::vector<const std::string*>& urls,
                                  const AskOptions& options, Clock::time_point deadline) const {
  std::vector<SeenRef> out;
  for (const std::string* url : urls)
    out.push_back(engine().see(picture_bytes(*url, options_), options, deadline));
  return out;
}

std::shared_ptr<Service::Asked> Service::begin(const json& given, Wanted wanted) {
  auto asked = std::make_shared<Asked>();
  asked->id = random_id("chatcmpl-");
  asked->deadline = deadline();
  ChatRequest& request = asked->request = parse_chat(given);
  engine();  // says when it is still loading
  const std::string name = asker_->model()->name();
  if (or_else(request.model, name) != name)
    throw ApiError(404, "model_not_found", "there is no such model, only " + name);
  request.model = name;
  request.question();
  if (request.pictures().empty())
    throw ApiError(400, "no_picture", "this model answers about pictures: add an image_url");
  require_few(request);
  Question question;
  question.text = request.question().text;
  question.wanted = wanted;
  question.model = asker_->model();
  question.options = options_for(request.extension, "");
  if (question.model->capabilities().turns) question.options.before = turns_of(request);
  if (!bundled()) question.options.generate = generation_of(request, options_.max_new_tokens);
  asked->job = ask(*asked, std::move(question));
  return asked;
}

void Service::require_few(const ChatRequest& request) const {
  if (request.pictures().size() > static_cast<size_t>(options_.max_pictures))
    throw ApiError(400, "too_many_pictures",
                   "at most " + std::to_string(options_.max_pictures) + " pictures a request");
}

Ticket Service::ask(const Asked& asked, Question question) const {
  const ChatRequest& request = asked.request;
  parse_query(question.text);  // refuses a bad question before anything is decoded
  require_enough(question.options.budget, request.pictures().size());
  question.pictures = see(request.pictures(), question.options, asked.deadline);
  return engine().ask(std::move(question));
}

// ---- Waiting

void Service::require_patience() const {
  if (aborting_) throw ApiError(503, "shutting_down", "the server is shutting down");
  if (connection().gone && connection().gone())
    throw ApiError(499, "client_gone", "the client has hung up");
}

AnswerStream::Progress Service::wait_for(const AnswerStream& stream, Clock::time_point deadline,
                                         size_t known, std::string& text) const {
  for (;;) {
    const auto progress = stream.wait(known, std::min(deadline, Clock::now() + kSlice), text);
    if (progress != AnswerStream::Progress::waiting) return progress;
    if (Clock::now() >= deadline)
      throw ApiError(504, "timeout", "the answer took longer than allowed");
    require_patience();
  }
}

void Service::wait_all(const AnswerStream& stream, Clock::time_point deadline) const {
  std::string text;
  while (wait_for(stream, deadline, text.max_size(), text) != AnswerStream::Progress::done)
    continue;
}

// ---- Answers of models in this process

Service::Answered Service::collect(const Asked& asked) {
  wait_all(*asked.job, asked.deadline);
  Answered out;
  out.answer = asked.job->answer();
  const Answer& answer = *out.answer;
  const Pass& best = answer.from().answer();
  const Reply& said = best.reply;
  const bool together = asked.job->question().model->capabilities().several;
  out.usage = {said.prompt_tokens - (together ? answer.tokens : best.tokens),
               said.completion_tokens, answer.tokens, answer.native_tokens, said.estimated};
  out.text = answer.text;
  out.cut = said.cut;
  if (bundled()) {  // it writes to the end, and characters are its tokens
    out.text = first_characters(answer.text, asked.request.max_tokens, out.cut);
    if (out.cut) out.usage.completion = asked.request.max_tokens;
  }
  return out;
}

ordered_json Service::extension(const Asked& asked, const Answered& answered) const {
  ordered_json out = to_json(*answered.answer, {asked.request.extension.map});
  if (asked.request.extension.map) add_homunculi(*answered.answer, asked.pictures(), out);
  out["logged"] = answered.logged;
  return out;
}

void Service::chat(const std::string& body, Response& response) {
  auto asked = begin(parse_json(body, "the request"), Wanted::answer);
  if (asked->request.stream) return stream(std::move(asked), response);
  Answered answered = collect(*asked);
  account(*asked, answered);
  ordered_json out =
      completion(asked->id, asked->request.model, answered.text, answered.cut ? "length" : "stop");
  out["usage"] = to_json(answered.usage);
  out["arrcoc"] = extension(*asked, answered);
  reply(response, out);
}

void Service::provide_events(Response& response, const std::string& type,
                             std::function<bool(httplib::DataSink&)> pump,
                             std::function<std::string(const ApiError&)> last_words) {
  response.set_header("X-Accel-Buffering", "no");
  response.set_chunked_content_provider(
      type, [this, pump = std::move(pump), last_words = std::move(last_words)](
                size_t, httplib::DataSink& sink) {
        try {
          return pump(sink);
        } catch (...) {  // nothing above would catch it
          const ApiError problem = api_error(std::current_exception());
          metrics_.count("arrcoc_failures_total", label("code", problem.code()));
          const std::string last = last_words(problem);
          sink.write(last.data(), last.size());
          sink.done();
          return true;
        }
      });
}

void Service::stream(std::shared_ptr<Asked> asked, Response& response) {
  response.set_header("Cache-Control", "no-store");
  provide_events(
      response, "text/event-stream",
      [this, asked](httplib::DataSink& sink) {
        if (!stream_text(*asked, sink)) return false;
        sink.done();
        return true;
      },
      [](const ApiError& problem) { return "data: " + problem.body() + "\n\n"; });
}

bool Service::stream_text(const Asked& asked, httplib::DataSink& sink) {
  const ChatRequest& request = asked.request;
  const auto send = [&](const std::string& text) { return sink.write(text.data(), text.size()); };
  ordered_json piece = chunk(asked.id, request.model);
  piece["choices"][0]["delta"] = {{"role", "assistant"}, {"content", ""}};
  if (!send(event(piece))) return false;
  size_t sent = 0;
  const int limit = bundled() ? request.max_tokens : 0;  // other models count by themselves
  const auto send_rest = [&](const std::string& all) {
    bool cut = false;
    const std::string text = first_characters(all, limit, cut);
    if (text.size() <= sent) return true;
    piece["choices"][0]["delta"] = {{"content", text.substr(sent)}};
    sent = text.size();
    return send(event(piece));
  };
  std::string text;
  while (wait_for(*asked.job, asked.deadline, text.size(), text) == AnswerStream::Progress::more)
    if (!send_rest(text)) return false;
  Answered answered = collect(asked);
  if (!send_rest(answered.answer->text)) return false;
  account(asked, answered);
  ordered_json last = chunk(asked.id, request.model);
  last["choices"][0]["finish_reason"] = answered.cut ? "length" : "stop";
  last["arrcoc"] = extension(asked, answered);
  if (!send(event(last))) return false;
  if (request.include_usage) {
    ordered_json usage = chunk(asked.id, request.model);
    usage["choices"] = ordered_json::array();
    usage["usage"] = to_json(answered.usage);
    if (!send(event(usage))) return false;
  }
  return send("data: [DONE]\n\n");
}

void Service::account(const Asked& asked, Answered& answered) {
  const Answer& answer = *answered.answer;
  Example e;
  e.id = asked.id;
  e.model = asked.request.model;
  e.question = asked.request.question().text;
  e.answer = answered.text;
  e.policy = answer.policy;
  e.confidence = answer.confidence;
  e.kept = answered.usage.kept;
  e.native = answered.usage.native;
  for (const PictureAnswer& picture : answer.pictures) e.budget += picture.budget.tokens;
  const double spent = seconds_since(asked.start);
  e.milliseconds = 1e3 * spent;
  metrics_.observe("arrcoc_request_seconds", spent, label("budget", budget_bucket(e.budget)));
  metrics_.observe("arrcoc_budget_tokens", static_cast<double>(e.budget));
  if (!upstream_) savings_.add(e.model, e.native, e.kept, std::nullopt);
  if (!upstream_) {
    metrics_.observe("arrcoc_passes", static_cast<double>(answer.from().passes.size()));
    metrics_.observe("arrcoc_confidence", e.confidence);
  }
  if (!examples_.kept()) return;
  ordered_json report = to_json(answer, {true});
  for (const char* repeated : {"leaves", "crops", "map", "passes"}) report.erase(repeated);
  for (ordered_json& picture : report["pictures"])
    for (ordered_json& pass : picture["passes"]) {
      pass.erase("map");
      pass.erase("attention");
    }
  e.allocation = dump(report);
  answered.logged = examples_.add(std::move(e), asked.pictures()[answer.picture]);
}

// ---- The other endpoints

void Service::count_tokens(const Request& from, const std::string& body, Response& response) {
  if (upstream_) return count_relayed(from, body, response);
  const auto asked = begin(parse_json(body, "the request"), Wanted::count);
  reply(response, counted(collect(*asked).usage));
}

void Service::relevance(const std::string& body, Response& response) {
  const RelevanceRequest request = parse_relevance(parse_json(body, "the request"));
  Engine& engine = this->engine();
  const Clock::time_point until = deadline();
  parse_query(request.question);
  Question question;
  question.text = request.question;
  question.options = options_for(request.extension, "");
  question.wanted = Wanted::look;
  question.pictures = see({&request.image}, question.options, until);
  const Ticket job = engine.ask(std::move(question));
  wait_all(*job, until);
  ordered_json out = {{"object", "arrcoc.relevance"}};
  out.update(to_json(*job->answer(), {true}));
  if (request.extension.map) add_drawings(*job->answer(), *job->question().pictures[0], out);
  reply(response, out);
}

void Service::feedback(const std::string& body, Response& response) {
  const FeedbackRequest request = parse_feedback(parse_json(body, "the request"));
  examples_.rate(request);
  reply(response, {{"id", request.id}, {"rating", to_string(request.rating)}});
}

void Service::models(Response& response) {
  engine();  // a model's name is known when it is loaded
  const ordered_json model = {{"id", asker_->model()->name()},
                              {"object", "model"},
                              {"created", 1794700800},
                              {"owned_by", "arrcoc"}};
  reply(response, {{"object", "list"}, {"data", {model}}});
}

void Service::savings(Response& response) const { reply(response, savings_.report()); }

std::string Service::metrics_text() {
  if (ready_) {
    metrics_.set("arrcoc_cache_bytes", static_cast<double>(engine_->cache_bytes()));
    metrics_.set("arrcoc_queue_jobs", static_cast<double>(engine_->waiting()));
    metrics_.set("arrcoc_adapter_quality_mean", engine_->drift().mean());
    metrics_.set("arrcoc_adapter_quality_std", engine_->drift().deviation());
    metrics_.set("arrcoc_adapter_drift", engine_->drift().shift());
  }
  return metrics_.text();
}

}  // namespace arrcoc::serving
