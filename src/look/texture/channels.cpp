#include <ATen/ATen.h>

#include <algorithm>
#include <string>

#include "arrcoc/error.h"
#include "arrcoc/texture.h"

namespace arrcoc {

const char* to_string(Channel channel) {
  static const char* const kNames[kAllChannels] = {"eccentricity",
                                                   "edges",
                                                   "edges_inverted",
                                                   "highpass",
                                                   "motion",
                                                   "saliency",
                                                   "distance_field",
                                                   "text_mask",
                                                   "attention_previous",
                                                   "attention_accumulated",
                                                   "gaze",
                                                   "red",
                                                   "green",
                                                   "blue",
                                                   "lightness",
                                                   "green_red",
                                                   "gradient_x",
                                                   "gradient_y",
                                                   "gradient_magnitude",
                                                   "y",
                                                   "x",
                                                   "luminance"};
  return kNames[static_cast<int>(channel)];
}

const ChannelUse& use_of(Channel channel) {
  static const std::vector<ChannelUse> uses = [] {
    const std::vector<std::string> pixels = {"pixels"}, history = {"history"};
    std::vector<ChannelUse> all(kAllChannels, {pixels, {"network"}});
    const auto of = [&](Channel c) -> ChannelUse& { return all[static_cast<size_t>(c)]; };
    of(Channel::eccentricity).readers = of(Channel::saliency).readers = {"network", "saliency"};
    of(Channel::edges).readers = {"lexical", "points", "symbolic"};
    of(Channel::edges_inverted).readers = of(Channel::highpass).readers = {"points"};
    of(Channel::gradient_magnitude).readers = {"lexical", "network", "points"};
    of(Channel::motion) = {history, {"saliency"}};
    of(Channel::distance_field) = {{"distance-field"}, {"points"}};
    of(Channel::text_mask) = {{"network-print", "reader-text", "text"}, {"symbolic", "text"}};
    for (Channel c : {Channel::attention_previous, Channel::attention_accumulated, Channel::gaze})
      of(c) = {history, {"attention"}};
    return all;
  }();
  return uses[static_cast<size_t>(channel)];
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
