// The protocols, one file each; dialect.cpp says at which paths they are spoken.
#pragma once

#include <functional>

#include "serve/relay/dialect.h"

namespace arrcoc::serving {

const Dialect& relay_openai_chat();
const Dialect& relay_openai_responses();
const Dialect& relay_anthropic_messages();
const Dialect& relay_ollama_chat();
const Dialect& relay_ollama_generate();

// ---- For their files

// Null where the key is missing or the value of another kind.
const std::string* string_at(const json& object, const char* key);
const json* object_at(const json& object, const char* key);
const json* list_at(const json& object, const char* key);
bool flag_at(const json& object, const char* key);
// A larger number is no count: sums of these do not overflow.
inline constexpr int64_t kMostCounted = int64_t{1} << 40;
template <class T>
void read_at(const json& data, const char* pointer, T& target) {
  const json::json_pointer where(pointer);
  if (!data.contains(where)) return;
  const json& value = data[where];
  if constexpr (std::is_same_v<T, std::string>) {
    if (value.is_string()) target = value.get<std::string>();
  } else {
    if (!value.is_number_integer()) return;
    const auto number = value.get<int64_t>();
    if (number >= 0 && number <= kMostCounted) target = number;
  }
}
// More text of an answer, as far as it is kept for the example log.
void add_text(const std::string* text, Heard& heard);
Detail detail_of(const json& object);
void read_limits(const json& object, PictureLimits& limits);  // min_pixels, max_pixels
ChatRole role_of(const json& message);
void add_words(const std::string* text, RelayMessage& message);

// Message content as a string or a list of parts. Calls part(part, its place) for every part,
// also for those of parts that have content themselves (results of tools).
void each_part(const json& content, const json::json_pointer& place,
               const std::function<void(const json&, const json::json_pointer&)>& part);
// The list of messages under `key` of a request. contents: keys of a message that hold words or
// parts. part: reads one; `at` says where it is, and becomes a picture when it is added.
using ReadPart = std::function<void(const json& part, PicturePart at, RelayMessage& message)>;
void read_messages(const json& request, const char* key,
                   std::initializer_list<const char*> contents, ChatRole (*role)(const json&),
                   const ReadPart& part, Conversation& out);
// For protocols whose content is words or a list of parts.
void append_parts(const RelayMessage& message, const json& words, const std::vector<json>& parts,
                  std::vector<JsonEdit>& edits);
// Parts as the text of list elements: {...},{...}
std::string joined(const std::vector<json>& parts);

}  // namespace arrcoc::serving
