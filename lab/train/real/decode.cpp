#include <fstream>
#include <iterator>

#include "arrcoc/error.h"
#include "lab/train/real/data.h"

#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

namespace arrcoc::training::real {

Pixels decode_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(ErrorCode::not_found, "no file " + path);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  Pixels out;
  int channels = 0;
  const auto* data = reinterpret_cast<const stbi_uc*>(bytes.data());
  const int size = static_cast<int>(bytes.size());
  if (!stbi_info_from_memory(data, size, &out.width, &out.height, &channels))
    throw Error(ErrorCode::bad_image, path + ": neither JPEG nor PNG");
  out.channels = channels <= 2 ? 1 : 3;
  stbi_uc* pixels =
      stbi_load_from_memory(data, size, &out.width, &out.height, &channels, out.channels);
  if (!pixels) throw Error(ErrorCode::bad_image, path + ": " + stbi_failure_reason());
  out.bytes.assign(pixels, pixels + static_cast<size_t>(out.width) * out.height * out.channels);
  stbi_image_free(pixels);
  return out;
}

}  // namespace arrcoc::training::real
