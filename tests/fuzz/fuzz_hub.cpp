// What a hub says is an Error, or stays inside: a listing has a commit and names of files below its
// folder, a redirect has an address without blanks, and a name names one folder. Input: one byte
// for the kind, the text.
#include <cstdint>
#include <filesystem>

#include "arrcoc/error.h"
#include "models/hub/cache.h"
#include "models/hub/listing.h"
#include "models/hub/transport.h"

using namespace arrcoc;
using namespace arrcoc::hub;

namespace {

void require(bool holds) {
  if (!holds) __builtin_trap();
}

bool inside(const std::string& path) {
  const std::string normal = std::filesystem::path("/top/" + path).lexically_normal().string();
  return normal.rfind("/top/", 0) == 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    if (data[0] % 3 == 0) {
      const Listing listing = parse_listing(text, "a/b");
      require(is_commit(listing.commit));
      for (const File& file : listing.files)
        require(inside(file.path) && file.etag.find('/') == std::string::npos && file.size >= -1);
      for (const File& file : small_files(listing, "a/b"))
        require(file.path.find('/') == std::string::npos);
    } else if (data[0] % 3 == 1) {
      const Url to = redirected({"https://hub", "/x"}, text);
      require(to.origin.rfind("https://", 0) == 0 && to.path[0] == '/');
      require((to.origin + to.path).find_first_of(" \r\n") == std::string::npos);
      require(normal_etag(text).find_first_of("./") == std::string::npos);
    } else if (const auto name = parse_name(text)) {
      const Place place(*name, "/top");
      for (const std::string& path : {place.root, place.ref(name->revision)})
        require(std::filesystem::path(path).lexically_normal() == path);
      require(parse_name(name->text()).has_value());
    }
  } catch (const Error&) {
  }
  return 0;
}
