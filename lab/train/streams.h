// The pictures that a run trains on: scenes, and real pages and photographs where given, each kind
// on its own shelf of one pool.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lab/train/real/data.h"
#include "lab/train/stream.h"
#include "lab/train/train.h"

namespace arrcoc::training {

// A scene with questions; the same for the same ticket. Tickets from kHeldOut on have seeds that
// are never trained on. `failed` counts scenes that could not be made.
Sample scene_sample(const Options& options, const SceneSource& source, uint64_t ticket, bool pinned,
                    std::atomic<int64_t>& failed);

class Streams {
 public:
  // options must outlive it. Error{not_found} when all real pictures are held aside.
  Streams(const Options& options, SceneSource source, const Parts& parts, at::Device device,
          at::ScalarType type);

  const Pool& pool() const { return *pool_; }
  const real::Data* data() const { return data_.get(); }  // null without real pictures
  const std::vector<std::unique_ptr<Stream>>& each() const { return streams_; }  // scenes first
  uint64_t tickets() const;                                                      // of all
  int64_t failed() const { return failed_; }  // pictures that could not be made

  void start(int workers);
  void refresh();
  // Numbers for a checkpoint, by name. Error{bad_weights} for one that is missing.
  void store(std::map<std::string, std::string>& into) const;
  void restore(const std::map<std::string, std::string>& from);

  Sample scene(uint64_t ticket) const {
    return scene_sample(options_, source_, ticket, pinned_, failed_);
  }

 private:
  Sample real_picture(uint64_t ticket, bool photo) const;

  const Options& options_;
  SceneSource source_;
  bool pinned_;
  std::shared_ptr<const real::Data> data_;
  mutable std::atomic<int64_t> failed_{0};
  std::unique_ptr<Pool> pool_;
  std::vector<std::unique_ptr<Stream>> streams_;
};

}  // namespace arrcoc::training
