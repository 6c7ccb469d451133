// What a set of pictures is like: made and real ones side by side.
#pragma once

#include <string>
#include <vector>

namespace arrcoc::cli {

// A table with one row a folder (images/ and items.jsonl). Heights are pixels in a frame whose
// longer side is 1024; ink is the share of pixels darker than 0.7 of the paper (the 90th
// percentile). Error{not_found, bad_json, bad_image}.
std::string data_statistics(const std::vector<std::string>& folders);

}  // namespace arrcoc::cli
