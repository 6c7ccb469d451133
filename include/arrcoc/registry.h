// Strategies and enumerators by name: one registry per stage interface, one table per enumeration.
//
//   registry<Allocator>().add("quadtree", "split where relevance is highest", make_quadtree);
//   std::unique_ptr<Allocator> a = registry<Allocator>().make("quadtree");
//
// Each stage fills its registry in one file (src/<stage>/strategies.cpp); `arrcoc info` prints
// them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrcoc/error.h"

namespace arrcoc {

// Specialised beside an enumeration whose values have names on the command line and in JSON:
//   template <> struct EnumNames<Gain> {
//     static constexpr const char* kWhat = "gain";
//     static constexpr std::pair<Gain, const char*> kNames[] = {{Gain::peak, "peak"}, ...};
//   };
// A value may have several names; the first is the one that is shown.
template <class Enum>
struct EnumNames;
template <class Enum>
concept NamedEnum = requires {
  EnumNames<Enum>::kNames;
};

template <NamedEnum Enum>
constexpr const char* to_string(Enum value) {
  for (const auto& [known, name] : EnumNames<Enum>::kNames)
    if (known == value) return name;
  return "?";
}
// Error{bad_argument} that lists the names.
template <NamedEnum Enum>
Enum parse_enum(const std::string& name) {
  std::string list;
  for (const auto& [value, known] : EnumNames<Enum>::kNames) {
    if (name == known) return value;
    list += (list.empty() ? "" : ", ") + std::string(known);
  }
  throw Error(ErrorCode::bad_argument, std::string("no ") + EnumNames<Enum>::kWhat + " named '" +
                                           name + "'; known: " + list);
}

template <class Interface>
class Registry {
 public:
  using Factory = std::function<std::unique_ptr<Interface>()>;
  struct Entry {
    std::string summary;  // one line for people
    Factory make;
  };

  // Adds or replaces a strategy.
  void add(const std::string& name, const std::string& summary, Factory make) {
    entries_[name] = Entry{summary, std::move(make)};
  }

  // Another name of a strategy that is there; list() leaves it out.
  void alias(const std::string& other, const std::string& name) { aliases_[other] = name; }

  bool has(const std::string& name) const { return entries_.count(known_as(name)) != 0; }

  // Throws Error{not_found} that lists the known names.
  std::unique_ptr<Interface> make(const std::string& name) const {
    auto found = entries_.find(known_as(name));
    if (found == entries_.end()) {
      std::string known;
      for (const auto& [key, entry] : entries_) known += (known.empty() ? "" : ", ") + key;
      throw Error(ErrorCode::not_found, std::string("no ") + Interface::kStage + " named '" + name +
                                            "'; known: " + (known.empty() ? "none" : known));
    }
    return found->second.make();
  }

  // Name and summary of every strategy, sorted by name.
  std::vector<std::pair<std::string, std::string>> list() const {
    std::vector<std::pair<std::string, std::string>> out;
    for (const auto& [key, entry] : entries_) out.emplace_back(key, entry.summary);
    return out;
  }

 private:
  std::string known_as(const std::string& name) const {
    const auto other = aliases_.find(name);
    return other == aliases_.end() ? name : other->second;
  }
  std::map<std::string, Entry> entries_;
  std::map<std::string, std::string> aliases_;
};

// The process-wide registry of one interface, filled on first use by that stage. Specialised per
// stage (see the stage's header); adding strategies while other threads look up is not supported.
template <class Interface>
Registry<Interface>& registry();

}  // namespace arrcoc
