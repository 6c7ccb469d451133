// Requests in one form, whatever protocol they came in (protocols/), and our extension object.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrcoc/registry.h"
#include "arrcoc/serve.h"
#include "base/json.h"
#include "serve/knobs.h"

namespace arrcoc::serving {

// The `arrcoc` object of a request; unknown keys are refused.
struct Extension {
  std::string budget, policy;  // "" when not given
  int passes = 0;              // 0: as the policy has it
  int total_budget = 0;        // tokens of all passes together; 0: no limit
  bool map = false;
};

enum class ChatRole { system, user, assistant, tool };

struct Message {
  ChatRole role = ChatRole::user;
  std::string text;                   // text parts, one a line
  std::vector<std::string> pictures;  // their URLs
  std::vector<Knobs::Picture> knobs;  // of each picture
};

struct ChatRequest {
  std::string model;
  std::vector<Message> messages;
  bool stream = false;
  bool include_usage = false;
  int max_tokens = 0;  // 0: no limit given
  // A Hugging Face model samples by these; the bundled one always writes what is likeliest.
  std::optional<double> temperature, top_p;
  std::optional<int64_t> seed;
  std::vector<std::string> stop;  // the answer ends before any of these
  std::string instructions;       // OpenAI Responses: also the first message
  int64_t max_pixels = 0;         // of every picture; 0: not given
  Extension extension;
  const Message& question() const;                   // the last of the user
  std::vector<const std::string*> pictures() const;  // of the whole conversation
  Knobs knobs(const std::string& budget_header) const;
};
// OpenAI's chat completions. ApiError{400} that names the field.
ChatRequest parse_chat(const json& request);

struct RelevanceRequest {
  std::string image, question;
  Extension extension;
};
RelevanceRequest parse_relevance(const json& request);

struct FeedbackRequest {
  std::string id;
  Rating rating = Rating::none;
  std::string comment;
};
FeedbackRequest parse_feedback(const json& request);

}  // namespace arrcoc::serving

template <>
struct arrcoc::EnumNames<arrcoc::serving::ChatRole> {
  using Role = arrcoc::serving::ChatRole;
  static constexpr const char* kWhat = "role";
  static constexpr std::pair<Role, const char*> kNames[] = {
      {Role::system, "system"},       {Role::system, "developer"}, {Role::user, "user"},
      {Role::assistant, "assistant"}, {Role::tool, "tool"},        {Role::tool, "function"}};
};
