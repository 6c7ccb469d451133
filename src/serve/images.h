// The bytes behind a picture's URL.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arrcoc/serve.h"

namespace arrcoc::serving {

// data: URLs always, file:// below options.file_root only. http(s) is never fetched: a server that
// fetches what strangers name can be made to read its neighbours. ApiError{400}, Error{not_found}.
std::vector<uint8_t> picture_bytes(const std::string& url, const Options& options);

// A picture file below one of options.file_root; relative names are tried below each of them.
// ApiError{400}.
std::vector<uint8_t> file_below(const std::string& name, const Options& options);

}  // namespace arrcoc::serving
