#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "arrcoc/error.h"
#include "arrcoc/picture.h"
#include "arrcoc/texture.h"
#include "look/texture/cpu_kernels.h"
#include "look/texture/filters.h"

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

namespace {

// [B,6,rows,cols]: means of the colours, of both gradients and of their size.
at::Tensor pooled_outlines(const at::Tensor& frames, int64_t rows, int64_t cols) {
  const Cell cell = whole_cells(frames.size(2), frames.size(3), rows, cols);
  if (has_cpu_kernel(frames) && cell.height > 0) {
    return pooled_outlines_cpu(frames, cell, rows, cols);
  }
  const at::Tensor g = gradients(luma(frames));
  const at::Tensor size = magnitude(g.narrow(1, 0, 1), g.narrow(1, 1, 1));
  return area_pool(at::cat({frames, g, size}, 1), rows, cols);
}

// The channels of one [11,h,w] array from `first` on, as [count,h,w] or batched.
at::Tensor part(const at::Tensor& out, Channel first, int64_t count) {
  return out.narrow(out.dim() - 3, static_cast<int64_t>(first), count);
}

at::Tensor full_cpu(const at::Tensor& frames) {
  const int64_t h = frames.size(2);
  const int64_t w = frames.size(3);
  at::Tensor out = zero_pages({frames.size(0), kFullChannels, h, w});
  const at::Tensor gray = luma(frames);
  const at::Tensor moments = local_moments(gray);
  const at::Tensor salient = saliency(frames);
  for (int64_t b = 0; b < frames.size(0); ++b) {
    const at::Tensor mine = out[b];
    const auto plane = [&](Channel c) { return part(mine, c, 1).data_ptr<float>(); };
    outlines_cpu(frames[b],
                 {plane(Channel::eccentricity), plane(Channel::edges), plane(Channel::highpass)});
    normalised_edges_cpu(gray[b].data_ptr<float>(), moments[b], h, w,
                         plane(Channel::edges_inverted));
    stretch_cpu(salient[b], h, w, plane(Channel::saliency));
  }
  return out;
}

// Few and large ops, each written where its result belongs: on a GPU every launch counts.
at::Tensor full_ops(const at::Tensor& frames) {
  const int64_t h = frames.size(2);
  const int64_t w = frames.size(3);
  at::Tensor out = at::empty({frames.size(0), kFullChannels, h, w}, frames.options());
  part(out, Channel::motion, 1).zero_();
  const auto rest = static_cast<int64_t>(Channel::distance_field);
  part(out, Channel::distance_field, kFullChannels - rest).zero_();
  part(out, Channel::eccentricity, 1).copy_(coordinates(h, w, frames.options())[2]);
  const at::Tensor all = outline_ops(frames);
  at::Tensor edges = part(out, Channel::edges, 1);
  at::hypot_out(edges, all.narrow(1, 2, 1), all.narrow(1, 3, 1));
  part(out, Channel::highpass, 1).copy_(all.narrow(1, 4, 1));
  all.narrow(1, 1, 1).square_();
  const at::Tensor m = normalised_gradient_ops(all.narrow(1, 0, 2));
  at::Tensor normal = part(out, Channel::edges_inverted, 1);
  at::div_out(normal, m, m + 1.0);
  at::Tensor salient = part(out, Channel::saliency, 1);
  at::upsample_bilinear2d_out(salient, saliency(frames), {h, w}, false);
  return out;
}

}  // namespace

at::Tensor sense_compact(const at::Tensor& frames, int64_t rows, int64_t cols) {
  require_frames(frames, "sense_compact");
  const int64_t batch = frames.size(0);
  const at::Tensor pooled = pooled_outlines(frames, rows, cols);
  // Pooling is linear, so luma is pooled for free; L* and a* describe the cell's mean colour.
  const at::Tensor colour = pooled.narrow(1, 0, 3);
  const at::Tensor lab = rgb_to_lab(colour);
  const at::Tensor place = coordinates(rows, cols, frames.options());
  const auto everywhere = [&](int64_t i) {
    return place[i].reshape({1, 1, rows, cols}).expand({batch, 1, rows, cols});
  };
  return at::cat({colour, lab.narrow(1, 0, 2), pooled.narrow(1, 3, 3), everywhere(1), everywhere(0),
                  everywhere(2), stretch(saliency(frames), rows, cols), luma(colour)},
                 1);
}

at::Tensor sense_full(const at::Tensor& frames, const at::Tensor& previous) {
  require_frames(frames, "sense_full");
  if (previous.defined() && previous.sizes() != frames.sizes()) {
    throw Error(ErrorCode::bad_argument, "[sense_full] the previous frame has another size");
  }
  at::Tensor out = has_cpu_kernel(frames) ? full_cpu(frames) : full_ops(frames);
  if (previous.defined()) {
    const at::Tensor d = frames - previous;
    part(out, Channel::motion, 1).copy_((d * d).sum(1, true).sqrt_().div_(std::sqrt(3.0)));
  }
  return out;
}

namespace {

// target [1,rows,cols] = plane [1,h,w], by area mean when it shrinks and bilinear when it grows.
void resample_into(at::Tensor target, const at::Tensor& plane) {
  const int64_t rows = target.size(1);
  const int64_t cols = target.size(2);
  const bool shrink = plane.size(1) > rows || plane.size(2) > cols;
  if (!shrink && has_cpu_kernel(target) && target.is_contiguous()) {
    return stretch_cpu(plane, rows, cols, target.data_ptr<float>());
  }
  const at::Tensor batch = plane.unsqueeze(0);
  target.copy_((shrink ? area_pool(batch, rows, cols) : stretch(batch, rows, cols)).squeeze(0));
}

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
    for (size_t i = 0; i < given.size(); ++i) {
      const at::Tensor plane = values.narrow(0, static_cast<int64_t>(i), 1);
      auto at = std::find(texture.channels.begin(), texture.channels.end(), given[i]);
      if (at == texture.channels.end()) {  // the compact set grows by what providers bring
        texture.values =
            at::cat({texture.values, at::zeros({1, rows, cols}, texture.values.options())}, 0);
        texture.channels.push_back(given[i]);
        at = texture.channels.end() - 1;
      }
      resample_into(texture.values.narrow(0, at - texture.channels.begin(), 1), plane);
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
  if (options.channels == ChannelSet::colour) {
    constexpr int64_t kColours = 3;  // red, green, blue lead the compact set
    at::Tensor others = texture.values.narrow(0, kColours, kCompactChannels - kColours);
    others.copy_(others.mean({1, 2}, true).expand_as(others));
    texture.colour_only = true;
  }
  add_providers(texture, frame, picture, options.providers);
  return texture;
}

Texture sense(const Picture& picture, const Options& options) {
  return sense(picture, frame_of(picture, options.frame), options);
}

}  // namespace texture
}  // namespace arrcoc
