// Pixels of whole pictures in the form that the realizer network takes.
#pragma once

#include "arrcoc/tokens.h"
#include "models/tiny/realizer.h"

namespace arrcoc::tiny {

inline constexpr int kWide = kPatch + 2 * kMargin;  // pixels along a patch with its margin
inline constexpr int kPatchBytes = kWide * kWide * 3;

// canvases [B,H,W,3] uint8 (H, W multiples of 32), extent [B,2] float -> the 13 compact channels at
// a quarter of the resolution, [B,H/4,W/4,13]. Position channels follow the extent, not the canvas.
Tensor page_texture(const Tensor& canvases, const Tensor& extent);

// [B,H,W,3] -> [B,H/4,W/4,48]: the pixels of each 4x4 block as channels.
Tensor page_pixels(const Tensor& canvases);
// The same from level-0 patches [B,rows*cols,1728].
Tensor page_pixels_of_patches(const Tensor& patches, int64_t rows, int64_t cols);

// [B,H,W,3] -> [B,H/16*W/16,1728] patches with their margins ([24][24][3]) in raster order; the
// canvas' border is repeated beyond it.
Tensor patches_of(const Tensor& canvases);

// [B,H,W,3] uint8 -> half the size, 2x2 means, rounded.
Tensor halve(const Tensor& canvases);

// A frame [3,h,w] float in [0,1] on a canvas whose sides are multiples of 32, its last row and
// column repeated: the page that page_pixels and page_texture make of that canvas's bytes.
Page page_of_frame(const Tensor& frame);
// The bytes [3,h,w] of such a frame, and the same page from them by plain operations on their
// device; extent as in Page.
Tensor bytes_of_frame(const Tensor& frame);
Page page_of_bytes(const Tensor& bytes, const Tensor& extent);

}  // namespace arrcoc::tiny
