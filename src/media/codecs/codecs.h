// One function per format: bytes -> [3,H,W] bytes of RGB, upright, alpha over white.
//
// Each works in strips of rows, so that besides the file and the result only a strip is in memory
// (WebP, interlaced PNG, HEIC and PDF need the whole picture once more; see Scratch).
#pragma once

#include <csetjmp>
#include <functional>
#include <string>

#include "arrcoc/decode.h"
#include "arrcoc/error.h"
#include "media/codecs/bytes.h"

namespace arrcoc::media {

// Where the picture goes: asked once for all of its bytes, 3 * width * height.
using Memory = std::function<uint8_t*(size_t bytes)>;

struct Upright {
  int width = 0, height = 0;
};

struct Job {
  Bytes bytes;
  std::string name;  // of the source, for messages
  Probe header;      // the size that was checked against the limit
  int orientation = 1;
  LoadOptions options;
  bool bytes_are_ours = false;  // nobody reads `bytes` after the decoder
  Memory memory;

  // Error{bad_image}: "name: broken JPEG: reason"
  [[noreturn]] void broken(const std::string& reason) const;
  // Error{unsupported}: "name: what"
  [[noreturn]] void unsupported(const std::string& what) const;
  // A decoder that sees another size than the header check would void the pixel limit.
  void require_size(int64_t width, int64_t height) const;
};

// Calls a C library that reports errors by a longjmp to failure.jump. `call` may only call that
// library: no destructor is skipped then.
template <class Failure, class Call>
void guarded(const Job& job, Failure& failure, Call call) {
  if (setjmp(failure.jump) != 0) job.broken(failure.message);
  call();
}

// The front of the file that will not be read again: its memory goes back to the system on the way,
// so that a large file and its picture are never in memory together.
class Consumed {
 public:
  explicit Consumed(const Job& job) : job_(job) {}
  void up_to(size_t offset);

 private:
  const Job& job_;
  size_t done_ = 0;
};

Upright decode_jpeg(const Job& job);
Upright decode_png(const Job& job);
Upright decode_webp(const Job& job);
Upright decode_tiff(const Job& job);
Upright decode_bmp(const Job& job);
Upright decode_heic(const Job& job);
Upright decode_pdf(const Job& job);

// Checks the header against the limits, then decodes. Error{bad_image, too_large, unsupported}.
Upright decode_into(const Bytes& bytes, const std::string& source, const LoadOptions& options,
                    bool bytes_are_ours, const Memory& memory);

// [3,height,width] planes -> PNG. The same pixels give the same bytes.
std::vector<uint8_t> encode_planes(const uint8_t* planes, int width, int height);

// Error{too_large} when width x height passes the limit; the message has both sizes.
void require_within(double width, double height, const std::string& name,
                    const LoadOptions& options);

}  // namespace arrcoc::media
