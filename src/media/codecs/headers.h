// What a picture file says about itself, read without a decoder.
#pragma once

#include <optional>
#include <string>

#include "arrcoc/decode.h"
#include "media/codecs/bytes.h"

namespace arrcoc::media {

// First value of a tag in the first directory of a TIFF structure (classic or BigTIFF, either byte
// order); also the structure inside every EXIF block.
std::optional<uint64_t> tiff_tag(const Bytes& tiff, uint32_t tag);

// Bytes that the values of all its tags take, where they do not fit into the directory itself.
uint64_t tiff_tag_bytes(const Bytes& tiff);

// EXIF orientation 1..8 of the file; 1 where it says nothing legal. HEIC and PDF: always 1, their
// decoders turn the picture themselves.
int orientation_of(const Bytes& file, Format format);

// libheif's view of the primary picture's stored size.
Probe probe_heic(const Bytes& file, const std::string& source);

// probe() of bytes that lie anywhere.
Probe probe_bytes(const Bytes& file, const std::string& source);

// As people write it: "JPEG", "WebP".
const char* label_of(Format format);

// "receipt.jpg" or "picture", for the front of a message.
std::string name_of(const std::string& source);

}  // namespace arrcoc::media
