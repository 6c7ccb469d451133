#include <ATen/ATen.h>

#include <algorithm>
#include <string>

#include "arrcoc/error.h"
#include "arrcoc/texture.h"

namespace arrcoc {

const char* to_string(Channel channel) {
  static const char* const kNames[] = {"red",
                                       "green",
                                       "blue",
                                       "x",
                                       "y",
                                       "eccentricity",
                                       "edges",
                                       "edges_inverted",
                                       "highpass",
                                       "lowpass",
                                       "motion",
                                       "saliency",
                                       "distance_field",
                                       "cluster_id",
                                       "centroid_distance",
                                       "cluster_size",
                                       "text_mask",
                                       "embedding_0",
                                       "embedding_1",
                                       "embedding_2",
                                       "embedding_3",
                                       "embedding_4",
                                       "embedding_5",
                                       "embedding_6",
                                       "embedding_7",
                                       "embedding_8",
                                       "embedding_9",
                                       "embedding_10",
                                       "embedding_11",
                                       "embedding_12",
                                       "embedding_13",
                                       "embedding_14",
                                       "embedding_15",
                                       "object_boundary",
                                       "cached_relevance",
                                       "cached_saliency",
                                       "fixation_history",
                                       "attention_previous",
                                       "attention_accumulated",
                                       "gaze",
                                       "lightness",
                                       "green_red",
                                       "gradient_x",
                                       "gradient_y",
                                       "gradient_magnitude",
                                       "luminance"};
  return kNames[static_cast<int>(channel)];
}

const std::vector<Channel>& channels_of(ChannelSet set) {
  static const std::vector<Channel> compact = {
      Channel::red,       Channel::green,      Channel::blue,         Channel::lightness,
      Channel::green_red, Channel::gradient_x, Channel::gradient_y,   Channel::gradient_magnitude,
      Channel::y,         Channel::x,          Channel::eccentricity, Channel::saliency,
      Channel::luminance};
  static const std::vector<Channel> full = [] {
    std::vector<Channel> all;
    for (int i = 0; i < kFullChannels; ++i) all.push_back(static_cast<Channel>(i));
    return all;
  }();
  return set == ChannelSet::full ? full : compact;
}

bool Texture::has(Channel channel) const {
  return std::find(channels.begin(), channels.end(), channel) != channels.end();
}

at::Tensor Texture::of(Channel channel) const {
  auto found = std::find(channels.begin(), channels.end(), channel);
  if (found == channels.end()) {
    throw Error(ErrorCode::not_found,
                std::string("[texture] no channel '") + to_string(channel) + "' in this array");
  }
  return values.select(0, found - channels.begin());
}

void Texture::put(Channel channel, const at::Tensor& plane) {
  if (has(channel)) {
    values = values.clone();
    of(channel).copy_(plane);
    return;
  }
  values = at::cat({values, plane.unsqueeze(0)});
  channels.push_back(channel);
}

}  // namespace arrcoc
