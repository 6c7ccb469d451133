// A picture made ready for OCR.
#pragma once

#include <opencv2/core.hpp>

#include "arrcoc/picture.h"

namespace arrcoc::media {

// Part of a picture as dark ink on white paper, enlarged or shrunk by `scale` so that its letters
// are about 30 pixels high.
struct OcrSheet {
  cv::Mat ink;      // 8 bit, one channel
  float scale = 1;  // sheet pixels per picture pixel
  float top = 0;    // picture row of the sheet's first row
  float from = 0;   // words whose middle lies in picture rows [from, to) are this sheet's
  float to = 0;
};

// Median height of things that look like letters, in picture pixels; 0 when there are none.
float letter_height(const Picture& picture);

// The picture cut into one sheet or, when it is tall enough, two, at the emptiest row near the
// middle. They overlap, so that no word is cut. Empty for pictures too small to hold a letter.
std::vector<OcrSheet> sheets_of(const Picture& picture);

// One sheet of print on a ground of dots (a halftone, a dithered grey), which are smoothed away
// before letters are measured. Light print on dark is lost.
std::vector<OcrSheet> sheets_without_dots(const Picture& picture);

}  // namespace arrcoc::media
