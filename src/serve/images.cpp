#include "serve/images.h"

#include <cctype>
#include <filesystem>

#include "arrcoc/media.h"
#include "serve/api_error.h"
#include "serve/encoding.h"

namespace arrcoc::serving {

namespace {

namespace fs = std::filesystem;

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::string unescape(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? hex(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex(text[i + 2]) : -1;
    if (high < 0 || low < 0 || high + low == 0)
      throw ApiError(400, "invalid_request", "the file:// URL has a broken escape");
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

bool below(const fs::path& path, const fs::path& root) {
  auto part = path.begin();
  for (const fs::path& wanted : root) {
    if (part == path.end() || *part != wanted) return false;
    ++part;
  }
  return part != path.end();
}

std::vector<uint8_t> file_bytes(const std::string& url, const Options& options) {
  if (options.file_root.empty())
    throw ApiError(400, "unsupported", "file:// pictures are off (see --file-root)");
  const std::string name = unescape(url.substr(7));
  return file_below(name.empty() || name[0] != '/' ? "" : name, options);
}

}  // namespace

// Links are followed before the check, so that none leads out. One answer for whatever is not there
// or not allowed: the server must not tell which files exist.
std::vector<uint8_t> file_below(const std::string& name, const Options& options) {
  const bool plain = !name.empty() && name.find('\0') == std::string::npos;
  for (const std::string& folder : options.file_root) {
    std::error_code failed;
    const fs::path root = fs::canonical(folder, failed);
    if (failed) throw ApiError(500, "io", "the folder of allowed pictures cannot be read");
    const fs::path path = plain ? fs::canonical(root / name, failed) : fs::path();
    if (plain && !failed && below(path, root) && fs::is_regular_file(path, failed) && !failed)
      return media::read_file(path.string(), static_cast<size_t>(options.max_body_mb * (1 << 20)));
  }
  throw ApiError(400, "not_found", "no such picture below the allowed folder");
}

std::vector<uint8_t> picture_bytes(const std::string& url, const Options& options) {
  if (url.rfind("data:", 0) == 0) return data_url_bytes(url);
  if (url.rfind("file://", 0) == 0) return file_bytes(url, options);
  if (url.rfind("http://", 0) == 0 || url.rfind("https://", 0) == 0)
    throw ApiError(400, "unsupported",
                   "pictures are not fetched from the network: send a data: URL");
  throw ApiError(400, "invalid_request", "a picture must be a data: URL");
}

}  // namespace arrcoc::serving
