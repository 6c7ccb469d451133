#include "cli/hints.h"

#include <algorithm>
#include <filesystem>

#include "base/distance.h"
#include "base/join.h"

namespace arrcoc::cli {

namespace {

constexpr size_t kMostNames = 3;
constexpr size_t kMostFiles = 10'000;  // of a folder that are compared
constexpr size_t kLongest = 200;       // a longer word is no slip of the fingers

// 'word' before the position.
std::string quoted_before(const std::string& text, size_t end) {
  const size_t close = text.rfind('\'', end);
  const size_t open =
      close == std::string::npos || close == 0 ? std::string::npos : text.rfind('\'', close - 1);
  return open == std::string::npos ? "" : text.substr(open + 1, close - open - 1);
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> out;
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find(", ", at), list.size());
    out.push_back(list.substr(at, end - at));
    at = end + 2;
  }
  return out;
}

// The path that a message says cannot be read; "" when it speaks of something else.
std::string missing_file(const std::string& problem) {
  for (const char* end : {": cannot read: No such file", ": cannot be read"})
    if (const size_t at = problem.find(end); at != std::string::npos) return problem.substr(0, at);
  for (const char* start : {"there is no picture '", "cannot read '"})
    if (problem.rfind(start, 0) == 0) {
      const size_t from = std::string(start).size();
      return problem.substr(from, problem.find('\'', from) - from);
    }
  return "";
}

std::vector<std::string> files_like(const std::filesystem::path& path) {
  std::error_code failed;
  if (std::filesystem::exists(path, failed)) return {};
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  std::vector<std::string> names;
  std::filesystem::directory_iterator each(folder, failed);
  while (!failed && each != std::filesystem::directory_iterator() && names.size() < kMostFiles) {
    names.push_back(each->path().filename().string());
    each.increment(failed);
  }
  std::vector<std::string> out = nearly(path.filename().string(), names);
  if (path.has_parent_path())
    for (std::string& name : out) name = (folder / name).string();
  return out;
}

}  // namespace

std::vector<std::string> nearly(const std::string& word, const std::vector<std::string>& names) {
  if (word.empty() || word.size() > kLongest) return {};
  std::vector<std::pair<size_t, std::string>> found;
  for (const std::string& name : names) {
    if (name.empty() || name.size() > kLongest) continue;
    const size_t apart = edit_distance(name, word);
    const bool begins = std::min(word.size(), name.size()) > 2 &&
                        (name.rfind(word, 0) == 0 || word.rfind(name, 0) == 0);
    if (begins || (apart <= 2 && apart < word.size())) found.emplace_back(apart, name);
  }
  std::stable_sort(found.begin(), found.end());
  std::vector<std::string> out;
  for (size_t i = 0; i < std::min(found.size(), kMostNames); ++i)
    if (found[i].first == found[0].first) out.push_back(found[i].second);
  return out;
}

std::string with_hint(const std::string& problem) {
  std::vector<std::string> near;
  constexpr const char* kKnown = "; known: ";
  if (const size_t at = problem.find(kKnown); at != std::string::npos) {
    near =
        nearly(quoted_before(problem, at), split(problem.substr(at + std::string(kKnown).size())));
  } else if (const std::string path = missing_file(problem); !path.empty()) {
    near = files_like(path);
  }
  return near.empty() ? problem : problem + "; did you mean " + joined(near, " or ") + "?";
}

}  // namespace arrcoc::cli
