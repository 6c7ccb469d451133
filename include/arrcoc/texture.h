// Texture: what is there, cheaply? A stack of named channels computed from the pixels alone.
//
// Conventions: frames are [B,3,h,w] float RGB in [0,1], y down; channel arrays are [B,C,h,w].
// Every normalisation is per picture, so a result never depends on what else is in the batch.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "arrcoc/picture.h"
#include "arrcoc/registry.h"

namespace arrcoc {

// The first eleven are the full set, in this order: what scorers read at the frame's resolution.
// The bundled network reads the compact set, which has two of them and the others below.
// clang-format off
enum class Channel : int {
  eccentricity,          // distance to the centre / 0.7071
  edges,                 // Sobel magnitude of luma, kernel / 4
  edges_inverted,        // Sobel magnitude after local contrast normalisation: faint text shows here
  highpass,              // 4-neighbour Laplacian, signed
  motion,                // films: what moves. sense_full: RGB distance to the previous frame / sqrt 3
  saliency,              // centre-surround over L, a, b pyramids, min-max
  distance_field,        // distance to the nearest edge / largest
  text_mask,
  attention_previous, attention_accumulated, gaze,
  // compact set only
  red, green, blue,
  lightness, green_red,  // L* / 100, a* / 128
  gradient_x, gradient_y, gradient_magnitude,
  y, x,                  // 0..1 inclusive
  luminance,             // Rec. 709 luma
};
// clang-format on
inline constexpr int kFullChannels = 11;
inline constexpr int kCompactChannels = 13;
inline constexpr int kAllChannels = 22;

const char* to_string(Channel channel);
// colour: the compact set with every channel but red, green and blue at its mean over the picture,
// to see what the others are good for.
enum class ChannelSet { compact, full, colour };
template <>
struct EnumNames<ChannelSet> {
  static constexpr const char* kWhat = "channel set";
  static constexpr std::pair<ChannelSet, const char*> kNames[] = {{ChannelSet::compact, "compact"},
                                                                  {ChannelSet::compact, "13"},
                                                                  {ChannelSet::full, "full"},
                                                                  {ChannelSet::full, "11"},
                                                                  {ChannelSet::colour, "rgb"}};
};
// The channels of a set, in array order.
const std::vector<Channel>& channels_of(ChannelSet set);

// Who fills a channel and who reads it: names of providers and of scorers, or
//   pixels   the frame itself, always    history  earlier frames and passes, gazes (History)
//   network  the bundled network
struct ChannelUse {
  std::vector<std::string> writers, readers;  // neither is empty
};
const ChannelUse& use_of(Channel channel);

struct Texture {
  at::Tensor values;              // [C,h,w] float
  std::vector<Channel> channels;  // meaning of each row of `values`
  int source_width = 0;           // picture that it describes, native pixels
  int source_height = 0;
  bool colour_only = false;  // ChannelSet::colour
  std::vector<std::string> fallbacks;

  bool has(Channel channel) const;
  at::Tensor of(Channel channel) const;                // [h,w]; Error{not_found} when absent
  void put(Channel channel, const at::Tensor& plane);  // [h,w]: adds or replaces, on a copy
};

// Fills channels that pixels of one frame alone do not give (OpenCV, encoders, earlier frames or
// passes). Whatever resolution it returns is resampled to the texture's.
class Provider {
 public:
  static constexpr const char* kStage = "provider";
  virtual ~Provider() = default;
  virtual std::vector<Channel> channels() const = 0;
  // frame [3,h,w] float in [0,1], longer side at most 1024. Returns [k,h',w'] for its k channels.
  virtual at::Tensor provide(const at::Tensor& frame, const Picture& picture) const = 0;
};
template <>
Registry<Provider>& registry<Provider>();

// A provider that hands out an array the caller already has: motion, attention of an earlier pass,
// gaze. values is [k,h,w] for k channels.
std::shared_ptr<const Provider> given(std::vector<Channel> channels, at::Tensor values);

namespace texture {

// [B,3,h,w] -> [B,13,rows,cols]: computed at the frame's resolution, pooled by area averaging.
at::Tensor sense_compact(const at::Tensor& frames, int64_t rows, int64_t cols);

// [B,3,h,w] -> [B,11,h,w]; provider channels are zero. `previous` (same shape, optional) gives
// motion.
at::Tensor sense_full(const at::Tensor& frames, const at::Tensor& previous = {});

struct Options {
  ChannelSet channels = ChannelSet::compact;
  int frame = 1024;  // longer side of the frame that is looked at, at most
  int cell = 16;     // compact: frame pixels along one cell of the array
  std::vector<std::shared_ptr<const Provider>> providers;
};
// A provider that fails costs its channels (they stay zero) and is named in `fallbacks`.
Texture sense(const Picture& picture, const Options& options);
Texture sense(const Picture& picture, const at::Tensor& frame, const Options& options);

// Building blocks, all batched [B,...] tensor ops.
at::Tensor luma(const at::Tensor& rgb);        // [B,3,h,w] -> [B,1,h,w]
at::Tensor rgb_to_lab(const at::Tensor& rgb);  // [B,3,h,w] sRGB -> L/100, a/128, b/128
at::Tensor area_pool(const at::Tensor& maps, int64_t rows, int64_t cols);  // exact area mean
at::Tensor min_max(const at::Tensor& maps);  // per picture and channel, over the last two axes

// CPU kernels for other rooms.
// rgb [3,h,w] -> [rows,cols]: the largest Sobel magnitude of luma in each cell of `cell` pixels.
at::Tensor peak_outlines_cpu(const at::Tensor& rgb, int64_t cell);
// rgb [3,h,w] in [0,1] -> h x w bytes: luma, rounded to 0..255.
void luma_bytes_cpu(const at::Tensor& rgb, uint8_t* out);
namespace rows {
// Sobel magnitude / 4 of one row from three padded ones: w + 2 values, the first and last repeated.
void sizes(const float* up, const float* at, const float* down, int64_t w, float* out);
}  // namespace rows

}  // namespace texture
}  // namespace arrcoc
