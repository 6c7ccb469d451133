// What this program and arrcoc-decode (or arrcoc-decode-film) say to each other, in packets over a
// socket. File and pixels lie in a shared file without a name: the file at 0, the planes at
// Order::planes_at.
#pragma once

#include <cstddef>
#include <cstdint>

namespace arrcoc::media {

// Descriptors of the program at its start.
constexpr int kSocket = 3;
constexpr int kShared = 4;
constexpr int kFilm = 5;  // of arrcoc-decode-film alone

constexpr uint32_t kProtocol = 0x61720001;
constexpr size_t kMostText = 8192;  // of a name or a message, cut there

// The program's first packet.
struct Hello {
  uint32_t protocol = kProtocol;
  uint32_t refused = 0;        // Refused bits
  uint64_t address_space = 0;  // bytes mapped before any picture
};
enum Refused : uint32_t { kNoFiles = 1, kNoCalls = 2 };

// A picture to decode; the source's name follows in the same packet.
struct Order {
  uint64_t bytes = 0, planes_at = 0;
  double max_megapixels = 0, pdf_dpi = 0;
  int32_t page = 0;
};

// What became of it; a message follows in the same packet where there are no planes.
struct Outcome {
  int32_t error = kDone;  // an ErrorCode
  int32_t width = 0, height = 0;
  static constexpr int32_t kDone = -1, kEnd = -2, kBroken = -3;
};

// What arrcoc-decode-film says to its one Order. Then every packet asks for a frame: an Outcome,
// its rows (BGR) at the front of the shared file.
struct FilmHead {
  int32_t width = 0, height = 0;  // 0: it cannot be decoded
  double fps = 0;
  int64_t frames = 0;  // that it announces
};

}  // namespace arrcoc::media
