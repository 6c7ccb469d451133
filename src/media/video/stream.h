// A film or a camera, frame by frame, behind what decodes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "arrcoc/decode.h"
#include "media/apart/protocol.h"

namespace arrcoc::media {

// Interleaved bytes of blue, green, red; rows without gaps.
struct Grabbed {
  int width = 0, height = 0;
  std::unique_ptr<uint8_t[]> bgr;

  void create(int w, int h) {
    width = w, height = h;
    bgr = std::make_unique_for_overwrite<uint8_t[]>(bytes());
  }
  size_t bytes() const { return size_t{3} * static_cast<size_t>(width) * height; }
};

class Stream {
 public:
  virtual ~Stream() = default;
  virtual FilmHead head() const = 0;
  // The next frame; false at the end and at a damaged packet.
  virtual bool grab() = 0;
  // Its pixels; false when they cannot be decoded.
  virtual bool retrieve(Grabbed& frame) = 0;
};

// camera: below 0 for a film. Null when it cannot be opened.
std::unique_ptr<Stream> open_stream(const std::string& source, int camera,
                                    const LoadOptions& options);

}  // namespace arrcoc::media
