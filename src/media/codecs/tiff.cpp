// TIFF through libtiff's RGBA interface, a few strips or one row of tiles at a time. It covers 1 to
// 16 bit, grey, palette, RGB, CMYK, YCbCr and every compression that libtiff has.
#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>

#include "media/codecs/canvas.h"
#include "media/codecs/codecs.h"
#include "media/codecs/headers.h"

namespace arrcoc::media {

namespace {

// The file in memory as libtiff's client, with the first complaint kept.
struct Source {
  Bytes bytes;
  uint64_t at = 0;
  char complaint[200] = "";
};

tmsize_t on_read(thandle_t handle, void* out, tmsize_t count) {
  auto* source = static_cast<Source*>(handle);
  if (count < 0 || source->at >= source->bytes.size()) return 0;
  const size_t n = std::min<size_t>(count, source->bytes.size() - source->at);
  std::memcpy(out, source->bytes.data() + source->at, n);
  source->at += n;
  return static_cast<tmsize_t>(n);
}
tmsize_t on_write(thandle_t, void*, tmsize_t) { return 0; }
toff_t on_seek(thandle_t handle, toff_t offset, int whence) {
  auto* source = static_cast<Source*>(handle);
  const uint64_t base = whence == SEEK_CUR   ? source->at
                        : whence == SEEK_END ? source->bytes.size()
                                             : 0;
  return source->at = base + offset;
}
int on_close(thandle_t) { return 0; }
toff_t on_size(thandle_t handle) { return static_cast<Source*>(handle)->bytes.size(); }

int on_error(TIFF*, void* user, const char*, const char* format, va_list arguments) {
  auto* source = static_cast<Source*>(user);
  if (source->complaint[0] == 0) {
    std::vsnprintf(source->complaint, sizeof source->complaint, format, arguments);
  }
  return 1;  // handled: nothing is printed
}
int on_warning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

using Handle = std::unique_ptr<TIFF, decltype(&TIFFClose)>;

Handle open(Source& source, const Job& job) {
  std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(TIFFOpenOptionsAlloc(),
                                                                           TIFFOpenOptionsFree);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), on_error, &source);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), on_warning, &source);
  // No single buffer is larger than the picture at 16 bit and four channels.
  const uint64_t pixels = static_cast<uint64_t>(job.header.width) * job.header.height;
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(),
                                      static_cast<tmsize_t>(pixels * 8 + (uint64_t{16} << 20)));
  // m: no memory map
  return Handle(TIFFClientOpenExt(job.name.c_str(), "rm", &source, on_read, on_write, on_seek,
                                  on_close, on_size, nullptr, nullptr, options.get()),
                TIFFClose);
}

// libtiff multiplies straight alpha into RGB itself, but leaves grey as it is.
Alpha alpha_of(const TIFFRGBAImage& image) {
  const bool grey =
      image.photometric == PHOTOMETRIC_MINISBLACK || image.photometric == PHOTOMETRIC_MINISWHITE;
  return grey && image.alpha == EXTRASAMPLE_UNASSALPHA ? Alpha::straight : Alpha::premultiplied;
}

// Rows to ask for at once: whole strips or tiles, so that none is decoded twice.
int rows_at_once(TIFF* tiff, int height) {
  uint32_t unit = 0;
  TIFFGetFieldDefaulted(tiff, TIFFIsTiled(tiff) ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP, &unit);
  const auto most = static_cast<uint32_t>(height);
  if (unit == 0 || unit >= most) return height;
  const uint32_t units = (Canvas::kStrip + unit - 1) / unit;
  return static_cast<int>(std::min(unit * units, most));
}

// Hands back the part of the file that lies before the strips or tiles still to be read, where
// these follow each other in the file. (They may also be shared or in any order, then nothing is
// done.)
class ReadStrips {
 public:
  ReadStrips(TIFF* tiff, const Job& job) : tiff_(tiff), consumed_(job) {
    const uint32_t count = TIFFIsTiled(tiff) ? TIFFNumberOfTiles(tiff) : TIFFNumberOfStrips(tiff);
    uint16_t planes = PLANARCONFIG_CONTIG;
    TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &planes);
    in_order_ = planes == PLANARCONFIG_CONTIG;
    uint64_t end = 0;
    for (uint32_t i = 0; i < count && in_order_; ++i) {
      in_order_ = TIFFGetStrileOffset(tiff, i) >= end;
      end = TIFFGetStrileOffset(tiff, i) + TIFFGetStrileByteCount(tiff, i);
    }
  }

  void up_to_row(uint32_t y) {
    if (!in_order_) return;
    const uint32_t next =
        TIFFIsTiled(tiff_) ? TIFFComputeTile(tiff_, 0, y, 0, 0) : TIFFComputeStrip(tiff_, y, 0);
    consumed_.up_to(TIFFGetStrileOffset(tiff_, next));
  }

 private:
  TIFF* tiff_;
  bool in_order_ = false;
  Consumed consumed_;
};

}  // namespace

Upright decode_tiff(const Job& job) {
  // Tags may all mean the same bytes: a small file would become gigabytes of tags.
  if (tiff_tag_bytes(job.bytes) > job.bytes.size()) job.broken("more tags than it has bytes");
  Source source{job.bytes};
  const Handle tiff = open(source, job);
  if (!tiff) job.broken(source.complaint);
  uint32_t width = 0;
  uint32_t height = 0;
  TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height);
  job.require_size(width, height);

  char reason[1024] = "";
  TIFFRGBAImage image;
  if (!TIFFRGBAImageOK(tiff.get(), reason) || !TIFFRGBAImageBegin(&image, tiff.get(), 1, reason)) {
    job.unsupported(std::string("unsupported TIFF: ") + reason);
  }
  std::unique_ptr<TIFFRGBAImage, decltype(&TIFFRGBAImageEnd)> end(&image, TIFFRGBAImageEnd);
  // Rows as stored: the canvas turns them.
  image.orientation = image.req_orientation = ORIENTATION_TOPLEFT;

  const int rows = rows_at_once(tiff.get(), job.header.height);
  const size_t stride = size_t{4} * width;
  Scratch scratch(stride * rows);
  Canvas canvas(job, job.header.width, job.header.height, job.orientation);
  ReadStrips read(tiff.get(), job);
  for (int y = 0; y < job.header.height; y += rows) {
    const int count = std::min(rows, job.header.height - y);
    read.up_to_row(y);
    image.row_offset = y;
    if (!TIFFRGBAImageGet(&image, reinterpret_cast<uint32_t*>(scratch.data()), width, count)) {
      job.broken(source.complaint[0] != 0 ? source.complaint : "damaged or truncated data");
    }
    canvas.put_all(y, cv::Mat(count, job.header.width, CV_8UC4, scratch.data()), alpha_of(image),
                   rows == job.header.height ? &scratch : nullptr);
  }
  return canvas.size();
}

}  // namespace arrcoc::media
