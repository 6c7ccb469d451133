#include "cli/npy.h"

#include <bit>
#include <cstdint>
#include <vector>

#include "arrcoc/decode.h"

namespace arrcoc::cli {

static_assert(std::endian::native == std::endian::little, "the header says '<f4'");

void write_npy(const std::string& path, const Map& map) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                       std::to_string(map.rows) + ", " + std::to_string(map.cols) + "), }";
  constexpr size_t kBefore = 10, kAlign = 64;  // magic, version, length; the data begins aligned
  header.append((kAlign - (kBefore + header.size() + 1) % kAlign) % kAlign, ' ');
  header += '\n';
  std::string out = "\x93NUMPY\x01";
  out += '\0';
  out += static_cast<char>(header.size() & 0xFF);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  const auto* values = reinterpret_cast<const char*>(map.values.data());
  out.append(values, map.size() * sizeof(float));
  media::write_file(path, {out.begin(), out.end()});
}

}  // namespace arrcoc::cli
