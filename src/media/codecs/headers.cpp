#include "media/codecs/headers.h"

#include <algorithm>
#include <limits>

#include "arrcoc/error.h"

namespace arrcoc::media {

namespace {

[[noreturn]] void broken(const std::string& source, const std::string& what) {
  throw Error(ErrorCode::bad_image, name_of(source) + ": " + what);
}

struct Size {
  int64_t width = 0, height = 0;
};

// Calls visit(marker, payload) for every segment up to the first scan, until it returns true.
template <class Visit>
void walk_jpeg(const Bytes& file, Visit visit) {
  size_t at = 2;
  while (file.holds(at, 4)) {
    if (file.u8(at) != 0xFF) {  // garbage between segments is skipped, as libjpeg does
      ++at;
      continue;
    }
    const int marker = file.u8(at + 1);
    if (marker == 0xFF) {  // fill byte
      ++at;
      continue;
    }
    const bool alone = marker == 0x00 || marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8);
    if (alone) {
      at += 2;
      continue;
    }
    if (marker == 0xD9) return;
    const size_t length = file.be16(at + 2);
    if (length < 2) return;
    if (visit(marker, file.part(at + 4, length - 2)) || marker == 0xDA) return;
    at += 2 + length;
  }
}

Size jpeg_size(const Bytes& file) {
  Size size;
  walk_jpeg(file, [&](int marker, const Bytes& payload) {
    const bool frame =
        marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
    if (frame) size = {payload.be16(3), payload.be16(1)};
    return frame;
  });
  return size;
}

Size webp_size(const Bytes& file) {
  if (file.starts("VP8 ", 12) && file.starts("\x9d\x01\x2a", 23)) {
    return {file.le16(26) & 0x3FFF, file.le16(28) & 0x3FFF};
  }
  if (file.starts("VP8L", 12) && file.u8(20) == 0x2F && file.holds(21, 4)) {
    const uint32_t bits = file.le32(21);
    return {(bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1};
  }
  if (file.starts("VP8X", 12) && file.holds(24, 6)) {
    return {int64_t{file.le24(24)} + 1, int64_t{file.le24(27)} + 1};
  }
  return {};
}

Size bmp_size(const Bytes& file) {
  if (!file.holds(14, 12)) return {};
  if (file.le32(14) == 12) return {file.le16(18), file.le16(20)};
  const auto width = static_cast<int32_t>(file.le32(18));
  const auto height = static_cast<int32_t>(file.le32(22));  // negative: rows from the top
  return {width, std::abs(static_cast<int64_t>(height))};
}

Size tiff_size(const Bytes& file) {
  const uint64_t width = tiff_tag(file, 256).value_or(0);
  const uint64_t height = tiff_tag(file, 257).value_or(0);
  const uint64_t most = std::numeric_limits<int32_t>::max();
  if (width > most || height > most) return {};
  return {static_cast<int64_t>(width), static_cast<int64_t>(height)};
}

bool is_heif(const Bytes& file) {
  if (!file.starts("ftyp", 4)) return false;
  for (const char* brand :
       {"heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1", "avif"}) {
    if (file.starts(brand, 8)) return true;
  }
  return false;
}

Format format_of(const Bytes& file, const std::string& source) {
  using namespace std::string_view_literals;
  if (file.size() == 0) broken(source, "the file is empty");
  if (file.starts("\xFF\xD8\xFF")) return Format::jpeg;
  if (file.starts("\x89PNG\r\n\x1A\n")) return Format::png;
  if (file.starts("RIFF") && file.starts("WEBP", 8)) return Format::webp;
  if (file.starts("II*\0"sv) || file.starts("MM\0*"sv)) return Format::tiff;
  if (file.starts("II+\0"sv) || file.starts("MM\0+"sv)) return Format::tiff;
  if (file.starts("BM") && file.size() >= 26) return Format::bmp;
  if (is_heif(file)) return Format::heic;
  // Readers accept some bytes before a PDF's header.
  const Bytes front = file.part(0, 1024);
  const std::string_view text(reinterpret_cast<const char*>(front.data()), front.size());
  if (text.find("%PDF-") != std::string_view::npos) return Format::pdf;
  if (file.starts("GIF8")) {
    throw Error(ErrorCode::unsupported,
                name_of(source) + ": GIF is not supported; convert it to PNG");
  }
  broken(source, "not a picture: neither JPEG, PNG, WebP, TIFF, BMP, HEIC nor PDF");
}

// EXIF blocks are TIFF structures, in JPEG and sometimes WebP behind the word "Exif".
int exif_orientation(Bytes block) {
  using namespace std::string_view_literals;
  if (block.starts("Exif\0\0"sv)) block = block.part(6);
  return static_cast<int>(tiff_tag(block, 274).value_or(1) & 0xFF);
}

int jpeg_orientation(const Bytes& file) {
  using namespace std::string_view_literals;
  int found = 1;
  walk_jpeg(file, [&](int marker, const Bytes& payload) {
    const bool exif = marker == 0xE1 && payload.starts("Exif\0\0"sv);
    if (exif) found = exif_orientation(payload);
    return exif;
  });
  return found;
}

int png_orientation(const Bytes& file) {
  for (size_t at = 8; file.holds(at, 12);) {
    const size_t length = file.be32(at);
    if (file.starts("eXIf", at + 4)) return exif_orientation(file.part(at + 8, length));
    at += 12 + length;
  }
  return 1;
}

int webp_orientation(const Bytes& file) {
  for (size_t at = 12; file.holds(at, 8);) {
    const size_t length = file.le32(at + 4);
    if (file.starts("EXIF", at)) return exif_orientation(file.part(at + 8, length));
    at += 8 + length + (length & 1);
  }
  return 1;
}

}  // namespace

std::string name_of(const std::string& source) {
  if (source.empty()) return "picture";
  return source == "-" ? "standard input" : source;
}

std::optional<uint64_t> tiff_tag(const Bytes& tiff, uint32_t tag) {
  const bool little = tiff.starts("II");
  if (!little && !tiff.starts("MM")) return std::nullopt;
  const auto u16 = [&](size_t at) { return little ? tiff.le16(at) : tiff.be16(at); };
  const auto u32 = [&](size_t at) { return little ? tiff.le32(at) : tiff.be32(at); };
  const auto u64 = [&](size_t at) { return little ? tiff.le64(at) : tiff.be64(at); };
  const uint32_t version = u16(2);
  if (version != 42 && version != 43) return std::nullopt;
  const bool big = version == 43;
  const uint64_t directory = big ? u64(8) : u32(4);
  if (directory < 8 || directory >= tiff.size()) return std::nullopt;
  const uint64_t count = std::min<uint64_t>(big ? u64(directory) : u16(directory), 65536);
  const size_t entry_size = big ? 20 : 12;
  for (uint64_t i = 0; i < count; ++i) {
    const size_t entry = directory + (big ? 8 : 2) + i * entry_size;
    if (!tiff.holds(entry, entry_size)) return std::nullopt;
    if (u16(entry) != tag) continue;
    const size_t value = entry + (big ? 12 : 8);
    switch (u16(entry + 2)) {
      case 1:
        return tiff.u8(value);
      case 3:
        return u16(value);
      case 4:
        return u32(value);
      case 16:
        return big ? std::optional<uint64_t>(u64(value)) : std::nullopt;
      default:
        return std::nullopt;
    }
  }
  return std::nullopt;
}

int orientation_of(const Bytes& file, Format format) {
  int found = 1;
  if (format == Format::jpeg) found = jpeg_orientation(file);
  if (format == Format::png) found = png_orientation(file);
  if (format == Format::webp) found = webp_orientation(file);
  if (format == Format::tiff) found = exif_orientation(file);
  return found >= 1 && found <= 8 ? found : 1;
}

const char* label_of(Format format) {
  constexpr const char* kLabels[] = {"JPEG", "PNG", "WebP", "TIFF", "BMP", "HEIC", "PDF"};
  return kLabels[static_cast<size_t>(format)];
}

Probe probe(const std::vector<uint8_t>& bytes, const std::string& source) {
  const Bytes file{std::span<const uint8_t>(bytes)};
  Size size;
  const Format format = format_of(file, source);
  if (format == Format::pdf) return {format, 0, 0};
  if (format == Format::heic) return probe_heic(file, source);
  if (format == Format::jpeg) size = jpeg_size(file);
  if (format == Format::png && file.starts("IHDR", 12)) size = {file.be32(16), file.be32(20)};
  if (format == Format::webp) size = webp_size(file);
  if (format == Format::tiff) size = tiff_size(file);
  if (format == Format::bmp) size = bmp_size(file);
  const int64_t most = std::numeric_limits<int32_t>::max();
  if (size.width < 1 || size.height < 1 || size.width > most || size.height > most)
    broken(source,
           std::string("broken ") + label_of(format) + ": its header gives no size (truncated?)");
  return {format, static_cast<int>(size.width), static_cast<int>(size.height)};
}

}  // namespace arrcoc::media
