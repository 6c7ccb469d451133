// What the readers of published sets share.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/measure/lines.h"
#include "lab/measure/sets.h"

namespace arrcoc::measuring::sets {

inline constexpr const char* kBriefly = "\nAnswer the question using a single word or phrase.";

// A whole file. Error{not_found}; Error{bad_json} with file and line.
nlohmann::json whole(const std::string& file);
// Calls take for every object of a list; `key` names the list in the message, "" the file itself.
void each_entry(const std::string& file, const nlohmann::json& list, const std::string& key,
                const std::function<void(const Line&)>& take);
// The list under a key of a file's object. Error{bad_json} where there is none.
const nlohmann::json& list_in(const std::string& file, const nlohmann::json& all, const char* key);
// A name that may be a number.
std::string name_in(const Line& line, const char* key);
// A word, "" where it is none: fields that only group questions.
std::string word_in(const Line& line, const char* key);
// The answer that most people gave, the first of several.
std::string most_common(const std::vector<std::string>& answers);

}  // namespace arrcoc::measuring::sets
