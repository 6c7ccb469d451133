#include "media/apart/film.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>

#include "arrcoc/error.h"
#include "media/apart/child.h"

namespace arrcoc::media {

namespace {

// Bytes for every pixel of the largest frame: sixteen that later ones are made from, twice over
// for the decoder's threads.
constexpr double kBytesAPixel = 48;

class File {
 public:
  explicit File(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) throw Error(ErrorCode::io, path + ": cannot read: " + std::strerror(errno));
  }
  ~File() { ::close(fd_); }
  File(const File&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

FilmApart::FilmApart(const std::string& path, const LoadOptions& options) : options_(options) {
  const File film(path);
  Hello hello;
  child_ = Child::started(options.apart->limits().program + "-film", hello, film.get());
  base_ = hello.address_space;
  child_->put({}, static_cast<uint64_t>(3e6 * options.max_megapixels));
  Order order;
  order.max_megapixels = options.max_megapixels;
  child_->send({reinterpret_cast<const char*>(&order), sizeof order});
  if (!answer(&head_, sizeof head_)) head_ = {};
}

FilmApart::~FilmApart() = default;

bool FilmApart::answer(void* packet, size_t size) {
  if (!child_) return false;
  const DecoderLimits& limits = options_.apart->limits();
  const uint64_t most = limits.megabytes > 0
                            ? uint64_t(limits.megabytes) << 20
                            : static_cast<uint64_t>(kBytesAPixel * 1e6 * options_.max_megapixels);
  child_->allow(base_ + most + (uint64_t{512} << 20), limits.seconds);
  const Child::Waited waited = child_->wait(limits.seconds, options_.given_up);
  if (waited == Child::Waited::given_up)
    throw Error(ErrorCode::io, "nobody waits for the film any more");
  if (waited == Child::Waited::readable &&
      child_->receive(packet, size) == static_cast<ssize_t>(size))
    return true;
  child_.reset();
  return false;
}

bool FilmApart::grab() {
  if (!child_) return false;
  child_->send("n");
  return answer(&frame_, sizeof frame_) && frame_.error != Outcome::kEnd;
}

bool FilmApart::retrieve(Grabbed& frame) {
  const double pixels = static_cast<double>(frame_.width) * frame_.height;
  if (!child_ || frame_.error != Outcome::kDone || frame_.width < 1 || frame_.height < 1 ||
      pixels > 1e6 * options_.max_megapixels)
    return false;
  frame.create(frame_.width, frame_.height);
  child_->get(frame.bgr.get(), frame.bytes(), 0, UINT64_MAX);
  return true;
}

}  // namespace arrcoc::media
