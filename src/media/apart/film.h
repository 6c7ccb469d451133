// A film whose frames are decoded by a process of its own (arrcoc-decode-film).
#pragma once

#include <memory>
#include <opencv2/core.hpp>
#include <string>

#include "arrcoc/media.h"
#include "media/apart/protocol.h"

namespace arrcoc::media {

class Child;

class FilmApart {
 public:
  // Error{io} when the file cannot be read or the process not be started.
  FilmApart(const std::string& path, const LoadOptions& options);
  ~FilmApart();

  const FilmHead& head() const { return head_; }
  // The next frame; false at the end, at a damaged packet, and for good once the process is gone.
  bool grab();
  // Its pixels, BGR; false when they cannot be decoded.
  bool retrieve(cv::Mat& bgr);

 private:
  bool answer(void* packet, size_t size);

  const LoadOptions options_;
  std::unique_ptr<Child> child_;
  uint64_t base_ = 0;
  FilmHead head_;
  Outcome frame_;
};

}  // namespace arrcoc::media
