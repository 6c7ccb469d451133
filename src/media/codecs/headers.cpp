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

// One entry of a directory; numbers are read in the file's byte order.
struct TiffEntry {
  const Bytes& file;
  bool little, big;  // big: BigTIFF
  uint32_t tag = 0, type = 0;
  uint64_t count = 0;
  size_t value = 0;  // where it stands, or its offset

  uint32_t u16(size_t at) const { return little ? file.le16(at) : file.be16(at); }
  uint32_t u32(size_t at) const { return little ? file.le32(at) : file.be32(at); }
  uint64_t u64(size_t at) const { return little ? file.le64(at) : file.be64(at); }
};

// Calls visit(entry) for every entry of the first directory, until it returns true.
template <class Visit>
void walk_tiff(const Bytes& tiff, Visit visit) {
  const bool little = tiff.starts("II");
  if (!little && !tiff.starts("MM")) return;
  TiffEntry entry{tiff, little, false};
  const uint32_t version = entry.u16(2);
  if (version != 42 && version != 43) return;
  entry.big = version == 43;
  const uint64_t directory = entry.big ? entry.u64(8) : entry.u32(4);
  if (directory < 8 || directory >= tiff.size()) return;
  const uint64_t count =
      std::min<uint64_t>(entry.big ? entry.u64(directory) : entry.u16(directory), 65536);
  const size_t size = entry.big ? 20 : 12;
  for (uint64_t i = 0; i < count; ++i) {
    const size_t at = directory + (entry.big ? 8 : 2) + i * size;
    if (!tiff.holds(at, size)) return;
    entry.tag = entry.u16(at);
    entry.type = entry.u16(at + 2);
    entry.count = entry.big ? entry.u64(at + 4) : entry.u32(at + 4);
    entry.value = at + (entry.big ? 12 : 8);
    if (visit(entry)) return;
  }
}

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
  std::optional<uint64_t> out;
  walk_tiff(tiff, [&](const TiffEntry& entry) {
    if (entry.tag != tag) return false;
    if (entry.type == 1) out = tiff.u8(entry.value);
    if (entry.type == 3) out = entry.u16(entry.value);
    if (entry.type == 4) out = entry.u32(entry.value);
    if (entry.type == 16 && entry.big) out = entry.u64(entry.value);
    return true;
  });
  return out;
}

uint64_t tiff_tag_bytes(const Bytes& tiff) {
  constexpr uint64_t kSizes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
  uint64_t out = 0;
  walk_tiff(tiff, [&](const TiffEntry& entry) {
    const uint64_t each = entry.type < std::size(kSizes) ? kSizes[entry.type] : 0;
    const uint64_t count = std::min<uint64_t>(entry.count, uint64_t{1} << 40);
    if (each * count > (entry.big ? 8 : 4)) out += each * count;
    return false;
  });
  return out;
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
  return probe_bytes(Bytes(std::span<const uint8_t>(bytes)), source);
}

Probe probe_bytes(const Bytes& file, const std::string& source) {
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
