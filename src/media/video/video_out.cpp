// Films for people: annotated frames as a file, and the timeline.
#include <ATen/ATen.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <opencv2/imgproc.hpp>
#include <opencv2/videoio.hpp>

#include "arrcoc/error.h"
#include "arrcoc/media.h"
#include "media/draw/paint.h"
#include "media/mats.h"

namespace arrcoc::media {

namespace fs = std::filesystem;

namespace {

const cv::Scalar kPaleInk(120, 124, 132), kTokens(240, 150, 60), kMotion(90, 190, 250),
    kCoherence(130, 220, 130), kCut(240, 70, 70);

int fourcc_of(const std::string& path) {
  const std::string ending = fs::path(path).extension().string();
  if (ending == ".mp4" || ending == ".mkv" || ending == ".mov")
    return cv::VideoWriter::fourcc('a', 'v', 'c', '1');
  if (ending == ".avi") return cv::VideoWriter::fourcc('M', 'J', 'P', 'G');
  throw Error(ErrorCode::unsupported, path + ": films are written as .mp4, .mkv, .mov or .avi");
}

// Fitted into `size` with bars, so that a film of changing sizes stays one film.
cv::Mat fitted(const cv::Mat& frame, cv::Size size) {
  if (frame.size() == size) return frame;
  const double scale = std::min(static_cast<double>(size.width) / frame.cols,
                                static_cast<double>(size.height) / frame.rows);
  const cv::Size inner(std::clamp(static_cast<int>(frame.cols * scale), 1, size.width),
                       std::clamp(static_cast<int>(frame.rows * scale), 1, size.height));
  cv::Mat out(size, CV_8UC3, cv::Scalar(0, 0, 0)), scaled;
  cv::resize(frame, scaled, inner, 0, 0, scale < 1 ? cv::INTER_AREA : cv::INTER_LINEAR);
  scaled.copyTo(out(cv::Rect((size.width - inner.width) / 2, (size.height - inner.height) / 2,
                             inner.width, inner.height)));
  return out;
}

}  // namespace

struct VideoWriter::State {
  std::string path, temporary;
  double fps = 25;
  int fourcc = 0;
  cv::Size size;
  cv::VideoWriter writer;
  bool finished = false;
};

VideoWriter::VideoWriter(std::string path, double fps) : state_(std::make_unique<State>()) {
  state_->fourcc = fourcc_of(path);
  const fs::path target = path;
  // The ending stays last: the muxer is chosen by it.
  state_->temporary =
      (target.parent_path() / ("." + std::to_string(::getpid()) + "." + target.filename().string()))
          .string();
  state_->path = std::move(path);
  state_->fps = fps;
}

VideoWriter::~VideoWriter() {
  state_->writer.release();
  std::error_code ignored;
  if (!state_->finished) fs::remove(state_->temporary, ignored);
}

void VideoWriter::write(const at::Tensor& rgb) {
  cv::Mat bgr;
  cv::cvtColor(interleaved(rgb), bgr, cv::COLOR_RGB2BGR);
  if (state_->size.empty()) {
    // H.264 halves the colours: both sides must be even.
    state_->size = cv::Size(std::max(2, bgr.cols & ~1), std::max(2, bgr.rows & ~1));
    if (!state_->writer.open(state_->temporary, cv::CAP_FFMPEG, state_->fourcc, state_->fps,
                             state_->size))
      throw Error(ErrorCode::io, "cannot write a film to " + state_->path);
  }
  state_->writer.write(fitted(bgr, state_->size));
}

void VideoWriter::finish() {
  if (state_->size.empty()) throw Error(ErrorCode::io, state_->path + ": there was no frame");
  state_->writer.release();
  std::error_code failed;
  fs::rename(state_->temporary, state_->path, failed);
  if (failed) throw Error(ErrorCode::io, state_->path + ": " + failed.message());
  state_->finished = true;
}

at::Tensor Timeline::draw() const {
  if (columns_.empty()) throw Error(ErrorCode::bad_argument, "a timeline needs a frame");
  constexpr int kLeft = 56, kTop = 28, kHeight = 180, kBottom = 24;
  const int n = static_cast<int>(columns_.size());
  const int wide = std::clamp(n * std::max(1, 900 / n), 480, 2048);
  cv::Mat sheet(kTop + kHeight + kBottom, kLeft + wide + 16, CV_8UC3, kPaper);
  double most = 1;
  for (const Column& c : columns_) most = std::max(most, c.tokens / c.frames);
  const auto x_of = [&](int i) { return kLeft + static_cast<int>(1.0 * i * wide / n); };
  const auto y_of = [&](double v) {
    return kTop + static_cast<int>(std::lround(kHeight * (1 - std::clamp(v, 0.0, 1.0))));
  };
  for (int i = 0; i < n; ++i) {
    const Column& c = columns_[static_cast<size_t>(i)];
    const int right = std::max(x_of(i) + 1, x_of(i + 1) - (wide / n > 3 ? 1 : 0));
    const int top = y_of(c.tokens / c.frames / most);
    cv::rectangle(sheet, {x_of(i), top, right - x_of(i), kTop + kHeight - top}, kTokens,
                  cv::FILLED);
    if (c.cut) cv::line(sheet, {x_of(i), kTop}, {x_of(i), kTop + kHeight}, kCut, 2);
  }
  const auto curve = [&](const cv::Scalar& ink, const auto& value) {
    for (int i = 1; i < n; ++i)
      cv::line(sheet,
               {(x_of(i - 1) + x_of(i)) / 2, y_of(value(columns_[static_cast<size_t>(i - 1)]))},
               {(x_of(i) + x_of(i + 1)) / 2, y_of(value(columns_[static_cast<size_t>(i)]))}, ink, 1,
               cv::LINE_AA);
  };
  curve(kMotion, [](const Column& c) { return std::sqrt(c.motion / c.frames); });
  curve(kCoherence, [](const Column& c) { return c.coherence / c.frames; });
  write(sheet, "tokens", {kLeft, 18}, kTokens);
  write(sheet, "motion (square root)", {kLeft + 70, 18}, kMotion);
  write(sheet, "coherence", {kLeft + 230, 18}, kCoherence);
  write(sheet, "cut", {kLeft + 320, 18}, kCut);
  write(sheet, std::to_string(static_cast<int>(std::lround(most))), {8, kTop + 10}, kInk);
  write(sheet, "0", {8, kTop + kHeight}, kPaleInk);
  write(sheet, "frame 0", {kLeft, kTop + kHeight + 18}, kPaleInk);
  write(sheet, std::to_string(frames_ - 1), {kLeft + wide - 40, kTop + kHeight + 18}, kPaleInk);
  return planar(sheet);
}

at::Tensor draw_step(const VideoFrame& frame, const filming::Step& step, int longest) {
  const bool broken = !frame.broken().empty();
  const Picture picture =
      broken ? make_picture(at::zeros({3, 240, 320}, at::kByte), "") : frame.picture();
  Allocation shown = step.allocation;
  if (broken || shown.geometry.width == 0)
    shown = Allocation{{picture.width(), picture.height(), 0}, {}, {}, {}, "", {}};
  DrawOptions options;
  options.longest = longest;
  cv::Mat sheet = interleaved(draw_homunculus(picture, shown, options));
  std::string line = "frame " + std::to_string(step.frame) + "  " + std::to_string(step.tokens) +
                     " tokens" + (step.tokens == 0 ? " (leaves kept)" : "") +
                     (step.cut ? "  CUT" : "") + (broken ? "  BROKEN" : "");
  cv::rectangle(sheet, {0, 0, std::min(sheet.cols, 12 + 8 * static_cast<int>(line.size())), 20},
                kPaper, cv::FILLED);
  write(sheet, line, {6, 14}, step.cut || broken ? kCut : kInk);
  return planar(sheet);
}

}  // namespace arrcoc::media
