// preprocessor_config.json: from a picture to what a vision tower takes.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "arrcoc/map.h"
#include "base/tiling.h"
#include "models/hf/resample.h"
#include "models/settings.h"

namespace arrcoc::hf {

struct Pixels {
  at::Tensor values;      // smart-resize: [t*h*w, 3*T*P*P] in merge-block order; else [tiles,3,H,W]
  at::Tensor grid;        // smart-resize: [1,3] int64 (t,h,w) in patches; DeepSeek-OCR-2: the
                          // local views [tiles,3,T,T]; else undefined
  int64_t tile_rows = 1;  // tiles beside the view of the whole (Ovis2: first; SmolVLM: last)
  int64_t tile_cols = 1;
};

// How many pixels a picture may have after smart-resize; 0: as the file says. Pictures with a
// minimum of one's own may be of any shape. DeepSeek-OCR-2: with a maximum only the whole is seen.
struct PixelLimits {
  int64_t min_pixels = 0;
  int64_t max_pixels = 0;
};

class ImageProcessor {
 public:
  // The file, or the folder with preprocessor_config.json. Error{not_found, bad_json, unsupported}.
  static ImageProcessor open(const std::string& path);
  static ImageProcessor from(const json& settings, const std::string& file);

  // Where pixels are normalised and cut into patches; they are resampled on the CPU (as Pillow
  // does, to the last bit) and cross over as bytes.
  void on(at::Device device) { device_ = device; }

  // rgb [3,H,W] uint8 on the CPU. Error{bad_image} for shapes the family refuses.
  Pixels process(const at::Tensor& rgb, const PixelLimits& limits = {}) const;

  // Smart-resize families: the picture as exactly rows x cols tokens.
  Pixels exactly(const at::Tensor& rgb, int64_t rows, int64_t cols) const;

  // Smart-resize families, in two steps: the picture in its size (values: [3,H,W] uint8) with its
  // grid, and what process() makes of some of its tokens.
  Pixels sized(const at::Tensor& rgb, const PixelLimits& limits = {}) const;
  at::Tensor values_of(const at::Tensor& sized, const std::vector<int64_t>& tokens) const;

  // Frames of one size as a film: a temporal patch holds several, the last frame fills it up.
  // Its grid is [1,5], see Vlm::positions; whole seconds are 1. Error{bad_image}.
  Pixels film(const std::vector<at::Tensor>& frames, const PixelLimits& limits = {}) const;
  // Height and width of the frames; limits are those of a frame, or (Qwen3) of all together.
  std::pair<int64_t, int64_t> film_size(int64_t frames, int64_t height, int64_t width,
                                        const PixelLimits& limits = {}) const;
  bool over_time() const { return over_time_; }

  // True when the number of tokens follows the picture's size (the Qwen family).
  bool follows_size() const { return kind_ == Kind::smart; }
  // Height and width after smart-resize. Error{bad_image} for sides in a ratio over 200.
  std::pair<int64_t, int64_t> smart_size(int64_t height, int64_t width,
                                         const PixelLimits& limits = {}) const;
  int64_t patch() const { return patch_; }
  int64_t merge() const { return merge_; }
  int64_t temporal() const { return temporal_; }
  // The part of a picture that the tower sees, in its pixels: all of it, but for centre crops
  // (which may also reach past the edges).
  Box visible(int height, int width) const;
  // Other families: how many pictures of one size (the whole, and tiles) that makes.
  int64_t count(int64_t height, int64_t width) const;
  // Pixels along each of them, for families whose tiles are square.
  int64_t tile_side() const { return kind_ == Kind::split || has_views() ? tile_ : height_; }
  int64_t whole_side() const { return max_tiles_ > 1 ? height_ : tile_; }  // DeepSeek-OCR-2
  bool has_views() const { return kind_ == Kind::views; }
  bool splits() const { return kind_ == Kind::split; }  // SmolVLM, Idefics3

 private:
  enum class Kind { smart, fixed, tiles, longest, split, views };
  void read_sizes(const Settings& settings, bool clip);
  void read_frame(const Settings& settings);
  TileGrid tile_grid(int64_t height, int64_t width) const;
  at::Tensor normalised(const at::Tensor& rgb) const;  // [..,3,H,W] uint8 -> float
  at::Tensor resized(const at::Tensor& rgb) const;
  at::Tensor cropped(const at::Tensor& rgb) const;
  Pixels tiles(const at::Tensor& rgb) const;
  Pixels split(const at::Tensor& rgb) const;
  Pixels views(const at::Tensor& rgb, const PixelLimits& limits) const;
  PixelSize split_size(int64_t height, int64_t width) const;  // before it is cut into tiles
  Pixels still(const at::Tensor& image) const;
  Pixels patchified(const at::Tensor& frames) const;  // [n*temporal,3,H,W]

  Kind kind_ = Kind::fixed;
  at::Device device_ = at::kCPU;
  bool resize_ = true, rescale_ = true, normalise_ = true, crop_ = false, pad_ = false;
  Filter filter_ = Filter::bicubic;
  double factor_ = 1.0 / 255;
  std::vector<double> mean_, deviation_;
  int64_t shortest_ = 0, longest_ = 0, height_ = 0, width_ = 0;  // of resizing; 0: not given
  int64_t crop_height_ = 0, crop_width_ = 0;
  int64_t pad_height_ = 0, pad_width_ = 0;
  int64_t patch_ = 14, merge_ = 2, temporal_ = 2;
  int64_t min_pixels_ = 56 * 56, max_pixels_ = 28 * 28 * 1280;
  int64_t max_tiles_ = 1, min_tiles_ = 1;
  int64_t tile_ = 364;              // of pictures that are split or seen in views
  std::vector<double> background_;  // around the view of the whole
  bool cover_area_ = true;
  bool over_time_ = false;  // limits of pixels are those of a whole film
};

}  // namespace arrcoc::hf
