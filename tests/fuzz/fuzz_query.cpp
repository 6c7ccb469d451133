// Any bytes are a question or an Error.
#include <cstdint>
#include <string_view>

#include "arrcoc/error.h"
#include "arrcoc/query.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const arrcoc::Query query =
        arrcoc::parse_query(std::string_view(reinterpret_cast<const char*>(data), size));
    if (query.text.empty() || query.text.size() > arrcoc::kMaxQuestionBytes) __builtin_trap();
    if (!(query.specificity >= 0 && query.specificity <= 1)) __builtin_trap();
  } catch (const arrcoc::Error&) {
  }
  return 0;
}
