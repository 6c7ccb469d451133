// Any text is a set of options or an Error, and what was read can be written and read again.
#include <cstdint>
#include <string>

#include "arrcoc/error.h"
#include "arrcoc/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string once;
  try {
    once = arrcoc::to_json(
        arrcoc::options_from_json(std::string(reinterpret_cast<const char*>(data), size)));
  } catch (const arrcoc::Error&) {
    return 0;
  }
  if (arrcoc::to_json(arrcoc::options_from_json(once)) != once) __builtin_trap();
  return 0;
}
