// Picture files as bytes: what they say about themselves, and the limits under which they are read.
// Nothing here knows tensors: the decoding program (arrcoc-decode) is built on this alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace arrcoc::media {

class Decoders;

struct LoadOptions {
  double max_megapixels = 100;  // refused before decoding when larger
  int page = 1;                 // PDF: page, from 1
  double pdf_dpi = 150;         // PDF: resolution of the rendering
  // Pictures are decoded by one of these processes (arrcoc/media.h); null: in this one.
  std::shared_ptr<Decoders> apart;
  // Asked now and then while a picture is decoded apart; true ends that with Error{io}.
  std::function<bool()> given_up;
};

enum class Format { jpeg, png, webp, tiff, bmp, heic, pdf };

struct Probe {
  Format format = Format::jpeg;
  int width = 0;  // as stored, before EXIF rotation; 0 for PDF
  int height = 0;
};

// Reads only headers. Error{bad_image} when the format is unknown or the header is broken.
Probe probe(const std::vector<uint8_t>& bytes, const std::string& source = "");

std::vector<uint8_t> read_file(const std::string& path, size_t max_bytes = size_t{1} << 30);
// Writes beside the target and renames: a reader never sees half a file. Error{io}.
void write_file(const std::string& path, const std::vector<uint8_t>& bytes);

}  // namespace arrcoc::media
