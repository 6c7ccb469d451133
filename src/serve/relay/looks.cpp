// Looking again with an upstream: several requests, each heard to its end; the client gets the
// reply that the road believes most.
#include <algorithm>

#include "arrcoc/error.h"
#include "serve/api_error.h"
#include "serve/relay/relayed.h"

namespace arrcoc::serving {

bool Service::looks_again(const Relayed& r) {
  return std::any_of(r.looks.begin(), r.looks.end(), [](const Looked& looked) {
    return looked.job->question().options.passes.passes > 1;
  });
}

// All of a reply; false where it is none that could be judged.
bool Service::hear_look(Relayed& r) {
  send(r);
  if (r.reply->status() != 200) return false;
  HeardLook look;
  const auto patience = [this] { require_patience(); };
  if (r.talk.stream && r.reply->streams()) {
    std::vector<std::string> lines;
    auto state = HttpExchange::Body::waiting;
    while (state == HttpExchange::Body::waiting || state == HttpExchange::Body::more) {
      lines.clear();
      state = r.reply->next(lines);
      for (const std::string& line : lines) look.lines.emplace_back(line, r.reply->hear_line(line));
      if (state == HttpExchange::Body::waiting) patience();
    }
    if (state == HttpExchange::Body::broken || !r.reply->heard().finished) throw broken_off();
  } else {
    look.data = r.reply->object(patience);
  }
  hear_reply(r);
  look.messages = r.messages;
  look.reply = std::move(r.reply);
  r.heard.push_back(std::move(look));
  return true;
}

// New views for the next look; false when there is none.
bool Service::look_further(Relayed& r) {
  // A reply without words calls tools: there is nothing to be unsure of.
  const std::string& text = r.heard.back().reply->heard().text;
  const bool over =
      text.find_first_not_of(" \t\r\n") == std::string::npos || Clock::now() >= r.asked.deadline;
  bool more = false;
  for (Looked& looked : r.looks) {
    Asking& asking = looked.job->asking();
    if (over) asking.stop();
    const std::vector<Reading> readings = asking.next();
    if (readings.empty()) continue;
    if (!more)  // what was sent is kept for those who answer from it
      for (auto& message : r.messages)
        if (message) message = std::make_shared<SentMessage>(*message);
    more = looked.open = true;
    take_new(r, looked, readings.front());
  }
  return more;
}

// The reply of the best look, and what was sent for it.
void Service::choose_look(Relayed& r) {
  size_t best = 0, most = 0;
  for (const Looked& looked : r.looks) {
    const Answer answer = looked.job->asking().finish();
    if (answer.from().passes.size() <= most) continue;
    most = answer.from().passes.size();
    best = answer.from().best;
  }
  HeardLook& look = r.heard[std::min(best, r.heard.size() - 1)];
  r.reply = std::move(look.reply);
  r.messages = look.messages;
  std::swap(look, r.heard.front());
}

void Service::forward_looks(Relayed& r, Response& response) {
  const std::string first = r.talk.stream ? first_look(r) : "";
  r.probabilities = r.dialect->wish_probabilities(r.given).has_value();
  std::string problem;
  try {
    while (hear_look(r) && look_further(r)) continue;
    if (r.reply && !r.heard.empty()) problem = "status " + std::to_string(r.reply->status());
  } catch (const ApiError& error) {  // an earlier look has an answer
    if (r.heard.empty() || error.status() == 499 || error.status() == 503) throw;
    problem = error.what();
  }
  if (r.heard.empty()) {  // refused: its own words are passed on
    begin_reply(r, response);
    const std::string body = r.reply->whole([this] { require_patience(); });
    return response.set_content(body, type_of(r.reply->exchange()));
  }
  if (!problem.empty()) {
    r.notes.push_back("a further look failed (" + problem + "): an earlier one answers");
    for (Looked& looked : r.looks) looked.job->asking().stop();
  }
  choose_look(r);
  remember(r);
  HeardLook& best = r.heard.front();
  std::string body = first;
  if (best.lines.empty()) {
    if (r.probabilities) r.dialect->drop_probabilities(best.data);
    if (json* place = r.dialect->extended(best.data, false, false)) extend(r, *place);
    body = best.data.dump(-1, ' ', false, json::error_handler_t::replace);
  } else {
    for (auto& [line, data] : best.lines) body += passed(r, line, std::move(data));
  }
  conclude(r);
  begin_reply(r, response);
  response.set_content(body,
                       best.lines.empty() ? "application/json" : type_of(r.reply->exchange()));
}

}  // namespace arrcoc::serving
