// Bounded reads from untrusted bytes: outside the buffer every number is zero, never a fault.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace arrcoc::media {

class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(std::span<const uint8_t> data) : data_(data) {}

  size_t size() const { return data_.size(); }
  const uint8_t* data() const { return data_.data(); }
  bool holds(size_t at, size_t count) const {
    return at <= data_.size() && count <= data_.size() - at;
  }
  // The bytes [at, at + count), cut at the end of the buffer.
  Bytes part(size_t at, size_t count = SIZE_MAX) const {
    if (at >= data_.size()) return {};
    return Bytes(data_.subspan(at, std::min(count, data_.size() - at)));
  }
  bool starts(std::string_view magic, size_t at = 0) const {
    return holds(at, magic.size()) &&
           std::memcmp(data_.data() + at, magic.data(), magic.size()) == 0;
  }

  uint8_t u8(size_t at) const { return holds(at, 1) ? data_[at] : 0; }
  uint32_t le16(size_t at) const { return u8(at) | uint32_t{u8(at + 1)} << 8; }
  uint32_t be16(size_t at) const { return uint32_t{u8(at)} << 8 | u8(at + 1); }
  uint32_t le24(size_t at) const { return le16(at) | uint32_t{u8(at + 2)} << 16; }
  uint32_t le32(size_t at) const { return le16(at) | le16(at + 2) << 16; }
  uint32_t be32(size_t at) const { return be16(at) << 16 | be16(at + 2); }
  uint64_t le64(size_t at) const { return le32(at) | uint64_t{le32(at + 4)} << 32; }
  uint64_t be64(size_t at) const { return uint64_t{be32(at)} << 32 | be32(at + 4); }

 private:
  std::span<const uint8_t> data_;
};

}  // namespace arrcoc::media
