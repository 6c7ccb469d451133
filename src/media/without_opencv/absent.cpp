// What a build without OpenCV and Tesseract has not: each says so in one line.
#include <mutex>

#include "arrcoc/error.h"
#include "arrcoc/media.h"
#include "media/draw/reliability.h"
#include "media/ocr/reader.h"
#include "media/video/stream.h"

namespace arrcoc::media {

namespace {

[[noreturn]] void absent(const std::string& what) {
  throw Error(ErrorCode::unsupported,
              what + ": not in this build, which was made without OpenCV and Tesseract");
}

}  // namespace

at::Tensor draw_homunculus(const Picture&, const Allocation&, const DrawOptions&) {
  absent("drawing heat maps");
}
at::Tensor draw_relevance(const Picture&, const Relevance&, const DrawOptions&) {
  absent("drawing relevance maps");
}
at::Tensor draw_quadtree(const Picture&, const Allocation&, const DrawOptions&) {
  absent("drawing quadtrees");
}
at::Tensor draw_seen(const Pyramid&, const Allocation&, const DrawOptions&) {
  absent("drawing what is seen");
}
at::Tensor draw_passes(const Picture&, const PictureAnswer&, int) { absent("drawing passes"); }
at::Tensor draw_reliability(const std::vector<ReliabilityPanel>&) {
  absent("drawing reliability diagrams");
}
at::Tensor draw_step(const VideoFrame&, const filming::Step&, int) { absent("annotated films"); }
at::Tensor Timeline::draw() const { absent("drawing timelines"); }

std::vector<Box> find_faces(const Picture&) { absent("finding faces"); }
std::shared_ptr<const WordSource> tesseract() { absent("reading words by OCR"); }
std::vector<Spelled> spell(const Picture&) { absent("reading words by OCR"); }

void register_strategies() {
  static std::once_flag once;
  std::call_once(once, [] {
    constexpr const char* kSummary = "not in this build (OpenCV, Tesseract)";
    for (const std::string name : {"distance-field", "text", "reader-text"})
      registry<Provider>().add(
          name, kSummary, [name]() -> std::unique_ptr<Provider> { absent("provider " + name); });
    for (const std::string name : {"symbolic", "text", "reader"})
      registry<Scorer>().add(name, kSummary,
                             [name]() -> std::unique_ptr<Scorer> { absent("scorer " + name); });
  });
}

struct VideoWriter::State {};
VideoWriter::VideoWriter(std::string path, double) { absent("writing films (" + path + ")"); }
VideoWriter::~VideoWriter() = default;
void VideoWriter::write(const at::Tensor&) {}
void VideoWriter::finish() {}

std::unique_ptr<Stream> open_stream(const std::string& source, int, const LoadOptions&) {
  absent(source + ": films and cameras (folders of JPEG or PNG frames can be read)");
}

// The follower does without: nothing is carried along, nothing evened out.
std::shared_ptr<filming::FlowSource> dis_flow() { return nullptr; }
std::shared_ptr<filming::SegmentSource> slic_segments() { return nullptr; }

}  // namespace arrcoc::media
