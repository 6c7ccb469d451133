// JPEG through libjpeg-turbo itself: imdecode cannot tell a truncated file from a whole one,
// assumes that every CMYK file is inverted, and needs the interleaved picture in memory.
#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include <jpeglib.h>

#include <jerror.h>  // its numbers depend on what jpeglib.h has set

#include "media/codecs/canvas.h"
#include "media/codecs/codecs.h"

namespace arrcoc::media {

namespace {

// Every scan goes over the whole picture: a few bytes of a progressive file can cost seconds. So
// many megapixels may all scans together have, but 32 scans are always allowed and never more than
// 500; encoders write about ten.
constexpr double kScannedMegapixels = 1000;

struct Failure {
  jpeg_error_mgr base;
  jpeg_progress_mgr progress;
  std::jmp_buf jump;
  int most_scans;
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void fail(j_common_ptr info) {
  auto* failure = reinterpret_cast<Failure*>(info->err);
  info->err->format_message(info, failure->message);
  std::longjmp(failure->jump, 1);
}

// libjpeg goes on after damage and leaves grey areas. Damage to pixels is an error here; oddities
// that leave the pixels whole (extra bytes between segments, a strange version) are not.
void on_message(j_common_ptr info, int level) {
  if (level >= 0) return;
  switch (info->err->msg_code) {
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
      fail(info);
    default:
      break;
  }
}

void on_progress(j_common_ptr info) {
  if (!info->is_decompressor) return;
  auto* failure = reinterpret_cast<Failure*>(info->err);
  const int scans = reinterpret_cast<j_decompress_ptr>(info)->input_scan_number;
  if (scans <= failure->most_scans) return;
  std::snprintf(failure->message, sizeof failure->message, "more than %d scans",
                failure->most_scans);
  std::longjmp(failure->jump, 1);
}

class Decoder {
 public:
  explicit Decoder(const Job& job) : job_(job) {
    std::memset(&failure_, 0, sizeof failure_);
    const double megapixels = 1e-6 * job.header.width * job.header.height;
    failure_.most_scans = static_cast<int>(std::clamp(kScannedMegapixels / megapixels, 32., 500.));
    info_.err = jpeg_std_error(&failure_.base);
    failure_.base.error_exit = fail;
    failure_.base.emit_message = on_message;
    failure_.base.output_message = [](j_common_ptr) {};
    guarded(job_, failure_, [&] { jpeg_create_decompress(&info_); });
    failure_.progress.progress_monitor = on_progress;
    info_.progress = &failure_.progress;
  }
  ~Decoder() { jpeg_destroy_decompress(&info_); }
  Decoder(const Decoder&) = delete;

  Upright run() {
    guarded(job_, failure_, [&] {
      jpeg_mem_src(&info_, job_.bytes.data(), job_.bytes.size());
      jpeg_read_header(&info_, TRUE);
    });
    job_.require_size(info_.image_width, info_.image_height);
    choose_colours();
    guarded(job_, failure_, [&] { jpeg_start_decompress(&info_); });

    Canvas canvas(job_, job_.header.width, job_.header.height, job_.orientation);
    const bool cmyk = info_.out_color_space == JCS_CMYK;
    cv::Mat inks;
    canvas.fill(CV_8UC(cmyk ? 3 : info_.output_components), [&](int, cv::Mat& strip) {
      if (cmyk) inks.create(strip.size(), CV_8UC4);
      const cv::Mat& rows = cmyk ? inks : strip;
      guarded(job_, failure_, [&] { read_rows(rows.data, rows.step, rows.rows); });
      if (cmyk) from_cmyk(inks, strip);
    });
    guarded(job_, failure_, [&] { jpeg_finish_decompress(&info_); });
    return canvas.size();
  }

 private:
  void read_rows(uint8_t* data, size_t stride, int rows) {
    int done = 0;
    while (done < rows) {
      JSAMPROW lines[Canvas::kStrip];
      for (int i = done; i < rows; ++i) lines[i - done] = data + stride * i;
      done += static_cast<int>(jpeg_read_scanlines(&info_, lines, rows - done));
    }
  }

  void choose_colours() {
    const int n = info_.num_components;
    if (n != 1 && n != 3 && n != 4)
      job_.unsupported("a JPEG of " + std::to_string(n) + " colour components is not supported");
    // YCCK becomes CMYK.
    info_.out_color_space = n == 1 ? JCS_GRAYSCALE : n == 3 ? JCS_RGB : JCS_CMYK;
  }

  // R = 255 (1-C)(1-K). Files of Adobe programs store inks inverted: 255 is no ink.
  void from_cmyk(const cv::Mat& cmyk, cv::Mat& rgb) const {
    const int flip = info_.saw_Adobe_marker ? 0 : 255;
    for (int y = 0; y < cmyk.rows; ++y) {
      const uint8_t* in = cmyk.ptr(y);
      uint8_t* out = rgb.ptr(y);
      for (int x = 0; x < cmyk.cols; ++x, in += 4, out += 3) {
        const int light = in[3] ^ flip;
        for (int c = 0; c < 3; ++c)
          out[c] = static_cast<uint8_t>(((in[c] ^ flip) * light + 127) / 255);
      }
    }
  }

  const Job& job_;
  Failure failure_;
  jpeg_decompress_struct info_{};
};

}  // namespace

Upright decode_jpeg(const Job& job) { return Decoder(job).run(); }

}  // namespace arrcoc::media
