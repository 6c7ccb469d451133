// Drawings: sizes, colours where the tokens are, and the same picture every time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "arrcoc/error.h"
#include "media/draw/curves.h"
#include "media/draw/reliability.h"
#include "media/pictures.h"

using namespace arrcoc;
using namespace pictures;

namespace {

Picture grey_picture(int width, int height) {
  return media::decode(encoded(cv::Mat(height, width, CV_8UC3, cv::Scalar(128, 128, 128)), ".png"));
}

// Level-0 patches in the top left corner of `fine` x `fine` native pixels, cells of `level`
// elsewhere.
Allocation corner(int width, int height, int fine, int level) {
  Allocation out;
  out.geometry = {width, height, 0};
  const auto side = static_cast<int>(Geometry::side(level));
  for (int y = 0; y < height; y += kPatch) {
    for (int x = 0; x < width; x += kPatch) {
      if (x < fine && y < fine) {
        out.leaves.push_back({0, y / kPatch, x / kPatch, 1});
      } else if (x % side == 0 && y % side == 0) {
        out.leaves.push_back({level, y / side, x / side, 0});
      }
    }
  }
  out.budget.tokens = 400;
  return out;
}

cv::Mat sheet(const at::Tensor& drawing) {
  Picture picture;
  picture.rgb = drawing;
  return pixels(picture);
}

media::DrawOptions plain() {
  media::DrawOptions options;
  options.legend = false;
  options.quadtree = false;
  return options;
}

double warmth(const cv::Mat& drawing, cv::Rect where) {
  const cv::Scalar mean = cv::mean(drawing(where));
  return mean[0] - mean[2];  // red less blue: the colour scale runs from blue to red
}

}  // namespace

TEST(Draw, TheAreaWithMoreTokensIsHotter) {
  const Picture picture = grey_picture(512, 512);
  const cv::Mat drawing = sheet(media::draw_homunculus(picture, corner(512, 512, 128, 3), plain()));
  ASSERT_EQ(drawing.size(), cv::Size(512, 512));
  const double hot = warmth(drawing, {8, 8, 112, 112});
  const double cold = warmth(drawing, {300, 300, 200, 200});
  EXPECT_GT(hot, 40);
  EXPECT_LT(cold, -20);
}

TEST(Draw, WhereNoTokenIsThePictureStaysGrey) {
  Allocation few;
  few.geometry = {256, 256, 0};
  few.leaves = {{0, 0, 0, 1}, {2, 1, 1, 1}};
  const cv::Mat drawing = sheet(media::draw_homunculus(grey_picture(256, 256), few, plain()));
  const auto untouched = drawing.at<cv::Vec3b>(200, 200);
  EXPECT_EQ(untouched[0], untouched[1]);
  EXPECT_EQ(untouched[1], untouched[2]);
  const auto covered = drawing.at<cv::Vec3b>(100, 100);
  EXPECT_NE(covered[0], covered[2]);
}

TEST(Draw, TheHottestRelevanceIsHottest) {
  Relevance relevance;
  relevance.map = {2, 2, 150, 150, {0, 0.2F, 0.5F, 1}};
  const cv::Mat drawing = sheet(media::draw_relevance(grey_picture(300, 300), relevance, plain()));
  const double top_left = warmth(drawing, {0, 0, 30, 30});
  const double bottom_left = warmth(drawing, {0, 270, 30, 30});
  const double bottom_right = warmth(drawing, {270, 270, 30, 30});
  EXPECT_LT(top_left, bottom_right);
  EXPECT_LT(bottom_left, bottom_right);
}

TEST(Draw, SeenShowsNativePixelsWhereLeavesAreFineAndMeansElsewhere) {
  const cv::Mat source = noise(256, 256, 1);
  const Pyramid pyramid(media::decode(encoded(source, ".png")));
  const Allocation allocation = corner(256, 256, 64, 3);
  const cv::Mat drawing = sheet(media::draw_seen(pyramid, allocation, plain()));
  EXPECT_EQ(difference(drawing(cv::Rect(0, 0, 64, 64)), source(cv::Rect(0, 0, 64, 64))), 0);
  // A leaf of level 3 holds 8x8 means, each shown as a square of one colour.
  const cv::Mat block = drawing(cv::Rect(136, 136, 8, 8));
  cv::Scalar mean;
  cv::Scalar deviation;
  cv::meanStdDev(block, mean, deviation);
  EXPECT_EQ(deviation[0], 0);
  EXPECT_NEAR(mean[0], cv::mean(source(cv::Rect(136, 136, 8, 8)))[0], 2);
}

TEST(Draw, SeenOfALargePictureIsAveragedNotSampled) {
  // One-pixel stripes: sampling would give black or white, the mean is grey.
  cv::Mat stripes(2048, 2048, CV_8UC3, cv::Scalar(0, 0, 0));
  for (int x = 0; x < 2048; x += 2) stripes.col(x) = cv::Scalar(255, 255, 255);
  const Pyramid pyramid(media::decode(encoded(stripes, ".png")));
  media::DrawOptions options = plain();
  options.longest = 512;
  const cv::Mat drawing = sheet(media::draw_seen(pyramid, corner(2048, 2048, 2048, 0), options));
  ASSERT_EQ(drawing.size(), cv::Size(512, 512));
  EXPECT_NEAR(drawing.at<cv::Vec3b>(100, 100)[0], 128, 2);
}

TEST(Draw, ZoomRectanglesAreSeenAtTheirOwnResolution) {
  const cv::Mat source = noise(256, 256, 2);
  const Pyramid pyramid(media::decode(encoded(source, ".png")));
  Allocation zoom;
  zoom.geometry = {256, 256, 0};
  zoom.crops = {{{0, 0, 256, 256}, 16, 16, 1}, {{128, 128, 256, 256}, 128, 128, 16}};
  const cv::Mat seen = sheet(media::draw_seen(pyramid, zoom, plain()));
  EXPECT_EQ(difference(seen(cv::Rect(128, 128, 128, 128)), source(cv::Rect(128, 128, 128, 128))),
            0);
  EXPECT_EQ(seen.at<cv::Vec3b>(1, 1), seen.at<cv::Vec3b>(14, 14));  // 16 native pixels as one
  const cv::Mat heat = sheet(media::draw_homunculus(pyramid.picture(), zoom, plain()));
  EXPECT_GT(warmth(heat, {140, 140, 100, 100}), warmth(heat, {10, 10, 100, 100}));
}

TEST(Draw, SmallPicturesAreEnlargedAWholeNumberOfTimes) {
  const at::Tensor drawing =
      media::draw_seen(Pyramid(grey_picture(48, 32)), corner(48, 32, 16, 1), plain());
  EXPECT_EQ(drawing.size(2), 48 * 8);
  EXPECT_EQ(drawing.size(1), 32 * 8);
}

TEST(Draw, NothingIsLongerThanAskedFor) {
  Relevance relevance;
  for (cv::Size size : {cv::Size(1, 1), {1, 65535}, {65535, 1}, {17, 3}, {2500, 900}, {640, 480}}) {
    const Pyramid pyramid(grey_picture(size.width, size.height));
    const Picture& picture = pyramid.picture();
    const int level = Geometry{size.width, size.height, 0}.coarsest();
    const Allocation allocation = corner(size.width, size.height, 32, std::max(0, level - 2));
    relevance.map = {3, 2, size.width / 2.0F, size.height / 3.0F, {0, 1, 0, 1, 0, 1}};
    for (int longest : {1, 20, 300, 1024}) {
      for (bool legend : {false, true}) {
        media::DrawOptions options;
        options.longest = longest;
        options.legend = legend;
        for (const at::Tensor& drawing : {media::draw_homunculus(picture, allocation, options),
                                          media::draw_relevance(picture, relevance, options),
                                          media::draw_quadtree(picture, allocation, options),
                                          media::draw_seen(pyramid, allocation, options)}) {
          ASSERT_EQ(drawing.dim(), 3);
          EXPECT_LE(std::max(drawing.size(1), drawing.size(2)), longest);
          EXPECT_GE(std::min(drawing.size(1), drawing.size(2)), 1);
        }
      }
    }
  }
}

TEST(Draw, TheLegendIsBelowThePicture) {
  const Picture picture = grey_picture(400, 300);
  media::DrawOptions with = plain();
  with.legend = true;
  const at::Tensor drawing = media::draw_homunculus(picture, corner(400, 300, 64, 3), with);
  EXPECT_EQ(drawing.size(2), 400);
  EXPECT_GT(drawing.size(1), 300);
  const cv::Mat legend =
      sheet(drawing)(cv::Rect(0, 300, 400, static_cast<int>(drawing.size(1)) - 300));
  cv::Scalar mean;
  cv::Scalar deviation;
  cv::meanStdDev(legend, mean, deviation);
  EXPECT_GT(deviation[0], 10) << "the legend is empty";
}

TEST(Draw, TheQuadtreeIsOutlined) {
  const Picture picture = grey_picture(256, 256);
  const cv::Mat drawing = sheet(media::draw_quadtree(picture, corner(256, 256, 64, 3), plain()));
  EXPECT_NE(drawing.at<cv::Vec3b>(200, 128), drawing.at<cv::Vec3b>(200, 180));  // border of a leaf
  EXPECT_EQ(drawing.at<cv::Vec3b>(200, 180), drawing.at<cv::Vec3b>(180, 200));
}

TEST(Draw, TheSameDrawingEveryTimeOnAnyNumberOfThreads) {
  const cv::Mat source = noise(700, 500, 3);
  const Pyramid pyramid(media::decode(encoded(source, ".png")));
  const Allocation allocation = corner(700, 500, 200, 3);
  const int threads = cv::getNumThreads();
  std::vector<Blob> first;
  for (int n : {1, 2, 2}) {
    cv::setNumThreads(n);
    const std::vector<Blob> now{
        media::encode_png(media::draw_homunculus(pyramid.picture(), allocation)),
        media::encode_png(media::draw_quadtree(pyramid.picture(), allocation)),
        media::encode_png(media::draw_seen(pyramid, allocation))};
    if (first.empty()) first = now;
    EXPECT_EQ(now, first);
  }
  cv::setNumThreads(threads);
}

TEST(Draw, ALongestBelowOneIsRefused) {
  media::DrawOptions options;
  options.longest = 0;
  EXPECT_THROW(media::draw_quadtree(grey_picture(4, 4), {}, options), Error);
}

TEST(Draw, MarksOutlineTheirBoxesAndNothingElse) {
  const Picture picture = grey_picture(100, 100);
  media::DrawOptions plain, marked;
  plain.legend = marked.legend = false;
  plain.longest = marked.longest = 100;
  marked.marks = {{{20, 30, 60, 50}, {1, 2, 3}}};
  const at::Tensor before = media::draw_relevance(picture, {}, plain);
  const at::Tensor after = media::draw_relevance(picture, {}, marked);
  const at::Tensor changed = before.ne(after).any(0).nonzero();
  ASSERT_GT(changed.size(0), 100);
  EXPECT_NEAR(changed.select(1, 0).min().item<int64_t>(), 30, 2);
  EXPECT_NEAR(changed.select(1, 1).max().item<int64_t>(), 60, 2);
  EXPECT_TRUE(before.select(1, 40).slice(1, 30, 50).equal(after.select(1, 40).slice(1, 30, 50)));
}

TEST(Reliability, HasABarOfTheShareThatIsRight) {
  media::ReliabilityPanel panel{"set", "", std::vector<media::ReliabilityBar>(10)};
  panel.bins[1] = {5, 0.15, 0.2};
  panel.bins[9] = {50, 0.95, 1.0};
  const at::Tensor rgb = media::draw_reliability({panel, panel, panel, panel});
  EXPECT_EQ(rgb.sizes(), (at::IntArrayRef{3, 840, 1200}));
  // The bars' blue in the columns of a bin: 340 wide, 320 high, from (46, 56).
  const auto blue = [&](int bin) {
    const at::Tensor part = rgb.slice(2, 46 + 34 * bin + 4, 46 + 34 * bin + 30).slice(1, 57, 375);
    return part[0].eq(86).logical_and(part[2].eq(233)).any(1).sum().item<int64_t>();
  };
  EXPECT_EQ(blue(0), 0);
  EXPECT_NEAR(blue(1), 0.2 * 320, 6);
  EXPECT_GT(blue(9), 300);
  EXPECT_THROW(media::draw_reliability({}), Error);
}

TEST(Curves, RiseToTheRightAndLeaveOutWhatIsNotANumber) {
  media::CurvePanel panel{"loss", {{"up", {{0, 0}, {5, NAN}, {10, 1}}}}};
  const at::Tensor rgb = media::draw_curves({panel, {"empty", {}}});
  EXPECT_EQ(rgb.sizes(), (at::IntArrayRef{3, 520, 900}));
  // The curve's blue: low at the left end, high at the right end.
  const at::Tensor blue = rgb[2].to(at::kInt).sub(rgb[0].to(at::kInt)).slice(0, 0, 260).gt(120);
  const auto mean_row = [&](int64_t from, int64_t to) {
    return blue.slice(1, from, to).nonzero().select(1, 0).to(at::kFloat).mean().item<float>();
  };
  EXPECT_GT(mean_row(70, 120), mean_row(660, 720) + 100);
  EXPECT_THROW(media::draw_curves({{"nothing", {{"none", {{0, NAN}}}}}}), Error);
}
