// "Did you mean ...?"
#pragma once

#include <string>
#include <vector>

namespace arrcoc::cli {

// The names that are spelt most nearly so, at most three.
std::vector<std::string> nearly(const std::string& word, const std::vector<std::string>& names);
// A problem as the library says it, with the nearest of the names that it lists ("no policy named
// 'x'; known: ...") or of the files beside one that is not there.
std::string with_hint(const std::string& problem);

}  // namespace arrcoc::cli
