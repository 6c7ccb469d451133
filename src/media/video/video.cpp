// Frames from files, folders and cameras.
#include "arrcoc/media.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "arrcoc/error.h"
#include "media/video/stream.h"

namespace arrcoc::media {

namespace fs = std::filesystem;

namespace {

constexpr int kPatience = 16;  // frames in a row that may fail before a film counts as ended

// Digits compare as numbers, so that frame2 comes before frame10.
bool natural_before(const std::string& a, const std::string& b) {
  size_t i = 0, j = 0;
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    const auto number = [&](const std::string& s, size_t& at) {
      while (at < s.size() && s[at] == '0') ++at;
      const size_t from = at;
      while (at < s.size() && digit(s[at])) ++at;
      return s.substr(from, at - from);
    };
    const std::string x = number(a, i), y = number(b, j);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
  }
  if (i < a.size() || j < b.size()) return i >= a.size();
  return a < b;
}

bool looks_like_picture(const fs::path& path) {
  static const char* const kEndings[] = {".jpg",  ".jpeg", ".png",  ".webp", ".tif",
                                         ".tiff", ".bmp",  ".heic", ".heif"};
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return path.filename().string().front() != '.' &&
         std::find(std::begin(kEndings), std::end(kEndings), ending) != std::end(kEndings);
}

std::vector<std::string> pictures_in(const fs::path& folder) {
  std::vector<std::string> out;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed))
    if (looks_like_picture(entry.path())) out.push_back(entry.path().string());
  if (failed) throw Error(ErrorCode::io, folder.string() + ": " + failed.message());
  std::sort(out.begin(), out.end(), natural_before);
  return out;
}

// "camera" is 0, "camera:N" is N, all else -1.
int camera_number(const std::string& source) {
  if (source == "camera") return 0;
  const std::string head = "camera:";
  if (source.rfind(head, 0) != 0) return -1;
  const std::string digits = source.substr(head.size());
  if (digits.empty() || digits.size() > 3 ||
      !std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c); }))
    throw Error(ErrorCode::bad_argument, "cameras are camera, camera:1, ..., not " + source);
  return std::stoi(digits);
}

}  // namespace

struct VideoFrame::Pixels {
  Grabbed grabbed;  // from a stream
  Picture picture;  // from a picture file
  std::string broken;
  std::string source;
};

int VideoFrame::width() const {
  if (!pixels_->broken.empty()) return 0;
  return pixels_->grabbed.bgr ? pixels_->grabbed.width : pixels_->picture.width();
}
int VideoFrame::height() const {
  if (!pixels_->broken.empty()) return 0;
  return pixels_->grabbed.bgr ? pixels_->grabbed.height : pixels_->picture.height();
}
const std::string& VideoFrame::broken() const { return pixels_->broken; }

filming::Thumb VideoFrame::thumb() const {
  const Grabbed& g = pixels_->grabbed;
  if (!g.bgr) return filming::thumb_of(pixels_->picture);
  return filming::thumb_of(
      filming::Samples{g.bgr.get(), g.width, g.height, int64_t{3} * g.width, true});
}

Picture VideoFrame::picture() const {
  const Grabbed& g = pixels_->grabbed;
  if (!g.bgr) return pixels_->picture;
  at::Tensor rgb = at::empty({3, g.height, g.width}, at::kByte);
  const int64_t plane = int64_t{g.height} * g.width;
  auto* to = rgb.data_ptr<uint8_t>();
  const uint8_t* from = g.bgr.get();
  for (int64_t i = 0; i < plane; ++i, from += 3)
    for (int64_t c = 0; c < 3; ++c) to[c * plane + i] = from[2 - c];
  return make_picture(std::move(rgb), pixels_->source);
}

struct Video::State {
  std::string source;
  LoadOptions options;
  std::vector<std::string> files;   // a folder's pictures
  std::unique_ptr<Stream> stream;   // or a film or camera
  std::optional<VideoFrame> first;  // read when opened, to know that there is one
  size_t next = 0;                  // of `files`
  int64_t given = 0;
  int64_t expected = 0;
  double fps = 25;
  bool ended = false;
  std::string ending;

  VideoFrame frame(VideoFrame::Pixels pixels) const {
    pixels.source = source;
    VideoFrame out;
    out.pixels_ = std::make_shared<const VideoFrame::Pixels>(std::move(pixels));
    return out;
  }
  std::optional<VideoFrame> next_file();
  std::optional<VideoFrame> next_grab();
  std::optional<VideoFrame> next_frame() { return files.empty() ? next_grab() : next_file(); }
  void open_stream(int camera);
};

std::optional<VideoFrame> Video::State::next_file() {
  if (next >= files.size()) return std::nullopt;
  const std::string& path = files[next++];
  VideoFrame::Pixels pixels;
  try {
    pixels.picture = load(path, options);
  } catch (const Error& e) {
    pixels.broken = e.what();
  }
  return frame(std::move(pixels));
}

std::optional<VideoFrame> Video::State::next_grab() {
  for (int failed = 0; failed < kPatience; ++failed) {
    if (stream->grab()) {
      VideoFrame::Pixels pixels;
      if (!stream->retrieve(pixels.grabbed)) {
        pixels.grabbed.bgr.reset();
        pixels.broken = "frame " + std::to_string(given) + " of " + source + " cannot be decoded";
      }
      return frame(std::move(pixels));
    }
    // A damaged packet is skipped; the true end is where nothing more was announced.
    if (expected == 0 || given >= expected) break;
  }
  return std::nullopt;
}

void Video::State::open_stream(int camera) {
  stream = media::open_stream(source, camera, options);
  const FilmHead head = stream ? stream->head() : FilmHead{};
  const bool opened = head.width > 0;
  if (!opened) {
    if (camera >= 0)
      throw Error(ErrorCode::not_found, "there is no camera " + std::to_string(camera));
    throw Error(ErrorCode::bad_image, source + " is not a film that can be decoded");
  }
  const double pixels = 1e-6 * head.width * head.height;
  if (pixels > options.max_megapixels)
    throw Error(ErrorCode::too_large, source + " has frames of " +
                                          std::to_string(static_cast<int>(pixels)) +
                                          " megapixels, more than the limit");
  expected = camera >= 0 ? 0 : std::clamp<int64_t>(head.frames, 0, 1'000'000'000);
  if (head.fps > 0.1 && head.fps < 1000) fps = head.fps;
}

Video::Video() = default;
Video::Video(Video&&) noexcept = default;
Video::~Video() = default;

Video Video::open(const std::string& source, const LoadOptions& options) {
  Video out;
  out.state_ = std::make_unique<State>();
  State& state = *out.state_;
  state.source = source;
  state.options = options;
  const int camera = camera_number(source);
  std::error_code ignored;
  if (camera < 0 && !fs::exists(source, ignored))
    throw Error(ErrorCode::not_found, "there is no file, folder or camera " + source);
  if (camera < 0 && fs::is_directory(source, ignored)) {
    state.files = pictures_in(source);
    if (state.files.empty() && fs::is_directory(fs::path(source) / "frames", ignored))
      state.files = pictures_in(fs::path(source) / "frames");
    if (state.files.empty())
      throw Error(ErrorCode::not_found, source + " holds no pictures, so there are no frames");
  } else if (camera < 0 && looks_like_picture(source)) {
    state.files = {source};
  } else {
    state.open_stream(camera);
  }
  if (!state.files.empty()) state.expected = static_cast<int64_t>(state.files.size());
  state.first = state.next_frame();
  if (!state.first) throw Error(ErrorCode::bad_image, source + " holds no frames");
  return out;
}

std::optional<VideoFrame> Video::read() {
  State& s = *state_;
  std::optional<VideoFrame> out = s.first ? std::exchange(s.first, std::nullopt) : s.next_frame();
  if (out) {
    ++s.given;
  } else if (!s.ended) {
    s.ended = true;
    if (s.expected > s.given)
      s.ending = s.source + " ends after " + std::to_string(s.given) + " of the " +
                 std::to_string(s.expected) + " frames that it announces";
  }
  return out;
}

int64_t Video::expected() const { return state_->expected; }
double Video::fps() const { return state_->fps; }
std::string Video::ending() const { return state_->ending; }

}  // namespace arrcoc::media
