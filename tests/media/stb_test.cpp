// The reader of builds without OpenCV (stb) beside the one of all others.
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <cmath>

#include "arrcoc/ask.h"
#include "arrcoc/bundle.h"
#include "arrcoc/error.h"
#include "media/codecs/headers.h"
#include "media/pictures.h"
#include "media/stb/stb.h"
#include "places.h"

using namespace arrcoc;
using namespace pictures;

namespace {

Picture plain(const Blob& file) {
  media::Job job;
  job.bytes = media::Bytes(file);
  job.name = "test";
  job.header = media::probe(file, "test");
  job.orientation = media::orientation_of(job.bytes, job.header.format);
  at::Tensor rgb;
  job.memory = [&](size_t count) {
    rgb = at::empty({static_cast<int64_t>(count)}, at::kByte);
    return rgb.data_ptr<uint8_t>();
  };
  const media::Upright size = media::stb::decode(job);
  return make_picture(rgb.view({3, size.height, size.width}));
}

// Largest difference between both readers.
double apart(const Blob& file) {
  return difference(pixels(plain(file)), pixels(media::decode(file, "test")));
}

struct Demo {
  const char *picture, *question;
};
// Those of ./run demo.
constexpr Demo kDemo[] = {{"receipt", "What is the total?"},
                          {"receipt", "What is the date?"},
                          {"chart", "What is the value of South Africa?"},
                          {"street", "Which platform is this?"}};

std::string example(const std::string& name) {
  return places::sources() + "/examples/pictures/" + name + ".jpg";
}

}  // namespace

TEST(Stb, LosslessFormatsAreTheSamePixels) {
  const cv::Mat rgb = noise(53, 75, 1);
  EXPECT_EQ(apart(encoded(rgb, ".png")), 0);
  EXPECT_EQ(apart(encoded(rgb, ".bmp")), 0);
  cv::Mat grey;
  cv::extractChannel(rgb, grey, 0);
  EXPECT_EQ(apart(encoded(grey, ".png")), 0);
  cv::Mat rgba[] = {rgb, grey}, joined(rgb.size(), CV_8UC4);
  const int order[] = {0, 0, 1, 1, 2, 2, 3, 3};
  cv::mixChannels(rgba, 2, &joined, 1, order, 4);
  EXPECT_EQ(apart(encoded(joined, ".png")), 0);  // over white
}

TEST(Stb, SixteenBitsLoseNoMoreThanOneStep) {
  cv::Mat wide;
  noise(53, 75, 2).convertTo(wide, CV_16UC3, 257.0);
  EXPECT_LE(apart(encoded(wide, ".png")), 1);
}

TEST(Stb, EveryExifOrientationPixelForPixel) {
  const cv::Mat stored = pattern(37, 41);
  const Blob file = encoded(stored, ".png");
  for (int o = 1; o <= 8; ++o)
    EXPECT_EQ(
        difference(pixels(plain(png_with_exif(file, exif(o, false), false))), turned(stored, o)), 0)
        << o;
}

TEST(Stb, JpegsDifferByRoundingAlone) {
  for (const char* name : {"receipt", "chart", "street", "zoo"}) {
    const Blob file = media::read_file(example(name));
    const cv::Mat a = pixels(plain(file)), b = pixels(media::decode(file, name));
    ASSERT_EQ(a.size(), b.size());
    cv::Mat off;
    cv::absdiff(a, b, off);
    double most = 0;
    cv::minMaxLoc(off.reshape(1), nullptr, &most);
    const double mean = cv::mean(off.reshape(1))[0];
    std::printf("%s: mean difference %.3f of 255, largest %.0f\n", name, mean, most);
    EXPECT_LE(mean, 0.2) << name;
    EXPECT_LE(most, 4) << name;
  }
}

TEST(Stb, AnswersOfTheDemoAreTheSame) {
  at::set_num_threads(1);  // on two the idle one gets in the way of machines that do other work
  const Asker asker(load_bundle(places::sources() + "/models/tiny"));
  for (const Demo& demo : kDemo) {
    const Blob file = media::read_file(example(demo.picture));
    const std::string answer = asker.ask(media::decode(file, ""), demo.question).text;
    EXPECT_FALSE(answer.empty());
    EXPECT_EQ(asker.ask(plain(file), demo.question).text, answer) << demo.question;
  }
}

TEST(Stb, WhatItWritesComesBack) {
  const cv::Mat rgb = noise(53, 75, 3);
  const Picture picture = media::decode(encoded(rgb, ".png"), "");
  const Blob png = media::stb::encode(picture.rgb.data_ptr<uint8_t>(), 53, 75);
  EXPECT_EQ(difference(pixels(media::decode(png, "")), rgb), 0);
  EXPECT_EQ(difference(pixels(plain(png)), rgb), 0);
}

TEST(Stb, BrokenFilesAreOneLine) {
  Blob file = encoded(noise(53, 75, 4), ".png");
  for (size_t i = file.size() / 2; i < file.size(); ++i) file[i] = 0;
  try {
    plain(file);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::bad_image);
    EXPECT_EQ(std::string(e.what()).find("test: broken PNG: "), 0) << e.what();
  }
}
