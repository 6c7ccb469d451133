#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "arrcoc/error.h"
#include "arrcoc/texture.h"
#include "texture/filters.h"

namespace arrcoc {

template <>
Registry<Provider>& registry<Provider>() {
  static Registry<Provider> providers;  // core has none: media and models add theirs
  return providers;
}

namespace {

class Given : public Provider {
 public:
  Given(std::vector<Channel> channels, at::Tensor values)
      : channels_(std::move(channels)), values_(std::move(values)) {
    if (!values_.defined() || values_.dim() != 3 ||
        values_.size(0) != static_cast<int64_t>(channels_.size())) {
      throw Error(ErrorCode::bad_argument,
                  "[given] values must be [k,h,w] with k = number of channels");
    }
  }
  std::vector<Channel> channels() const override { return channels_; }
  at::Tensor provide(const at::Tensor&, const Picture&) const override { return values_; }

 private:
  std::vector<Channel> channels_;
  at::Tensor values_;
};

void require_frames(const at::Tensor& frames, const char* who) {
  if (!frames.defined() || frames.dim() != 4 || frames.size(1) != 3 || frames.numel() == 0) {
    throw Error(ErrorCode::bad_argument, std::string("[") + who + "] frames must be [B,3,h,w]");
  }
}

}  // namespace

std::shared_ptr<const Provider> given(std::vector<Channel> channels, at::Tensor values) {
  return std::make_shared<Given>(std::move(channels), std::move(values));
}

namespace texture {

at::Tensor sense_compact(const at::Tensor& frames, int64_t rows, int64_t cols) {
  require_frames(frames, "sense_compact");
  const int64_t batch = frames.size(0);
  const at::Tensor gray = luma(frames);
  const at::Tensor edges = stencils(gray);
  const at::Tensor gx = edges.narrow(1, 0, 1);
  const at::Tensor gy = edges.narrow(1, 1, 1);
  const at::Tensor colour = area_pool(frames, rows, cols);
  // Pooling is linear, so luma is pooled for free; L* and a* describe the cell's mean colour.
  const at::Tensor lab = rgb_to_lab(colour);
  const at::Tensor place = coordinates(rows, cols, frames.options());
  const auto everywhere = [&](int64_t i) {
    return place[i].reshape({1, 1, rows, cols}).expand({batch, 1, rows, cols});
  };
  return at::cat({colour, lab.narrow(1, 0, 2), area_pool(edges.narrow(1, 0, 2), rows, cols),
                  area_pool(magnitude(gx, gy), rows, cols), everywhere(1), everywhere(0),
                  everywhere(2), stretch(saliency(frames), rows, cols), luma(colour)},
                 1);
}

at::Tensor sense_full(const at::Tensor& frames, const at::Tensor& previous) {
  require_frames(frames, "sense_full");
  if (previous.defined() && previous.sizes() != frames.sizes()) {
    throw Error(ErrorCode::bad_argument, "[sense_full] the previous frame has another size");
  }
  const int64_t h = frames.size(2);
  const int64_t w = frames.size(3);
  at::Tensor out = at::zeros({frames.size(0), kFullChannels, h, w}, frames.options());
  const auto put = [&](Channel first, const at::Tensor& values) {
    out.narrow(1, static_cast<int>(first), values.size(values.dim() - 3)).copy_(values);
  };
  put(Channel::red, frames);
  put(Channel::x, coordinates(h, w, frames.options()));  // x, y, eccentricity follow each other
  const at::Tensor gray = luma(frames);
  const at::Tensor edges = stencils(gray);
  put(Channel::edges, magnitude(edges.narrow(1, 0, 1), edges.narrow(1, 1, 1)));
  put(Channel::edges_inverted, normalised_edges(gray));
  put(Channel::highpass, edges.narrow(1, 2, 2));  // and lowpass
  if (previous.defined()) {
    const at::Tensor d = frames - previous;
    put(Channel::motion, (d * d).sum(1, true).sqrt_().div_(std::sqrt(3.0)));
  }
  put(Channel::saliency, stretch(saliency(frames), h, w));
  return out;
}

namespace {

void add_providers(Texture& texture, const at::Tensor& frame, const Picture& picture,
                   const std::vector<std::shared_ptr<const Provider>>& providers) {
  const int64_t rows = texture.values.size(1);
  const int64_t cols = texture.values.size(2);
  for (const auto& provider : providers) {
    const std::vector<Channel> given = provider->channels();
    std::string names;
    for (Channel c : given) names += (names.empty() ? "" : ", ") + std::string(to_string(c));
    at::Tensor values;
    try {
      values = provider->provide(frame, picture).to(texture.values.options());
    } catch (const std::exception& problem) {
      texture.fallbacks.push_back("channels " + names + " stay zero: " + problem.what());
      continue;
    }
    const bool shrink = values.size(1) > rows || values.size(2) > cols;
    values = shrink ? area_pool(values.unsqueeze(0), rows, cols)
                    : stretch(values.unsqueeze(0), rows, cols);
    for (size_t i = 0; i < given.size(); ++i) {
      const at::Tensor plane = values.select(1, static_cast<int64_t>(i));
      auto at = std::find(texture.channels.begin(), texture.channels.end(), given[i]);
      if (at != texture.channels.end()) {
        texture.values.narrow(0, at - texture.channels.begin(), 1).copy_(plane);
      } else {  // the compact set grows by what providers bring
        texture.values = at::cat({texture.values, plane}, 0);
        texture.channels.push_back(given[i]);
      }
    }
  }
}

}  // namespace

Texture sense(const Picture& picture, const at::Tensor& frame, const Options& options) {
  Texture texture;
  texture.channels = channels_of(options.channels);
  texture.source_width = picture.width();
  texture.source_height = picture.height();
  const at::Tensor batch = frame.unsqueeze(0);
  if (options.channels == ChannelSet::full) {
    texture.values = sense_full(batch).squeeze(0);
  } else {
    const int64_t rows = (frame.size(1) + options.cell - 1) / options.cell;
    const int64_t cols = (frame.size(2) + options.cell - 1) / options.cell;
    texture.values = sense_compact(batch, rows, cols).squeeze(0);
  }
  add_providers(texture, frame, picture, options.providers);
  return texture;
}

Texture sense(const Picture& picture, const Options& options) {
  return sense(picture, frame_of(picture, options.frame), options);
}

}  // namespace texture
}  // namespace arrcoc
