// Files that belong to an installation, wherever it was moved to.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

namespace arrcoc {

// The first of `names` that `good` accepts, looked for in the folder of the running program and in
// up to three above it, then the same way from the library that holds this code; empty: none. Files
// that belong neither to root nor to us nor to the owner of that program are passed over.
std::filesystem::path find_beside(const std::vector<std::filesystem::path>& names,
                                  const std::function<bool(const std::filesystem::path&)>& good);

}  // namespace arrcoc
