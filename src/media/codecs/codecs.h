// One function per format: bytes -> [3,H,W] uint8 RGB, upright, alpha over white.
//
// Each works in strips of rows, so that besides the file and the result only a strip is in memory
// (WebP, interlaced PNG, HEIC and PDF need the whole picture once more; see Scratch).
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "arrcoc/error.h"
#include "arrcoc/media.h"
#include "media/codecs/bytes.h"

namespace arrcoc::media {

struct Job {
  Bytes bytes;
  std::string name;  // of the source, for messages
  Probe header;      // the size that was checked against the limit
  int orientation = 1;
  LoadOptions options;
  bool bytes_are_ours = false;  // nobody reads `bytes` after the decoder

  // Bytes [from, to) will not be read again: their memory may go back to the system, so that a
  // large file and its picture are never in memory together.
  void consumed(size_t from, size_t to) const;

  // Error{bad_image}: "name: broken JPEG: reason"
  [[noreturn]] void broken(const std::string& format, const std::string& reason) const {
    throw Error(ErrorCode::bad_image, name + ": broken " + format + ": " + reason);
  }
  // A decoder that sees another size than the header check would void the pixel limit.
  void require_size(const std::string& format, int64_t width, int64_t height) const {
    if (width != header.width || height != header.height) {
      broken(format, "its headers disagree about the size");
    }
  }
};

at::Tensor decode_jpeg(const Job& job);
at::Tensor decode_png(const Job& job);
at::Tensor decode_webp(const Job& job);
at::Tensor decode_tiff(const Job& job);
at::Tensor decode_bmp(const Job& job);
at::Tensor decode_heic(const Job& job);
at::Tensor decode_pdf(const Job& job);

// Error{too_large} when width x height passes the limit; the message has both sizes.
void require_within(double width, double height, const std::string& name,
                    const LoadOptions& options);

}  // namespace arrcoc::media
