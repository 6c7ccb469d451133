// What OpenCV adds to the texture and to knowing.
#include <gtest/gtest.h>

#include <ATen/ATen.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <opencv2/imgproc.hpp>
#include <set>

#include "arrcoc/error.h"
#include "media/pictures.h"
#include "media/vision/vision.h"

using namespace arrcoc;
using namespace pictures;

namespace {

Picture picture_of(const cv::Mat& rgb) { return media::decode(encoded(rgb, ".png"), "test"); }

at::Tensor provided(const std::string& name, const Picture& picture) {
  media::register_strategies();
  const auto provider = registry<Provider>().make(name);
  const at::Tensor out = provider->provide(frame_of(picture, 1024), picture);
  EXPECT_EQ(out.size(0), static_cast<int64_t>(provider->channels().size()));
  EXPECT_GE(out.min().item<float>(), 0.0F);
  EXPECT_LE(out.max().item<float>(), 1.0F);
  return out;
}

Map scored(const std::string& name, const Picture& picture) {
  media::register_strategies();
  const at::Tensor frame = frame_of(picture, 1024);
  const Texture texture;
  const Query query;
  Map shape;
  shape.rows = (static_cast<int>(frame.size(1)) + 15) / 16;
  shape.cols = (static_cast<int>(frame.size(2)) + 15) / 16;
  shape.cell_width =
      16.0F * static_cast<float>(picture.width()) / static_cast<float>(frame.size(2));
  shape.cell_height =
      16.0F * static_cast<float>(picture.height()) / static_cast<float>(frame.size(1));
  shape.values.assign(static_cast<size_t>(shape.rows) * shape.cols, 0);
  const Map out = registry<Scorer>().make(name)->score({picture, frame, texture, query, shape});
  EXPECT_EQ(out.rows, shape.rows);
  EXPECT_EQ(out.cols, shape.cols);
  for (float v : out.values) EXPECT_TRUE(v >= 0 && v <= 1) << v;
  return out;
}

// Mean of a plane over a rectangle given as parts of the width and height.
double mean_in(const at::Tensor& plane, double x0, double y0, double x1, double y1) {
  const auto h = plane.size(0);
  const auto w = plane.size(1);
  const auto part = [](double t, int64_t n) {
    return static_cast<int64_t>(t * static_cast<double>(n));
  };
  return plane.slice(0, part(y0, h), part(y1, h))
      .slice(1, part(x0, w), part(x1, w))
      .mean()
      .item<double>();
}

// Grey 0.4 print on grey 0.3 with a large flat red square elsewhere.
constexpr int kSize = 512;
const cv::Rect kText(60, 350, 260, 60);
cv::Mat camouflage() {
  cv::Mat out(kSize, kSize, CV_8UC3, cv::Scalar::all(0.3 * 255));
  out(cv::Rect(300, 60, 150, 150)) = cv::Scalar(230, 20, 20);
  cv::putText(out, "EXIT CODE 7419", {64, 376}, cv::FONT_HERSHEY_SIMPLEX, 0.8,
              cv::Scalar::all(0.4 * 255), 2, cv::LINE_AA);
  cv::putText(out, "behind the door", {64, 402}, cv::FONT_HERSHEY_SIMPLEX, 0.7,
              cv::Scalar::all(0.4 * 255), 1, cv::LINE_AA);
  return out;
}

double fraction(int v) { return static_cast<double>(v) / kSize; }

}  // namespace

TEST(Providers, InstallAddsEveryStrategyAndTwiceChangesNothing) {
  media::register_strategies();
  const auto before = registry<Provider>().list();
  media::register_strategies();
  EXPECT_EQ(registry<Provider>().list(), before);
  for (const char* name : {"distance-field", "text"}) {
    EXPECT_TRUE(registry<Provider>().has(name)) << name;
  }
  for (const char* name : {"symbolic", "text"}) EXPECT_TRUE(registry<Scorer>().has(name)) << name;
}

TEST(Providers, SuperpixelsFollowTheObject) {
  cv::Mat scene(256, 256, CV_8UC3, cv::Scalar(40, 60, 160));
  cv::circle(scene, {128, 128}, 56, cv::Scalar(240, 220, 40), -1);
  const Picture picture = picture_of(scene);
  const media::FramePlanes planes = media::planes_of(frame_of(picture, 1024));
  const cv::Mat id = media::slic(planes.plane).labels;
  // No superpixel holds both the disc and the background, but for the blurred rim.
  std::map<int, std::set<bool>> sides;
  for (int y = 0; y < 256; ++y) {
    for (int x = 0; x < 256; ++x) {
      const double r = std::hypot(x - 128, y - 128);
      if (r > 53 && r < 59) continue;
      sides[id.at<int>(y, x)].insert(r < 56);
    }
  }
  EXPECT_GE(sides.size(), 25U);
  EXPECT_LE(sides.size(), 80U);
  for (const auto& [cluster, both] : sides) EXPECT_EQ(both.size(), 1U) << "cluster " << cluster;
}

TEST(Providers, SuperpixelsAreConnectedAndNumberedWithoutGaps) {
  const Picture picture = picture_of(noise(90, 140, 2));
  const media::FramePlanes planes = media::planes_of(frame_of(picture, 1024));
  const media::Segments segments = media::slic(planes.plane);
  double low = 0;
  double high = 0;
  cv::minMaxLoc(segments.labels, &low, &high);
  EXPECT_EQ(low, 0);
  EXPECT_EQ(high, segments.count - 1);
  for (int k = 0; k < segments.count; ++k) {
    cv::Mat components;
    const int count = cv::connectedComponents(segments.labels == k, components, 4);
    EXPECT_EQ(count, 2) << "label " << k << " is in " << count - 1 << " pieces";
  }
}

TEST(Providers, DistanceGrowsAwayFromEdges) {
  cv::Mat halves(200, 300, CV_8UC3, cv::Scalar(0, 0, 0));
  halves.colRange(100, 300) = cv::Scalar(255, 255, 255);
  const at::Tensor field = provided("distance-field", picture_of(halves))[0];
  EXPECT_EQ(field[50][100].item<float>(), 0);
  // Edge pixels are columns 99 and 100; the farthest is column 299, 199 columns away.
  for (int x : {120, 150, 200, 299}) {
    EXPECT_NEAR(field[77][x].item<float>(), (x - 100) / 199.0, 1e-4) << x;
  }
  EXPECT_NEAR(field[77][49].item<float>(), 50 / 199.0, 1e-4);
}

TEST(Providers, WithoutEdgesEverywhereIsFar) {
  const at::Tensor flat =
      provided("distance-field", picture_of(cv::Mat(50, 60, CV_8UC3, cv::Scalar(90, 90, 90))));
  EXPECT_EQ(flat.min().item<float>(), 1);
}

TEST(Providers, CamouflagedTextIsFoundAndTheRedDistractorIsNot) {
  const at::Tensor mask = provided("text", picture_of(camouflage()))[0];
  const double text = mean_in(mask, fraction(kText.x), fraction(kText.y), fraction(kText.br().x),
                              fraction(kText.br().y));
  const double all = mask.mean().item<double>();
  const double red = mean_in(mask, fraction(280), fraction(40), fraction(470), fraction(230));
  EXPECT_GT(text, 0.5);
  EXPECT_GT(text, 2 * all);
  EXPECT_LT(red, 0.1);
}

TEST(Providers, TextIsFoundInEverySize) {
  for (double scale : {0.35, 0.6, 1.2, 2.5, 4.0}) {
    cv::Mat page(1000, 1000, CV_8UC3, cv::Scalar(250, 250, 245));
    const int thickness = std::max(1, static_cast<int>(scale * 2));
    int base = 0;
    const cv::Size size =
        cv::getTextSize("Total 37.20", cv::FONT_HERSHEY_SIMPLEX, scale, thickness, &base);
    cv::putText(page, "Total 37.20", {60, 500}, cv::FONT_HERSHEY_SIMPLEX, scale,
                cv::Scalar(30, 30, 40), thickness, cv::LINE_AA);
    const at::Tensor mask = provided("text", picture_of(page))[0];
    const double inside =
        mean_in(mask, 0.06, 0.5 - size.height / 1000.0, 0.06 + size.width / 1000.0, 0.5);
    EXPECT_GT(inside, 0.4) << "scale " << scale;
    EXPECT_LT(mean_in(mask, 0, 0, 1, 0.3), 0.01) << "scale " << scale;
  }
}

TEST(Providers, StripesNoiseAndEdgesAreNoText) {
  cv::Mat stripes(400, 400, CV_8UC3, cv::Scalar(255, 255, 255));
  for (int x = 0; x < 400; x += 8) stripes.colRange(x, x + 4) = cv::Scalar(0, 0, 0);
  EXPECT_LT(provided("text", picture_of(stripes)).mean().item<double>(), 0.1);
  EXPECT_LT(provided("text", picture_of(noise(400, 400, 3))).mean().item<double>(), 0.1);
  cv::Mat box(400, 400, CV_8UC3, cv::Scalar(255, 255, 255));
  cv::rectangle(box, cv::Rect(100, 100, 200, 200), cv::Scalar(0, 0, 0), -1);
  EXPECT_LT(provided("text", picture_of(box)).mean().item<double>(), 0.02);
}

TEST(Providers, TinyAndThinPicturesAreNoProblem) {
  for (cv::Size size : {cv::Size(1, 1), {2, 3}, {1, 900}, {900, 1}, {5, 5}, {33, 7}}) {
    const Picture picture = picture_of(noise(size.width, size.height, 4));
    for (const char* name : {"distance-field", "text"}) provided(name, picture);
    for (const char* name : {"symbolic", "text"}) scored(name, picture);
    EXPECT_TRUE(media::find_faces(picture).empty());
  }
}

TEST(Providers, TheSameOnAnyNumberOfThreads) {
  cv::Mat scene = pattern(500, 400);
  cv::putText(scene, "some words here", {40, 200}, cv::FONT_HERSHEY_SIMPLEX, 1, cv::Scalar(0, 0, 0),
              2);
  const Picture picture = picture_of(scene);
  const int threads = cv::getNumThreads();
  for (const char* name : {"distance-field", "text"}) {
    cv::setNumThreads(1);
    const at::Tensor one = provided(name, picture);
    cv::setNumThreads(2);
    EXPECT_TRUE(at::equal(provided(name, picture), one)) << name;
  }
  cv::setNumThreads(1);
  const Map one = scored("symbolic", picture);
  cv::setNumThreads(2);
  EXPECT_EQ(scored("symbolic", picture), one);
  cv::setNumThreads(threads);
}

TEST(Scorers, TextScoresTheWordsWhateverTheQuestion) {
  const Map map = scored("text", picture_of(camouflage()));
  const auto cell = [](int pixel) { return pixel / 16; };
  double inside = 0;
  double all = 0;
  int cells = 0;
  for (int r = 0; r < map.rows; ++r) {
    for (int c = 0; c < map.cols; ++c) {
      all += map.at(r, c);
      const bool in = r >= cell(kText.y) && r < cell(kText.br().y) && c >= cell(kText.x) &&
                      c < cell(kText.br().x);
      if (in) inside += map.at(r, c), ++cells;
    }
  }
  EXPECT_GT(inside / cells, 2 * all / static_cast<double>(map.size()));
}

TEST(Scorers, SymbolicWeighsEdgesAndText) {
  const Map flat = scored("symbolic", picture_of(cv::Mat(256, 256, CV_8UC3, cv::Scalar(7, 7, 7))));
  EXPECT_EQ(maximum(flat), 0);
  cv::Mat page(256, 256, CV_8UC3, cv::Scalar(255, 255, 255));
  cv::rectangle(page, cv::Rect(160, 160, 60, 60), cv::Scalar(0, 0, 0), -1);
  cv::putText(page, "words", {20, 60}, cv::FONT_HERSHEY_SIMPLEX, 1, cv::Scalar(0, 0, 0), 2);
  const Map map = scored("symbolic", picture_of(page));
  EXPECT_GT(map.at(3, 3), map.at(10, 13));  // words: edges and text; square: edges only
  EXPECT_GT(map.at(10, 13), map.at(8, 5));  // above the empty middle
  EXPECT_LE(maximum(map), 0.5F + 1e-5F);    // without faces 0.3 + 0.2 at most
}

TEST(Scorers, PoolingIsTheExactMeanOfTheAreaUnderEachCell) {
  cv::Mat values(4, 4, CV_32FC1);
  for (int i = 0; i < 16; ++i) values.ptr<float>()[i] = static_cast<float>(i);
  Map shape{2, 2, 6, 6, std::vector<float>(4, 0)};  // 12 x 12 source pixels, 3 for each value
  EXPECT_EQ(media::pool(values, shape, 12, 12).values,
            (std::vector<float>{2.5F, 4.5F, 10.5F, 12.5F}));
  Map odd{1, 2, 7.5F, 12, std::vector<float>(2, 0)};  // 2.5 columns, then the remaining 1.5
  const Map got = media::pool(values, odd, 12, 12);
  EXPECT_NEAR(got.at(0, 0), 6 + (0 + 1 + 0.5 * 2) / 2.5, 1e-5);
  EXPECT_NEAR(got.at(0, 1), 6 + (0.5 * 2 + 3) / 1.5, 1e-5);
}

TEST(Faces, ADrawnFaceIsFoundWhereItIs) {
  const Picture photo = picture_of(face());
  const std::vector<Box> faces = media::find_faces(photo);
  ASSERT_EQ(faces.size(), 1U);
  const Box middle{110, 70, 210, 190};  // its features
  EXPECT_GT(intersect(faces[0], middle).area(), 0.6F * middle.area());
  const Map map = scored("symbolic", photo);
  const float in = map.at(static_cast<int>((faces[0].y0 + faces[0].y1) / 2 / map.cell_height),
                          static_cast<int>((faces[0].x0 + faces[0].x1) / 2 / map.cell_width));
  EXPECT_GE(in, 0.5F);
}

TEST(Faces, ScaleWithThePicture) {
  const Picture photo = picture_of(face());
  const Picture large = resize(photo, photo.width() * 4, photo.height() * 4);
  const auto small_faces = media::find_faces(photo);
  const auto large_faces = media::find_faces(large);
  ASSERT_EQ(small_faces.size(), 1U);
  ASSERT_EQ(large_faces.size(), 1U);
  EXPECT_NEAR(large_faces[0].x0, small_faces[0].x0 * 4, 60);
  EXPECT_NEAR(large_faces[0].width(), small_faces[0].width() * 4, 120);
}

TEST(Faces, AMissingCascadeFolderFallsBackToTheSystems) {
  ::setenv("ARRCOC_CASCADES", "/nonexistent", 1);
  EXPECT_NO_THROW(media::find_faces(picture_of(noise(100, 100, 5))));
  ::unsetenv("ARRCOC_CASCADES");
}
