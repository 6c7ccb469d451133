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

void Job::broken(const std::string& reason) const {
  throw Error(ErrorCode::bad_image, name + ": broken " + label_of(header.format) + ": " + reason);
}

void Job::unsupported(const std::string& what) const {
  throw Error(ErrorCode::unsupported, name + ": " + what);
}

void Job::require_size(int64_t width, int64_t height) const {
  if (width != header.width || height != header.height)
    broken("its headers disagree about the size");
}

void Consumed::up_to(size_t offset) {
  constexpr size_t kPiece = size_t{8} << 20;  // less is not worth a system call
  if (!job_.bytes_are_ours || offset > job_.bytes.size() || offset < done_ + kPiece) return;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto start = reinterpret_cast<uintptr_t>(job_.bytes.data());
  // Whole pages inside only: what lies beside the file on its first and last page stays.
  const uintptr_t first = (start + done_ + page - 1) / page * page;
  const uintptr_t last = (start + offset) / page * page;
  madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
  done_ = offset;
}

Upright decode_into(const Bytes& bytes, const std::string& source, const LoadOptions& options,
                    bool bytes_are_ours, const Memory& memory) {
  if (!(options.max_megapixels > 0)) {
    throw Error(ErrorCode::bad_argument, "max_megapixels must be above 0");
  }
  Job job;
  job.bytes = bytes;
  job.name = name_of(source);
  job.header = probe_bytes(bytes, source);
  job.options = options;
  job.bytes_are_ours = bytes_are_ours;
  job.orientation = orientation_of(job.bytes, job.header.format);
  job.memory = memory;
  require_within(job.header.width, job.header.height, job.name, options);

  constexpr Upright (*kDecoders[])(const Job&) = {
      decode_jpeg, decode_png, decode_webp, decode_tiff, decode_bmp, decode_heic, decode_pdf};
  return kDecoders[static_cast<size_t>(job.header.format)](job);
}

}  // namespace arrcoc::media
