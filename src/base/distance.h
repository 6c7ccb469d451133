// Levenshtein's distance: the fewest characters to replace, insert or take away.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace arrcoc {

// Of two strings of one type (std::string: bytes, std::u32string: code points).
template <class String>
size_t edit_distance(const String& a, const String& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t corner = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = corner + (a[i - 1] != b[j - 1] ? 1 : 0);
      corner = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace arrcoc
