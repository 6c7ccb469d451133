// Pictures from and to files and memory, and pictures for people (needs OpenCV: arrcoc_media).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arrcoc/look.h"
#include "arrcoc/realize.h"

namespace arrcoc::media {

struct LoadOptions {
  double max_megapixels = 100;  // refused before decoding when larger
  int page = 1;                 // PDF: page, from 1
  double pdf_dpi = 150;         // PDF: resolution of the rendering
};

struct Probe {
  std::string format;  // jpeg, png, webp, tiff, bmp, heic, pdf
  int width = 0;       // as stored, before EXIF rotation; 0 for PDF
  int height = 0;
};

// Reads only headers. Error{bad_image} when the format is unknown or the header is broken.
Probe probe(const std::vector<uint8_t>& bytes, const std::string& source = "");

// JPEG (also CMYK and grey), PNG, WebP, TIFF, BMP, HEIC, PDF page; 8 or 16 bit; alpha over white;
// EXIF orientation applied. Error{bad_image, too_large, unsupported}, one line naming the source.
Picture decode(const std::vector<uint8_t>& bytes, const std::string& source = "",
               const LoadOptions& options = {});

// A file, or standard input for "-". Error{not_found, io} besides those of decode.
Picture load(const std::string& path, const LoadOptions& options = {});
std::vector<uint8_t> read_file(const std::string& path, size_t max_bytes = size_t{1} << 30);

// [3,H,W] uint8 -> PNG. The same pixels give the same bytes.
std::vector<uint8_t> encode_png(const at::Tensor& rgb);
// Writes beside the target and renames: a reader never sees half a file. Error{io}.
void write_file(const std::string& path, const std::vector<uint8_t>& bytes);
void write_png(const std::string& path, const at::Tensor& rgb);

// Pictures for people, [3,h,w] uint8, longer side at most `longest`.
struct DrawOptions {
  int longest = 1024;
  bool legend = true;
  bool quadtree = true;  // draw the leaves' outlines on the homunculus
};
// Heat map of tokens per area over the picture, with a legend in tokens.
at::Tensor draw_homunculus(const Picture& picture, const Allocation& allocation,
                           const DrawOptions& options = {});
// The relevance map over the picture.
at::Tensor draw_relevance(const Picture& picture, const Relevance& relevance,
                          const DrawOptions& options = {});
at::Tensor draw_quadtree(const Picture& picture, const Allocation& allocation,
                         const DrawOptions& options = {});
// The picture as the model sees it: every leaf filled with its mip level.
at::Tensor draw_seen(const Pyramid& pyramid, const Allocation& allocation,
                     const DrawOptions& options = {});

// Faces by OpenCV's frontal cascade, source pixels.
std::vector<Box> find_faces(const Picture& picture);

// Tesseract, English. Results are kept for the last pictures seen (by content hash). Thread-safe.
std::shared_ptr<const WordSource> tesseract();

// Adds what needs OpenCV or Tesseract to the registries: providers clusters, distance-field, text,
// reader-text; scorers symbolic, text, reader, and lexical with a face finder. `arrcoc info` lists
// them. Call once at start; calling again changes nothing.
void install();

}  // namespace arrcoc::media
