// Broken, truncated, lying and oversized files: an Error, never a crash, and refused before
// decoding.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <opencv2/imgcodecs.hpp>
#include <optional>

#include "arrcoc/error.h"
#include "media/pictures.h"
#include "processes.h"

using namespace arrcoc;
using namespace pictures;

namespace {

const std::map<std::string, Blob>& files() {
  static const std::map<std::string, Blob> all = [] {
    const cv::Mat picture = noise(61, 47, 1);
    std::map<std::string, Blob> out;
    out["jpeg"] = encoded(picture, ".jpg");
    out["jpeg progressive"] = encoded(picture, ".jpg", {cv::IMWRITE_JPEG_PROGRESSIVE, 1});
    out["png"] = encoded(picture, ".png");
    out["webp"] = encoded(picture, ".webp", {cv::IMWRITE_WEBP_QUALITY, 80});
    out["webp lossless"] = encoded(picture, ".webp", {cv::IMWRITE_WEBP_QUALITY, 101});
    out["tiff"] = tiff(picture);
    out["tiff lzw"] = encoded(picture, ".tiff");
    out["bmp"] = encoded(picture, ".bmp");
    out["heic"] = heic(pattern(64, 64));
    out["pdf"] = pdf(60, 40, cv::Rect(5, 5, 20, 20), {1, 0, 0});
    return out;
  }();
  return all;
}

// The error of decoding, or nothing when there is a picture.
std::optional<ErrorCode> outcome(const Blob& file) {
  media::LoadOptions options;
  options.max_megapixels = 4;
  try {
    const Picture picture = media::decode(file, "file", options);
    EXPECT_GE(picture.width(), 1);
    return std::nullopt;
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("file"), std::string::npos) << "names no source: " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << "more than one line: " << message;
    return error.code();
  }
}

// In kB, and what AddressSanitizer has of its own.
constexpr long kGigabyte = (arrcoc::test::kSanitized ? 3 : 1) * 1000 * 1000;

long peak_memory_kb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

}  // namespace

TEST(Limits, ProbeReadsTheSizeOfEveryFormat) {
  using media::Format;
  const std::map<std::string, Format> formats = {{"jpeg", Format::jpeg}, {"png", Format::png},
                                                 {"webp", Format::webp}, {"tiff", Format::tiff},
                                                 {"bmp", Format::bmp},   {"heic", Format::heic},
                                                 {"pdf", Format::pdf}};
  for (const auto& [name, file] : files()) {
    const media::Probe header = media::probe(file, name);
    EXPECT_EQ(header.format, formats.at(name.substr(0, name.find(' '))));
    if (header.format == Format::pdf) {
      EXPECT_EQ(header.width, 0);
    } else if (header.format == Format::heic) {
      EXPECT_EQ(header.width, 64);
    } else {
      EXPECT_EQ(header.width, 61) << name;
      EXPECT_EQ(header.height, 47) << name;
    }
  }
}

TEST(Limits, ProbeGivesTheStoredSize) {
  const Blob jpeg = jpeg_with_exif(encoded(noise(30, 20, 1), ".jpg"), exif(6, true));
  EXPECT_EQ(media::probe(jpeg).width, 30);
  EXPECT_EQ(media::decode(jpeg).width(), 20);
}

TEST(Limits, ABombIsRefusedByItsHeader) {
  const long before = peak_memory_kb();
  for (auto [w, h] : {std::pair{50000U, 50000U}, {2147483647U, 2147483647U}, {1U, 200000000U}}) {
    try {
      media::decode(png_claiming(w, h), "bomb.png");
      FAIL() << w << "x" << h << " was decoded";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::too_large);
      EXPECT_NE(std::string(error.what()).find("bomb.png"), std::string::npos);
      EXPECT_NE(std::string(error.what()).find(std::to_string(w)), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("100"), std::string::npos);
    }
  }
  EXPECT_LT(peak_memory_kb() - before, 64 * 1024) << "memory was taken for a refused picture";
}

TEST(Limits, TheLimitCountsForEveryFormat) {
  media::LoadOptions options;
  options.max_megapixels = 0.002;  // 61 x 47 is 0.002867
  for (const auto& [name, file] : files()) {
    try {
      media::decode(file, name, options);
      ADD_FAILURE() << name << " passed the limit";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::too_large) << name << ": " << error.what();
    }
  }
  options.max_megapixels = 0.05;
  for (const auto& [name, file] : files()) {
    EXPECT_NO_THROW(media::decode(file, name, options)) << name;
  }
}

TEST(Limits, AFormatWithZeroOrNegativeSizeIsBroken) {
  EXPECT_EQ(outcome(png_claiming(0, 10)), ErrorCode::bad_image);
  EXPECT_EQ(outcome(png_claiming(10, 0)), ErrorCode::bad_image);
  EXPECT_EQ(outcome(png_claiming(0x80000001U, 1)), ErrorCode::bad_image);
  EXPECT_EQ(outcome(bmp(40, -4, 4, 24, 0, {}, Blob(64, 0))), ErrorCode::bad_image);
  EXPECT_EQ(outcome(bmp(40, 4, 0, 24, 0, {}, Blob(64, 0))), ErrorCode::bad_image);
}

TEST(Limits, ABmpOfTheLowestHeightDoesNotOverflow) {
  const Blob file = bmp(40, 1, INT32_MIN, 24, 0, {}, Blob(64, 0));
  EXPECT_TRUE(outcome(file).has_value());
}

TEST(Limits, NothingAndNonsenseAreNoPictures) {
  EXPECT_EQ(outcome({}), ErrorCode::bad_image);
  EXPECT_EQ(outcome({0}), ErrorCode::bad_image);
  const std::string text = "Dear reader, this is a letter and not a picture.";
  EXPECT_EQ(outcome(Blob(text.begin(), text.end())), ErrorCode::bad_image);
  EXPECT_EQ(outcome(Blob(100000, 0)), ErrorCode::bad_image);
  EXPECT_EQ(outcome(Blob(100000, 0xFF)), ErrorCode::bad_image);
  const std::string gif = "GIF89a..........";
  EXPECT_EQ(outcome(Blob(gif.begin(), gif.end())), ErrorCode::unsupported);
}

TEST(Limits, OptionsAreChecked) {
  media::LoadOptions options;
  for (double limit : {0.0, -1.0, std::nan("")}) {
    options.max_megapixels = limit;
    EXPECT_THROW(media::decode(files().at("png"), "", options), Error) << limit;
  }
}

TEST(Limits, TruncatedAtEveryLengthNeverCrashes) {
  for (const auto& [name, file] : files()) {
    const size_t step = std::max<size_t>(1, file.size() / 150);
    for (size_t size = 0; size < file.size(); size += step) {
      const Blob cut(file.begin(), file.begin() + static_cast<long>(size));
      SCOPED_TRACE(name + " cut at " + std::to_string(size));
      outcome(cut);
    }
  }
}

TEST(Limits, ATruncatedPictureIsAnError) {
  for (const auto& [name, file] : files()) {
    if (name == "pdf") continue;  // readers repair PDF files
    for (double part : {0.3, 0.6, 0.9}) {
      const Blob cut(file.begin(), file.begin() + static_cast<long>(file.size() * part));
      // A TIFF whose directory lies behind the pixels has lost its size.
      EXPECT_EQ(outcome(cut), ErrorCode::bad_image) << name << " cut to " << part;
    }
  }
}

TEST(Limits, AJpegWithoutItsEndIsAnErrorButBytesBehindTheEndAreNot) {
  for (const char* name : {"jpeg", "jpeg progressive"}) {
    Blob file = files().at(name);
    Blob longer = file;
    longer.insert(longer.end(), 1000, 0x55);
    EXPECT_EQ(outcome(longer), std::nullopt) << name;
    file.resize(file.size() - 2);
    EXPECT_EQ(outcome(file), ErrorCode::bad_image) << name;
  }
}

TEST(Limits, FlippedBytesNeverCrash) {
  cv::RNG random(5);
  for (const auto& [name, file] : files()) {
    for (int i = 0; i < 120; ++i) {
      Blob damaged = file;
      for (int k = 0; k <= i % 4; ++k) {
        // Half of the damage goes to the header, where sizes and offsets are.
        const int most =
            static_cast<int>(i % 2 == 0 ? std::min<size_t>(64, file.size()) : file.size());
        damaged[random.uniform(0, most)] = static_cast<uint8_t>(random.uniform(0, 256));
      }
      SCOPED_TRACE(name + " damage " + std::to_string(i));
      outcome(damaged);
    }
  }
}

TEST(Limits, DamageInsideAJpegIsAnErrorNotAGreyArea) {
  Blob file = encoded(noise(200, 200, 3), ".jpg");
  file.erase(file.begin() + static_cast<long>(file.size() / 2),
             file.end() - 2);  // keeps the end marker
  EXPECT_EQ(outcome(file), ErrorCode::bad_image);
}

TEST(Limits, NothingIsPrinted) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  for (const auto& [name, file] : files()) {
    outcome(Blob(file.begin(), file.begin() + static_cast<long>(file.size() / 2)));
    Blob damaged = file;
    for (size_t i = 20; i < damaged.size(); i += 97) damaged[i] ^= 0x5A;
    outcome(damaged);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(Limits, AHundredMegapixelsLoadWithinAGigabyte) {
  // Smooth, so that the test's own file stays small.
  cv::Mat picture(10000, 10000, CV_8UC1);
  for (int y = 0; y < picture.rows; ++y) picture.row(y) = cv::Scalar(y / 40);
  const Blob jpeg = encoded(picture, ".jpg");
  const Blob rotated = jpeg_with_exif(jpeg, exif(6, false));
  picture.release();
  const Picture got = media::decode(rotated, "large.jpg");
  EXPECT_EQ(got.width(), 10000);
  EXPECT_EQ(got.rgb.data_ptr<uint8_t>()[9999], 0);  // first stored row is the last column
  EXPECT_GT(got.rgb.data_ptr<uint8_t>()[0], 245);
  EXPECT_LT(peak_memory_kb(), kGigabyte);
}

namespace {

// An uncompressed 16-bit RGBA TIFF whose pixels are a hole in the file: black, transparent.
std::string sparse_tiff(uint32_t width, uint32_t height) {
  Blob out = {'I', 'I', 42, 0, 8, 0, 0, 0};
  const auto u16 = [&](uint32_t v) {
    out.push_back(static_cast<uint8_t>(v));
    out.push_back(static_cast<uint8_t>(v >> 8));
  };
  const auto u32 = [&](uint32_t v) {
    u16(v);
    u16(v >> 16);
  };
  struct Entry {
    uint32_t tag, type, count, value;
  };
  constexpr uint32_t kShort = 3;
  constexpr uint32_t kLong = 4;
  constexpr uint32_t kEntries = 11;
  constexpr uint32_t kBits = 8 + 2 + 12 * kEntries + 4;  // where the four bit depths stand
  constexpr uint32_t kPixels = 4096;
  const uint32_t bytes = width * height * 8;
  u16(kEntries);
  for (const Entry& e :
       {Entry{256, kLong, 1, width}, Entry{257, kLong, 1, height}, Entry{258, kShort, 4, kBits},
        Entry{259, kShort, 1, 1}, Entry{262, kShort, 1, 2}, Entry{273, kLong, 1, kPixels},
        Entry{277, kShort, 1, 4}, Entry{278, kLong, 1, height}, Entry{279, kLong, 1, bytes},
        Entry{284, kShort, 1, 1}, Entry{338, kShort, 1, 2}}) {
    u16(e.tag);
    u16(e.type);
    u32(e.count);
    u32(e.value);
  }
  u32(0);
  for (int i = 0; i < 4; ++i) u16(16);
  const std::string path =
      (std::filesystem::temp_directory_path() / ("arrcoc-large-" + std::to_string(::getpid())))
          .string();
  media::write_file(path, out);
  std::filesystem::resize_file(path, uint64_t{kPixels} + bytes);
  return path;
}

// Peak of this process since the last reset, in kB. Linux resets it on request.
void reset_peak() { std::ofstream("/proc/self/clear_refs") << 5; }
long peak_since_reset_kb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::stol(line.substr(6));
  }
  return 0;
}

}  // namespace

// The file alone has 800 MB and the picture 300: the file goes as the picture comes.
TEST(Limits, AHundredMegapixelsOfSixteenBitTiffLoadWithinAGigabyte) {
  const std::string path = sparse_tiff(10000, 10000);
  reset_peak();
  const Picture got = media::load(path);
  EXPECT_LT(peak_since_reset_kb(), kGigabyte);
  EXPECT_GT(peak_since_reset_kb(), 800 * 1000);  // the peak is measured at all
  EXPECT_EQ(got.width(), 10000);
  EXPECT_EQ(got.rgb.data_ptr<uint8_t>()[0], 255);  // transparent over white
  std::filesystem::remove(path);
}

TEST(Limits, LoadingAFileGivesThePixelsOfDecodingIt) {
  // Large enough that consumed parts of the file are handed back on the way.
  const cv::Mat picture = noise(2200, 2100, 9);
  for (const char* format : {".png", ".tiff"}) {
    const Blob file = format == std::string(".tiff") ? tiff(picture) : encoded(picture, format);
    ASSERT_GT(file.size(), size_t{9} << 20);
    const std::string path =
        (std::filesystem::temp_directory_path() / ("arrcoc-noise-" + std::to_string(::getpid())))
            .string();
    media::write_file(path, file);
    EXPECT_EQ(media::load(path).digest, media::decode(file).digest) << format;
    std::filesystem::remove(path);
  }
}
