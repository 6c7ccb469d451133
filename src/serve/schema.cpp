#include "serve/schema.h"

#include "serve/api_error.h"

namespace arrcoc::serving {

namespace {

constexpr size_t kMaxTurns = 256;
constexpr int kMaxPasses = 4;
constexpr int kMaxBudget = 65536;

[[noreturn]] void wrong(const std::string& field, const std::string& wanted) {
  throw ApiError(400, "invalid_request", "'" + field + "' must be " + wanted);
}

const json& need(const json& object, const char* key, const char* wanted) {
  const auto found = object.find(key);
  if (found == object.end())
    throw ApiError(400, "invalid_request", std::string("'") + key + "' is missing");
  if (wanted[0] == 's' && !found->is_string()) wrong(key, "a string");
  return *found;
}

void require_object(const json& request) {
  if (!request.is_object())
    throw ApiError(400, "invalid_request", "the request must be a JSON object");
}

bool flag(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return false;
  if (!found->is_boolean()) wrong(key, "true or false");
  return found->get<bool>();
}

int whole(const json& value, const std::string& field, int low, int high) {
  if (!value.is_number_integer() || value.get<double>() < low || value.get<double>() > high)
    wrong(field, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  return value.get<int>();
}

std::optional<double> number(const json& object, const char* key, double low, double high) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nullopt;
  if (!found->is_number() || !(found->get<double>() >= low && found->get<double>() <= high))
    wrong(key, "a number from " + json(low).dump() + " to " + json(high).dump());
  return found->get<double>();
}

void add_part(const json& part, Turn& turn) {
  if (!part.is_object()) wrong("content", "a string or a list of parts");
  const std::string type = need(part, "type", "string").get<std::string>();
  if (type == "text") {
    if (!turn.text.empty()) turn.text += "\n";
    turn.text += need(part, "text", "string").get<std::string>();
  } else if (type == "image_url") {
    const json& image = need(part, "image_url", "object");
    if (!image.is_object()) wrong("image_url", "an object with a 'url'");
    turn.pictures.push_back(need(image, "url", "string").get<std::string>());
  } else {
    throw ApiError(400, "unsupported",
                   "content parts of type '" + type.substr(0, 40) +
                       "' are not supported, only text and image_url");
  }
}

Turn parse_turn(const json& message) {
  if (!message.is_object()) wrong("messages", "a list of objects");
  Turn turn;
  turn.role = need(message, "role", "string").get<std::string>();
  bool known = false;
  for (const char* role : {"system", "developer", "user", "assistant", "tool", "function"})
    known = known || turn.role == role;
  if (!known) wrong("role", "system, developer, user, assistant or tool");
  const auto content = message.find("content");
  if (content == message.end() || content->is_null()) {
    if (turn.role == "user") throw ApiError(400, "invalid_request", "'content' is missing");
  } else if (content->is_string()) {
    turn.text = content->get<std::string>();
  } else if (content->is_array()) {
    for (const json& part : *content) add_part(part, turn);
  } else {
    wrong("content", "a string or a list of parts");
  }
  return turn;
}

}  // namespace

Extension parse_extension(const json& request) {
  Extension out;
  const auto found = request.find("arrcoc");
  if (found == request.end() || found->is_null()) return out;
  if (!found->is_object()) wrong("arrcoc", "an object");
  for (const auto& [key, value] : found->items()) {
    if (key == "budget") {
      if (value.is_string()) {
        out.budget = value.get<std::string>();
      } else {
        out.budget = std::to_string(whole(value, "arrcoc.budget", 1, kMaxBudget));
      }
    } else if (key == "policy") {
      if (!value.is_string()) wrong("arrcoc.policy", "a string");
      out.policy = value.get<std::string>();
    } else if (key == "passes") {
      out.passes = whole(value, "arrcoc.passes", 1, kMaxPasses);
    } else if (key == "map") {
      out.map = flag(*found, "map");
    } else {
      throw ApiError(400, "invalid_request", "unknown key 'arrcoc." + key.substr(0, 40) + "'");
    }
  }
  return out;
}

const Turn& ChatRequest::question() const {
  for (auto turn = turns.rbegin(); turn != turns.rend(); ++turn)
    if (turn->role == "user") return *turn;
  throw ApiError(400, "invalid_request", "'messages' has no message of the user");
}

std::vector<const std::string*> ChatRequest::pictures() const {
  std::vector<const std::string*> out;
  for (const Turn& turn : turns)
    for (const std::string& url : turn.pictures) out.push_back(&url);
  return out;
}

ChatRequest parse_chat(const json& request) {
  require_object(request);
  ChatRequest out;
  if (const auto model = request.find("model"); model != request.end() && !model->is_null()) {
    if (!model->is_string()) wrong("model", "a string");
    out.model = model->get<std::string>();
    if (out.model.size() > 256) wrong("model", "a name of at most 256 bytes");
  }
  const json& messages = need(request, "messages", "list");
  if (!messages.is_array() || messages.empty() || messages.size() > kMaxTurns)
    wrong("messages", "a list of 1 to " + std::to_string(kMaxTurns) + " messages");
  for (const json& message : messages) out.turns.push_back(parse_turn(message));
  out.stream = flag(request, "stream");
  if (const auto options = request.find("stream_options");
      options != request.end() && !options->is_null()) {
    if (!options->is_object()) wrong("stream_options", "an object");
    out.include_usage = flag(*options, "include_usage");
  }
  for (const char* key : {"max_tokens", "max_completion_tokens"})
    if (const auto limit = request.find(key); limit != request.end() && !limit->is_null())
      out.max_tokens = whole(*limit, key, 1, 1 << 30);
  out.temperature = number(request, "temperature", 0, 2);
  out.top_p = number(request, "top_p", 0, 1);
  if (const auto seed = request.find("seed"); seed != request.end() && !seed->is_null()) {
    if (!seed->is_number_integer()) wrong("seed", "a whole number");
    out.seed = seed->get<int64_t>();
  }
  if (const auto n = request.find("n"); n != request.end() && !n->is_null() && *n != 1)
    wrong("n", "1");
  out.extension = parse_extension(request);
  return out;
}

RelevanceRequest parse_relevance(const json& request) {
  require_object(request);
  RelevanceRequest out;
  out.image = need(request, "image", "string").get<std::string>();
  out.question = need(request, "question", "string").get<std::string>();
  out.extension = parse_extension(request);
  return out;
}

FeedbackRequest parse_feedback(const json& request) {
  require_object(request);
  FeedbackRequest out;
  out.id = need(request, "id", "string").get<std::string>();
  out.rating = need(request, "rating", "string").get<std::string>();
  if (out.rating != "up" && out.rating != "down") wrong("rating", "up or down");
  if (const auto comment = request.find("comment"); comment != request.end()) {
    if (!comment->is_string() || comment->get_ref<const std::string&>().size() > 4096)
      wrong("comment", "a string of at most 4096 bytes");
    out.comment = comment->get<std::string>();
  }
  return out;
}

}  // namespace arrcoc::serving
