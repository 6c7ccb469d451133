// Picture files for the tests, made here byte by byte or with the formats' own libraries.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <opencv2/core.hpp>

#include "arrcoc/media.h"

namespace pictures {

using Blob = std::vector<uint8_t>;

// A picture without symmetry: every orientation of it is different. RGB order.
cv::Mat pattern(int width, int height);
cv::Mat noise(int width, int height, uint64_t seed);

// A drawn face, 320x256, that OpenCV's frontal cascades take for one; its features lie within
// (110,70)-(210,190).
cv::Mat face();

// The picture as decoded, interleaved RGB.
cv::Mat pixels(const arrcoc::Picture& picture);
// Largest absolute difference of any value; -1 when the sizes differ.
double difference(const cv::Mat& a, const cv::Mat& b);

// Through OpenCV's writers; rgb or grey or RGBA, 8 or 16 bit. extension with its dot.
Blob encoded(const cv::Mat& picture, const std::string& extension, std::vector<int> options = {});

enum class Inks { cmyk, cmyk_adobe, ycck };
// cmyk: CV_8UC4, 255 = full ink. Written plain, or inverted with Adobe's marker.
Blob cmyk_jpeg(const cv::Mat& cmyk, Inks inks);

struct PngKind {
  int colour_type = 2;  // 0 grey, 2 RGB, 3 palette, 4 grey+alpha, 6 RGBA
  int bits = 8;
  bool interlaced = false;
  std::vector<cv::Vec3b> palette;
  Blob transparent;  // palette alphas, or 2 (grey) or 6 (RGB) bytes of the transparent colour
};
// rows: packed as PNG wants them, big-endian for 16 bit.
Blob png(int width, int height, const std::vector<Blob>& rows, const PngKind& kind);

struct TiffKind {
  bool big_endian = false;
  int orientation = 1;
  int extra = -1;  // meaning of the last sample: 1 premultiplied alpha, 2 straight alpha
};
// Uncompressed strips of a CV_8U or CV_16U picture of 1 to 4 channels.
Blob tiff(const cv::Mat& picture, const TiffKind& kind = {});

// Plain BMP of the given header size (12, 40, 108) and bits with raw rows as stored (bottom up
// unless height is negative).
Blob bmp(int header, int width, int height, int bits, uint32_t compression, const Blob& palette,
         const Blob& data, const std::vector<uint32_t>& masks = {});

// One page of width x height points that is white with a filled rectangle (from the top left).
Blob pdf(int width, int height, cv::Rect rectangle, cv::Vec3d colour, int pages = 1);

// libheif's own encoder, near lossless. Empty when this build of libheif cannot encode.
Blob heic(const cv::Mat& rgb);

// EXIF block (a TIFF structure) holding the orientation tag.
Blob exif(int orientation, bool big_endian);
Blob jpeg_with_exif(const Blob& jpeg, const Blob& exif);
Blob png_with_exif(const Blob& png, const Blob& exif, bool after_pixels);
Blob webp_with_exif(const Blob& webp, int width, int height, const Blob& exif);

// PNG that claims a size and holds next to nothing.
Blob png_claiming(uint32_t width, uint32_t height);

// What a viewer shows for a stored picture with this EXIF orientation, pixel by pixel.
cv::Mat turned(const cv::Mat& stored, int orientation);

}  // namespace pictures
