// Models, pictures and errors of arrcoc/c.h.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include "arrcoc/bundle.h"
#include "arrcoc/hub.h"
#include "arrcoc/media.h"
#include "arrcoc/model.h"
#include "arrcoc/version.h"
#include "capi/handles.h"

namespace arrcoc::capi {

namespace {

constexpr int64_t kMostPixels = 1'000'000'000;
constexpr size_t kErrorBytes = 4096;
thread_local char last_error[kErrorBytes] = "";

const arrcoc_load_params kLoad = {
    sizeof(arrcoc_load_params), nullptr, 0, "auto", "cpu", nullptr, "auto"};

arrcoc_picture_params picture_defaults() {
  const media::LoadOptions usual;
  return {sizeof(arrcoc_picture_params), usual.max_megapixels, usual.page, usual.pdf_dpi, 0};
}

void prepare_process() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (std::getenv("ONEDNN_MAX_CPU_ISA") == nullptr)  // which decides where both are set
      ::setenv("DNNL_MAX_CPU_ISA", "AVX512_CORE_BF16", 0);
    media::register_strategies();
  });
}

std::unique_ptr<const Asker> make_asker(const arrcoc_load_params& params) {
  std::string folder = params.model ? params.model : "";
  if (!folder.empty())
    folder = hub::cached_folder(folder, [](const char* name) { return std::getenv(name); });
  const auto kernels = parse_enum<Kernels>(params.kernels ? params.kernels : kLoad.kernels);
  if (folder.empty() || holds_bundle(folder))
    return std::make_unique<const Asker>(load_bundle(folder, kernels));
  ModelOptions options;
  options.mode = parse_enum<ReadMode>(params.mode ? params.mode : kLoad.mode);
  options.device = params.device ? params.device : kLoad.device;
  options.dtype = params.dtype ? params.dtype : "";
  auto model = open_model(folder, options);
  return std::make_unique<const Asker>(find_bundle().empty() ? nullptr : load_bundle("", kernels),
                                       std::move(model));
}

media::LoadOptions load_options(const arrcoc_picture_params* params) {
  const arrcoc_picture_params given = given_or(params, picture_defaults());
  if (!(given.max_megapixels > 0 && given.pdf_dpi > 0 && given.page > 0))
    throw Error(ErrorCode::bad_argument, "max_megapixels, pdf_dpi and page are more than 0");
  media::LoadOptions out;
  out.max_megapixels = given.max_megapixels;
  out.page = given.page;
  out.pdf_dpi = given.pdf_dpi;
  if (given.apart != 0) out.apart = std::make_shared<media::Decoders>();
  return out;
}

std::unique_ptr<arrcoc_picture> handle(Picture picture) {
  auto out = std::make_unique<arrcoc_picture>();
  out->picture = std::move(picture);
  return out;
}

at::Tensor planar(const arrcoc_pixels& from) {
  if (from.width < 1 || from.height < 1)
    throw Error(ErrorCode::bad_image, "a picture has one pixel at least");
  if (static_cast<int64_t>(from.width) * from.height > kMostPixels)
    throw Error(ErrorCode::too_large, "more than 1,000 megapixels");
  at::Tensor out = at::empty({3, from.height, from.width}, at::kByte);
  auto* to = out.data_ptr<uint8_t>();
  for (int c = 0; c < 3; ++c)
    for (int y = 0; y < from.height; ++y) {
      const uint8_t* pixel = from.data + c * from.channel_stride + y * from.row_stride;
      for (int x = 0; x < from.width; ++x, pixel += from.pixel_stride) *to++ = *pixel;
    }
  return out;
}

}  // namespace

arrcoc_status failed(arrcoc_status status, const char* text) noexcept {
  size_t length = std::min(std::strlen(text), kErrorBytes - 1);
  // A character that the end would cut is left out.
  if (length == kErrorBytes - 1)
    while (length > 0 && (text[length] & 0xC0) == 0x80) --length;
  std::replace_copy_if(
      text, text + length, last_error, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  last_error[length] = '\0';
  return status;
}

arrcoc_status status_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::bad_argument:
      return ARRCOC_BAD_ARGUMENT;
    case ErrorCode::bad_image:
      return ARRCOC_BAD_IMAGE;
    case ErrorCode::too_large:
      return ARRCOC_TOO_LARGE;
    case ErrorCode::unsupported:
      return ARRCOC_UNSUPPORTED;
    case ErrorCode::not_found:
      return ARRCOC_NOT_FOUND;
    case ErrorCode::io:
      return ARRCOC_IO;
    case ErrorCode::bad_json:
      return ARRCOC_BAD_JSON;
    case ErrorCode::bad_weights:
      return ARRCOC_BAD_WEIGHTS;
    case ErrorCode::numeric:
      return ARRCOC_NUMERIC;
  }
  return ARRCOC_INTERNAL;
}

void check_size(size_t given, size_t known) {
  if (given > known)
    throw Error(ErrorCode::unsupported, "a struct of a newer arrcoc/c.h than this library's");
  if (given < known)
    throw Error(ErrorCode::bad_argument, "the struct's size is not set: begin with its _init");
}

void copy_packed(const at::Tensor& rgb, uint8_t* out, size_t bytes) {
  required(out, "out");
  const size_t wanted = static_cast<size_t>(rgb.numel());
  if (bytes < wanted)
    throw Error(ErrorCode::bad_argument, "the pixels take " + std::to_string(wanted) +
                                             " bytes, there is room for " + std::to_string(bytes));
  at::from_blob(out, {rgb.size(1), rgb.size(2), 3}, at::kByte).copy_(rgb.permute({1, 2, 0}));
}

}  // namespace arrcoc::capi

using namespace arrcoc;
using namespace arrcoc::capi;

const char* arrcoc_version(void) { return kVersion; }

const char* arrcoc_status_name(arrcoc_status status) {
  if (status == ARRCOC_OK) return "ok";
  if (status == ARRCOC_OUT_OF_MEMORY) return "out_of_memory";
  if (status == ARRCOC_INTERNAL) return "internal";
  for (int code = 0; code <= static_cast<int>(ErrorCode::numeric); ++code)
    if (status_of(static_cast<ErrorCode>(code)) == status)
      return to_string(static_cast<ErrorCode>(code));
  return "unknown";
}

const char* arrcoc_last_error(void) { return last_error; }
int64_t arrcoc_live_handles(void) { return live_handles; }

arrcoc_status arrcoc_load_params_init(arrcoc_load_params* params, size_t size) {
  return init(params, size, kLoad);
}

arrcoc_status arrcoc_model_load(const arrcoc_load_params* params, arrcoc_model** out) {
  return making(out, [&] {
    const arrcoc_load_params given = given_or(params, kLoad);
    if (given.threads < 0 || given.threads > 1024)
      throw Error(ErrorCode::bad_argument, "threads is 0 to 1024");
    prepare_process();
    // libtorch counts physical cores only and would leave half of a small machine idle.
    at::set_num_threads(given.threads > 0 ? given.threads
                                          : std::max(1U, std::thread::hardware_concurrency()));
    auto model = std::make_unique<arrcoc_model>();
    model->asker = make_asker(given);
    model->name = model->asker->model()->name();
    return model;
  });
}

const char* arrcoc_model_name(const arrcoc_model* model) {
  return model ? model->name.c_str() : "";
}
void arrcoc_model_free(arrcoc_model* model) { delete model; }

arrcoc_status arrcoc_picture_params_init(arrcoc_picture_params* params, size_t size) {
  return init(params, size, picture_defaults());
}

arrcoc_status arrcoc_picture_from_file(const char* path, const arrcoc_picture_params* params,
                                       arrcoc_picture** out) {
  return making(out, [&] {
    required(path, "path");
    return handle(media::load(path, load_options(params)));
  });
}

arrcoc_status arrcoc_picture_from_bytes(const void* bytes, size_t count,
                                        const arrcoc_picture_params* params, arrcoc_picture** out) {
  return making(out, [&] {
    const auto* begin = static_cast<const uint8_t*>(bytes);
    required(begin, "bytes");
    return handle(media::decode({begin, begin + count}, "bytes", load_options(params)));
  });
}

arrcoc_status arrcoc_picture_from_pixels(const arrcoc_pixels* pixels, arrcoc_picture** out) {
  return making(out, [&] {
    required(required(pixels, "pixels").data, "pixels->data");
    return handle(make_picture(planar(*pixels), "pixels"));
  });
}

int arrcoc_picture_width(const arrcoc_picture* picture) {
  return picture ? picture->picture.width() : 0;
}
int arrcoc_picture_height(const arrcoc_picture* picture) {
  return picture ? picture->picture.height() : 0;
}

arrcoc_status arrcoc_picture_copy_rgb(const arrcoc_picture* picture, uint8_t* out, size_t bytes) {
  return guarded([&] { copy_packed(required(picture, "picture").picture.rgb, out, bytes); });
}

void arrcoc_picture_free(arrcoc_picture* picture) { delete picture; }
