// Requests as the OpenAI protocol spells them, and our extension object.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "serve/json.h"

namespace arrcoc::serving {

// The `arrcoc` object of a request; unknown keys are refused.
struct Extension {
  std::string budget;  // "" when not given
  std::string policy;
  int passes = 1;
  bool map = false;
};
Extension parse_extension(const json& request);

struct Turn {
  std::string role;
  std::string text;                   // text parts, one a line
  std::vector<std::string> pictures;  // their URLs
};

struct ChatRequest {
  std::string model;
  std::vector<Turn> turns;
  bool stream = false;
  bool include_usage = false;
  int max_tokens = 0;  // 0: no limit given
  // A Hugging Face model samples by these; the bundled one always writes what is likeliest.
  std::optional<double> temperature, top_p;
  std::optional<int64_t> seed;
  Extension extension;
  const Turn& question() const;                      // the last user turn
  std::vector<const std::string*> pictures() const;  // of the whole conversation
};
// ApiError{400} that names the field.
ChatRequest parse_chat(const json& request);

struct RelevanceRequest {
  std::string image, question;
  Extension extension;
};
RelevanceRequest parse_relevance(const json& request);

struct FeedbackRequest {
  std::string id, rating, comment;
};
FeedbackRequest parse_feedback(const json& request);

}  // namespace arrcoc::serving
