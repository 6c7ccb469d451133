// Any text is a processor configuration or an Error, and a picture of any size then has a count of
// tokens. Input: one byte for the family, one for llama.cpp and detail, the text.
#include <cstdint>
#include <string>

#include "arrcoc/error.h"
#include "arrcoc/serve.h"

using namespace arrcoc;
using namespace arrcoc::serving;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  static const std::vector<Family> all = families();
  Family family = all[data[0] % all.size()];
  if (data[1] & 1) family = on_llama_cpp(std::move(family));
  const auto detail = static_cast<Detail>(data[1] / 2 % 3);
  try {
    family = with_processor(family, std::string(reinterpret_cast<const char*>(data) + 2, size - 2));
  } catch (const Error&) {
    return 0;
  }
  for (const auto [width, height] :
       {std::pair{1, 1}, {640, 480}, {20000, 3}, {3, 20000}, {1 << 15, 1 << 15}})
    if (picture_tokens(family, width, height, detail) < 1) __builtin_trap();
  return 0;
}
