// What a film says about itself when it is opened, in whichever process.
#pragma once

#include <algorithm>
#include <opencv2/videoio.hpp>

#include "media/apart/protocol.h"

namespace arrcoc::media {

inline FilmHead head_of(const cv::VideoCapture& film) {
  const auto number = [&](int what) { return std::clamp(film.get(what), 0., 1e9); };
  FilmHead out;
  out.width = static_cast<int32_t>(number(cv::CAP_PROP_FRAME_WIDTH));
  out.height = static_cast<int32_t>(number(cv::CAP_PROP_FRAME_HEIGHT));
  out.fps = number(cv::CAP_PROP_FPS);
  out.frames = static_cast<int64_t>(number(cv::CAP_PROP_FRAME_COUNT));
  return out;
}

}  // namespace arrcoc::media
