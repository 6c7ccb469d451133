// Films in requests to models in this process: the frame that says most about the question is
// asked, as `arrcoc watch` does it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "arrcoc/bundle.h"
#include "arrcoc/media.h"
#include "serve/http.h"

namespace arrcoc::serving {

inline bool is_film(const std::string& url) { return url.rfind("data:video/", 0) == 0; }

struct BestFrame {
  int64_t frame = 0, frames = 0;  // which, from 0, of how many that were watched
  std::vector<uint8_t> png;
};
// At most kMostFrames are watched, one film at a time; whoever waits for a turn, and between two
// frames, patience() is called and may throw. Error{bad_argument, bad_image, too_large}.
inline constexpr int64_t kMostFrames = 1200;
BestFrame best_frame(const std::string& url, const std::string& question, const Looker& looker,
                     const FilmConstants& constants, const media::LoadOptions& load,
                     const std::function<void()>& patience);

}  // namespace arrcoc::serving
