// Small files that cost much: what strangers send to hurt a server. Made here byte by byte.
#pragma once

#include <string>
#include <vector>

#include "media/pictures.h"

namespace pictures {

enum class Fate {
  harmless,  // what would unfold is skipped: the picture is decoded
  refused,   // an Error by the codec's own limits, in any process
  slow,      // takes seconds or gigabytes: only a process of its own can be stopped
};

struct Bomb {
  std::string name;
  Blob file;
  Fate fate = Fate::refused;
};

std::vector<Bomb> bombs();

// A page of forms that draw each other: `fan` to the power of `depth` squares.
Blob pdf_of_forms(int depth, int fan);
// A progressive JPEG of grey of so many scans, a few bytes each.
Blob jpeg_of_scans(int width, int height, int scans);
// A PNG with so many chunks of this kind (zTXt, iTXt, iCCP) that each unfold to `bytes`.
Blob png_of_texts(const std::string& kind, int chunks, size_t bytes);
// A grid of width x height pixels that says it has 64 x 64, of one tile. Empty without an encoder.
Blob heic_of_grid(uint32_t width, uint32_t height);

// A PDF of these objects; the first is the catalogue. An object with a stream.
Blob pdf_file(const std::vector<std::string>& objects);
std::string stream(const std::string& head, const std::string& body);

}  // namespace pictures
