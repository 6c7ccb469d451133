// What a build without OpenCV reads and writes.
#include "media/codecs/headers.h"
#include "media/stb/stb.h"

namespace arrcoc::media {

namespace {

[[noreturn]] Upright absent(const Job& job) {
  job.unsupported(std::string("this build reads JPEG, PNG and BMP, not ") +
                  label_of(job.header.format) + " (built without OpenCV)");
}

}  // namespace

Upright decode_jpeg(const Job& job) { return stb::decode(job); }
Upright decode_png(const Job& job) { return stb::decode(job); }
Upright decode_bmp(const Job& job) { return stb::decode(job); }
Upright decode_webp(const Job& job) { absent(job); }
Upright decode_tiff(const Job& job) { absent(job); }
Upright decode_heic(const Job& job) { absent(job); }
Upright decode_pdf(const Job& job) { absent(job); }

Probe probe_heic(const Bytes&, const std::string& source) {
  throw Error(ErrorCode::unsupported, name_of(source) +
                                          ": this build reads JPEG, PNG and BMP, not HEIC (built "
                                          "without OpenCV)");
}

std::vector<uint8_t> encode_planes(const uint8_t* planes, int width, int height) {
  return stb::encode(planes, width, height);
}

}  // namespace arrcoc::media
