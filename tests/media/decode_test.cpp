// Every format gives the pixels that went in.
#include <gtest/gtest.h>

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "arrcoc/error.h"
#include "media/pictures.h"

using namespace arrcoc;
using namespace pictures;

namespace {

cv::Mat decoded(const Blob& file) { return pixels(media::decode(file, "test")); }

// The pictures are taller than one decoding strip, and not a whole number of strips.
constexpr int kWidth = 53;
constexpr int kHeight = 75;

cv::Mat over_white(const cv::Mat& rgba) {
  cv::Mat out(rgba.size(), CV_8UC3);
  for (int y = 0; y < rgba.rows; ++y) {
    for (int x = 0; x < rgba.cols; ++x) {
      const auto p = rgba.at<cv::Vec4b>(y, x);
      for (int c = 0; c < 3; ++c) {
        out.at<cv::Vec3b>(y, x)[c] =
            cv::saturate_cast<uint8_t>((p[c] * p[3] + 255.0 * (255 - p[3])) / 255.0);
      }
    }
  }
  return out;
}

cv::Mat rgba_pattern() {
  cv::Mat rgb = noise(kWidth, kHeight, 3);
  cv::Mat out;
  cv::cvtColor(rgb, out, cv::COLOR_RGB2RGBA);
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x)
      out.at<cv::Vec4b>(y, x)[3] = static_cast<uint8_t>(x * 255 / 52);
  }
  return out;
}

cv::Mat grey_as_rgb(const cv::Mat& grey) {
  cv::Mat out;
  cv::cvtColor(grey, out, cv::COLOR_GRAY2RGB);
  return out;
}

}  // namespace

TEST(Decode, LosslessFormatsKeepEveryPixel) {
  const cv::Mat picture = noise(kWidth, kHeight, 1);
  EXPECT_EQ(difference(decoded(encoded(picture, ".png")), picture), 0);
  EXPECT_EQ(difference(decoded(encoded(picture, ".bmp")), picture), 0);
  EXPECT_EQ(difference(decoded(encoded(picture, ".tiff")), picture), 0);
  EXPECT_EQ(
      difference(decoded(encoded(picture, ".webp", {cv::IMWRITE_WEBP_QUALITY, 101})), picture), 0);
  EXPECT_EQ(difference(decoded(tiff(picture)), picture), 0);
  EXPECT_EQ(difference(decoded(tiff(picture, {.big_endian = true})), picture), 0);
}

TEST(Decode, JpegGivesTheSamePixelsAsOpenCv) {
  const cv::Mat picture = pattern(kWidth, kHeight);
  for (int progressive : {0, 1}) {
    const Blob file = encoded(picture, ".jpg", {cv::IMWRITE_JPEG_PROGRESSIVE, progressive});
    cv::Mat expected = cv::imdecode(file, cv::IMREAD_COLOR);
    cv::cvtColor(expected, expected, cv::COLOR_BGR2RGB);
    EXPECT_EQ(difference(decoded(file), expected), 0) << "progressive " << progressive;
  }
}

TEST(Decode, LossyFormatsStayClose) {
  const cv::Mat picture = pattern(96, 80);
  const auto mean_error = [&](const Blob& file) {
    return cv::norm(decoded(file), picture, cv::NORM_L1) / (96 * 80 * 3);
  };
  EXPECT_LT(mean_error(encoded(picture, ".jpg", {cv::IMWRITE_JPEG_QUALITY, 95})), 3);
  EXPECT_LT(mean_error(encoded(picture, ".webp", {cv::IMWRITE_WEBP_QUALITY, 95})), 3);
}

TEST(Decode, Heic) {
  const cv::Mat picture = pattern(96, 80);
  const Blob file = heic(picture);
  ASSERT_FALSE(file.empty()) << "libheif without an HEVC encoder";
  const media::Probe header = media::probe(file);
  EXPECT_EQ(header.format, media::Format::heic);
  EXPECT_EQ(header.width, 96);
  EXPECT_EQ(header.height, 80);
  const cv::Mat result = decoded(file);
  ASSERT_EQ(result.size(), picture.size());
  EXPECT_LT(cv::norm(result, picture, cv::NORM_L1) / (96 * 80 * 3), 4);
}

TEST(Decode, PdfPageIsRenderedAtTheGivenResolution) {
  const Blob file = pdf(144, 72, cv::Rect(36, 18, 72, 18), {0, 0, 1});
  media::LoadOptions options;
  options.pdf_dpi = 144;
  const cv::Mat page = pixels(media::decode(file, "page.pdf", options));
  ASSERT_EQ(page.size(), cv::Size(288, 144));
  EXPECT_EQ(page.at<cv::Vec3b>(5, 5), cv::Vec3b(255, 255, 255));
  EXPECT_EQ(page.at<cv::Vec3b>(50, 144), cv::Vec3b(0, 0, 255));      // inside the rectangle
  EXPECT_EQ(page.at<cv::Vec3b>(80, 144), cv::Vec3b(255, 255, 255));  // below it
  EXPECT_EQ(page.at<cv::Vec3b>(50, 60), cv::Vec3b(255, 255, 255));   // left of it
}

TEST(Decode, PdfPagesAreChosenByNumber) {
  const Blob file = pdf(40, 40, cv::Rect(0, 0, 40, 40), {1, 1, 1}, 3);
  media::LoadOptions options;
  options.page = 2;
  EXPECT_NEAR(pixels(media::decode(file, "", options)).at<cv::Vec3b>(9, 9)[0], 128, 1);
  for (int page : {0, 4}) {
    options.page = page;
    try {
      media::decode(file, "three.pdf", options);
      FAIL() << "page " << page << " does not exist";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::not_found);
      EXPECT_NE(std::string(error.what()).find("three.pdf"), std::string::npos);
    }
  }
}

TEST(Decode, GreyPicturesBecomeEqualChannels) {
  cv::Mat grey;
  cv::cvtColor(noise(kWidth, kHeight, 2), grey, cv::COLOR_RGB2GRAY);
  EXPECT_EQ(difference(decoded(encoded(grey, ".png")), grey_as_rgb(grey)), 0);
  EXPECT_EQ(difference(decoded(tiff(grey)), grey_as_rgb(grey)), 0);
  EXPECT_EQ(difference(decoded(encoded(grey, ".bmp")), grey_as_rgb(grey)), 0);
  const Blob jpeg = encoded(grey, ".jpg", {cv::IMWRITE_JPEG_QUALITY, 90});
  EXPECT_EQ(difference(decoded(jpeg), grey_as_rgb(cv::imdecode(jpeg, cv::IMREAD_GRAYSCALE))), 0);
}

TEST(Decode, SixteenBitsAreRoundedToEight) {
  cv::Mat wide(kHeight, kWidth, CV_16UC3);
  cv::RNG generator(4);
  generator.fill(wide, cv::RNG::UNIFORM, 0, 65536);
  wide.at<cv::Vec3w>(0, 0) = {0, 65535, 32768};
  cv::Mat expected;
  wide.convertTo(expected, CV_8U, 1 / 257.0);
  EXPECT_LE(difference(decoded(encoded(wide, ".png")), expected), 1);
  EXPECT_LE(difference(decoded(tiff(wide)), expected), 1);
  EXPECT_LE(difference(decoded(tiff(wide, {.big_endian = true})), expected), 1);
  cv::Mat grey(kHeight, kWidth, CV_16UC1);
  generator.fill(grey, cv::RNG::UNIFORM, 0, 65536);
  grey.convertTo(expected, CV_8U, 1 / 257.0);
  EXPECT_LE(difference(decoded(encoded(grey, ".png")), grey_as_rgb(expected)), 1);
  EXPECT_LE(difference(decoded(tiff(grey)), grey_as_rgb(expected)), 1);
}

TEST(Decode, AlphaIsLaidOverWhite) {
  const cv::Mat rgba = rgba_pattern();
  EXPECT_LE(difference(decoded(encoded(rgba, ".png")), over_white(rgba)), 1);
  EXPECT_LE(difference(decoded(tiff(rgba, {.extra = 2})), over_white(rgba)), 1);
  // OpenCV's WebP writer clears colours under alpha 0, which white covers anyway.
  EXPECT_LE(difference(decoded(encoded(rgba, ".webp", {cv::IMWRITE_WEBP_QUALITY, 101})),
                       over_white(rgba)),
            1);
  cv::Mat wide;
  rgba.convertTo(wide, CV_16U, 257);
  EXPECT_LE(difference(decoded(encoded(wide, ".png")), over_white(rgba)), 1);
}

TEST(Decode, PremultipliedTiffIsNotMultipliedTwice) {
  const cv::Mat rgba = rgba_pattern();
  cv::Mat multiplied = rgba.clone();
  for (int y = 0; y < rgba.rows; ++y) {
    for (int x = 0; x < rgba.cols; ++x) {
      auto& p = multiplied.at<cv::Vec4b>(y, x);
      for (int c = 0; c < 3; ++c) p[c] = cv::saturate_cast<uint8_t>(p[c] * p[3] / 255.0);
    }
  }
  EXPECT_LE(difference(decoded(tiff(multiplied, {.extra = 1})), over_white(rgba)), 1);
}

TEST(Decode, GreyWithAlpha) {
  std::vector<Blob> rows;
  cv::Mat stored(kHeight, kWidth, CV_8UC2);
  cv::Mat expected(kHeight, kWidth, CV_8UC3);
  for (int y = 0; y < kHeight; ++y) {
    Blob row;
    for (int x = 0; x < kWidth; ++x) {
      const int grey = (x * 37 + y * 11) % 256;
      const int alpha = y * 255 / (kHeight - 1);
      row.push_back(static_cast<uint8_t>(grey)), row.push_back(static_cast<uint8_t>(alpha));
      stored.at<cv::Vec2b>(y, x) = cv::Vec2b(row[row.size() - 2], row.back());
      const auto v = cv::saturate_cast<uint8_t>((grey * alpha + 255.0 * (255 - alpha)) / 255);
      expected.at<cv::Vec3b>(y, x) = cv::Vec3b(v, v, v);
    }
    rows.push_back(row);
  }
  EXPECT_LE(difference(decoded(png(kWidth, kHeight, rows, {.colour_type = 4})), expected), 1);
  EXPECT_LE(difference(decoded(tiff(stored, {.extra = 2})), expected), 1);
}

TEST(Decode, PalettesWithFewBitsAndTransparentEntries) {
  const std::vector<cv::Vec3b> colours{{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {10, 20, 30}};
  // 4 pixels of 2 bits: 0 1 2 3; entry 1 is transparent
  const PngKind kind{.colour_type = 3, .bits = 2, .palette = colours, .transparent = {255, 0}};
  const cv::Mat got = decoded(png(4, 1, {{0b00011011}}, kind));
  EXPECT_EQ(got.at<cv::Vec3b>(0, 0), colours[0]);
  EXPECT_EQ(got.at<cv::Vec3b>(0, 1), cv::Vec3b(255, 255, 255));
  EXPECT_EQ(got.at<cv::Vec3b>(0, 2), colours[2]);
  EXPECT_EQ(got.at<cv::Vec3b>(0, 3), colours[3]);
}

TEST(Decode, TransparentColoursWithoutAnAlphaChannel) {
  const cv::Mat grey = decoded(png(3, 1, {{7, 8, 9}}, {.colour_type = 0, .transparent = {0, 8}}));
  EXPECT_EQ(grey.at<cv::Vec3b>(0, 0), cv::Vec3b(7, 7, 7));
  EXPECT_EQ(grey.at<cv::Vec3b>(0, 1), cv::Vec3b(255, 255, 255));
  const cv::Mat rgb = decoded(
      png(2, 1, {{1, 2, 3, 4, 5, 6}}, {.colour_type = 2, .transparent = {0, 1, 0, 2, 0, 3}}));
  EXPECT_EQ(rgb.at<cv::Vec3b>(0, 0), cv::Vec3b(255, 255, 255));
  EXPECT_EQ(rgb.at<cv::Vec3b>(0, 1), cv::Vec3b(4, 5, 6));
}

TEST(Decode, BlackAndWhitePng) {
  const cv::Mat got = decoded(png(9, 1, {{0b10110001, 0b10000000}}, {.colour_type = 0, .bits = 1}));
  for (int x : {0, 2, 3, 7, 8}) EXPECT_EQ(got.at<cv::Vec3b>(0, x)[0], 255) << x;
  for (int x : {1, 4, 5, 6}) EXPECT_EQ(got.at<cv::Vec3b>(0, x)[0], 0) << x;
}

TEST(Decode, InterlacedPng) {
  const cv::Mat picture = noise(kWidth, kHeight, 5);
  std::vector<Blob> rows;
  for (int y = 0; y < kHeight; ++y) rows.emplace_back(picture.ptr(y), picture.ptr(y) + kWidth * 3);
  EXPECT_EQ(difference(decoded(png(kWidth, kHeight, rows, {.interlaced = true})), picture), 0);
}

TEST(Decode, CmykJpegPlainAndInverted) {
  cv::Mat inks(40, 40, CV_8UC4);
  inks(cv::Rect(0, 0, 20, 20)) = cv::Scalar(0, 0, 0, 0);       // paper
  inks(cv::Rect(20, 0, 20, 20)) = cv::Scalar(255, 0, 0, 0);    // cyan
  inks(cv::Rect(0, 20, 20, 20)) = cv::Scalar(0, 255, 255, 0);  // red
  inks(cv::Rect(20, 20, 20, 20)) = cv::Scalar(0, 0, 0, 128);   // half black
  for (Inks kind : {Inks::cmyk, Inks::cmyk_adobe, Inks::ycck}) {
    const cv::Mat got = decoded(cmyk_jpeg(inks, kind));
    const auto near = [&](int x, int y, cv::Vec3b wanted) {
      const auto p = got.at<cv::Vec3b>(y, x);
      for (int c = 0; c < 3; ++c) {
        EXPECT_NEAR(p[c], wanted[c], 4)
            << "kind " << static_cast<int>(kind) << " at " << x << "," << y;
      }
    };
    near(5, 5, {255, 255, 255});
    near(34, 5, {0, 255, 255});
    near(5, 34, {255, 0, 0});
    near(34, 34, {127, 127, 127});
  }
}

TEST(Decode, BmpOfEveryKind) {
  const cv::Vec3b red(255, 0, 0), green(0, 255, 0), blue(0, 0, 255), black(0, 0, 0);
  const Blob palette4{0, 0,   0, 0, 0,   0, 255, 0,
                      0, 255, 0, 0, 255, 0, 0,   0};  // black red green blue
  const Blob palette3{0, 0, 0, 0, 0, 255, 0, 255, 0, 255, 0, 0};
  const auto expect = [&](const Blob& file, const char* what) {
    const cv::Mat got = decoded(file);  // red green / blue black
    ASSERT_EQ(got.size(), cv::Size(2, 2)) << what;
    EXPECT_EQ(got.at<cv::Vec3b>(0, 0), red) << what;
    EXPECT_EQ(got.at<cv::Vec3b>(0, 1), green) << what;
    EXPECT_EQ(got.at<cv::Vec3b>(1, 0), blue) << what;
    EXPECT_EQ(got.at<cv::Vec3b>(1, 1), black) << what;
  };
  const Blob bits8{3, 0, 0, 0, 1, 2, 0, 0};
  expect(bmp(40, 2, 2, 8, 0, palette4, bits8), "8 bit");
  expect(bmp(12, 2, 2, 8, 0, palette3, bits8), "OS/2");
  expect(bmp(40, 2, -2, 8, 0, palette4, {1, 2, 0, 0, 3, 0, 0, 0}), "top down");
  expect(bmp(40, 2, 2, 4, 0, palette4, {0x30, 0, 0, 0, 0x12, 0, 0, 0}), "4 bit");
  expect(bmp(40, 2, 2, 24, 0, {}, {255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 0, 255, 0, 0, 0}),
         "24 bit");
  expect(bmp(40, 2, 2, 16, 0, {}, {0x1F, 0, 0, 0, 0x00, 0x7C, 0xE0, 0x03}), "16 bit 555");
  expect(bmp(108, 2, 2, 16, 3, {}, {0x1F, 0, 0, 0, 0x00, 0xF8, 0xE0, 0x07},
             {0xF800, 0x07E0, 0x001F, 0}),
         "16 bit 565");
  expect(bmp(40, 2, 2, 32, 0, {}, {255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 0, 0, 255, 0, 0}),
         "32 bit, fourth byte unused");
  expect(bmp(40, 2, 2, 8, 1, palette4, {1, 3, 1, 0, 0, 0, 1, 1, 1, 2, 0, 1}), "RLE8");
  expect(bmp(40, 2, 2, 4, 2, palette4, {2, 0x30, 0, 0, 2, 0x12, 0, 1}), "RLE4");
  expect(bmp(108, 2, 2, 32, 3, {}, {255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 0, 0, 255, 0, 0},
             {0xFF0000, 0xFF00, 0xFF, 0xFF000000}),
         "alpha declared but never set");
  const cv::Mat half =
      decoded(bmp(108, 1, 1, 32, 3, {}, {0, 0, 255, 128}, {0xFF0000, 0xFF00, 0xFF, 0xFF000000}));
  EXPECT_EQ(half.at<cv::Vec3b>(0, 0), cv::Vec3b(255, 127, 127));
  const cv::Mat two =
      decoded(bmp(40, 9, 1, 1, 0, {0, 0, 0, 0, 255, 255, 255, 0}, {0xAA, 0x80, 0, 0}));
  for (int x = 0; x < 9; ++x) EXPECT_EQ(two.at<cv::Vec3b>(0, x)[0], x % 2 == 0 ? 255 : 0) << x;
}

TEST(Decode, EveryExifOrientationPixelForPixel) {
  const cv::Mat stored = noise(kWidth, kHeight, 6);
  const Blob jpeg = encoded(stored, ".jpg");
  const cv::Mat from_jpeg = decoded(jpeg);
  const Blob png_file = encoded(stored, ".png");
  const Blob webp = encoded(stored, ".webp", {cv::IMWRITE_WEBP_QUALITY, 101});
  for (int o = 1; o <= 8; ++o) {
    for (bool big_endian : {false, true}) {
      const Blob block = exif(o, big_endian);
      EXPECT_EQ(difference(decoded(jpeg_with_exif(jpeg, block)), turned(from_jpeg, o)), 0) << o;
      for (bool after : {false, true}) {
        EXPECT_EQ(difference(decoded(png_with_exif(png_file, block, after)), turned(stored, o)), 0)
            << o;
      }
      EXPECT_EQ(
          difference(decoded(webp_with_exif(webp, kWidth, kHeight, block)), turned(stored, o)), 0)
          << o;
      EXPECT_EQ(difference(decoded(tiff(stored, {.big_endian = big_endian, .orientation = o})),
                           turned(stored, o)),
                0)
          << o;
    }
  }
}

TEST(Decode, IllegalOrientationsAreIgnored) {
  const Blob jpeg = encoded(noise(kWidth, kHeight, 6), ".jpg");
  for (int o : {0, 9, 65535}) {
    EXPECT_EQ(difference(decoded(jpeg_with_exif(jpeg, exif(o, false))), decoded(jpeg)), 0) << o;
  }
}

TEST(Decode, OrientationTurnsGreyAndAlphaToo) {
  cv::Mat grey;
  cv::cvtColor(noise(kWidth, kHeight, 7), grey, cv::COLOR_RGB2GRAY);
  const Blob block = exif(6, false);
  EXPECT_EQ(difference(decoded(png_with_exif(encoded(grey, ".png"), block, false)),
                       turned(grey_as_rgb(grey), 6)),
            0);
  const cv::Mat rgba = rgba_pattern();
  EXPECT_LE(difference(decoded(png_with_exif(encoded(rgba, ".png"), block, false)),
                       turned(over_white(rgba), 6)),
            1);
}

TEST(Decode, ContentDecidesNotTheName) {
  const cv::Mat picture = noise(8, 8, 8);
  const Picture got = media::decode(encoded(picture, ".png"), "holiday.jpg");
  EXPECT_EQ(difference(pixels(got), picture), 0);
  EXPECT_EQ(got.source, "holiday.jpg");
}

TEST(Decode, ExtremeShapes) {
  for (cv::Size size : {cv::Size(1, 1), cv::Size(1, 65535), cv::Size(65535, 1), cv::Size(3, 2)}) {
    const cv::Mat picture = noise(size.width, size.height, 9);
    EXPECT_EQ(difference(decoded(encoded(picture, ".png")), picture), 0);
    EXPECT_EQ(difference(decoded(tiff(picture)), picture), 0);
    EXPECT_EQ(difference(decoded(encoded(picture, ".bmp")), picture), 0);
    const Blob turned_png = png_with_exif(encoded(picture, ".png"), exif(6, false), false);
    EXPECT_EQ(difference(decoded(turned_png), turned(picture, 6)), 0);
  }
  const cv::Mat tall = noise(1, 65500, 10);  // libjpeg's longest side
  EXPECT_EQ(decoded(encoded(tall, ".jpg")).size(), tall.size());
}

TEST(Decode, EqualPicturesHaveEqualDigestsWhateverTheFile) {
  const cv::Mat picture = noise(kWidth, kHeight, 11);
  const auto digest = media::decode(encoded(picture, ".png")).digest;
  EXPECT_EQ(media::decode(encoded(picture, ".bmp")).digest, digest);
  EXPECT_EQ(media::decode(tiff(picture)).digest, digest);
}
