// Any bytes of one format, ARRCOC_FUZZ_FORMAT, are a picture or an Error, all the way through the
// library behind it; what is of another format is left to fuzz_decode.
#include <cstdint>

#include "arrcoc/error.h"
#include "arrcoc/media.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> bytes(data, data + size);
  arrcoc::media::LoadOptions options;
  options.max_megapixels = 0.01;
  options.pdf_dpi = 36;
  try {
    const arrcoc::media::Probe header = arrcoc::media::probe(bytes, "fuzz");
    if (header.format != arrcoc::media::Format::ARRCOC_FUZZ_FORMAT) return 0;
    const arrcoc::Picture picture = arrcoc::media::decode(bytes, "fuzz", options);
    if (picture.megapixels() > options.max_megapixels) __builtin_trap();
  } catch (const arrcoc::Error&) {
  }
  return 0;
}
