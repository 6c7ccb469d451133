// Names in a sentence.
#pragma once

#include <string>
#include <vector>

namespace arrcoc {

inline std::string joined(const std::vector<std::string>& names, const char* between = ", ") {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : between) + name;
  return out;
}

}  // namespace arrcoc
