// How the protocols that pass through the proxy spell pictures, words and token counts. Everything
// here is lenient: what it does not know stays where it is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/api_error.h"
#include "serve/relay/json_text.h"
#include "serve/schema.h"

namespace arrcoc::serving {

// One picture of a request. Views point into the parsed request.
struct PicturePart {
  size_t message = 0;
  size_t within = 0;           // which of that message's pictures
  json::json_pointer place;    // of the list element that holds it
  const json* part = nullptr;  // that element
  std::string_view data;       // a URL, or base64 alone
  bool base64 = false;         // the latter
  Detail detail = Detail::automatic;
  PictureLimits limits;  // min_pixels, max_pixels of the part
};

struct RelayMessage {
  ChatRole role = ChatRole::user;
  json::json_pointer place;
  const json* message = nullptr;
  std::string text;  // its words, one part a line
};

struct Conversation {
  std::string model;
  std::vector<RelayMessage> messages;
  std::vector<PicturePart> pictures;
  PictureLimits limits;  // of the whole request (mm_processor_kwargs)
  bool stream = false, include_usage = false;

  // The first message after the last one of the assistant that somebody answered.
  size_t newest = 0;
  void settle();  // sets `newest`, and `within` of pictures
  // Words of the newest message of the user; "" when there are none.
  const std::string& question() const;
  int64_t text_tokens() const;  // about
};

// What a reply says, heard piece by piece.
struct Heard {
  std::string text;
  bool cut = false;       // by a limit of tokens
  bool finished = false;  // a stream has come to its end
  int64_t prompt_tokens = 0, completion_tokens = 0;
  int64_t cached_tokens = 0;              // of the prompt, where prompt_tokens leaves them out
  std::optional<int64_t> picture_tokens;  // where the upstream reports them
  std::vector<float> probabilities;       // of the answer's tokens, where it reports them
};

class Dialect {
 public:
  virtual ~Dialect() = default;
  virtual Conversation read(const json& request) const = 0;
  // The same part with another picture.
  virtual json view(const json& part, const std::string& png_base64) const = 0;
  // Words among pictures; null where pictures stand apart from the words.
  virtual json words(const std::string& text) const = 0;
  // Puts parts at the end of a message. like: any picture part of this conversation.
  virtual void append(const RelayMessage& message, const std::vector<json>& parts,
                      std::vector<JsonEdit>& edits) const = 0;

  // What one line of a stream carries; empty: no data.
  virtual std::string_view payload(std::string_view line) const;
  // A whole reply, or the data of one event.
  virtual void hear(const json& data, Heard& heard) const = 0;
  // What makes the upstream report the probabilities of its tokens; none where it cannot, and where
  // the request says itself whether it wants them.
  virtual std::optional<JsonEdit> wish_probabilities(const json&) const { return std::nullopt; }
  // Takes them out of a reply, or of the data of one event; true where there were any.
  virtual bool drop_probabilities(json&) const { return false; }
  // Our part of the reply goes into this object; null: not into this event.
  virtual json* extended(json& data, bool stream, bool include_usage) const = 0;
  // The lines of an event that says what went wrong.
  virtual std::string error_event(const ApiError& error) const;
};

// Null where no pictures are known at this path. Paths are the client's ("/v1/messages").
const Dialect* dialect_at(const std::string& path);

// Requests there ask what others would cost.
bool only_counts(const std::string& path);

// False when no picture can be in it, and no file: URL: such a body need not be read.
bool may_hold_pictures(std::string_view body);

// A file: URL, however it is spelled: servers ignore case, blanks and control characters.
bool is_file_url(std::string_view value);
// The text has one somewhere, JSON's escapes resolved.
bool spells_file(std::string_view text);
// The first file: URL in a place where servers fetch from; "" when there is none. except: values
// that are not sent on.
std::string file_url_in(const json& request, const std::vector<PicturePart>& except = {});

// A message as digests see it: without what clients move from turn to turn (cache_control).
std::string canonical(const json& message);

}  // namespace arrcoc::serving
