// What a safetensors header says, checked before anything trusts it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace arrcoc::safetensors {

inline constexpr uint64_t kMaxHeader = 100'000'000;  // bytes, the reference reader's limit too

struct Entry {
  at::ScalarType dtype = at::kFloat;
  std::vector<int64_t> shape;
  uint64_t begin = 0;  // within the data part
  uint64_t end = 0;
};

struct Header {
  std::map<std::string, Entry> entries;
  std::map<std::string, std::string> metadata;
  uint64_t data_offset = 0;  // of the data part within the file
};

// Parses the first bytes of a file of `size` bytes. `bytes` holds the whole file (or its map).
// Entries are known to lie inside the file, to match their shapes, and to cover the data part
// exactly once. Error{bad_weights} naming `file` and the tensor.
Header parse_header(std::string_view bytes, const std::string& file);

// "F32" <-> at::kFloat. Error{bad_weights} or Error{bad_argument} for types without a spelling.
at::ScalarType dtype_of(const std::string& spelling, const std::string& file,
                        const std::string& tensor);
std::string spelling_of(at::ScalarType dtype, const std::string& tensor);

}  // namespace arrcoc::safetensors
