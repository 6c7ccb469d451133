// Films in requests to models in this process: the frame that says most about the question is
// asked, as `arrcoc watch` does it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "arrcoc/bundle.h"
#include "arrcoc/media.h"
#include "base/json.h"
#include "serve/http.h"

namespace arrcoc::serving {

inline bool is_film(const std::string& url) { return url.rfind("data:video/", 0) == 0; }

struct WatchedFilm {
  struct Moment {
    int tokens = 0;        // paid for this frame; 0: those of an earlier one stay in force
    double relevance = 0;  // how much it says about the question; 0 for a frame that is broken
    bool cut = false;
  };
  struct Small {
    int64_t frame = 0;
    std::vector<uint8_t> png;
  };
  int64_t frame = 0;         // the one that is asked, from 0
  bool more = false;         // the film is longer than what was watched
  double fps = 0;            // 25 where the film does not say
  std::vector<Moment> time;  // of every frame that was watched
  std::vector<Small> strip;  // at most kMostSmall of them, evenly; empty unless they are wanted
  std::vector<uint8_t> png;  // the frame
};
// At most kMostFrames are watched, one film at a time; whoever waits for a turn, and between two
// frames, patience() is called and may throw. Error{bad_argument, bad_image, too_large}.
inline constexpr int64_t kMostFrames = 1200;
inline constexpr size_t kMostSmall = 16;
WatchedFilm watch_film(const std::string& url, const std::string& question, const Looker& looker,
                       const FilmConstants& constants, const media::LoadOptions& load, bool strip,
                       const std::function<void()>& patience);
// {frame, frames, fps, tokens, more}, and where a strip was wanted {timeline, strip}.
ordered_json to_json(const WatchedFilm& film);

}  // namespace arrcoc::serving
