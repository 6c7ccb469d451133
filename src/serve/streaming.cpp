// Answers in pieces, as they come.
#include <algorithm>

#include "serve/api_error.h"
#include "serve/service.h"

namespace arrcoc::serving {

void Service::provide(Response& response, const std::string& type, Pump pump,
                      std::function<std::string(const ApiError&)> error) {
  response.set_header("X-Accel-Buffering", "no");
  response.set_chunked_content_provider(
      type,
      [this, pump = std::move(pump), error = std::move(error)](size_t, httplib::DataSink& sink) {
        try {
          return pump(sink);
        } catch (...) {  // nothing above would catch it
          const ApiError problem = api_error(std::current_exception());
          metrics_.count("arrcoc_failures_total", label("code", problem.code()));
          const std::string last = error(problem);
          sink.write(last.data(), last.size());
          sink.done();
          return true;
        }
      });
}

void Service::stream(std::shared_ptr<Asked> asked, Response& response) {
  const Protocol& protocol = *asked->protocol;
  const std::shared_ptr<Events> events = protocol.events(asked->request, asked->id);
  response.set_header("Cache-Control", "no-store");
  provide(
      response, protocol.stream_type(),
      [this, asked, events](httplib::DataSink& sink) {
        if (!stream_text(*asked, *events, sink)) return false;
        sink.done();
        return true;
      },
      [events](const ApiError& problem) { return events->error(problem); });
}

// The map, as soon as it is known.
std::string Service::first_look(const Asked& asked, Events& events) const {
  while (!asked.job->wait_looked(std::min(asked.deadline, Clock::now() + kSlice))) {
    if (Clock::now() >= asked.deadline) return "";
    require_patience();
  }
  const auto& look = asked.job->first_look();
  return look ? events.looked(report(asked, *look)) : "";
}

bool Service::stream_text(const Asked& asked, Events& events, httplib::DataSink& sink) {
  const ChatRequest& request = asked.request;
  const auto send = [&](const std::string& text) {
    return text.empty() || sink.write(text.data(), text.size());  // an empty chunk ends a stream
  };
  if (!send(events.start())) return false;
  if (asked.job->question().early && !send(first_look(asked, events))) return false;
  size_t sent = 0;
  const auto send_rest = [&](const std::string& text) {
    if (text.size() <= sent) return true;
    const std::string piece = text.substr(sent);
    sent = text.size();
    return send(events.text(piece));
  };
  const int limit = bundled() ? request.max_tokens : 0;  // other models count by themselves
  std::string text;
  while (wait_for(*asked.job, asked.deadline, text.size(), text) == AnswerStream::Progress::more) {
    bool cut = false;
    std::string found;
    const std::string shown = before_stop(first_characters(text, limit, cut), request.stop, found);
    if (!send_rest(found.empty() ? without_beginnings(shown, request.stop) : shown)) return false;
  }
  Answered answered = collect(asked);
  if (!send_rest(answered.text)) return false;
  account(asked, answered);
  return send(events.end(said(asked, answered)));
}

}  // namespace arrcoc::serving
