// Any bytes are a tokenizer that can be used, or an Error.
#include <cstdint>
#include <string_view>

#include "arrcoc/error.h"
#include "models/tokenizers/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto tokenizer = arrcoc::parse_tokenizer(
        std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
    const auto ids = tokenizer->encode("What is the total, caf\u00e9 \u4e16 12?");
    tokenizer->decode(ids);
    arrcoc::TokenStream stream(*tokenizer);
    for (int64_t id : ids) stream.push(id);
    stream.finish();
  } catch (const arrcoc::Error&) {
  }
  return 0;
}
