// Heads of HTTP requests: found at the same place however their bytes come, and what passes is
// framed in one way only. Values that JSON may have are counted without reading beyond it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "serve/admission.h"
#include "serve/api_error.h"
#include "serve/http_head.h"

using namespace arrcoc::serving;

namespace {

void must(bool holds) {
  if (!holds) __builtin_trap();
}

size_t count(std::string_view text, std::string_view what) {
  size_t out = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string_view::npos; ++at) ++out;
  return out;
}

void judge(std::string_view bytes) {
  const HeadLimits limits{200, 1000, 8};
  const size_t size = head_size(bytes, limits);
  if (size == 0) return;
  must(size <= bytes.size() && bytes.substr(0, size).ends_with("\r\n\r\n"));
  size_t later = 0;
  for (size_t n = 1; n <= bytes.size() && later == 0; n += 7)
    later = head_size(bytes.substr(0, n), limits, n > 7 ? n - 7 : 0);
  must(later == 0 || later == size);
  const RequestHead head = judge_head(bytes.substr(0, size), limits);
  must(head.text.ends_with("\r\n\r\n") && count(head.text, "\r\n\r\n") == 1);
  must(count(head.text, "\n") == count(head.text, "\r\n"));
  must(count(head.text, "\n") <= limits.fields + 3);  // the request line, a length of 0, the end
  must(head.path.find(' ') == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    judge(bytes);
  } catch (const ApiError& error) {
    must(error.status() >= 400 && error.status() < 600);
  }
  try {
    require_few_values(bytes, 50);
  } catch (const ApiError&) {
  }
  return 0;
}
