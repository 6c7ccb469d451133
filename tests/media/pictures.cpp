#include "media/pictures.h"

#include <cstdio>
#include <cstring>

#include <jpeglib.h>
#include <png.h>

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#if __has_include(<libheif/heif.h>)
#include <libheif/heif.h>
#endif

namespace pictures {

namespace {

void put(Blob& out, const std::string& text) { out.insert(out.end(), text.begin(), text.end()); }
void put(Blob& out, const Blob& blob) { out.insert(out.end(), blob.begin(), blob.end()); }
void number(Blob& out, uint64_t value, int bytes, bool big_endian) {
  for (int i = 0; i < bytes; ++i) {
    out.push_back(static_cast<uint8_t>(value >> 8 * (big_endian ? bytes - 1 - i : i)));
  }
}

uint32_t crc32(const uint8_t* data, size_t size) {
  uint32_t crc = 0xFFFFFFFFU;
  for (size_t i = 0; i < size; ++i) {
    crc ^= data[i];
    for (int k = 0; k < 8; ++k) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320U : 0);
  }
  return ~crc;
}

Blob png_chunk(const std::string& name, const Blob& data) {
  Blob out;
  number(out, data.size(), 4, true);
  put(out, name);
  put(out, data);
  number(out, crc32(out.data() + 4, out.size() - 4), 4, true);
  return out;
}

Blob riff_chunk(const std::string& name, const Blob& data) {
  Blob out;
  put(out, name);
  number(out, data.size(), 4, false);
  put(out, data);
  if (data.size() % 2 != 0) out.push_back(0);
  return out;
}

}  // namespace

cv::Mat pattern(int width, int height) {
  cv::Mat out(height, width, CV_8UC3);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      out.at<cv::Vec3b>(y, x) = cv::Vec3b(static_cast<uint8_t>(255 * x / std::max(1, width - 1)),
                                          static_cast<uint8_t>(255 * y / std::max(1, height - 1)),
                                          x * 3 < width && y * 3 < height ? 200 : 40);
    }
  }
  return out;
}

cv::Mat noise(int width, int height, uint64_t seed) {
  cv::Mat out(height, width, CV_8UC3);
  cv::RNG generator(seed);
  generator.fill(out, cv::RNG::UNIFORM, 0, 256);
  return out;
}

cv::Mat face() {
  cv::Mat out(256, 320, CV_8UC3, cv::Scalar(95, 110, 120));
  const auto oval = [&](int x, int y, int rx, int ry, const cv::Scalar& colour, int from = 0,
                        int to = 360, int thickness = -1) {
    cv::ellipse(out, {x, y}, {rx, ry}, 0, from, to, colour, thickness, cv::LINE_AA);
  };
  oval(160, 128, 62, 84, {225, 190, 165});        // skin
  oval(160, 72, 64, 42, {50, 38, 30}, 180, 360);  // hair
  for (int side : {-1, 1}) {
    const int x = 160 + side * 25;
    oval(x, 104, 16, 5, {70, 50, 40}, 180, 360, 5);  // brow
    oval(x, 116, 13, 8, {150, 115, 100});            // socket
    oval(x, 117, 10, 5, {235, 235, 235});            // eye
    oval(x, 117, 5, 5, {40, 30, 25});                // pupil
    oval(160 + side * 34, 145, 12, 9, {235, 200, 180});
  }
  oval(160, 138, 7, 16, {238, 205, 180});  // nose
  oval(160, 155, 11, 4, {160, 120, 100}, 0, 180, 3);
  oval(160, 178, 22, 7, {150, 70, 70});  // mouth
  cv::line(out, {139, 177}, {181, 177}, {90, 40, 40}, 2, cv::LINE_AA);
  cv::GaussianBlur(out, out, cv::Size(), 2.2);
  return out;
}

cv::Mat pixels(const arrcoc::Picture& picture) {
  cv::Mat planes[3];
  for (int c = 0; c < 3; ++c) {
    planes[c] = cv::Mat(picture.height(), picture.width(), CV_8UC1,
                        picture.rgb.data_ptr<uint8_t>() +
                            static_cast<size_t>(c) * picture.height() * picture.width());
  }
  cv::Mat out;
  cv::merge(planes, 3, out);
  return out;
}

double difference(const cv::Mat& a, const cv::Mat& b) {
  if (a.size() != b.size() || a.type() != b.type()) return -1;
  return cv::norm(a, b, cv::NORM_INF);
}

Blob encoded(const cv::Mat& picture, const std::string& extension, std::vector<int> options) {
  cv::Mat bgr;  // own memory: an assigned header would convert the caller's picture in place
  if (picture.channels() == 1) bgr = picture;
  if (picture.channels() == 3) cv::cvtColor(picture, bgr, cv::COLOR_RGB2BGR);
  if (picture.channels() == 4) cv::cvtColor(picture, bgr, cv::COLOR_RGBA2BGRA);
  Blob out;
  CV_Assert(cv::imencode(extension, bgr, out, options));
  return out;
}

Blob cmyk_jpeg(const cv::Mat& cmyk, Inks inks) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_width = cmyk.cols;
  info.image_height = cmyk.rows;
  info.input_components = 4;
  info.in_color_space = JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_set_colorspace(&info, inks == Inks::ycck ? JCS_YCCK : JCS_CMYK);
  jpeg_set_quality(&info, 100, TRUE);
  for (int c = 0; c < 4; ++c) info.comp_info[c].h_samp_factor = info.comp_info[c].v_samp_factor = 1;
  info.write_Adobe_marker = inks == Inks::cmyk ? FALSE : TRUE;
  jpeg_start_compress(&info, TRUE);
  cv::Mat stored = cmyk.clone();
  if (inks != Inks::cmyk) stored = cv::Scalar::all(255) - cmyk;
  while (info.next_scanline < info.image_height) {
    JSAMPROW row = stored.ptr(static_cast<int>(info.next_scanline));
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  Blob out(memory, memory + size);
  jpeg_destroy_compress(&info);
  std::free(memory);
  return out;
}

Blob png(int width, int height, const std::vector<Blob>& rows, const PngKind& kind) {
  Blob out;
  png_structp writer = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(writer);
  png_set_write_fn(
      writer, &out,
      [](png_structp p, png_bytep bytes, size_t count) {
        auto* blob = static_cast<Blob*>(png_get_io_ptr(p));
        blob->insert(blob->end(), bytes, bytes + count);
      },
      [](png_structp) {});
  png_set_IHDR(writer, info, width, height, kind.bits, kind.colour_type,
               kind.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  std::vector<png_color> palette;
  for (const cv::Vec3b& c : kind.palette) palette.push_back({c[0], c[1], c[2]});
  if (!palette.empty())
    png_set_PLTE(writer, info, palette.data(), static_cast<int>(palette.size()));
  const Blob& t = kind.transparent;
  png_color_16 colour{};
  if (kind.colour_type == 0 && t.size() == 2) colour.gray = static_cast<uint16_t>(t[0] << 8 | t[1]);
  if (kind.colour_type == 2 && t.size() == 6) {
    colour.red = static_cast<uint16_t>(t[0] << 8 | t[1]);
    colour.green = static_cast<uint16_t>(t[2] << 8 | t[3]);
    colour.blue = static_cast<uint16_t>(t[4] << 8 | t[5]);
  }
  if (!t.empty()) {
    const bool indexed = kind.colour_type == 3;
    png_set_tRNS(writer, info, indexed ? t.data() : nullptr,
                 indexed ? static_cast<int>(t.size()) : 1, indexed ? nullptr : &colour);
  }
  std::vector<png_bytep> pointers;
  for (const Blob& row : rows) pointers.push_back(const_cast<png_bytep>(row.data()));
  png_set_rows(writer, info, pointers.data());
  png_write_png(writer, info, PNG_TRANSFORM_IDENTITY, nullptr);
  png_destroy_write_struct(&writer, &info);
  return out;
}

Blob tiff(const cv::Mat& picture, const TiffKind& kind) {
  const bool be = kind.big_endian;
  const int channels = picture.channels();
  const int bytes = picture.depth() == CV_16U ? 2 : 1;
  Blob data;
  for (int y = 0; y < picture.rows; ++y) {
    for (int i = 0; i < picture.cols * channels; ++i) {
      number(data, bytes == 2 ? picture.ptr<uint16_t>(y)[i] : picture.ptr(y)[i], bytes, be);
    }
  }
  if (data.size() % 2 != 0) data.push_back(0);
  const size_t bits_at = 8 + data.size();
  const size_t directory = bits_at + 8;
  Blob out;
  put(out, be ? "MM" : "II");
  number(out, 42, 2, be);
  number(out, directory, 4, be);
  put(out, data);
  for (int c = 0; c < 4; ++c) number(out, bytes * 8, 2, be);
  Blob entries;
  int count = 0;
  const auto shorts = [&](int tag, int value) {
    number(entries, tag, 2, be), number(entries, 3, 2, be), number(entries, 1, 4, be);
    number(entries, value, 2, be), number(entries, 0, 2, be), ++count;
  };
  const auto longs = [&](int tag, uint32_t value) {
    number(entries, tag, 2, be), number(entries, 4, 2, be), number(entries, 1, 4, be);
    number(entries, value, 4, be), ++count;
  };
  longs(256, picture.cols);
  longs(257, picture.rows);
  if (channels <= 2) {  // one or two shorts fit into the entry
    number(entries, 258, 2, be), number(entries, 3, 2, be), number(entries, channels, 4, be);
    number(entries, bytes * 8, 2, be), number(entries, channels == 2 ? bytes * 8 : 0, 2, be);
    ++count;
  } else {
    number(entries, 258, 2, be), number(entries, 3, 2, be), number(entries, channels, 4, be);
    number(entries, bits_at, 4, be), ++count;
  }
  shorts(259, 1);
  shorts(262, channels >= 3 ? 2 : 1);
  longs(273, 8);
  shorts(274, kind.orientation);
  shorts(277, channels);
  longs(278, picture.rows);
  longs(279, static_cast<uint32_t>(picture.rows) * picture.cols * channels * bytes);
  shorts(284, 1);
  if (kind.extra >= 0) shorts(338, kind.extra);
  number(out, count, 2, be);
  put(out, entries);
  number(out, 0, 4, be);
  return out;
}

Blob bmp(int header, int width, int height, int bits, uint32_t compression, const Blob& palette,
         const Blob& data, const std::vector<uint32_t>& masks) {
  Blob info;
  number(info, header, 4, false);
  if (header == 12) {
    number(info, width, 2, false), number(info, height, 2, false);
    number(info, 1, 2, false), number(info, bits, 2, false);
  } else {
    number(info, static_cast<uint32_t>(width), 4, false);
    number(info, static_cast<uint32_t>(height), 4, false);
    number(info, 1, 2, false), number(info, bits, 2, false);
    number(info, compression, 4, false), number(info, data.size(), 4, false);
    number(info, 2835, 4, false), number(info, 2835, 4, false);
    number(info, palette.size() / 4, 4, false), number(info, 0, 4, false);
    for (uint32_t mask : masks) number(info, mask, 4, false);
    while (info.size() < static_cast<size_t>(header)) info.push_back(0);
  }
  Blob out;
  put(out, "BM");
  number(out, 14 + info.size() + palette.size() + data.size(), 4, false);
  number(out, 0, 4, false);
  number(out, 14 + info.size() + palette.size(), 4, false);
  put(out, info);
  put(out, palette);
  put(out, data);
  return out;
}

Blob pdf(int width, int height, cv::Rect r, cv::Vec3d colour, int pages) {
  std::vector<std::string> objects;
  char text[400];
  std::string kids;
  for (int i = 0; i < pages; ++i) kids += std::to_string(3 + 2 * i) + " 0 R ";
  objects.push_back("<< /Type /Catalog /Pages 2 0 R >>");
  objects.push_back("<< /Type /Pages /Count " + std::to_string(pages) + " /Kids [ " + kids +
                    "] >>");
  for (int i = 0; i < pages; ++i) {
    std::snprintf(text, sizeof text,
                  "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents %d 0 R >>", width,
                  height, 4 + 2 * i);
    objects.push_back(text);
    // Later pages are drawn dimmer, so that they can be told apart.
    const double dim = 1.0 / (i + 1);
    std::snprintf(text, sizeof text, "%g %g %g rg %d %d %d %d re f", colour[0] * dim,
                  colour[1] * dim, colour[2] * dim, r.x, height - r.y - r.height, r.width,
                  r.height);
    const std::string stream = text;
    objects.push_back("<< /Length " + std::to_string(stream.size()) + " >>\nstream\n" + stream +
                      "\nendstream");
  }
  std::string out = "%PDF-1.4\n";
  std::vector<size_t> offsets;
  for (size_t i = 0; i < objects.size(); ++i) {
    offsets.push_back(out.size());
    out += std::to_string(i + 1) + " 0 obj\n" + objects[i] + "\nendobj\n";
  }
  const size_t xref = out.size();
  out += "xref\n0 " + std::to_string(objects.size() + 1) + "\n0000000000 65535 f \n";
  for (size_t offset : offsets) {
    std::snprintf(text, sizeof text, "%010zu 00000 n \n", offset);
    out += text;
  }
  out += "trailer\n<< /Size " + std::to_string(objects.size() + 1) +
         " /Root 1 0 R >>\nstartxref\n" + std::to_string(xref) + "\n%%EOF\n";
  return Blob(out.begin(), out.end());
}

Blob heic(const cv::Mat& rgb) {
  Blob out;
#if __has_include(<libheif/heif.h>)
  heif_context* context = heif_context_alloc();
  heif_encoder* encoder = nullptr;
  if (heif_context_get_encoder_for_format(context, heif_compression_HEVC, &encoder).code == 0) {
    heif_encoder_set_lossy_quality(encoder, 95);
    heif_encoder_set_parameter_string(encoder, "chroma", "444");
    heif_image* image = nullptr;
    heif_image_create(rgb.cols, rgb.rows, heif_colorspace_RGB, heif_chroma_interleaved_RGB, &image);
    heif_image_add_plane(image, heif_channel_interleaved, rgb.cols, rgb.rows, 8);
    int stride = 0;
    uint8_t* plane = heif_image_get_plane(image, heif_channel_interleaved, &stride);
    for (int y = 0; y < rgb.rows; ++y) std::memcpy(plane + y * stride, rgb.ptr(y), rgb.cols * 3);
    heif_context_encode_image(context, image, encoder, nullptr, nullptr);
    heif_writer writer{1, [](heif_context*, const void* data, size_t size, void* user) {
                         const auto* bytes = static_cast<const uint8_t*>(data);
                         static_cast<Blob*>(user)->assign(bytes, bytes + size);
                         return heif_error{heif_error_Ok, heif_suberror_Unspecified, ""};
                       }};
    heif_context_write(context, &writer, &out);
    heif_image_release(image);
    heif_encoder_release(encoder);
  }
  heif_context_free(context);
#else
  (void)rgb;
#endif
  return out;
}

Blob exif(int orientation, bool be) {
  Blob out;
  put(out, be ? "MM" : "II");
  number(out, 42, 2, be), number(out, 8, 4, be);
  number(out, 1, 2, be);
  number(out, 274, 2, be), number(out, 3, 2, be), number(out, 1, 4, be);
  number(out, orientation, 2, be), number(out, 0, 2, be);
  number(out, 0, 4, be);
  return out;
}

Blob jpeg_with_exif(const Blob& jpeg, const Blob& exif) {
  Blob out(jpeg.begin(), jpeg.begin() + 2);
  out.push_back(0xFF), out.push_back(0xE1);
  number(out, 2 + 6 + exif.size(), 2, true);
  put(out, std::string("Exif\0\0", 6));
  put(out, exif);
  out.insert(out.end(), jpeg.begin() + 2, jpeg.end());
  return out;
}

Blob png_with_exif(const Blob& png, const Blob& exif, bool after_pixels) {
  const size_t at = after_pixels ? png.size() - 12 : 8 + 25;
  Blob out(png.begin(), png.begin() + static_cast<long>(at));
  put(out, png_chunk("eXIf", exif));
  out.insert(out.end(), png.begin() + static_cast<long>(at), png.end());
  return out;
}

Blob webp_with_exif(const Blob& webp, int width, int height, const Blob& exif) {
  Blob extended{0x08, 0, 0, 0};  // flag: EXIF present
  number(extended, width - 1, 3, false), number(extended, height - 1, 3, false);
  Blob body;
  put(body, "WEBP");
  put(body, riff_chunk("VP8X", extended));
  body.insert(body.end(), webp.begin() + 12, webp.end());
  put(body, riff_chunk("EXIF", exif));
  Blob out;
  put(out, "RIFF");
  number(out, body.size(), 4, false);
  put(out, body);
  return out;
}

Blob png_claiming(uint32_t width, uint32_t height) {
  Blob out{0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
  Blob header;
  number(header, width, 4, true), number(header, height, 4, true);
  for (int v : {8, 2, 0, 0, 0}) header.push_back(static_cast<uint8_t>(v));
  put(out, png_chunk("IHDR", header));
  put(out, png_chunk("IDAT", {0x78, 0x9C, 0x03, 0, 0, 0, 0, 1}));
  put(out, png_chunk("IEND", {}));
  return out;
}

cv::Mat turned(const cv::Mat& stored, int orientation) {
  const int w = stored.cols;
  const int h = stored.rows;
  const bool lying = orientation >= 5;
  cv::Mat out(lying ? w : h, lying ? h : w, stored.type());
  for (int y = 0; y < h; ++y) {
    for (int x = 0; x < w; ++x) {
      int X = x;
      int Y = y;
      switch (orientation) {
        case 2:
          X = w - 1 - x;
          break;
        case 3:
          X = w - 1 - x, Y = h - 1 - y;
          break;
        case 4:
          Y = h - 1 - y;
          break;
        case 5:
          X = y, Y = x;
          break;
        case 6:
          X = h - 1 - y, Y = x;
          break;
        case 7:
          X = h - 1 - y, Y = w - 1 - x;
          break;
        case 8:
          X = y, Y = w - 1 - x;
          break;
        default:
          break;
      }
      out.at<cv::Vec3b>(Y, X) = stored.at<cv::Vec3b>(y, x);
    }
  }
  return out;
}

}  // namespace pictures
