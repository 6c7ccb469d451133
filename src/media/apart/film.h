// A film whose frames are decoded by a process of its own (arrcoc-decode-film).
#pragma once

#include <memory>
#include <string>

#include "arrcoc/media.h"
#include "media/apart/protocol.h"
#include "media/video/stream.h"

namespace arrcoc::media {

class Child;

class FilmApart : public Stream {
 public:
  // Error{io} when the file cannot be read or the process not be started.
  FilmApart(const std::string& path, const LoadOptions& options);
  ~FilmApart() override;

  FilmHead head() const override { return head_; }
  // False for good once the process is gone.
  bool grab() override;
  bool retrieve(Grabbed& frame) override;

 private:
  bool answer(void* packet, size_t size);

  const LoadOptions options_;
  std::unique_ptr<Child> child_;
  uint64_t base_ = 0;
  FilmHead head_;
  Outcome frame_;
};

}  // namespace arrcoc::media
