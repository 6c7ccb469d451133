// Fields of a request, whatever protocol it is in. Mistakes are ApiError{400} that name the field.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>

#include "base/json.h"
#include "serve/schema.h"

namespace arrcoc::serving::fields {

[[noreturn]] void wrong(const std::string& field, const std::string& wanted);
[[noreturn]] void unsupported(const std::string& message);

void require_object(const json& request);
const json* find(const json& object, const char* key);  // null where it is missing or null
const json& need(const json& object, const char* key);
std::string words(const json& value, const char* field);
std::string need_words(const json& object, const char* key);
bool flag(const json& object, const char* key);
int whole(const json& value, const std::string& field, int low, int high);
std::optional<double> number(const json& object, const char* key, double low, double high);

// ---- What all protocols have, into a ChatRequest

Extension extension(const json& request);                // the `arrcoc` object
void add_model(const json& request, ChatRequest& to);    // model, stream, arrcoc, max_pixels
void add_sampling(const json& object, ChatRequest& to);  // temperature, top_p, seed
void add_stop(const json& object, const char* key, ChatRequest& to);
// The key's list of 1 to 256 messages.
const json& messages(const json& request, const char* key);
ChatRole role(const json& message, std::initializer_list<ChatRole> known);
void add_text(const std::string& text, Message& to);
// knobs: objects that may hold detail and max_pixels of this picture.
void add_picture(std::string url, std::initializer_list<const json*> knobs, Message& to);
// Base64 without a URL around it.
void add_base64(const std::string& data, const std::string& type, Message& to);
// A part that no protocol here reads; never returns.
[[noreturn]] void refuse_part(const std::string& type, const char* known);

}  // namespace arrcoc::serving::fields
