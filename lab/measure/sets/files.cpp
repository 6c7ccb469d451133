#include "lab/measure/sets/files.h"

#include <algorithm>
#include <filesystem>

#include "arrcoc/error.h"
#include "base/join.h"
#include "base/json.h"

namespace arrcoc::measuring {

namespace fs = std::filesystem;

namespace {

constexpr const char* kLetters = "abcdefghijklmnopqrstuvwxyz0123456789-";

// Where the next ",KEY=" begins; npos: nowhere.
size_t next_part(const std::string& text, size_t from) {
  for (size_t comma = text.find(',', from); comma != std::string::npos;
       comma = text.find(',', comma + 1)) {
    const size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz", comma + 1);
    if (end != std::string::npos && end > comma + 1 && text[end] == '=') return comma;
  }
  return std::string::npos;
}

std::vector<fs::path> folders_of(const SetFile& file, const QuestionSet& set) {
  for (const char* key : {"images", "videos"})
    if (const std::string given = file.part(key); !given.empty()) return {given};
  std::vector<fs::path> out;
  for (const std::string& place : set.places)
    out.push_back(fs::path(file.file).parent_path() / place);
  return out;
}

// Pictures lie together: where the first is, all are.
void place(const SetFile& file, const QuestionSet& set, std::vector<Item>& items) {
  const auto lies_apart = [](const Item& item) { return !item.embedded; };
  const auto first = std::find_if(items.begin(), items.end(), lies_apart);
  if (first == items.end()) return;
  const std::vector<fs::path> folders = folders_of(file, set);
  for (const fs::path& folder : folders)
    for (const std::string& ending : set.endings) {
      std::error_code ignored;
      if (!fs::exists(folder / (first->image + ending), ignored)) continue;
      for (Item& item : items)
        if (lies_apart(item)) item.image = (folder / (item.image + ending)).string();
      return;
    }
  std::vector<std::string> names;
  for (const fs::path& folder : folders) names.push_back(folder.empty() ? "." : folder.string());
  throw Error(ErrorCode::not_found, file.file + ": its picture '" + first->image + "' is not in " +
                                        joined(names) + "; say " + set.keys.front() + "=DIR");
}

}  // namespace

std::string SetFile::part(const std::string& key) const {
  const auto found = parts.find(key);
  return found == parts.end() ? "" : found->second;
}

std::optional<SetFile> set_file(const std::string& data) {
  const size_t colon = data.find(':');
  if (colon == 0 || colon == std::string::npos || data.find_first_not_of(kLetters) != colon)
    return std::nullopt;
  std::error_code ignored;
  if (fs::exists(data, ignored)) return std::nullopt;  // a folder may be called so
  SetFile out;
  out.name = data.substr(0, colon);
  const auto set = registry<QuestionSet>().make(out.name);
  size_t end = next_part(data, colon + 1);
  out.file = data.substr(colon + 1, end - std::min(end, colon) - 1);
  if (out.file.empty())
    throw Error(ErrorCode::bad_argument,
                "'" + data + "': the file is missing after " + out.name + ":");
  while (end != std::string::npos) {
    const size_t begin = end + 1, equals = data.find('=', begin);
    end = next_part(data, equals);
    const std::string key = data.substr(begin, equals - begin);
    if (std::find(set->keys.begin(), set->keys.end(), key) == set->keys.end())
      throw Error(ErrorCode::bad_argument, "'" + data + "': " + out.name + " has no '" + key +
                                               "'; known: " + joined(set->keys));
    const size_t length = end == std::string::npos ? end : end - equals - 1;
    out.parts[key] = data.substr(equals + 1, length);
  }
  return out;
}

std::vector<Item> load_set(const SetFile& file) {
  const auto set = registry<QuestionSet>().make(file.name);
  std::vector<Item> items = set->load(file);
  if (items.empty()) throw Error(ErrorCode::not_found, "no questions in '" + file.file + "'");
  place(file, *set, items);
  return items;
}

namespace sets {

json whole(const std::string& file) {
  const std::string text = read_text(file);
  try {
    return parse_json(text, file);
  } catch (const Error&) {
    try {
      [[maybe_unused]] const json parsed = json::parse(text);
    } catch (const json::parse_error& where) {
      const auto end =
          text.begin() + static_cast<std::ptrdiff_t>(std::min(where.byte, text.size()));
      throw Error(ErrorCode::bad_json, file + ":" +
                                           std::to_string(1 + std::count(text.begin(), end, '\n')) +
                                           ": not valid JSON (UTF-8)");
    } catch (const json::exception&) {  // a number that is too large, say: what was said stands
    }
    throw;
  }
}

void each_entry(const std::string& file, const json& list, const std::string& key,
                const std::function<void(const Line&)>& take) {
  if (!list.is_array())
    throw Error(ErrorCode::bad_json, file + ": " + (key.empty() ? "it" : "'" + key + "'") +
                                         " must be a list of questions");
  for (size_t i = 0; i < list.size(); ++i)
    take(Line(file + ": " + key + "[" + std::to_string(i) + "]", list[i]));
}

const json& list_in(const std::string& file, const json& all, const char* key) {
  if (!all.is_object() || !all.contains(key) || !all[key].is_array())
    throw Error(ErrorCode::bad_json, file + ": no list '" + std::string(key) + "'");
  return all[key];
}

std::string name_in(const Line& line, const char* key) {
  const auto found = line.object().find(key);
  if (found != line.object().end() && found->is_number_integer()) return found->dump();
  return line.text(key);
}

std::string word_in(const Line& line, const char* key) {
  const auto found = line.object().find(key);
  return found != line.object().end() && found->is_string() ? found->get<std::string>() : "";
}

std::string most_common(const std::vector<std::string>& answers) {
  std::string best;
  std::ptrdiff_t most = 0;
  for (const std::string& one : answers)
    if (const auto count = std::count(answers.begin(), answers.end(), one); count > most) {
      best = one;
      most = count;
    }
  return best;
}

}  // namespace sets
}  // namespace arrcoc::measuring
