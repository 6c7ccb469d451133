// Between OpenCV's matrices and tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <opencv2/core.hpp>
#include <vector>

namespace arrcoc::media {

// A header on plane c of a contiguous [n,h,w] uint8 or float tensor; shares its memory.
cv::Mat plane_of(const at::Tensor& planes, int c);
// A new [3,h,w] uint8 tensor, contents undefined.
at::Tensor new_picture(int height, int width);
// Interleaved RGB copy of a [3,h,w] uint8 tensor, and back.
cv::Mat interleaved(const at::Tensor& rgb);
at::Tensor planar(const cv::Mat& rgb);
// [k,h,w] float tensor from k float Mats of one size.
at::Tensor stack(const std::vector<cv::Mat>& maps);

}  // namespace arrcoc::media
