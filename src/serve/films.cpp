#include "serve/films.h"

#include <ATen/ATen.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

#include "arrcoc/error.h"
#include "arrcoc/film.h"
#include "serve/encoding.h"
#include "serve/upstream.h"

namespace arrcoc::serving {

namespace {

// Decoders want a file. It goes with this object, also when the process is killed: it has no name
// any more once it is open, except through its descriptor.
class Unnamed {
 public:
  explicit Unnamed(const std::vector<uint8_t>& bytes) {
    std::string name = (std::filesystem::temp_directory_path() / "arrcoc-film-XXXXXX").string();
    file_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (file_ < 0)
      throw Error(ErrorCode::io, std::string("a temporary file: ") + std::strerror(errno));
    ::unlink(name.c_str());
    for (size_t at = 0; at < bytes.size();) {
      const ssize_t n = ::write(file_, bytes.data() + at, bytes.size() - at);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        ::close(file_);
        throw Error(ErrorCode::io, std::string("a temporary file: ") + std::strerror(errno));
      }
      at += static_cast<size_t>(n);
    }
  }
  ~Unnamed() { ::close(file_); }
  Unnamed(const Unnamed&) = delete;
  Unnamed& operator=(const Unnamed&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_ = -1;
};

std::timed_mutex& turn() {
  static std::timed_mutex mutex;
  return mutex;
}

// Frames for people, 80 to 160 pixels wide. Nobody knows how many will come: when there are too
// many, every other one goes.
class Strip {
 public:
  void add(int64_t frame, const filming::Thumb& thumb) {
    if (frame % every_ != 0) return;
    if (frames_.size() == kMostSmall) {
      every_ *= 2;
      std::erase_if(frames_, [&](const auto& one) { return one.first % every_ != 0; });
      if (frame % every_ != 0) return;
    }
    frames_.emplace_back(frame, thumb);
  }
  std::vector<WatchedFilm::Small> encoded() const {
    std::vector<WatchedFilm::Small> out;
    for (const auto& [frame, thumb] : frames_) {
      const at::Tensor rgb = at::tensor(at::ArrayRef<uint8_t>(thumb.rgb), at::kByte)
                                 .reshape({thumb.height, thumb.width, 3})
                                 .permute({2, 0, 1});
      const bool thin = std::min(thumb.width, thumb.height) < 2;
      const at::Tensor half =
          thin ? rgb : at::avg_pool2d(rgb.to(at::kFloat), 2).round().to(at::kByte);
      out.push_back({frame, media::encode_png(half.contiguous())});
    }
    return out;
  }

 private:
  int64_t every_ = 1;
  std::vector<std::pair<int64_t, filming::Thumb>> frames_;
};

media::Video opened(const std::string& path, const media::LoadOptions& load) {
  try {
    return media::Video::open(path, load);
  } catch (const Error& problem) {  // its words would name our file
    if (problem.code() == ErrorCode::too_large)
      throw Error(ErrorCode::too_large, "the film's frames are too large");
    if (problem.code() == ErrorCode::unsupported)
      throw Error(ErrorCode::unsupported,
                  "films are not in this build, which was made without OpenCV: send pictures");
    throw Error(ErrorCode::bad_image, "the film cannot be read");
  }
}

}  // namespace

WatchedFilm watch_film(const std::string& url, const std::string& question, const Looker& looker,
                       const FilmConstants& constants, const media::LoadOptions& load, bool strip,
                       const std::function<void()>& patience) {
  const size_t comma = url.find(";base64,");
  if (comma == std::string::npos || comma > 100)
    throw Error(ErrorCode::bad_argument, "a film must be a data:video/...;base64 URL");
  const Unnamed file(from_base64(std::string_view(url).substr(comma + 8)));
  const Query query = parse_query(question);
  std::unique_lock lock(turn(), std::defer_lock);
  while (!lock.try_lock_for(kSlice)) patience();
  media::Video video = opened(file.path(), load);
  filming::Options options = filming::defaults(constants);
  options.interest = filming::interest_in(query);
  filming::Follower follower(options, media::dis_flow(), media::slic_segments());
  WatchedFilm out;
  out.fps = video.fps();
  Strip small;
  std::optional<Picture> best;
  double strength = -1;
  double peak = 0;  // of the last close look, before it was stretched: an empty frame has none
  for (int64_t number = 0;; ++number) {
    patience();
    const std::optional<media::VideoFrame> frame = video.read();
    out.more = frame && number == kMostFrames;
    if (!frame || out.more) break;
    WatchedFilm::Moment& now = out.time.emplace_back();
    if (!frame->broken().empty()) {
      follower.missing(frame->broken());
      continue;
    }
    const filming::Thumb thumb = frame->thumb();
    if (strip) small.add(number, thumb);
    const filming::Step step =
        follower.step(thumb, Geometry{frame->width(), frame->height(), 0}, [&] {
          History history;
          history.motion = follower.motion();
          const Map map = looker.look(*looker.see(frame->picture()), {&query, 1}, history)
                              .front()
                              .relevance.map;
          peak = *std::max_element(map.values.begin(), map.values.end());
          return min_max(map);  // as filming::look_at
        });
    now = {step.tokens, step.strength * peak, step.cut};
    if (now.relevance < strength) continue;
    strength = now.relevance;
    best = frame->picture();
    out.frame = number;
  }
  if (!best) throw Error(ErrorCode::bad_image, "no frame of the film could be read");
  out.strip = small.encoded();
  out.png = media::encode_png(best->rgb);
  return out;
}

ordered_json to_json(const WatchedFilm& film) {
  ordered_json tokens = ordered_json::array(), relevance = tokens, cuts = tokens, strip = tokens;
  int64_t all = 0;
  for (size_t i = 0; i < film.time.size(); ++i) {
    const WatchedFilm::Moment& now = film.time[i];
    all += now.tokens;
    tokens.push_back(now.tokens);
    relevance.push_back(rounded(now.relevance));
    if (now.cut) cuts.push_back(i);
  }
  ordered_json out = {{"frame", film.frame},
                      {"frames", film.time.size()},
                      {"fps", rounded(film.fps)},
                      {"tokens", all},
                      {"more", film.more}};
  if (film.strip.empty()) return out;
  for (const WatchedFilm::Small& one : film.strip)
    strip.push_back({{"frame", one.frame}, {"image", png_url(one.png)}});
  out["timeline"] = {{"tokens", tokens}, {"relevance", relevance}, {"cuts", cuts}};
  out["strip"] = std::move(strip);
  return out;
}

}  // namespace arrcoc::serving
