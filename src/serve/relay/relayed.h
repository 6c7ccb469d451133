// A request of a client on its way to the upstream and back.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "serve/relay/dialect.h"
#include "serve/relay/view_memory.h"
#include "serve/service.h"

namespace arrcoc::serving {

// Pictures that are looked at together: they are counted alike.
struct Service::Looked {
  std::vector<size_t> pictures;                   // their numbers in the conversation
  std::shared_ptr<const UpstreamModel> model;     // counts views
  std::shared_ptr<const UpstreamModel> original;  // counts pictures as they came
  Ticket job;
  bool again = false;  // pictures of earlier turns, for a new question
  bool open = true;    // the road waits for a reply
};

// One look of several: what was sent and what came back, to its end.
struct Service::HeardLook {
  std::unique_ptr<UpstreamReply> reply;
  std::vector<std::shared_ptr<SentMessage>> messages;
  json data;                                                       // of a whole reply
  std::vector<std::pair<std::string, std::optional<json>>> lines;  // of a stream
};

std::string type_of(const HttpExchange& exchange);
// Pictures that were looked at apart are reported together.
void join(Answer one, Answer& all);

struct Service::Relayed {
  const Dialect* dialect = nullptr;
  Outgoing request;  // as it came
  json given;        // its body, read
  Conversation talk;
  Extension extension;
  std::string budget;                                  // that the request asks for
  std::vector<std::string> digests;                    // of the conversation up to each message
  std::vector<std::shared_ptr<SentMessage>> messages;  // null: nothing of ours in it
  std::vector<bool> remembered;                        // as an earlier turn sent it
  std::vector<bool> left_out;                          // pictures over the cap for old ones
  std::vector<Looked> looks;
  std::vector<std::string> notes;
  Asked asked;  // the newest question, for metrics and the example log

  bool probabilities = false;    // are asked for besides
  std::vector<HeardLook> heard;  // where it may look again
  Usage usage;                   // of the pictures, all looks together
  bool reported = false;         // by the upstream

  std::unique_ptr<UpstreamReply> reply;
  Clock::time_point sent = Clock::now();
  std::optional<Answered> answered;  // once the road has heard the reply
  bool ended_whole = true;           // what was passed on ends with a whole event
  bool over = false;                 // all of it was passed on

  SentPicture& sent_picture(size_t number);
  const SentPicture& sent_picture(size_t number) const;
  int64_t tokens_of(size_t number) const;  // of all its views, in every message
  int64_t tokens() const;                  // of all pictures
  int64_t native() const;
  bool all_read() const;  // every picture's cost is known
};

}  // namespace arrcoc::serving
