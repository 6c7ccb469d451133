#include "serve/films.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>

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

}  // namespace

BestFrame best_frame(const std::string& url, const std::string& question, const Looker& looker,
                     const FilmConstants& constants, const media::LoadOptions& load,
                     const std::function<void()>& patience) {
  const size_t comma = url.find(";base64,");
  if (comma == std::string::npos || comma > 100)
    throw Error(ErrorCode::bad_argument, "a film must be a data:video/...;base64 URL");
  const Unnamed file(from_base64(std::string_view(url).substr(comma + 8)));
  const Query query = parse_query(question);
  std::unique_lock lock(turn(), std::defer_lock);
  while (!lock.try_lock_for(kSlice)) patience();
  media::Video video = [&] {
    try {
      return media::Video::open(file.path(), load);
    } catch (const Error& problem) {  // its words would name our file
      if (problem.code() == ErrorCode::too_large)
        throw Error(ErrorCode::too_large, "the film's frames are too large");
      throw Error(ErrorCode::bad_image, "the film cannot be read");
    }
  }();
  filming::Options options = filming::defaults(constants);
  options.interest = filming::interest_in(query);
  filming::Follower follower(options, media::dis_flow(), media::slic_segments());
  BestFrame out;
  std::optional<Picture> best;
  double strength = -1;
  double peak = 0;  // of the last close look, before it was stretched: an empty frame has none
  for (; out.frames < kMostFrames; ++out.frames) {
    patience();
    const std::optional<media::VideoFrame> frame = video.read();
    if (!frame) break;
    if (!frame->broken().empty()) {
      follower.missing(frame->broken());
      continue;
    }
    const filming::Step step =
        follower.step(frame->thumb(), Geometry{frame->width(), frame->height(), 0}, [&] {
          const Map map =
              looker.look(*looker.see(frame->picture()), {&query, 1}).front().relevance.map;
          peak = *std::max_element(map.values.begin(), map.values.end());
          return min_max(map);  // as filming::look_at
        });
    if (step.strength * peak < strength) continue;
    strength = step.strength * peak;
    best = frame->picture();
    out.frame = out.frames;
  }
  if (!best) throw Error(ErrorCode::bad_image, "no frame of the film could be read");
  out.png = media::encode_png(best->rgb);
  return out;
}

}  // namespace arrcoc::serving
