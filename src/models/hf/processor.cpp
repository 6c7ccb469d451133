#include "models/hf/processor.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "arrcoc/error.h"

namespace arrcoc::hf {
namespace {

constexpr int64_t kMaxSide = 1 << 20;
constexpr int64_t kMostTiles = 1024;
constexpr int64_t kMaxPixels = int64_t{1} << 40;

std::vector<double> channel_values(const Settings& s, const char* key,
                                   std::vector<double> fallback) {
  if (!s.has(key)) return fallback;
  const json& value = s.need(key);
  if (value.is_number()) return std::vector<double>(3, value.get<double>());
  if (!value.is_array() || value.size() != 3) s.fail(key, "is not three numbers");
  std::vector<double> out;
  for (const json& one : value) read_value(s.file(), key, one, out.emplace_back());
  return out;
}

int64_t side(const Settings& s, const char* key) { return s.whole(key, 0, 1, kMaxSide); }

// Half to even, as Python rounds.
int64_t round_even(double value) { return static_cast<int64_t>(std::nearbyint(value)); }

}  // namespace

ImageProcessor ImageProcessor::open(const std::string& path) {
  std::filesystem::path file = path;
  if (std::filesystem::is_directory(file)) file /= "preprocessor_config.json";
  return from(Settings::read(file.string()), file.string());
}

ImageProcessor ImageProcessor::from(const json& settings, const std::string& file) {
  const Settings s(settings, file);
  const bool film = s.has("video_processor_type");
  const std::string still = s.get("image_processor_type", s.get("feature_extractor_type", ""));
  const std::string type = film ? s.get("video_processor_type", "") : still;
  auto is = [&](const char* name) { return type.rfind(name, 0) == 0; };
  const bool clip = is("CLIP") || is("Llava");
  ImageProcessor p;
  if (is("Qwen2") || is("Qwen3"))
    p.kind_ = Kind::smart;
  else if (is("Ovis2"))
    p.kind_ = Kind::tiles;
  else if (is("Sam"))
    p.kind_ = Kind::longest;
  else if (is("SmolVLM") || is("Idefics3"))
    p.kind_ = Kind::split;
  else if (is("DeepseekOcr2"))
    p.kind_ = Kind::views;
  else if (!clip && !is("Siglip") && !is("ViT"))
    throw Error(ErrorCode::unsupported, file + ": unknown image processor '" + type + "'");
  std::vector<double> mean(3, 0.5), deviation(3, 0.5);
  if (clip || p.kind_ == Kind::smart || p.kind_ == Kind::tiles) {
    mean = {0.48145466, 0.4578275, 0.40821073};
    deviation = {0.26862954, 0.26130258, 0.27577711};
  } else if (p.kind_ == Kind::longest) {
    mean = {0.485, 0.456, 0.406};
    deviation = {0.229, 0.224, 0.225};
  }
  p.mean_ = channel_values(s, "image_mean", mean);
  p.deviation_ = channel_values(s, "image_std", deviation);
  p.resize_ = s.get("do_resize", true);
  p.rescale_ = s.get("do_rescale", true);
  p.normalise_ = s.get("do_normalize", true);
  p.crop_ = s.get("do_center_crop", clip);
  p.factor_ = s.get("rescale_factor", 1.0 / 255);
  const int64_t filter = p.kind_ == Kind::longest ? 2 : p.kind_ == Kind::split ? 1 : 3;
  p.filter_ = static_cast<Filter>(s.whole("resample", filter, 0, 5));
  p.over_time_ = film && is("Qwen3");
  if (film) {
    p.min_pixels_ = p.over_time_ ? 128 * 32 * 32 : 128 * 28 * 28;
    p.max_pixels_ = p.over_time_ ? 768 * 32 * 32 : 768 * 28 * 28;
  }
  p.read_sizes(s, clip);
  p.read_frame(s);
  return p;
}

// What a picture is resized to, under the names of several years.
void ImageProcessor::read_sizes(const Settings& s, bool clip) {
  patch_ = s.whole("patch_size", 14, 1, 1024);
  merge_ = s.whole("merge_size", 2, 1, 64);
  temporal_ = s.whole("temporal_patch_size", 2, 1, 64);
  max_tiles_ = s.whole("max_patches", 12, 1, 256);
  min_tiles_ = s.whole("min_patches", 1, 1, 256);
  cover_area_ = s.get("use_covering_area_grid", true);
  const bool near = kind_ == Kind::views;
  if (near) {
    max_tiles_ = s.whole("max_patches", 6, 1, 256);
    min_tiles_ = s.whole("min_patches", 2, 1, 256);
    tile_ = s.whole("tile_size", 768, 1, kMaxSide);
    background_ = channel_values(s, "background_color", {127, 127, 127});
  }
  if (!s.get(kind_ == Kind::split ? "do_image_splitting" : "crop_to_patches",
             kind_ == Kind::split || near))
    max_tiles_ = 1;
  if (s.has("max_image_size")) tile_ = side(s.below("max_image_size"), "longest_edge");
  if (tile_ < 1) s.fail("max_image_size", "has no longest_edge");
  if (s.has("size") && s.need("size").is_number_integer()) {  // the spelling before 4.24
    (crop_ ? shortest_ : height_) = side(s, "size");
    if (!crop_) width_ = height_;
  } else if (kind_ == Kind::smart) {
    min_pixels_ = s.below("size").whole("shortest_edge", min_pixels_, 1, kMaxPixels);
    max_pixels_ = s.below("size").whole("longest_edge", max_pixels_, 1, kMaxPixels);
  } else {
    const Settings size = s.below("size");
    shortest_ = side(size, "shortest_edge");
    longest_ = side(size, "longest_edge");
    height_ = side(size, "height");
    width_ = side(size, "width");
  }
  if (kind_ == Kind::smart) {
    min_pixels_ = s.whole("min_pixels", min_pixels_, 1, kMaxPixels);
    max_pixels_ = s.whole("max_pixels", max_pixels_, 1, kMaxPixels);
  } else if (kind_ == Kind::longest) {
    if (!longest_) longest_ = 1024;
  } else if (kind_ == Kind::split) {
    if (!longest_ && (!height_ || !width_)) longest_ = 4 * 364;
  } else if (!shortest_ && (!height_ || !width_)) {
    if (clip) shortest_ = 224;
    height_ = width_ = kind_ == Kind::views ? 1024 : kind_ == Kind::tiles ? 384 : 224;
  }
}

// What is cut out of the resized picture, or put around it.
void ImageProcessor::read_frame(const Settings& s) {
  if (kind_ == Kind::longest) {
    pad_ = s.get("do_pad", true);
    pad_height_ = s.has("pad_size") ? side(s.below("pad_size"), "height") : longest_;
    pad_width_ = s.has("pad_size") ? side(s.below("pad_size"), "width") : longest_;
  }
  if (!crop_) return;
  crop_height_ = crop_width_ = shortest_ ? shortest_ : height_;
  if (s.has("crop_size") && s.need("crop_size").is_number_integer()) {
    crop_height_ = crop_width_ = side(s, "crop_size");
  } else if (s.has("crop_size")) {
    crop_height_ = side(s.below("crop_size"), "height");
    crop_width_ = side(s.below("crop_size"), "width");
  }
  if (!crop_height_ || !crop_width_) s.fail("crop_size", "is not given");
}

Box ImageProcessor::visible(int height, int width) const {
  const auto high = static_cast<float>(height), wide = static_cast<float>(width);
  if (!crop_ || kind_ != Kind::fixed) return {0, 0, wide, high};
  const float scale =
      resize_ && shortest_ ? static_cast<float>(shortest_) / std::min(high, wide) : 1;
  const float x = static_cast<float>(crop_width_) / scale;
  const float y = static_cast<float>(crop_height_) / scale;
  return {(wide - x) / 2, (high - y) / 2, (wide + x) / 2, (high + y) / 2};
}

std::pair<int64_t, int64_t> ImageProcessor::smart_size(int64_t height, int64_t width,
                                                       const PixelLimits& limits) const {
  auto unit = static_cast<double>(patch_ * merge_);
  auto high = static_cast<double>(height);
  auto wide = static_cast<double>(width);
  auto least = static_cast<double>(limits.min_pixels ? limits.min_pixels : min_pixels_);
  auto most = static_cast<double>(limits.max_pixels ? limits.max_pixels : max_pixels_);
  if (!limits.min_pixels && std::max(high, wide) / std::min(high, wide) > 200)
    throw Error(ErrorCode::bad_image, "a picture of " + std::to_string(width) + "x" +
                                          std::to_string(height) +
                                          " is too thin for this model: sides up to 200:1");
  int64_t step = patch_ * merge_;
  int64_t rows = round_even(high / unit);
  int64_t cols = round_even(wide / unit);
  if (limits.min_pixels) {  // of one's own: at least one token, whatever the shape
    rows = std::max<int64_t>(1, rows);
    cols = std::max<int64_t>(1, cols);
  }
  auto area = static_cast<double>(rows * step) * static_cast<double>(cols * step);
  if (area > most) {
    double shrink = std::sqrt(high * wide / most);
    rows = std::max<int64_t>(1, static_cast<int64_t>(std::floor(high / shrink / unit)));
    cols = std::max<int64_t>(1, static_cast<int64_t>(std::floor(wide / shrink / unit)));
  } else if (area < least) {
    double grow = std::sqrt(least / (high * wide));
    rows = static_cast<int64_t>(std::ceil(high * grow / unit));
    cols = static_cast<int64_t>(std::ceil(wide * grow / unit));
  }
  return {std::max<int64_t>(1, rows) * step, std::max<int64_t>(1, cols) * step};
}

at::Tensor ImageProcessor::normalised(const at::Tensor& rgb) const {
  at::Tensor image = rgb.to(device_).to(at::kFloat);
  if (rescale_) image = image * factor_;
  if (!normalise_) return image;
  at::Tensor mean = at::tensor(mean_, at::kFloat).reshape({3, 1, 1}).to(device_);
  at::Tensor deviation = at::tensor(deviation_, at::kFloat).reshape({3, 1, 1}).to(device_);
  return (image - mean) / deviation;
}

at::Tensor ImageProcessor::resized(const at::Tensor& rgb) const {
  if (!resize_) return rgb;
  int64_t height = rgb.size(1);
  int64_t width = rgb.size(2);
  if (shortest_) {
    int64_t& shorter = height < width ? height : width;
    int64_t& longer = height < width ? width : height;
    longer = static_cast<int64_t>(static_cast<double>(shortest_ * longer) /
                                  static_cast<double>(shorter));
    shorter = shortest_;
  } else if (longest_) {
    double scale = static_cast<double>(longest_) / static_cast<double>(std::max(height, width));
    height = static_cast<int64_t>(static_cast<double>(height) * scale + 0.5);
    width = static_cast<int64_t>(static_cast<double>(width) * scale + 0.5);
  } else {
    height = height_;
    width = width_;
  }
  if (height > kMaxSide || width > kMaxSide)
    throw Error(ErrorCode::bad_image, "the picture is too thin to be resized for this model");
  return resample(rgb, std::max<int64_t>(1, height), std::max<int64_t>(1, width), filter_);
}

at::Tensor ImageProcessor::cropped(const at::Tensor& rgb) const {
  at::Tensor image = rgb;
  if (image.size(1) < crop_height_ || image.size(2) < crop_width_) {
    int64_t more_rows = std::max<int64_t>(0, crop_height_ - image.size(1));
    int64_t more_cols = std::max<int64_t>(0, crop_width_ - image.size(2));
    image = at::constant_pad_nd(
        image, {more_cols / 2, (more_cols + 1) / 2, more_rows / 2, (more_rows + 1) / 2});
  }
  return image.narrow(1, (image.size(1) - crop_height_) / 2, crop_height_)
      .narrow(2, (image.size(2) - crop_width_) / 2, crop_width_);
}

Pixels ImageProcessor::patchified(const at::Tensor& frames) const {
  int64_t count = frames.size(0) / temporal_;
  int64_t rows = frames.size(2) / patch_;
  int64_t cols = frames.size(3) / patch_;
  at::Tensor blocks = frames.reshape(
      {count, temporal_, 3, rows / merge_, merge_, patch_, cols / merge_, merge_, patch_});
  Pixels out;
  out.values = blocks.permute({0, 3, 6, 4, 7, 2, 1, 5, 8})
                   .reshape({count * rows * cols, 3 * temporal_ * patch_ * patch_});
  out.grid = at::tensor({count, rows, cols}, at::kLong).reshape({1, 3});
  return out;
}

// A still picture fills a temporal patch by repeating itself.
Pixels ImageProcessor::still(const at::Tensor& image) const {
  return patchified(
      image.unsqueeze(0).expand({temporal_, image.size(0), image.size(1), image.size(2)}));
}

PixelSize ImageProcessor::split_size(int64_t height, int64_t width) const {
  if (!resize_) return {height, width};
  return longest_ ? longest_edge_size({height, width}, longest_) : PixelSize{height_, width_};
}

TileGrid ImageProcessor::tile_grid(int64_t height, int64_t width) const {
  if (kind_ == Kind::split && max_tiles_ > 1) {
    const PixelSize canvas = whole_tiles_size(split_size(height, width), tile_);
    const TileGrid grid{canvas.height / tile_, canvas.width / tile_};
    if (grid.count() > kMostTiles)
      throw Error(ErrorCode::too_large, "the picture makes " + std::to_string(grid.count()) +
                                            " tiles, " + std::to_string(kMostTiles) +
                                            " are allowed");
    return grid;
  }
  if (kind_ == Kind::views && max_tiles_ > 1 && std::max(height, width) > tile_)
    return canvas_grid(height, width, tile_, tile_, min_tiles_, max_tiles_);
  if (kind_ != Kind::tiles || max_tiles_ == 1) return {};
  return cover_area_ ? covering_grid(height, width, height_, max_tiles_)
                     : canvas_grid(height, width, height_, width_, min_tiles_, max_tiles_);
}

int64_t ImageProcessor::count(int64_t height, int64_t width) const {
  const TileGrid grid = tile_grid(height, width);
  return grid.count() > 1 ? grid.count() + 1 : 1;
}

Pixels ImageProcessor::tiles(const at::Tensor& rgb) const {
  const TileGrid grid = tile_grid(rgb.size(1), rgb.size(2));
  std::vector<at::Tensor> pictures;
  if (grid.rows * grid.cols > 1 || max_tiles_ == 1)
    pictures.push_back(resample(rgb, height_, width_, filter_));  // the thumbnail comes first
  if (max_tiles_ > 1) {
    at::Tensor canvas = resample(rgb, height_ * grid.rows, width_ * grid.cols, filter_);
    for (int64_t tile = 0; tile < grid.rows * grid.cols; ++tile)
      pictures.push_back(canvas.narrow(1, tile / grid.cols * height_, height_)
                             .narrow(2, tile % grid.cols * width_, width_));
  }
  for (at::Tensor& picture : pictures) picture = normalised(picture);
  return {at::stack(pictures), {}, grid.rows, grid.cols};
}

// Enlarged to the longest edge, then to whole tiles; the view of the whole is made of that and
// comes last.
Pixels ImageProcessor::split(const at::Tensor& rgb) const {
  const PixelSize size = split_size(rgb.size(1), rgb.size(2));
  const TileGrid grid = tile_grid(rgb.size(1), rgb.size(2));
  at::Tensor canvas = rgb;
  if (resize_) canvas = resample(canvas, size.height, size.width, filter_);
  std::vector<at::Tensor> pictures;
  if (grid.count() > 1) {
    canvas = resample(canvas, grid.rows * tile_, grid.cols * tile_, filter_);
    for (int64_t tile = 0; tile < grid.count(); ++tile)
      pictures.push_back(canvas.narrow(1, tile / grid.cols * tile_, tile_)
                             .narrow(2, tile % grid.cols * tile_, tile_));
  }
  pictures.push_back(resample(canvas, tile_, tile_, filter_));
  for (at::Tensor& picture : pictures) picture = normalised(picture);
  return {at::stack(pictures), {}, grid.rows, grid.cols};
}

// The whole on a square, and tiles of larger pictures.
Pixels ImageProcessor::views(const at::Tensor& rgb, const PixelLimits& limits) const {
  int64_t side = whole_side();
  if (limits.max_pixels > 0 && limits.max_pixels < side * side) side = tile_;
  const double scale =
      static_cast<double>(side) / static_cast<double>(std::max(rgb.size(1), rgb.size(2)));
  const auto scaled = [&](int64_t length) {
    return std::max<int64_t>(1, round_even(static_cast<double>(length) * scale));
  };
  const at::Tensor small = resample(rgb, scaled(rgb.size(1)), scaled(rgb.size(2)), filter_);
  const int64_t square = std::max(small.size(1), small.size(2));
  at::Tensor whole = at::tensor(background_, at::kDouble)
                         .to(at::kByte)
                         .reshape({3, 1, 1})
                         .expand({3, square, square})
                         .clone();
  whole.narrow(1, (square - small.size(1)) / 2, small.size(1))
      .narrow(2, (square - small.size(2)) / 2, small.size(2))
      .copy_(small);
  Pixels out;
  out.values = normalised(whole).unsqueeze(0);
  const TileGrid grid = tile_grid(rgb.size(1), rgb.size(2));
  if (grid.count() == 1 || limits.max_pixels > 0) return out;
  const at::Tensor canvas = resample(rgb, grid.rows * tile_, grid.cols * tile_, filter_);
  std::vector<at::Tensor> tiles;
  for (int64_t tile = 0; tile < grid.count(); ++tile)
    tiles.push_back(normalised(canvas.narrow(1, tile / grid.cols * tile_, tile_)
                                   .narrow(2, tile % grid.cols * tile_, tile_)));
  out.grid = at::stack(tiles);
  out.tile_rows = grid.rows;
  out.tile_cols = grid.cols;
  return out;
}

Pixels ImageProcessor::exactly(const at::Tensor& rgb, int64_t rows, int64_t cols) const {
  int64_t unit = patch_ * merge_;
  return still(normalised(resample(rgb, rows * unit, cols * unit, filter_)));
}

Pixels ImageProcessor::sized(const at::Tensor& rgb, const PixelLimits& limits) const {
  at::Tensor image = rgb;
  auto [height, width] = smart_size(rgb.size(1), rgb.size(2), limits);
  if (resize_) image = resample(rgb, height, width, filter_);
  int64_t unit = patch_ * merge_;
  if (image.size(1) % unit || image.size(2) % unit)
    throw Error(ErrorCode::bad_image, "sides must be multiples of " + std::to_string(unit) +
                                          " when the processor does not resize");
  const int64_t rows = image.size(1) / patch_, cols = image.size(2) / patch_;
  return {image.contiguous(), at::tensor({int64_t{1}, rows, cols}, at::kLong).reshape({1, 3})};
}

// Only the bytes of these tokens go to the device.
at::Tensor ImageProcessor::values_of(const at::Tensor& sized,
                                     const std::vector<int64_t>& tokens) const {
  const int64_t width = sized.size(2), plane = sized.size(1) * width, side = patch_ * merge_;
  const int64_t across = width / side, unit = merge_ * merge_;
  const auto count = static_cast<int64_t>(tokens.size());
  at::Tensor bytes = at::empty({count * unit, 3, patch_, patch_}, at::kByte);
  const auto* from = sized.data_ptr<uint8_t>();
  auto* to = bytes.data_ptr<uint8_t>();
  at::parallel_for(0, count * unit, 256, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t token = tokens[static_cast<size_t>(i / unit)];
      const int64_t y = token / across * side + i % unit / merge_ * patch_;
      const int64_t x = token % across * side + i % merge_ * patch_;
      for (int64_t row = 0; row < 3 * patch_; ++row)
        std::memcpy(to + (i * 3 * patch_ + row) * patch_,
                    from + row / patch_ * plane + (y + row % patch_) * width + x,
                    static_cast<size_t>(patch_));
    }
  });
  return normalised(bytes)
      .unsqueeze(2)
      .expand({count * unit, 3, temporal_, patch_, patch_})
      .reshape({count * unit, 3 * temporal_ * patch_ * patch_});
}

Pixels ImageProcessor::process(const at::Tensor& rgb, const PixelLimits& limits) const {
  if (!rgb.defined() || rgb.dim() != 3 || rgb.size(0) != 3 || rgb.scalar_type() != at::kByte ||
      rgb.numel() == 0)
    throw Error(ErrorCode::bad_image, "the image processor wants [3,H,W] uint8");
  if (kind_ == Kind::tiles) return tiles(rgb);
  if (kind_ == Kind::split) return split(rgb);
  if (kind_ == Kind::views) return views(rgb, limits);
  if (kind_ == Kind::smart) return still(normalised(sized(rgb, limits).values));
  at::Tensor image = resized(rgb);
  if (crop_) image = cropped(image);
  image = normalised(image);
  if (pad_) {
    image = at::constant_pad_nd(image, {0, std::max<int64_t>(0, pad_width_ - image.size(2)), 0,
                                        std::max<int64_t>(0, pad_height_ - image.size(1))});
  }
  return {image.unsqueeze(0), {}};
}

}  // namespace arrcoc::hf
