#include "lab/scenes/word_lists.h"

#include <charconv>
#include <filesystem>
#include <fstream>

#include "arrcoc/error.h"

namespace arrcoc::scenes {
namespace {

struct Use {
  std::string name;
  size_t columns;
};

std::vector<Use>& uses() {
  static std::vector<Use> list;
  return list;
}

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw Error(ErrorCode::bad_json, where + ": " + what);
}

bool valid_utf8(const std::string& text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i++]);
    if (lead < 0x80) continue;
    const int more = lead >= 0xF0 && lead < 0xF5   ? 3
                     : lead >= 0xE0 && lead < 0xF0 ? 2
                     : lead >= 0xC2 && lead < 0xE0 ? 1
                                                   : -1;
    if (more < 0 || i + static_cast<size_t>(more) > text.size()) return false;
    for (int k = 0; k < more; ++k)
      if ((static_cast<unsigned char>(text[i++]) & 0xC0) != 0x80) return false;
  }
  return true;
}

std::string header_name(const std::string& line, const std::string& where) {
  const std::string name = line.substr(1, line.size() - 2);
  if (line.back() != ']' || name.find('.') == std::string::npos ||
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-") != std::string::npos)
    refuse(where, "not the name of a list, as in [receipt.total]: " + line);
  return name;
}

std::string field(const std::string& text, const std::string& where) {
  if (text.find('|') != std::string::npos) refuse(where, "fields are separated by \" | \"");
  if (text.empty() || text.front() == ' ' || text.back() == ' ')
    refuse(where, "a field is empty or has outer blanks; put it in double quotes");
  if (text.front() != '"') return text;
  if (text.size() < 2 || text.back() != '"' || text.find('"', 1) != text.size() - 1)
    refuse(where, "a quote is not closed at the end of its field");
  return text.substr(1, text.size() - 2);
}

Row fields(const std::string& line, const std::string& where) {
  Row row;
  for (size_t start = 0, end = 0; end != std::string::npos; start = end + 3) {
    end = line.find(" | ", start);
    row.push_back(field(line.substr(start, end - start), where));
  }
  return row;
}

// The lists of one file, and where each of their lines stands ("file:line").
struct Reader {
  std::unordered_map<std::string, WordList>& lists;
  std::unordered_map<std::string, std::vector<std::string>> places = {};

  void read(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw Error(ErrorCode::not_found, "word lists cannot be read: " + path.string());
    std::string line, name;
    for (int number = 1; std::getline(in, line); ++number) {
      const std::string where = path.string() + ":" + std::to_string(number);
      if (line.empty() || line[0] == '#') continue;
      for (char c : line)
        if (static_cast<unsigned char>(c) < ' ') refuse(where, "a control character");
      if (!valid_utf8(line)) refuse(where, "not UTF-8");
      if (line[0] == '[') {
        name = header_name(line, where);
        if (!lists.emplace(name, WordList{}).second) refuse(where, "a second list [" + name + "]");
        places[name].push_back(where);
        continue;
      }
      if (name.empty()) refuse(where, "a line before the first [name]");
      places[name].push_back(where);
      WordList& list = lists[name];
      list.rows.push_back(fields(line, where));
      list.words.insert(list.words.end(), list.rows.back().begin(), list.rows.back().end());
    }
  }

  // Lists must hold something, and {other.list} must exist.
  void check() const {
    for (const auto& [name, list] : lists) {
      if (list.rows.empty()) refuse(places.at(name)[0], "[" + name + "] is empty");
      for (size_t i = 0; i < list.rows.size(); ++i)
        for (const std::string& text : list.rows[i]) check_names(text, places.at(name)[i + 1]);
    }
  }
  void check_names(const std::string& text, const std::string& where) const {
    for (size_t open = text.find('{'); open != std::string::npos; open = text.find('{', open + 1)) {
      const size_t close = text.find('}', open);
      if (close == std::string::npos) refuse(where, "a { is not closed");
      const std::string name = text.substr(open + 1, close - open - 1);
      if (name.find('.') != std::string::npos && name.find(' ') == std::string::npos &&
          !lists.count(name))
        refuse(where, "{" + name + "} is no list");
    }
  }
};

}  // namespace

size_t use_list(const std::string& name, size_t columns) {
  uses().push_back({name, columns});
  return uses().size() - 1;
}

std::vector<std::string> used_lists() {
  std::vector<std::string> names;
  for (const Use& use : uses()) names.push_back(use.name);
  return names;
}

WordLists::WordLists(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed))
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  if (failed || files.empty())
    throw Error(ErrorCode::not_found, "word lists of the scene generator not found: " + folder +
                                          "/*.txt (pass the folder assets/ of the project)");
  std::sort(files.begin(), files.end());  // errors do not depend on the order of the folder
  Reader reader{lists_};
  for (const auto& file : files) reader.read(file);
  reader.check();
  for (const Use& use : uses()) {
    const WordList& list = named(use.name);
    for (size_t i = 0; i < list.rows.size(); ++i)
      if (use.columns > 0 && list.rows[i].size() != use.columns)
        refuse(reader.places[use.name][i + 1],
               "[" + use.name + "] has " + std::to_string(use.columns) + " fields a line");
    used_.push_back(&list);
  }
}

const WordList& WordLists::named(const std::string& name) const {
  const auto found = lists_.find(name);
  if (found == lists_.end())
    throw Error(ErrorCode::not_found, "no word list [" + name + "] in the files of assets/words");
  return found->second;
}

std::vector<std::string> WordLists::names() const {
  std::vector<std::string> names;
  for (const auto& [name, list] : lists_) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

float to_number(const std::string& field) {
  float value = 0;
  const auto [end, failed] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (failed != std::errc() || end != field.data() + field.size())
    throw Error(ErrorCode::bad_json, "not a number in the word lists: " + field);
  return value;
}

}  // namespace arrcoc::scenes
