// Requests as the OpenAI protocol spells them, and our extension object.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrcoc/registry.h"
#include "arrcoc/serve.h"
#include "base/json.h"

namespace arrcoc::serving {

// The `arrcoc` object of a request; unknown keys are refused.
struct Extension {
  std::string budget, policy;  // "" when not given
  int passes = 0;              // 0: as the policy has it
  int total_budget = 0;        // tokens of all passes together; 0: no limit
  bool map = false;
};

// Of a whole request; ApiError{400} that names the key.
Extension parse_extension(const json& request);

enum class ChatRole { system, user, assistant, tool };

struct Message {
  ChatRole role = ChatRole::user;
  std::string text;                   // text parts, one a line
  std::vector<std::string> pictures;  // their URLs
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
  Extension extension;
  const Message& question() const;                   // the last of the user
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
