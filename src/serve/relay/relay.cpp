// What goes to the upstream and comes from there.
#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "serve/admission.h"
#include "serve/api_error.h"
#include "serve/encoding.h"
#include "serve/knobs.h"
#include "serve/protocols/fields.h"
#include "serve/relay/relayed.h"

namespace arrcoc::serving {

namespace {

constexpr int kDeepestRequest = 200;  // tools bring schemas with them
constexpr size_t kMostParts = 4096;
constexpr size_t kMostValues = 500'000;
constexpr size_t kLongestNotes = 1000;

// Statuses that say "not like this": one picture may still be welcome.
bool refuses_pictures(int status) {
  return status == 400 || status == 413 || status == 415 || status == 422;
}

// Notes for clients whose reply has no place for them, or that read none.
void name_fallbacks(const std::vector<std::string>& notes, httplib::Response& response) {
  std::string text;
  for (const std::string& note : notes) text += (text.empty() ? "" : "; ") + note;
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
  if (!text.empty()) response.set_header("X-Arrcoc-Fallbacks", text.substr(0, kLongestNotes));
}

void pass_head(const HttpExchange& from, httplib::Response& response) {
  response.status = from.status();
  connection().passed_on = true;
  for (const auto& [given, value] : from.headers()) {
    std::string name = given;
    for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    const bool plain = std::none_of(value.begin(), value.end(), [](char c) {
      return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
    });
    if (plain && !of_connection(name) && name != "content-type")
      response.headers.emplace(given, value);
  }
}

bool escaped(const httplib::Request& from) {
  const std::string wish = from.get_header_value("X-Arrcoc-Bypass");
  if (wish.empty() || wish == "0" || wish == "1") return wish == "1";
  throw ApiError(400, "invalid_request", "X-Arrcoc-Bypass must be 1 or 0");
}

// Null where it is no JSON, which is the upstream's affair.
std::optional<json> parsed(const std::string& body) {
  try {
    require_few_values(body, kMostValues);
    return parse_json(body, "the request", kDeepestRequest);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::string type_of(const HttpExchange& exchange) {
  const std::string type = exchange.header("Content-Type");
  return type.empty() ? "application/octet-stream" : type;
}

// file: URLs are the server's own files: they never go on. except: pictures that are read here.
void Service::refuse_files(const std::string& body, const json* given,
                           const std::vector<PicturePart>& except) const {
  const size_t first = body.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  const bool wide = body.substr(0, 4).find('\0') != std::string::npos ||
                    body.rfind("\xff\xfe", 0) == 0 ||
                    body.rfind("\xfe\xff", 0) == 0;  // UTF-16 and UTF-32
  if (wide) throw ApiError(400, "invalid_request", "a request must be UTF-8");
  const bool text = first != std::string::npos && (body[first] == '{' || body[first] == '[');
  if (!text || !may_hold_pictures(body)) return;
  const std::optional<json> read = given ? std::nullopt : parsed(body);
  if (!given && read) given = &*read;
  if (!given && spells_file(body))
    throw ApiError(400, "invalid_request", "the request is no JSON and names a file");
  const std::string file = given ? file_url_in(*given, except) : "";
  if (!file.empty())
    throw ApiError(400, "invalid_request",
                   "file: URLs are not sent on: '" + file.substr(0, 80) + "'");
}

void Service::relay(const Request& from, std::string body, Response& response) {
  Outgoing request{from.method, from.target, upstream_->headers(from), std::move(body), true};
  const Dialect* dialect = from.method == "POST" ? dialect_at(from.path) : nullptr;
  if (!dialect || escaped(from) || !may_hold_pictures(request.body)) {
    refuse_files(request.body, nullptr, {});
    return pass(std::move(request), response);
  }
  std::optional<json> given = parsed(request.body);
  if (!given || !given->is_object()) {
    refuse_files(request.body, nullptr, {});
    pass(std::move(request), response);
    return name_fallbacks(
        {"the request is no JSON object that can be read here: it was sent as it came"}, response);
  }
  auto r = begin_relay(from, *dialect, std::move(request), std::move(*given));
  if (r->talk.pictures.empty()) {
    r->request.body = rewritten(*r);
    return pass(std::move(r->request), response);
  }
  prepare(*r);
  // Nothing here is ours: pictures that are elsewhere, or that nobody can read.
  if (r->looks.empty() && r->native() == 0) {
    r->request.body = rewritten(*r);
    pass(std::move(r->request), response);
    return name_fallbacks(r->notes, response);
  }
  forward(std::move(r), response);
}

// As it came, and what comes back as it comes.
void Service::pass(Outgoing request, Response& response) {
  const auto exchange =
      std::shared_ptr<HttpExchange>(upstream_->send(request, [this] { require_patience(); }));
  pass_head(*exchange, response);
  const std::string length = exchange->header("Content-Length");
  const bool known = exchange->header("Transfer-Encoding").empty() && !length.empty() &&
                     length.size() < 12 &&
                     length.find_first_not_of("0123456789") == std::string::npos;
  const bool empty = request.method == "HEAD" || response.status == 204 || response.status == 304 ||
                     (known && std::stoull(length) == 0);
  if (empty) {
    if (exchange->headers().count("Content-Type"))
      response.set_header("Content-Type", exchange->header("Content-Type"));
    return;
  }
  std::string brief;  // all of it may be there already
  if (exchange->take(Clock::now(), brief) == HttpExchange::Body::more && known &&
      brief.size() == std::stoull(length))
    return response.set_content(brief, type_of(*exchange));
  // left: bytes that the client waits for; none: until the end. Everything is passed on within one
  // call: httplib breaks off between calls when it is told to stop.
  const auto pump = [this, exchange, brief](httplib::DataSink& sink, std::optional<size_t> left) {
    for (std::string piece = brief;; piece.clear()) {
      const auto state =
          piece.empty() ? exchange->take(Clock::now() + kSlice, piece) : HttpExchange::Body::more;
      if (state == HttpExchange::Body::broken) return false;
      if (state == HttpExchange::Body::ended) {
        if (left) return false;  // less than was promised
        sink.done();
        return true;
      }
      if (state == HttpExchange::Body::waiting && (aborting_ || !sink.is_writable())) return false;
      if (left && piece.size() > *left) piece.resize(*left);
      if (!piece.empty() && !sink.write(piece.data(), piece.size())) return false;
      if (left && (*left -= piece.size()) == 0) return true;
    }
  };
  if (known) {
    response.set_content_provider(
        std::stoull(length), type_of(*exchange),
        [pump](size_t, size_t left, httplib::DataSink& sink) { return pump(sink, left); });
  } else {
    response.set_header("X-Accel-Buffering", "no");
    response.set_chunked_content_provider(
        type_of(*exchange),
        [pump](size_t, httplib::DataSink& sink) { return pump(sink, std::nullopt); });
  }
}

std::shared_ptr<Service::Relayed> Service::begin_relay(const Request& from, const Dialect& dialect,
                                                       Outgoing request, json given) {
  auto r = std::make_shared<Relayed>();
  r->dialect = &dialect;
  r->request = std::move(request);
  r->given = std::move(given);
  r->talk = dialect.read(r->given);
  // Pictures of --file-root are read here.
  refuse_files(r->request.body, &r->given,
               options_.file_root.empty() ? std::vector<PicturePart>{} : r->talk.pictures);
  if (r->talk.messages.size() > kMostParts || r->talk.pictures.size() > kMostParts)
    throw ApiError(400, "too_large",
                   "more than " + std::to_string(kMostParts) +
                       " messages or pictures: X-Arrcoc-Bypass: 1 passes them");
  r->talk.settle();
  r->extension = fields::extension(r->given);
  if (!r->talk.pictures.empty()) r->budget = relay_budget(from, *r);
  r->asked.id = random_id("arrcoc-");
  r->asked.deadline = deadline();
  r->asked.request.model = r->talk.model;
  Message question;
  question.text = r->talk.question();
  r->asked.request.messages = {question};
  r->asked.request.extension = r->extension;
  recall(*r);
  return r;
}

std::string Service::relay_budget(const Request& from, const Relayed& r) const {
  Knobs knobs;
  knobs.body = r.extension.budget;
  knobs.header = from.get_header_value(kBudgetHeader);
  knobs.max_pixels = r.talk.limits.max_pixels;
  for (const PicturePart& picture : r.talk.pictures)
    if (picture.message >= r.talk.newest)
      knobs.pictures.push_back({picture.detail, picture.limits.max_pixels});
  return capped(budget_of(knobs, upstream_->family(r.talk.model).token_pixels,
                          upstream_->budget(r.talk.model), options_.budget),
                options_.max_budget);
}

void Service::prepare(Relayed& r) {
  engine();  // says when it is still loading
  look_at_new(r, -1);
  look_again(r);
  wait_for_looks(r);
}

// Sends it with views; when that is refused, without the wish for probabilities, then with one view
// a picture.
void Service::send(Relayed& r) {
  const auto patience = [this] { require_patience(); };
  for (bool again = false;;) {
    Outgoing out{r.request.method, r.request.target, r.request.headers, rewritten(r), false};
    r.sent = Clock::now();
    r.reply = std::make_unique<UpstreamReply>(upstream_->send(out, patience), *r.dialect);
    if (!refuses_pictures(r.reply->status())) return;
    if (r.probabilities) {
      r.probabilities = false;
      continue;
    }
    if (again || !r.heard.empty() || !several_views(r)) return;
    again = true;
    metrics_.count("arrcoc_fallbacks_total", label("kind", "one_view"));
    r.notes.push_back("the upstream refused several views (" + std::to_string(r.reply->status()) +
                      "): one was sent");
    std::erase_if(r.looks, [](const Looked& looked) { return looked.again; });
    if (r.messages.back()) r.messages.back()->appended.clear();
    r.looks.clear();
    look_at_new(r, 0);
    wait_for_looks(r);
  }
}

bool Service::several_views(const Relayed& r) const {
  for (size_t m = 0; m < r.messages.size(); ++m) {
    if (!r.messages[m] || r.remembered[m]) continue;
    if (!r.messages[m]->appended.empty()) return true;
    for (const SentPicture& picture : r.messages[m]->pictures)
      if (picture.views.size() > 1) return true;
  }
  return false;
}

void Service::begin_reply(const Relayed& r, Response& response) {
  pass_head(r.reply->exchange(), response);
  const int64_t kept = r.heard.empty() ? r.tokens() : r.usage.kept;
  response.set_header("X-Arrcoc-Image-Tokens",
                      std::to_string(kept) + "/" + std::to_string(r.native()));
  name_fallbacks(r.notes, response);
}

void Service::forward(std::shared_ptr<Relayed> r, Response& response) {
  if (looks_again(*r)) return forward_looks(*r, response);
  send(*r);
  const UpstreamReply& reply = *r->reply;
  if (reply.status() == 200 && !counts(*r)) remember(*r);
  begin_reply(*r, response);
  if (reply.status() != 200) {
    response.set_content(r->reply->whole([this] { require_patience(); }),
                         type_of(reply.exchange()));
    return;
  }
  if (!r->talk.stream || !reply.streams()) {
    json data = r->reply->object([this] { require_patience(); });
    if (json* place = r->dialect->extended(data, false, false)) extend(*r, *place);
    response.set_content(data.dump(-1, ' ', false, json::error_handler_t::replace),
                         "application/json");
    return;
  }
  provide(
      response, type_of(reply.exchange()),
      [this, r](httplib::DataSink& sink) {
        const std::string look = first_look(*r);
        if (!look.empty() && !sink.write(look.data(), look.size())) return false;
        while (!r->over)
          if (!pass_events(*r, sink)) return false;
        return true;
      },
      [r](const ApiError& problem) { return last_words(*r, problem); });
}

// The map, before the upstream's words; "" for other protocols than the chat.
std::string Service::first_look(const Relayed& r) const {
  const bool chat = r.dialect == dialect_at("/v1/chat/completions");
  if (!chat || !r.extension.map || r.looks.empty()) return "";
  Answer all = r.looks.front().job->asking().finish();
  for (size_t i = 1; i < r.looks.size(); ++i) join(r.looks[i].job->asking().finish(), all);
  return openai_chat().events(r.asked.request, r.asked.id)->looked(report(r.asked, all));
}

// An event that begins after what was passed on.
std::string Service::last_words(const Relayed& r, const ApiError& problem) {
  std::string out = r.dialect->error_event(problem);
  if (!r.ended_whole) out.insert(0, 1, '\n');
  return out;
}

bool Service::counts(const Relayed& r) {
  return only_counts(r.request.target.substr(0, r.request.target.find('?')));
}

// One line of a stream as the client gets it. data: what it says, where it is an event.
std::string Service::passed(Relayed& r, const std::string& line, std::optional<json> data) {
  json* place = data ? r.dialect->extended(*data, true, r.talk.include_usage) : nullptr;
  const bool dropped = r.probabilities && data && r.dialect->drop_probabilities(*data);
  if (place) extend(r, *place);
  if (!place && !dropped) return line + "\n";
  const std::string_view payload = r.dialect->payload(line);
  return line.substr(0, static_cast<size_t>(payload.data() - line.data())) +
         data->dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

bool Service::pass_events(Relayed& r, httplib::DataSink& sink) {
  UpstreamReply& reply = *r.reply;
  const auto send = [&](const std::string& text) {
    return text.empty() || sink.write(text.data(), text.size());
  };
  std::vector<std::string> lines;
  const auto state = reply.next(lines);
  if (state == HttpExchange::Body::waiting) {
    require_patience();
    return sink.is_writable();
  }
  std::string out;
  for (const std::string& line : lines) out += passed(r, line, reply.hear_line(line));
  if (!out.empty()) r.ended_whole = out == "\n" || out.ends_with("\n\n");
  if (!send(out)) return false;
  if (state == HttpExchange::Body::more) return true;
  // httplib 0.11 takes a chunked body that breaks off for a whole one: only the last event is the
  // end.
  if (state == HttpExchange::Body::broken || !reply.heard().finished) {
    metrics_.count("arrcoc_failures_total", label("code", "upstream_died"));
    send(last_words(r, broken_off()));
  } else {
    conclude(r);
  }
  r.over = true;
  sink.done();
  return true;
}

void Service::count_relayed(const Request& from, const std::string& body, Response& response) {
  Outgoing request{from.method, "/v1/chat/completions", {}, body, true};
  json given = parse_json(body, "the request", kDeepestRequest);
  if (!given.is_object() || !given.contains("messages"))
    throw ApiError(400, "invalid_request", "'messages' is missing");
  const auto r =
      begin_relay(from, *dialect_at("/v1/chat/completions"), std::move(request), std::move(given));
  if (!r->talk.pictures.empty()) prepare(*r);
  Usage usage;
  usage.text = r->talk.text_tokens();
  usage.kept = r->tokens();
  usage.native = r->native();
  usage.estimated = upstream_->family(r->talk.model).estimated || !r->all_read();
  ordered_json out = openai_chat().count(usage);
  out["text_estimated"] = true;
  response.set_content(dump(out), "application/json");
}

}  // namespace arrcoc::serving
