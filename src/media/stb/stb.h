// JPEG, PNG and BMP by stb_image, which is two headers: for machines without OpenCV and the
// libraries of the formats. Pixels are those of the other decoders, but for JPEG, where the inverse
// transform and the enlarged colours round differently (tests/media/stb_test.cpp says how much).
#pragma once

#include "media/codecs/codecs.h"

namespace arrcoc::media::stb {

// Upright, alpha over white. Error{bad_image, unsupported}, one line.
Upright decode(const Job& job);

// [3,height,width] planes -> PNG. The same pixels give the same bytes.
std::vector<uint8_t> encode(const uint8_t* planes, int width, int height);

}  // namespace arrcoc::media::stb
