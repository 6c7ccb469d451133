// Files and pictures: the codecs work on bytes, here they become tensors.
#include <ATen/ops/empty.h>

#include "arrcoc/error.h"
#include "arrcoc/media.h"
#include "media/codecs/codecs.h"

namespace arrcoc::media {

namespace {

Picture decode_here(const std::vector<uint8_t>& bytes, const std::string& source,
                    const LoadOptions& options, bool bytes_are_ours) {
  if (options.apart) return options.apart->decode(bytes, source, options);
  at::Tensor rgb;
  const Upright size = decode_into(Bytes(std::span<const uint8_t>(bytes)), source, options,
                                   bytes_are_ours, [&](size_t count) {
                                     rgb = at::empty({static_cast<int64_t>(count)}, at::kByte);
                                     return rgb.data_ptr<uint8_t>();
                                   });
  return make_picture(rgb.view({3, size.height, size.width}), source);
}

}  // namespace

Picture decode(const std::vector<uint8_t>& bytes, const std::string& source,
               const LoadOptions& options) {
  return decode_here(bytes, source, options, false);
}

Picture load(const std::string& path, const LoadOptions& options) {
  const std::vector<uint8_t> bytes = read_file(path);
  return decode_here(bytes, path, options, true);
}

std::vector<uint8_t> encode_png(const at::Tensor& rgb) {
  if (!rgb.defined() || rgb.dim() != 3 || rgb.size(0) != 3 || rgb.scalar_type() != at::kByte ||
      rgb.numel() == 0) {
    throw Error(ErrorCode::bad_argument, "[encode_png] needs a [3,H,W] uint8 tensor");
  }
  const at::Tensor planes = rgb.cpu().contiguous();
  return encode_planes(planes.data_ptr<uint8_t>(), static_cast<int>(rgb.size(2)),
                       static_cast<int>(rgb.size(1)));
}

void write_png(const std::string& path, const at::Tensor& rgb) {
  write_file(path, encode_png(rgb));
}

}  // namespace arrcoc::media
