#include "serve/schema.h"

#include "serve/api_error.h"

namespace arrcoc::serving {

namespace {

constexpr size_t kMaxMessages = 256;
constexpr int kMaxPasses = 4;
constexpr int kMaxTokens = 65536;

[[noreturn]] void wrong(const std::string& field, const std::string& wanted) {
  throw ApiError(400, "invalid_request", "'" + field + "' must be " + wanted);
}

// Null where the key is missing or null.
const json* find(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

const json& need(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end())
    throw ApiError(400, "invalid_request", std::string("'") + key + "' is missing");
  return *found;
}

std::string words(const json& value, const char* field) {
  if (!value.is_string()) wrong(field, "a string");
  return value.get<std::string>();
}

std::string need_words(const json& object, const char* key) {
  return words(need(object, key), key);
}

void require_object(const json& request) {
  if (!request.is_object())
    throw ApiError(400, "invalid_request", "the request must be a JSON object");
}

bool flag(const json& object, const char* key) {
  const json* value = find(object, key);
  if (value && !value->is_boolean()) wrong(key, "true or false");
  return value && value->get<bool>();
}

int whole(const json& value, const std::string& field, int low, int high) {
  if (!value.is_number_integer() || value.get<double>() < low || value.get<double>() > high)
    wrong(field, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  return value.get<int>();
}

std::optional<double> number(const json& object, const char* key, double low, double high) {
  const json* value = find(object, key);
  if (!value) return std::nullopt;
  if (!value->is_number() || !(value->get<double>() >= low && value->get<double>() <= high))
    wrong(key, "a number from " + json(low).dump() + " to " + json(high).dump());
  return value->get<double>();
}

void add_part(const json& part, Message& message) {
  if (!part.is_object()) wrong("content", "a string or a list of parts");
  const std::string type = need_words(part, "type");
  if (type == "text") {
    if (!message.text.empty()) message.text += "\n";
    message.text += need_words(part, "text");
  } else if (type == "image_url") {
    const json& image = need(part, "image_url");
    if (!image.is_object()) wrong("image_url", "an object with a 'url'");
    message.pictures.push_back(need_words(image, "url"));
  } else {
    throw ApiError(400, "unsupported",
                   "content parts of type '" + type.substr(0, 40) +
                       "' are not supported, only text and image_url");
  }
}

Message parse_message(const json& given) {
  if (!given.is_object()) wrong("messages", "a list of objects");
  Message out;
  try {
    out.role = parse_enum<ChatRole>(need_words(given, "role"));
  } catch (const Error&) {
    wrong("role", "system, developer, user, assistant or tool");
  }
  const json* content = find(given, "content");
  if (!content) {
    if (out.role == ChatRole::user) throw ApiError(400, "invalid_request", "'content' is missing");
  } else if (content->is_string()) {
    out.text = content->get<std::string>();
  } else if (content->is_array()) {
    for (const json& part : *content) add_part(part, out);
  } else {
    wrong("content", "a string or a list of parts");
  }
  return out;
}

}  // namespace

Extension parse_extension(const json& request) {
  Extension out;
  const json* given = find(request, "arrcoc");
  if (!given) return out;
  if (!given->is_object()) wrong("arrcoc", "an object");
  for (const auto& [key, value] : given->items()) {
    if (key == "budget") {
      out.budget = value.is_string() ? value.get<std::string>()
                                     : std::to_string(whole(value, "arrcoc.budget", 1, kMaxTokens));
    } else if (key == "policy") {
      out.policy = words(value, "arrcoc.policy");
    } else if (key == "passes") {
      out.passes = whole(value, "arrcoc.passes", 1, kMaxPasses);
    } else if (key == "total_budget") {
      out.total_budget = whole(value, "arrcoc.total_budget", 1, kMaxTokens);
    } else if (key == "map") {
      out.map = flag(*given, "map");
    } else {
      throw ApiError(400, "invalid_request", "unknown key 'arrcoc." + key.substr(0, 40) + "'");
    }
  }
  return out;
}

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

ChatRequest parse_chat(const json& request) {
  require_object(request);
  ChatRequest out;
  if (const json* model = find(request, "model")) {
    out.model = words(*model, "model");
    if (out.model.size() > 256) wrong("model", "a name of at most 256 bytes");
  }
  const json& messages = need(request, "messages");
  if (!messages.is_array() || messages.empty() || messages.size() > kMaxMessages)
    wrong("messages", "a list of 1 to " + std::to_string(kMaxMessages) + " messages");
  for (const json& message : messages) out.messages.push_back(parse_message(message));
  out.stream = flag(request, "stream");
  if (const json* options = find(request, "stream_options")) {
    if (!options->is_object()) wrong("stream_options", "an object");
    out.include_usage = flag(*options, "include_usage");
  }
  for (const char* key : {"max_tokens", "max_completion_tokens"})
    if (const json* limit = find(request, key)) out.max_tokens = whole(*limit, key, 1, 1 << 30);
  out.temperature = number(request, "temperature", 0, 2);
  out.top_p = number(request, "top_p", 0, 1);
  if (const json* seed = find(request, "seed")) {
    if (!seed->is_number_integer()) wrong("seed", "a whole number");
    out.seed = seed->get<int64_t>();
  }
  if (const json* n = find(request, "n"); n && *n != 1) wrong("n", "1");
  out.extension = parse_extension(request);
  return out;
}

RelevanceRequest parse_relevance(const json& request) {
  require_object(request);
  return {need_words(request, "image"), need_words(request, "question"), parse_extension(request)};
}

FeedbackRequest parse_feedback(const json& request) {
  require_object(request);
  FeedbackRequest out;
  out.id = need_words(request, "id");
  try {
    out.rating = parse_enum<Rating>(need_words(request, "rating"));
  } catch (const Error&) {
    // none
  }
  if (out.rating == Rating::none) wrong("rating", "up or down");
  if (const auto comment = request.find("comment"); comment != request.end()) {
    out.comment = words(*comment, "comment");
    if (out.comment.size() > 4096) wrong("comment", "a string of at most 4096 bytes");
  }
  return out;
}

}  // namespace arrcoc::serving
