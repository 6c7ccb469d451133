#include "serve/schema.h"

#include "serve/api_error.h"
#include "serve/protocols/fields.h"

namespace arrcoc::serving {

const Message& ChatRequest::question() const {
  for (auto message = messages.rbegin(); message != messages.rend(); ++message)
    if (message->role == ChatRole::user) return *message;
  throw ApiError(400, "invalid_request", "'messages' has no message of the user");
}

std::vector<const std::string*> ChatRequest::pictures() const {
  std::vector<const std::string*> out;
  for (const Message& message : messages)
    for (const std::string& url : message.pictures) out.push_back(&url);
  return out;
}

Knobs ChatRequest::knobs(const std::string& budget_header) const {
  Knobs out{extension.budget, budget_header, max_pixels, {}};
  for (const Message& message : messages)
    out.pictures.insert(out.pictures.end(), message.knobs.begin(), message.knobs.end());
  return out;
}

RelevanceRequest parse_relevance(const json& request) {
  fields::require_object(request);
  return {fields::need_words(request, "image"), fields::need_words(request, "question"),
          fields::extension(request)};
}

FeedbackRequest parse_feedback(const json& request) {
  fields::require_object(request);
  FeedbackRequest out;
  out.id = fields::need_words(request, "id");
  try {
    out.rating = parse_enum<Rating>(fields::need_words(request, "rating"));
  } catch (const Error&) {
    // none
  }
  if (out.rating == Rating::none) fields::wrong("rating", "up or down");
  if (const auto comment = request.find("comment"); comment != request.end()) {
    out.comment = fields::words(*comment, "comment");
    if (out.comment.size() > 4096) fields::wrong("comment", "a string of at most 4096 bytes");
  }
  return out;
}

}  // namespace arrcoc::serving
