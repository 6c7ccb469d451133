// How clients speak: every protocol reads requests into one form and spells answers in its own.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrcoc/registry.h"
#include "serve/api_error.h"
#include "serve/replies.h"
#include "serve/schema.h"

namespace arrcoc::serving {

// What a reply is spelt from.
struct Said {
  std::string id, model, text;
  Finish finish = Finish::stop;
  std::string sequence;  // Finish::sequence: which one
  Usage usage;
  ordered_json extension;      // the `arrcoc` object
  double seconds = 0;          // from the request to here
  double looking_seconds = 0;  // of them, before the model read
  double reading_seconds = 0;  // and while it read and wrote
};

// The events of one stream, in the order of the calls; each returns the bytes to send.
class Events {
 public:
  virtual ~Events() = default;
  virtual std::string start() = 0;
  // Before any text, where maps were asked for: the `arrcoc` object as far as it is known. Only the
  // chat's chunks may have fields that a client does not know.
  virtual std::string looked(const ordered_json&) { return ""; }
  virtual std::string text(const std::string& piece) = 0;
  virtual std::string end(const Said& said) = 0;  // said.text: all of it
  virtual std::string error(const ApiError& problem) = 0;
};

// Without state; shared by threads.
class Protocol {
 public:
  virtual ~Protocol() = default;
  // ApiError{400} that names the field. counted: only the cost is asked for.
  virtual ChatRequest parse(const json& request, bool counted) const = 0;
  virtual const char* id_prefix() const = 0;
  virtual ordered_json whole(const ChatRequest& request, const Said& said) const = 0;
  // request must outlive the events.
  virtual std::unique_ptr<Events> events(const ChatRequest& request,
                                         const std::string& id) const = 0;
  virtual const char* stream_type() const { return "text/event-stream"; }
  virtual ordered_json count(const Usage& usage) const;
  virtual std::string error(const ApiError& problem) const { return problem.body(); }
  // The name by which clients may call a model besides its own; "": none.
  virtual std::string alias(const std::string&) const { return ""; }
};

const Protocol& openai_chat();
const Protocol& openai_responses();
const Protocol& anthropic_messages();
const Protocol& ollama_chat();
const Protocol& ollama_generate();

// Where which protocol is spoken: POST.
struct Endpoint {
  const char* path;
  const Protocol& protocol;
  bool counts = false;  // says what a request would cost
};
const std::vector<Endpoint>& endpoints();
// The protocol of anything at that path, for its errors: OpenAI's where no other is known.
const Protocol& spoken_at(const std::string& path);

// An event with a name: event: NAME\ndata: ...\n\n
std::string named_event(const std::string& name, const ordered_json& data);

}  // namespace arrcoc::serving
