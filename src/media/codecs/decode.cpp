#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "media/codecs/codecs.h"
#include "media/codecs/headers.h"

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

void Job::consumed(size_t from, size_t to) const {
  constexpr size_t kWorthACall = size_t{1} << 20;
  if (!bytes_are_ours || to > bytes.size() || from >= to) return;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto start = reinterpret_cast<uintptr_t>(bytes.data());
  // Whole pages inside only: what lies beside the file on its first and last page stays.
  const uintptr_t first = (start + from + page - 1) / page * page;
  const uintptr_t last = (start + to) / page * page;
  if (last >= first + kWorthACall) {
    madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
  }
}

namespace {

Picture decode_job(const std::vector<uint8_t>& bytes, const std::string& source,
                   const LoadOptions& options, bool bytes_are_ours) {
  if (!(options.max_megapixels > 0)) {
    throw Error(ErrorCode::bad_argument, "max_megapixels must be above 0");
  }
  Job job;
  job.bytes = Bytes(std::span<const uint8_t>(bytes));
  job.name = name_of(source);
  job.header = probe(bytes, source);
  job.options = options;
  job.bytes_are_ours = bytes_are_ours;
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

}  // namespace

Picture decode(const std::vector<uint8_t>& bytes, const std::string& source,
               const LoadOptions& options) {
  return decode_job(bytes, source, options, false);
}

Picture load(const std::string& path, const LoadOptions& options) {
  const std::vector<uint8_t> bytes = read_file(path);
  return decode_job(bytes, path, options, true);
}

}  // namespace arrcoc::media
