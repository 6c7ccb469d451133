#include "serve/service.h"

#include <algorithm>
#include <sstream>

#include "arrcoc/error.h"
#include "arrcoc/json.h"
#include "arrcoc/media.h"
#include "serve/api_error.h"
#include "serve/drawings.h"
#include "serve/encoding.h"
#include "serve/films.h"
#include "serve/images.h"

namespace arrcoc::serving {

namespace {

constexpr size_t kMostModelName = 256;

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
  out.stop = request.stop;
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
    : options_(options),
      metrics_(metrics),
      examples_(options, metrics, log),
      savings_(options.prices, metrics),
      stages_(metrics, std::move(log)),
      memory_(static_cast<size_t>(options.upstream_memory_mb) << 20),
      decoders_(decoders_for(options)) {
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
  decoders_->warm_up();
  engine_ = std::make_unique<Engine>(options_, metrics_, asker_, decoders_);
  if (!upstream_) savings_.expect(asker_->model()->name());
  ready_ = true;
}

Health Service::health() const {
  if (draining_) return Health::draining;
  if (failed_) return Health::failed;
  return ready_ ? Health::ok : Health::loading;
}

ordered_json Service::health_report() const {
  ordered_json out = {{"status", to_string(health())}};
  if (upstream_) out["upstream"] = upstream_->host();
  if (examples_.kept()) out["log"] = {{"share", options_.log_share}, {"days", options_.log_days}};
  out["limits"] = {{"body_mb", options_.max_body_mb}, {"pictures", options_.max_pictures}};
  return out;
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
  const int most = options_.max_budget;
  out.budget = capped(or_else(extension.budget, or_else(usual_budget, options_.budget)), most);
  out.own_budget = capped(out.own_budget, most);
  if (most > 0 && !registry<Allocator>().make(out.allocator)->keeps_budget())
    throw ApiError(400, "unsupported", "this server does not allow policies without a budget");
  if (extension.passes > 0) out.passes.passes = extension.passes;
  out.passes.total_budget = extension.total_budget;
  if (most > 0 && out.passes.passes > 1)
    out.passes.total_budget =
        extension.total_budget == 0 ? most : std::min(most, extension.total_budget);
  out.threshold = options_.threshold;
  return out;
}

std::vector<SeenRef> Service::see(const std::vector<const std::string*>& urls,
                                  const AskOptions& options, Clock::time_point deadline,
                                  std::vector<std::string>* names) const {
  std::vector<SeenRef> out;
  for (const std::string* url : urls) {
    const std::vector<uint8_t> bytes = picture_bytes(*url, options_);
    out.push_back(engine().see(bytes, options, deadline, [this] { require_patience(); }));
    if (names) names->push_back(to_hex(sha256(bytes)));
  }
  return out;
}

// A film becomes the frame of it that says most about the question.
void Service::watch(Asked& asked, const Question& question) const {
  media::LoadOptions load;
  load.max_megapixels = options_.max_megapixels;
  load.apart = decoders_;
  const auto patience = [&] {
    require_patience();
    if (Clock::now() >= asked.deadline)
      throw ApiError(504, "timeout", "watching the film took longer than allowed");
  };
  load.given_up = [&] {
    patience();
    return false;
  };
  int number = 0;
  for (Message& message : asked.request.messages)
    for (std::string& url : message.pictures) {
      ++number;
      if (!is_film(url)) continue;
      const WatchedFilm film =
          watch_film(url, question.text, *asker_->looker(question.options), asker_->bundle()->film,
                     load, asked.request.extension.map, patience);
      ordered_json said = {{"picture", number}};
      said.update(to_json(film));
      asked.films.push_back(std::move(said));
      url = png_url(film.png);
    }
}

std::shared_ptr<Service::Asked> Service::begin(const Protocol& protocol, const Request& from,
                                               const json& given, Wanted wanted) {
  auto asked = std::make_shared<Asked>();
  asked->protocol = &protocol;
  asked->id = random_id(protocol.id_prefix());
  asked->deadline = deadline();
  ChatRequest& request = asked->request = protocol.parse(given, wanted == Wanted::count);
  engine();  // says when it is still loading
  const std::string name = asker_->model()->name();
  if (or_else(request.model, name) != name && request.model != protocol.alias(name))
    throw ApiError(404, "model_not_found", "there is no such model, only " + name);
  request.model = or_else(request.model, name);
  request.question();
  if (request.pictures().empty())
    throw ApiError(400, "no_picture", "this model answers about pictures: add one");
  require_few(request);
  Question question;
  question.text = request.question().text;
  question.wanted = wanted;
  question.model = asker_->model();
  question.early = request.stream && request.extension.map;
  question.options = options_for(request.extension, "");
  question.options.budget =
      capped(budget_of(request.knobs(from.get_header_value(kBudgetHeader)),
                       question.model->capabilities().token_pixels, "", options_.budget),
             options_.max_budget);
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

Ticket Service::ask(Asked& asked, Question question) const {
  const ChatRequest& request = asked.request;
  parse_query(question.text);  // refuses a bad question before anything is decoded
  require_enough(question.options.budget, request.pictures().size());
  watch(asked, question);
  question.pictures = see(request.pictures(), question.options, asked.deadline,
                          request.extension.map ? &asked.names : nullptr);
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
  // The prompt of the best look, with the pictures that were in it.
  int64_t shown = best.tokens;
  if (asked.job->question().model->capabilities().several) {
    shown = 0;
    for (const PictureAnswer& picture : answer.pictures) shown += picture.answer().tokens;
  }
  out.usage = {said.prompt_tokens - shown, said.completion_tokens, answer.tokens,
               answer.native_tokens, said.estimated};
  bool cut = said.cut;
  out.text = answer.text;
  if (bundled()) {  // it writes to the end, and characters are its tokens
    out.text = first_characters(answer.text, asked.request.max_tokens, cut);
    if (cut) out.usage.completion = asked.request.max_tokens;
  }
  out.text = before_stop(out.text, asked.request.stop, out.sequence);
  out.finish = !out.sequence.empty() ? Finish::sequence : cut ? Finish::length : Finish::stop;
  return out;
}

ordered_json Service::report(const Asked& asked, const Answer& answer) const {
  ordered_json out = to_json(answer, {asked.request.extension.map});
  for (size_t i = 0; i < asked.names.size(); ++i) out["pictures"][i]["name"] = asked.names[i];
  if (!asked.films.empty()) out["films"] = asked.films;
  return out;
}

ordered_json Service::extension(const Asked& asked, const Answered& answered) const {
  ordered_json out = report(asked, *answered.answer);
  if (asked.request.extension.map) add_homunculi(*answered.answer, asked.pictures(), out);
  out["id"] = asked.id;  // for /v1/feedback; an upstream's id may be anything
  out["logged"] = answered.logged;
  return out;
}

Said Service::said(const Asked& asked, const Answered& answered) const {
  Said out;
  out.id = asked.id;
  out.model = asked.request.model;
  out.text = answered.text;
  out.finish = answered.finish;
  out.sequence = answered.sequence;
  out.usage = answered.usage;
  out.extension = extension(asked, answered);
  for (const Stage& stage : answered.answer->stages)
    (stage.name == "reading" ? out.reading_seconds : out.looking_seconds) +=
        1e-3 * stage.milliseconds;
  out.seconds = seconds_since(asked.start);
  return out;
}

void Service::chat(const Endpoint& at, const Request& from, const std::string& body,
                   Response& response) {
  auto asked = begin(at.protocol, from, parse_json(body, "the request"), Wanted::answer);
  if (asked->request.stream) return stream(std::move(asked), response);
  Answered answered = collect(*asked);
  account(*asked, answered);
  reply(response, at.protocol.whole(asked->request, said(*asked, answered)));
}

void Service::account(const Asked& asked, Answered& answered) {
  const Answer& answer = *answered.answer;
  Example e;
  e.id = asked.id;
  // What a client wrote may be long, and is kept for those who rate.
  e.model = asked.request.model.substr(0, kMostModelName);
  e.question = last_bytes(asked.request.question().text, kMaxQuestionBytes);
  e.answer = answered.text;
  e.policy = answer.policy;
  e.confidence = answer.confidence;
  e.kept = answered.usage.kept;
  e.native = answered.usage.native;
  for (const PictureAnswer& picture : answer.pictures) e.budget += picture.budget.tokens;
  const double spent = seconds_since(asked.start);
  e.milliseconds = 1e3 * spent;
  metrics_.observe("arrcoc_request_seconds", spent, label("budget", budget_bucket(e.budget)));
  const std::string complexity = label("complexity", to_string(answer.query.complexity));
  metrics_.observe("arrcoc_budget_tokens", static_cast<double>(e.budget), complexity);
  stages_.add(answer, !upstream_);
  if (!upstream_) savings_.add(e.model, e.native, e.kept, std::nullopt);
  if (!upstream_) {
    metrics_.observe("arrcoc_passes", static_cast<double>(answer.from().passes.size()));
    metrics_.observe("arrcoc_confidence", e.confidence);
    const char* rule = by_question(answer.from().budget) ? "question" : "fixed";
    metrics_.count("arrcoc_budget_fit_total", complexity + "," + label("rule", rule) + "," +
                                                  label("fit", to_string(budget_fit(answer))));
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

void Service::count_tokens(const Endpoint& at, const Request& from, const std::string& body,
                           Response& response) {
  if (upstream_) return count_relayed(from, body, response);
  const auto asked = begin(at.protocol, from, parse_json(body, "the request"), Wanted::count);
  reply(response, at.protocol.count(collect(*asked).usage));
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

void Service::feedback(const Request& from, const std::string& body, Response& response) {
  const FeedbackRequest request = parse_feedback(parse_json(body, "the request"));
  examples_.rate(request, from.remote_addr);
  reply(response, {{"id", request.id}, {"rating", to_string(request.rating)}});
}

void Service::models(Response& response) {
  reply(response, {{"object", "list"}, {"data", {openai_model(card())}}});
}

const Model& Service::model() const {
  if (upstream_) throw ApiError(404, "not_found", "the proxy has no model of its own");
  engine();  // says when it is still loading
  return *asker_->model();
}

const ModelCard& Service::card() {
  const Model& model = this->model();
  std::call_once(described_, [&] {
    card_ = card_of(model, bundled() ? inspect_bundle(asker_->bundle()->folder)
                                     : inspect_model(options_.model));
  });
  return card_;
}

void Service::picture(const std::string& name, const Request& from, Response& response) const {
  const std::string digest = from_hex(name);
  const SeenRef seen = digest.empty() ? nullptr : engine().known(digest);
  if (!seen) throw ApiError(404, "not_found", "no such picture was seen lately: send it again");
  const Picture& whole = seen->picture;
  Crop crop{{0, 0, static_cast<float>(whole.width()), static_cast<float>(whole.height())}, 0, 0, 0};
  if (from.has_param("box")) {
    std::istringstream in(from.get_param_value("box"));
    char comma = ',';
    Box& b = crop.box;
    in >> b.x0 >> comma >> b.y0 >> comma >> b.x1 >> comma >> b.y1;
    const bool inside = b.x0 >= 0 && b.y0 >= 0 && b.x1 <= static_cast<float>(whole.width()) &&
                        b.y1 <= static_cast<float>(whole.height());
    if (!in || !in.eof() || !inside || b.x1 - b.x0 < 1 || b.y1 - b.y0 < 1)
      throw ApiError(400, "invalid_request",
                     "'box' must be x0,y0,x1,y1 inside " + std::to_string(whole.width()) + " x " +
                         std::to_string(whole.height()));
  }
  const auto png = native_png(whole, crop.box);
  response.set_content(reinterpret_cast<const char*>(png.data()), png.size(), "image/png");
}

void Service::savings(Response& response) const { reply(response, savings_.report()); }

std::string Service::metrics_text() {
  if (ready_) {
    metrics_.set("arrcoc_cache_bytes", static_cast<double>(engine_->cache_bytes()));
    metrics_.set("arrcoc_decoder_restarts_total", static_cast<double>(decoders_->restarts()));
    metrics_.set("arrcoc_queue_jobs", static_cast<double>(engine_->waiting()));
    metrics_.set("arrcoc_adapter_quality_mean", engine_->drift().mean());
    metrics_.set("arrcoc_adapter_quality_std", engine_->drift().deviation());
    metrics_.set("arrcoc_adapter_drift", engine_->drift().shift());
  }
  return metrics_.text();
}

}  // namespace arrcoc::serving
