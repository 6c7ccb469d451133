#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <opencv2/imgproc.hpp>
#include <opencv2/objdetect.hpp>
#include <tuple>

#include "arrcoc/error.h"
#include "arrcoc/media.h"
#include "media/mats.h"
#include "media/pool.h"
#include "media/vision/vision.h"

namespace arrcoc::media {

namespace {

constexpr const char* kCascade = "haarcascade_frontalface_alt2.xml";
constexpr int kSmallest = 24;  // pixels of kFaceFrame: what the cascade was trained on

std::string cascade_file() {
  namespace fs = std::filesystem;
  std::vector<fs::path> folders;
  if (const char* set = std::getenv("ARRCOC_CASCADES")) folders.emplace_back(set);
  for (const char* root : {"/usr/share", "/usr/local/share"}) {
    folders.push_back(fs::path(root) / "opencv4" / "haarcascades");
    folders.push_back(fs::path(root) / "opencv" / "haarcascades");
  }
  for (const fs::path& folder : folders) {
    std::error_code ignored;
    if (fs::is_regular_file(folder / kCascade, ignored)) return (folder / kCascade).string();
  }
  throw Error(ErrorCode::not_found,
              std::string("no ") + kCascade +
                  ": install opencv-data, or name its folder in ARRCOC_CASCADES");
}

std::unique_ptr<cv::CascadeClassifier> load_cascade() {
  const std::string file = cascade_file();
  auto out = std::make_unique<cv::CascadeClassifier>();
  if (!out->load(file)) throw Error(ErrorCode::not_found, file + ": not a cascade of OpenCV");
  return out;
}

}  // namespace

std::vector<cv::Rect> detect_faces(const cv::Mat& grey) {
  const cv::Mat small = shrunk(grey, kFaceFrame);
  std::vector<cv::Rect> found;
  if (small.cols < kSmallest || small.rows < kSmallest) return found;
  cv::Mat even;
  cv::equalizeHist(small, even);
  // A classifier has working state, so every detection borrows one.
  static Pool<cv::CascadeClassifier> cascades(load_cascade, SIZE_MAX);
  cascades.borrow()->detectMultiScale(even, found, 1.25, 2, 0, cv::Size(kSmallest, kSmallest));
  const double sx = static_cast<double>(grey.cols) / small.cols;
  const double sy = static_cast<double>(grey.rows) / small.rows;
  for (cv::Rect& r : found) {
    r = cv::Rect(cvRound(r.x * sx), cvRound(r.y * sy), cvRound(r.width * sx),
                 cvRound(r.height * sy)) &
        cv::Rect(0, 0, grey.cols, grey.rows);
  }
  // The detector's threads finish in any order.
  std::sort(found.begin(), found.end(), [](const cv::Rect& a, const cv::Rect& b) {
    return std::tie(a.y, a.x, a.width, a.height) < std::tie(b.y, b.x, b.width, b.height);
  });
  return found;
}

std::vector<Box> find_faces(const Picture& picture) {
  cv::Mat luma;
  const double weight[3] = {0.2126, 0.7152, 0.0722};
  for (int c = 0; c < 3; ++c) {
    const cv::Mat plane = shrunk(plane_of(picture.rgb, c), kFaceFrame);
    if (luma.empty()) luma = cv::Mat::zeros(plane.size(), CV_32FC1);
    cv::scaleAdd(cv::Mat_<float>(plane), weight[c], luma, luma);
  }
  cv::Mat grey;
  luma.convertTo(grey, CV_8U);
  const float sx = static_cast<float>(picture.width()) / static_cast<float>(grey.cols);
  const float sy = static_cast<float>(picture.height()) / static_cast<float>(grey.rows);
  std::vector<Box> out;
  for (const cv::Rect& r : detect_faces(grey)) {
    out.push_back({static_cast<float>(r.x) * sx, static_cast<float>(r.y) * sy,
                   static_cast<float>(r.br().x) * sx, static_cast<float>(r.br().y) * sy});
  }
  return out;
}

}  // namespace arrcoc::media
