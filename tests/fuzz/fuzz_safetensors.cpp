// Any bytes are a weight file whose tensors lie inside it, or an Error.
#include <cstdint>
#include <string_view>

#include "arrcoc/error.h"
#include "models/weights/format.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto header = arrcoc::safetensors::parse_header(
        std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
    for (const auto& [name, entry] : header.entries) {
      if (entry.begin > entry.end || header.data_offset + entry.end > size) __builtin_trap();
    }
  } catch (const arrcoc::Error&) {
  }
  return 0;
}
