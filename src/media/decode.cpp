#include <cmath>
#include <cstdio>

#include "media/codecs.h"
#include "media/headers.h"

namespace arrcoc::media {

void require_within(double width, double height, const std::string& name,
                    const LoadOptions& options) {
  const double megapixels = width * height * 1e-6;
  if (megapixels <= options.max_megapixels) return;
  char text[160];
  std::snprintf(text, sizeof text,
                ": %.0f x %.0f pixels are %.4g megapixels, above the limit of %.4g; "
                "shrink the picture or raise the limit",
                width, height, megapixels, options.max_megapixels);
  throw Error(ErrorCode::too_large, name + text);
}

Picture decode(const std::vector<uint8_t>& bytes, const std::string& source,
               const LoadOptions& options) {
  if (!(options.max_megapixels > 0)) {
    throw Error(ErrorCode::bad_argument, "max_megapixels must be above 0");
  }
  Job job;
  job.bytes = Bytes(std::span<const uint8_t>(bytes));
  job.name = name_of(source);
  job.header = probe(bytes, source);
  job.options = options;
  job.orientation = orientation_of(job.bytes, job.header.format);
  require_within(job.header.width, job.header.height, job.name, options);

  const std::string& format = job.header.format;
  at::Tensor rgb;
  if (format == "jpeg") rgb = decode_jpeg(job);
  if (format == "png") rgb = decode_png(job);
  if (format == "webp") rgb = decode_webp(job);
  if (format == "tiff") rgb = decode_tiff(job);
  if (format == "bmp") rgb = decode_bmp(job);
  if (format == "heic") rgb = decode_heic(job);
  if (format == "pdf") rgb = decode_pdf(job);
  return make_picture(std::move(rgb), source);
}

Picture load(const std::string& path, const LoadOptions& options) {
  return decode(read_file(path), path, options);
}

}  // namespace arrcoc::media
