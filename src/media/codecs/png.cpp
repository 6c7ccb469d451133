// PNG through libpng: rows go straight into the planar picture, and nothing is printed.
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include <png.h>

#include "media/codecs/canvas.h"
#include "media/codecs/codecs.h"

namespace arrcoc::media {

namespace {

struct Failure {
  std::jmp_buf jump;
  char message[200];
};

[[noreturn]] void on_error(png_structp png, png_const_charp message) {
  auto* failure = static_cast<Failure*>(png_get_error_ptr(png));
  std::snprintf(failure->message, sizeof failure->message, "%s", message);
  std::longjmp(failure->jump, 1);
}

void on_warning(png_structp, png_const_charp) {}

class Reader {
 public:
  explicit Reader(const Job& job) : job_(job) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &failure_, on_error, on_warning);
    if (png_ == nullptr) throw Error(ErrorCode::io, "libpng could not be started");
    guarded(job_, failure_, [&] {
      info_ = png_create_info_struct(png_);
      png_set_read_fn(png_, this, [](png_structp png, png_bytep out, size_t count) {
        auto* self = static_cast<Reader*>(png_get_io_ptr(png));
        if (!self->job_.bytes.holds(self->at_, count)) png_error(png, "the file ends early");
        std::memcpy(out, self->job_.bytes.data() + self->at_, count);
        self->at_ += count;
      });
    });
  }
  ~Reader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  Reader(const Reader&) = delete;

  Upright run() {
    const int w = job_.header.width;
    const int h = job_.header.height;
    int passes = 1;
    guarded(job_, failure_, [&] {
      png_set_user_limits(png_, 0x7FFFFFFF, 0x7FFFFFFF);  // the pixel limit was checked before
      // Texts, profiles and palettes that would unfold in memory are skipped as they stand: all but
      // IHDR, PLTE, tRNS, IDAT and IEND.
      png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
      png_read_info(png_, info_);
      png_set_expand(png_);    // palette, fewer than 8 bits, transparent colour
      png_set_scale_16(png_);  // 16 bit: round(v / 257)
      passes = png_set_interlace_handling(png_);
      png_read_update_info(png_, info_);
    });
    job_.require_size(png_get_image_width(png_, info_), png_get_image_height(png_, info_));
    const int type = CV_8UC(png_get_channels(png_, info_));
    const size_t stride = static_cast<size_t>(w) * CV_ELEM_SIZE(type);
    if (png_get_rowbytes(png_, info_) != stride) job_.broken("unexpected row size");

    Canvas canvas(job_, w, h, job_.orientation);
    if (passes == 1) {
      canvas.fill(type, [&](int, cv::Mat& strip) {
        guarded(job_, failure_, [&] { read_rows(strip.data, stride, strip.rows); });
        consumed_.up_to(at_);  // libpng keeps its own copy of what it still needs
      });
    } else {  // interlaced: every pass touches the whole picture
      Scratch scratch(stride * h);
      for (int pass = 0; pass < passes; ++pass) {
        guarded(job_, failure_, [&] { read_rows(scratch.data(), stride, h); });
      }
      canvas.put_all(0, cv::Mat(h, w, type, scratch.data()), Alpha::straight, &scratch);
    }
    guarded(job_, failure_, [&] { png_read_end(png_, nullptr); });
    return canvas.size();
  }

 private:
  void read_rows(uint8_t* data, size_t stride, int rows) {
    for (int i = 0; i < rows; ++i) png_read_row(png_, data + stride * i, nullptr);
  }

  const Job& job_;
  Failure failure_{};
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  size_t at_ = 0;
  Consumed consumed_{job_};
};

class Writer {
 public:
  Writer() {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &failure_, on_error, on_warning);
    if (png_ == nullptr) throw Error(ErrorCode::io, "libpng could not be started");
  }
  ~Writer() { png_destroy_write_struct(&png_, &info_); }
  Writer(const Writer&) = delete;

  std::vector<uint8_t> run(const uint8_t* data, int w, int h) {
    std::vector<uint8_t> row(static_cast<size_t>(w) * 3);
    if (setjmp(failure_.jump) != 0)
      throw Error(ErrorCode::io, std::string("PNG could not be written: ") + failure_.message);
    write(data, w, h, row);
    return std::move(out_);
  }

 private:
  // Calls libpng alone: a longjmp skips no destructor.
  void write(const uint8_t* data, int w, int h, std::vector<uint8_t>& row) {
    info_ = png_create_info_struct(png_);
    png_set_write_fn(
        png_, &out_,
        [](png_structp png, png_bytep bytes, size_t count) {
          auto* out = static_cast<std::vector<uint8_t>*>(png_get_io_ptr(png));
          out->insert(out->end(), bytes, bytes + count);
        },
        [](png_structp) {});
    png_set_user_limits(png_, 0x7FFFFFFF, 0x7FFFFFFF);
    png_set_IHDR(png_, info_, w, h, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    // Fixed level and filters: the bytes depend on the pixels alone.
    png_set_compression_level(png_, 4);
    png_set_filter(png_, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB | PNG_FILTER_UP | PNG_FILTER_PAETH);
    png_write_info(png_, info_);
    const size_t plane = static_cast<size_t>(w) * h;
    for (int y = 0; y < h; ++y) {
      const uint8_t* in = data + static_cast<size_t>(w) * y;
      for (int x = 0; x < w; ++x) {
        for (int c = 0; c < 3; ++c) row[static_cast<size_t>(x) * 3 + c] = in[plane * c + x];
      }
      png_write_row(png_, row.data());
    }
    png_write_end(png_, info_);
  }

  Failure failure_{};
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::vector<uint8_t> out_;
};

}  // namespace

Upright decode_png(const Job& job) { return Reader(job).run(); }

std::vector<uint8_t> encode_planes(const uint8_t* planes, int width, int height) {
  return Writer().run(planes, width, height);
}

}  // namespace arrcoc::media
