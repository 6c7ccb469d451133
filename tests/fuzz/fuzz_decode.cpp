// Any bytes are a picture or an Error; nothing else may happen.
#include <cstdint>

#include "arrcoc/error.h"
#include "arrcoc/media.h"

using arrcoc::media::Format;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> bytes(data, data + size);
  arrcoc::media::LoadOptions options;
  options.max_megapixels = 0.25;
  options.pdf_dpi = 36;
  try {
    const arrcoc::media::Probe header = arrcoc::media::probe(bytes, "fuzz");
    // These two hand the bytes to libde265 and poppler, which have fuzzers of their own; how they
    // are opened is tried, what they draw is not.
    if (header.format == Format::heic || header.format == Format::pdf) return 0;
    const arrcoc::Picture picture = arrcoc::media::decode(bytes, "fuzz", options);
    if (picture.megapixels() > options.max_megapixels) __builtin_trap();
  } catch (const arrcoc::Error&) {
  }
  return 0;
}
