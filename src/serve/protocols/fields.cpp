#include "serve/protocols/fields.h"

#include <algorithm>

#include "serve/api_error.h"

namespace arrcoc::serving::fields {

namespace {

constexpr size_t kMaxMessages = 256;
constexpr size_t kMaxStops = 16, kMaxStop = 256;
constexpr int kMaxPasses = 4;
constexpr int kMaxTokens = 65536;
constexpr int kMaxPixels = 1 << 30;

// 0 where it is not given. min_pixels is for servers that enlarge; here the question decides.
int64_t max_pixels(const json& object) {
  if (const json* least = find(object, "min_pixels")) whole(*least, "min_pixels", 0, kMaxPixels);
  const json* most = find(object, "max_pixels");
  return most ? whole(*most, "max_pixels", 1, kMaxPixels) : 0;
}

}  // namespace

void wrong(const std::string& field, const std::string& wanted) {
  throw ApiError(400, "invalid_request", "'" + field + "' must be " + wanted);
}

void unsupported(const std::string& message) { throw ApiError(400, "unsupported", message); }

void require_object(const json& request) {
  if (!request.is_object())
    throw ApiError(400, "invalid_request", "the request must be a JSON object");
}

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

Extension extension(const json& request) {
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

void add_model(const json& request, ChatRequest& to) {
  if (const json* model = find(request, "model")) {
    to.model = words(*model, "model");
    if (to.model.size() > 256) wrong("model", "a name of at most 256 bytes");
  }
  to.stream = flag(request, "stream");
  if (const json* processor = find(request, "mm_processor_kwargs")) {
    if (!processor->is_object()) wrong("mm_processor_kwargs", "an object");
    to.max_pixels = max_pixels(*processor);
  }
  to.extension = extension(request);
}

void add_sampling(const json& object, ChatRequest& to) {
  to.temperature = number(object, "temperature", 0, 2);
  to.top_p = number(object, "top_p", 0, 1);
  if (const json* seed = find(object, "seed")) {
    if (!seed->is_number_integer()) wrong("seed", "a whole number");
    to.seed = seed->get<int64_t>();
  }
}

void add_stop(const json& object, const char* key, ChatRequest& to) {
  const json* given = find(object, key);
  if (!given) return;
  const json list = given->is_string() ? json::array({*given}) : *given;
  const auto good = [](const json& one) {
    return one.is_string() && !one.get_ref<const std::string&>().empty() &&
           one.get_ref<const std::string&>().size() <= kMaxStop;
  };
  if (!list.is_array() || list.size() > kMaxStops || !std::all_of(list.begin(), list.end(), good))
    wrong(key, "at most " + std::to_string(kMaxStops) + " strings of 1 to " +
                   std::to_string(kMaxStop) + " bytes");
  to.stop = list.get<std::vector<std::string>>();
}

const json& messages(const json& request, const char* key) {
  const json& list = need(request, key);
  if (!list.is_array() || list.empty() || list.size() > kMaxMessages)
    wrong(key, "a list of 1 to " + std::to_string(kMaxMessages) + " messages");
  for (const json& message : list)
    if (!message.is_object()) wrong(key, "a list of objects");
  return list;
}

ChatRole role(const json& message, std::initializer_list<ChatRole> known) {
  const std::string name = need_words(message, "role");
  std::string names;
  for (const auto& [one, spelt] : EnumNames<ChatRole>::kNames) {
    if (std::find(known.begin(), known.end(), one) == known.end()) continue;
    if (name == spelt) return one;
    names += (names.empty() ? "" : ", ") + std::string(spelt);
  }
  wrong("role", "one of " + names);
}

void add_text(const std::string& text, Message& to) {
  if (!to.text.empty()) to.text += "\n";
  to.text += text;
}

void add_picture(std::string url, std::initializer_list<const json*> knobs, Message& to) {
  Knobs::Picture picture;
  for (const json* object : knobs) {
    if (const json* detail = find(*object, "detail")) {
      try {
        picture.detail = parse_enum<Detail>(words(*detail, "detail"));
      } catch (const Error&) {
        wrong("detail", "low, high or auto");
      }
    }
    if (const int64_t most = max_pixels(*object); most > 0) picture.max_pixels = most;
  }
  to.pictures.push_back(std::move(url));
  to.knobs.push_back(picture);
}

void add_base64(const std::string& data, const std::string& type, Message& to) {
  add_picture("data:" + type + ";base64," + data, {}, to);
}

void refuse_part(const std::string& type, const char* known) {
  const bool film = type.find("video") != std::string::npos;
  unsupported("content parts of type '" + type.substr(0, 40) + "' are not supported" +
              (film ? ": films are answered at /v1/chat/completions, as video_url"
                    : ", only " + std::string(known)));
}

}  // namespace arrcoc::serving::fields
