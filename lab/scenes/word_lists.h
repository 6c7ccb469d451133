// Word lists: what is written in scenes, as plain text in assets/words/*.txt. They are read once
// and drawn from by name, for instance r.pick<"receipt.total">() (random.h).
//
// Format, UTF-8:
//   # a comment
//   [receipt.cash]                a list; names have a dot and are unique over all files
//   CASH | Cash Tendered          fields, one or several a line
//   "paid " | ""                  quotes keep outer blanks, or an empty field
// A list is all of its fields in reading order; a table takes them line by line. {place.city} in a
// field draws from another list, see expand() in words.h.
#pragma once

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

namespace arrcoc::scenes {

using Row = std::vector<std::string>;

struct WordList {
  std::vector<std::string> words;  // all fields
  std::vector<Row> rows;           // the fields of each line
};

// Names in the code are template arguments: they are registered before main() and looked up when
// the lists are read, so that a missing list shows at start-up and not at some later seed.
template <size_t size>
struct ListName {
  char text[size];
  consteval ListName(const char (&name)[size]) { std::copy_n(name, size, text); }
};

// Registers a name; with columns > 0 every line of the list must have that many fields.
size_t use_list(const std::string& name, size_t columns);
std::vector<std::string> used_lists();  // the registered names

template <ListName name, size_t columns = 0>
inline const size_t kList = use_list(name.text, columns);

class WordLists {
 public:
  // Error{not_found} when the folder holds no lists or one that the code uses is missing (names
  // it), Error{bad_json} with file and line for what the format does not allow.
  explicit WordLists(const std::string& folder);
  WordLists(const WordLists&) = delete;

  template <ListName name>
  const std::vector<std::string>& list() const {
    return used_[kList<name>]->words;
  }
  template <ListName name, size_t columns = 0>
  const std::vector<Row>& table() const {
    return used_[kList<name, columns>]->rows;
  }
  const WordList& named(const std::string& name) const;  // Error{not_found}
  bool has(const std::string& name) const { return lists_.contains(name); }
  std::vector<std::string> names() const;

 private:
  std::unordered_map<std::string, WordList> lists_;
  std::vector<const WordList*> used_;
};

// A field as a number. Error{bad_json} names what is none.
float to_number(const std::string& field);

}  // namespace arrcoc::scenes
