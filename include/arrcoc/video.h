// Films from files, folders of pictures and cameras, and films for people (arrcoc_media: OpenCV).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrcoc/film.h"
#include "arrcoc/media.h"

namespace arrcoc::media {

// One decoded frame. Cheap to copy: the pixels are shared.
class VideoFrame {
 public:
  int width() const;
  int height() const;
  filming::Thumb thumb() const;
  // The pixels as a picture (planar RGB, hashed): only for frames that are looked at closely.
  Picture picture() const;
  // Why the frame could not be read; "" when it could. A broken frame has no pixels.
  const std::string& broken() const;

 private:
  friend class Video;
  struct Pixels;
  std::shared_ptr<const Pixels> pixels_;
};

class Video {
 public:
  // A video file, a picture (a film of one frame), a folder of pictures in natural order of their
  // names (2 before 10; or its folder frames/), or "camera", "camera:N". Error{not_found,
  // bad_image, too_large}; no frame at all is an error as well.
  static Video open(const std::string& source, const LoadOptions& options = {});
  Video(Video&&) noexcept;
  ~Video();

  // The next frame; nothing at the end. Never throws for a frame that cannot be decoded.
  std::optional<VideoFrame> read();
  int64_t expected() const;  // frames that the source says it has; 0: it does not say (camera)
  double fps() const;        // 25 when the source does not say
  // Frames that were announced but never came, in words; "" when all is well.
  std::string ending() const;

 private:
  Video();
  struct State;
  std::unique_ptr<State> state_;
};

// An H.264 (.mp4, .mkv, .mov) or MJPEG (.avi) film. Every frame is fitted into the size of the
// first. Written beside the target and renamed by finish(); without it nothing is left.
class VideoWriter {
 public:
  VideoWriter(std::string path, double fps);  // Error{unsupported} for another ending
  ~VideoWriter();
  void write(const at::Tensor& rgb);  // [3,h,w] uint8. Error{io}
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Dense inverse search flow (Kroeger et al. 2016) on thumbs.
std::shared_ptr<filming::FlowSource> dis_flow();
// SLIC superpixels of thumbs.
std::shared_ptr<filming::SegmentSource> slic_segments();

// Per-frame figures for the timeline, kept in bounded memory: when there are 2,048 columns,
// neighbours are merged (tokens and motion averaged, cuts kept).
class Timeline {
 public:
  void add(const filming::Step& step);
  // Tokens, motion and coherence over the frames, cuts as vertical lines. [3,h,w] uint8.
  at::Tensor draw() const;
  size_t columns() const { return columns_.size(); }

 private:
  struct Column {
    int frames = 0;
    double tokens = 0, motion = 0, coherence = 0;
    bool cut = false;
  };
  std::vector<Column> columns_;
  int64_t merge_ = 1;  // frames of a full column
  int64_t frames_ = 0;
};

// A frame with its leaves' heat and one line about the step.
at::Tensor draw_step(const VideoFrame& frame, const filming::Step& step, int longest = 640);

}  // namespace arrcoc::media
