#include <webp/decode.h>

#include "media/codecs/canvas.h"
#include "media/codecs/codecs.h"

namespace arrcoc::media {

Upright decode_webp(const Job& job) {
  WebPBitstreamFeatures features;
  const VP8StatusCode status = WebPGetFeatures(job.bytes.data(), job.bytes.size(), &features);
  if (status != VP8_STATUS_OK) job.broken("bad header");
  if (features.has_animation)
    job.unsupported("animated WebP is not supported; extract one frame first");
  job.require_size(features.width, features.height);
  const int channels = features.has_alpha ? 4 : 3;
  const size_t stride = static_cast<size_t>(features.width) * channels;
  const size_t bytes = stride * features.height;
  Scratch scratch(bytes);
  const auto into = features.has_alpha ? WebPDecodeRGBAInto : WebPDecodeRGBInto;
  if (into(job.bytes.data(), job.bytes.size(), scratch.data(), bytes, static_cast<int>(stride)) ==
      nullptr) {
    job.broken("damaged or truncated data");
  }
  Canvas canvas(job, features.width, features.height, job.orientation);
  canvas.put_all(0, cv::Mat(features.height, features.width, CV_8UC(channels), scratch.data()),
                 Alpha::straight, &scratch);
  return canvas.size();
}

}  // namespace arrcoc::media
