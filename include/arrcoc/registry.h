// Strategies by name: one registry per stage interface.
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

  bool has(const std::string& name) const { return entries_.count(name) != 0; }

  // Throws Error{not_found} that lists the known names.
  std::unique_ptr<Interface> make(const std::string& name) const {
    auto found = entries_.find(name);
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
  std::map<std::string, Entry> entries_;
};

// The process-wide registry of one interface, filled on first use by that stage. Specialised per
// stage (see the stage's header); adding strategies while other threads look up is not supported.
template <class Interface>
Registry<Interface>& registry();

}  // namespace arrcoc
