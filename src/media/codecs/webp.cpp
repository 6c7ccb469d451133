#include <webp/decode.h>

#include "media/codecs/codecs.h"
#include "media/draw/canvas.h"

namespace arrcoc::media {

at::Tensor decode_webp(const Job& job) {
  WebPBitstreamFeatures features;
  const VP8StatusCode status = WebPGetFeatures(job.bytes.data(), job.bytes.size(), &features);
  if (status != VP8_STATUS_OK) job.broken("WebP", "bad header");
  if (features.has_animation) {
    throw Error(ErrorCode::unsupported,
                job.name + ": animated WebP is not supported; extract one frame first");
  }
  job.require_size("WebP", features.width, features.height);
  const int channels = features.has_alpha ? 4 : 3;
  const size_t stride = static_cast<size_t>(features.width) * channels;
  const size_t bytes = stride * features.height;
  Scratch scratch(bytes);
  const auto into = features.has_alpha ? WebPDecodeRGBAInto : WebPDecodeRGBInto;
  if (into(job.bytes.data(), job.bytes.size(), scratch.data(), bytes, static_cast<int>(stride)) ==
      nullptr) {
    job.broken("WebP", "damaged or truncated data");
  }
  Canvas canvas(features.width, features.height, job.orientation);
  put_all(canvas, scratch, features.width, features.height, CV_8UC(channels), Alpha::straight);
  return canvas.take();
}

}  // namespace arrcoc::media
