// Parts shared by the providers and scorers that look at the frame with OpenCV.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <opencv2/core.hpp>
#include <vector>

#include "arrcoc/look.h"

namespace arrcoc::media {

// Headers on the three float planes of a [3,h,w] frame; `keep` holds the memory they look at.
struct FramePlanes {
  at::Tensor keep;
  cv::Mat plane[3];
};
FramePlanes planes_of(const at::Tensor& frame);

// Rec. 709 luma of a frame, 8 bit.
cv::Mat grey_of(const at::Tensor& frame);

// Area-averaged so that the longer side is at most `longest`; never enlarged.
cv::Mat shrunk(const cv::Mat& picture, int longest);

// How much a place of an 8-bit grey picture looks like text, CV_32F in [0,1], about a quarter of
// its size.
cv::Mat text_strength(const cv::Mat& grey);

// Superpixels: labels 0 .. count-1 (CV_32S), each one connected region.
struct Segments {
  cv::Mat labels;
  int count = 0;
};
// rgb: three float planes in [0,1] of one size. Deterministic on any number of threads.
Segments slic(const cv::Mat (&rgb)[3], int wanted = 50, float compactness = 10);

// Longest side of the picture that faces are looked for in.
inline constexpr int kFaceFrame = 320;

// Faces in an 8-bit grey picture, its pixels, sorted. Error{not_found} without cascade files.
std::vector<cv::Rect> detect_faces(const cv::Mat& grey);

// Exact area mean of `values`, which cover a source of width x height pixels, in the map's cells.
Map pool(const cv::Mat& values, const Map& shape, int width, int height);

// What strategies.cpp gives names.
std::unique_ptr<Provider> make_distance_field();
std::unique_ptr<Provider> make_text();
Map symbolic(const Sight& sight);
Map text(const Sight& sight);

}  // namespace arrcoc::media
