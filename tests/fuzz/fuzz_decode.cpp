// Any bytes are a picture or an Error; nothing else may happen. ARRCOC_FUZZ_FORMAT: of that format
// alone, all the way through the library behind it.
#include <cstdint>

#include "arrcoc/error.h"
#include "arrcoc/media.h"

using arrcoc::media::Format;

namespace {

#ifdef ARRCOC_FUZZ_FORMAT
constexpr double kMegapixels = 0.01;
bool wanted(Format format) { return format == Format::ARRCOC_FUZZ_FORMAT; }
#else
constexpr double kMegapixels = 0.25;
// libde265 and poppler are slow: they have targets of their own.
bool wanted(Format format) { return format != Format::heic && format != Format::pdf; }
#endif

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> bytes(data, data + size);
  arrcoc::media::LoadOptions options;
  options.max_megapixels = kMegapixels;
  options.pdf_dpi = 36;
  try {
    if (!wanted(arrcoc::media::probe(bytes, "fuzz").format)) return 0;
    const arrcoc::Picture picture = arrcoc::media::decode(bytes, "fuzz", options);
    if (picture.megapixels() > options.max_megapixels) __builtin_trap();
  } catch (const arrcoc::Error&) {
  }
  return 0;
}
