#include "media/codecs/canvas.h"
#include "media/codecs/codecs.h"
#include "media/codecs/headers.h"

#ifdef ARRCOC_HAVE_HEIF
#include <libheif/heif.h>

#include <algorithm>
#include <memory>
#endif

namespace arrcoc::media {

#ifdef ARRCOC_HAVE_HEIF

namespace {

using Context = std::unique_ptr<heif_context, decltype(&heif_context_free)>;
using Handle = std::unique_ptr<const heif_image_handle, decltype(&heif_image_handle_release)>;
using Image = std::unique_ptr<const heif_image, decltype(&heif_image_release)>;
using Options = std::unique_ptr<heif_decoding_options, decltype(&heif_decoding_options_free)>;

void require(const heif_error& error, const std::string& name) {
  if (error.code == heif_error_Ok) return;
  const bool missing =
      error.code == heif_error_Unsupported_feature || error.code == heif_error_Unsupported_filetype;
  const std::string reason = error.message != nullptr ? error.message : "";
  throw Error(missing ? ErrorCode::unsupported : ErrorCode::bad_image,
              name + (missing ? ": unsupported HEIC: " : ": broken HEIC: ") +
                  reason.substr(0, reason.find('\n')));
}

// The primary picture; it lives no longer than the context.
struct Opened {
  Context context{heif_context_alloc(), heif_context_free};
  Handle primary{nullptr, heif_image_handle_release};

  Opened(const Bytes& file, const std::string& name) {
    require(heif_context_read_from_memory_without_copy(context.get(), file.data(), file.size(),
                                                       nullptr),
            name);
    heif_image_handle* handle = nullptr;
    require(heif_context_get_primary_image_handle(context.get(), &handle), name);
    primary.reset(handle);
    // A grid has a size of its own besides the one that the limit was checked with.
    heif_context_set_maximum_image_size_limit(
        context.get(), std::max({16, heif_image_handle_get_ispe_width(handle),
                                 heif_image_handle_get_ispe_height(handle)}));
  }
};

}  // namespace

Probe probe_heic(const Bytes& file, const std::string& source) {
  const std::string name = name_of(source);
  const Opened heic(file, name);
  const Probe out{Format::heic, heif_image_handle_get_ispe_width(heic.primary.get()),
                  heif_image_handle_get_ispe_height(heic.primary.get())};
  if (out.width < 1 || out.height < 1) {
    throw Error(ErrorCode::bad_image, name + ": broken HEIC: its header gives no size");
  }
  return out;
}

Upright decode_heic(const Job& job) {
  const Opened heic(job.bytes, job.name);
  const heif_image_handle* primary = heic.primary.get();
  require_within(heif_image_handle_get_width(primary), heif_image_handle_get_height(primary),
                 job.name, job.options);
  const bool alpha = heif_image_handle_has_alpha_channel(primary) != 0;
  const Options options(heif_decoding_options_alloc(), heif_decoding_options_free);
  options->convert_hdr_to_8bit = 1;
  heif_image* decoded = nullptr;
  require(heif_decode_image(primary, &decoded, heif_colorspace_RGB,
                            alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB,
                            options.get()),
          job.name);
  const Image image(decoded, heif_image_release);
  const int width = heif_image_get_width(image.get(), heif_channel_interleaved);
  const int height = heif_image_get_height(image.get(), heif_channel_interleaved);
  int stride = 0;
  const uint8_t* data =
      heif_image_get_plane_readonly(image.get(), heif_channel_interleaved, &stride);
  if (data == nullptr || width < 1 || height < 1) job.broken("no pixels");
  require_within(width, height, job.name, job.options);

  Canvas canvas(job, width, height, 1);  // libheif has turned the picture already
  const Alpha kind = heif_image_handle_is_premultiplied_alpha(primary) != 0 ? Alpha::premultiplied
                                                                            : Alpha::straight;
  canvas.put_all(0,
                 cv::Mat(height, width, alpha ? CV_8UC4 : CV_8UC3, const_cast<uint8_t*>(data),
                         static_cast<size_t>(stride)),
                 kind);
  return canvas.size();
}

#else

Probe probe_heic(const Bytes&, const std::string& source) {
  throw Error(ErrorCode::unsupported,
              name_of(source) + ": this build has no HEIC support (libheif)");
}

Upright decode_heic(const Job& job) { job.unsupported("this build has no HEIC support (libheif)"); }

#endif

}  // namespace arrcoc::media
