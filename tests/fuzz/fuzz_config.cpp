// Any text is a configuration of the server or an Error, from a file or the environment; what was
// read can be written and read again, and shows no key. Input: one byte that chooses the variable
// of the environment, and the text.
#include <cstdint>
#include <string>

#include "arrcoc/error.h"
#include "arrcoc/serve.h"
#include "base/json.h"

using namespace arrcoc;
using namespace arrcoc::serving;

namespace {

void must(bool holds) {
  if (!holds) __builtin_trap();
}

void look_at(Options options) {
  options.upstream_processor.clear();  // a file of this machine
  const std::string shown = to_json(options);
  const json read = parse_json(shown, "options");
  for (const char* key : {"api_key", "upstream_key"}) must(read[key] == "" || read[key] == "***");
  Options again;
  apply_json(again, shown);
  must(to_json(again) == shown);
  try {
    check(options);
  } catch (const Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    Options options;
    apply_json(options, text);
    look_at(options);
  } catch (const Error&) {
  }
  try {
    Options options;
    int variable = 0;
    apply_environment(
        options, [&](const char*) { return variable++ == data[0] % 64 ? text.c_str() : nullptr; });
    look_at(options);
  } catch (const Error&) {
  }
  return 0;
}
