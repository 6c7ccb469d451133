// Pictures and films from and to files and memory, and pictures for people (arrcoc_media: OpenCV).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrcoc/ask.h"
#include "arrcoc/decode.h"
#include "arrcoc/film.h"

namespace arrcoc::media {

// JPEG (also CMYK and grey), PNG, WebP, TIFF, BMP, HEIC, PDF page; 8 or 16 bit; alpha over white;
// EXIF orientation applied. Error{bad_image, too_large, unsupported}, one line naming the source.
Picture decode(const std::vector<uint8_t>& bytes, const std::string& source = "",
               const LoadOptions& options = {});

// A file, or standard input for "-". Error{not_found, io} besides those of decode.
Picture load(const std::string& path, const LoadOptions& options = {});

struct DecoderLimits {
  int processes = 1;    // at most, started when they are needed
  double seconds = 20;  // of a processor for one picture, rounded up
  int megabytes = 0;    // of memory for one picture; 0: as much as max_megapixels can need
  int pictures = 500;   // then a process is replaced
  std::string program;  // "": arrcoc-decode beside this program, above it or in ../libexec/arrcoc
};

// Decoding in other processes, which may do nothing but compute and read fonts. A picture that
// takes too much memory or time, or breaks its decoder, costs its own process alone; the next
// picture gets a new one. A process that dies of something else is replaced and the picture tried
// once more. Thread-safe. Processes end with this object, or when this process dies.
class Decoders {
 public:
  explicit Decoders(const DecoderLimits& limits = {});  // Error{not_found} without the program
  ~Decoders();

  // As media::decode, which comes here where options.apart says so. Waits for a free process.
  Picture decode(const std::vector<uint8_t>& bytes, const std::string& source,
                 const LoadOptions& options);
  // Starts a process and waits for it. Error{io} when it cannot be, or does not answer.
  void warm_up();
  const DecoderLimits& limits() const;  // with the program that was found
  // Processes that ended before their time.
  int64_t restarts() const;
  // What this kernel refuses of the confinement, in words; "" when all holds or none has started.
  std::string unconfined() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// [3,H,W] uint8 -> PNG. The same pixels give the same bytes.
std::vector<uint8_t> encode_png(const at::Tensor& rgb);
void write_png(const std::string& path, const at::Tensor& rgb);

// A rectangle to be outlined.
struct Mark {
  Box box;  // pixels of the picture that is drawn
  std::array<uint8_t, 3> colour{};
};
// Pictures for people, [3,h,w] uint8, longer side at most `longest`.
struct DrawOptions {
  int longest = 1024;
  bool legend = true;
  bool quadtree = true;     // draw the leaves' outlines on the homunculus
  std::vector<Mark> marks;  // over the relevance map and what is seen
};
// Heat map of tokens per area over the picture, with a legend in tokens.
at::Tensor draw_homunculus(const Picture& picture, const Allocation& allocation,
                           const DrawOptions& options = {});
// The relevance map over the picture.
at::Tensor draw_relevance(const Picture& picture, const Relevance& relevance,
                          const DrawOptions& options = {});
at::Tensor draw_quadtree(const Picture& picture, const Allocation& allocation,
                         const DrawOptions& options = {});
// The picture as the model sees it: every leaf filled with its mip level.
at::Tensor draw_seen(const Pyramid& pyramid, const Allocation& allocation,
                     const DrawOptions& options = {});

// The passes over one picture side by side, left to right, each with its answer and how sure it is.
// canvas: the picture that the leaves refer to. [3,h,w] uint8.
at::Tensor draw_passes(const Picture& canvas, const PictureAnswer& answer, int longest = 480);

// Faces by OpenCV's frontal cascade, source pixels.
std::vector<Box> find_faces(const Picture& picture);

// Tesseract, English. Results are kept for the last pictures seen (by content hash). Thread-safe.
std::shared_ptr<const WordSource> tesseract();

// Adds what needs OpenCV or Tesseract to the registries of names: providers distance-field,
// text, reader-text; scorers symbolic, text, reader, and lexical with a face finder. Call once at
// start; calling again changes nothing.
void register_strategies();

// ---- Films from files, folders of pictures and cameras, and films for people

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
