#include "models/kernels/scratch.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdlib>
#include <list>
#include <map>
#include <mutex>
#include <new>

namespace arrcoc::kernels {
namespace {

constexpr size_t kLine = 64;
constexpr size_t kLeast = size_t{64} << 10;  // smaller ones are malloc's own business
constexpr size_t kMost = size_t{64} << 20;   // bytes that wait

class Waiting {
 public:
  void* take(size_t bytes) {
    {
      const std::scoped_lock lock(mutex_);
      // Not one that is much too large: somebody else will need it.
      auto best = free_.end();
      for (auto one = free_.begin(); one != free_.end(); ++one)
        if (one->bytes >= bytes && one->bytes <= bytes + bytes / 4 &&
            (best == free_.end() || one->bytes < best->bytes))
          best = one;
      if (best != free_.end()) {
        void* const memory = best->memory;
        sizes_[memory] = best->bytes;
        held_ -= best->bytes;
        free_.erase(best);
        return memory;
      }
    }
    void* const memory = std::aligned_alloc(kLine, bytes);
    if (memory == nullptr) throw std::bad_alloc();
    const std::scoped_lock lock(mutex_);
    sizes_[memory] = bytes;
    return memory;
  }

  void give_back(void* memory) {
    const std::scoped_lock lock(mutex_);
    const auto known = sizes_.find(memory);
    if (known->second > kMost) {  // not at the cost of all others
      sizes_.erase(known);
      std::free(memory);
      return;
    }
    free_.push_front({known->second, memory});
    held_ += known->second;
    sizes_.erase(known);
    while (held_ > kMost) {  // those that nobody asked for longest
      held_ -= free_.back().bytes;
      std::free(free_.back().memory);
      free_.pop_back();
    }
  }

 private:
  struct Buffer {
    size_t bytes;
    void* memory;
  };
  std::mutex mutex_;
  std::list<Buffer> free_;         // latest first
  std::map<void*, size_t> sizes_;  // in use
  size_t held_ = 0;
};

Waiting& waiting() {
  static auto* const one = new Waiting;  // tensors may outlive every static object
  return *one;
}

// Blocks never move; a thread keeps them.
struct Blocks {
  struct Block {
    std::unique_ptr<char, decltype(&std::free)> memory;
    size_t size;
  };
  std::vector<Block> all;
  size_t block = 0, used = 0;  // what is taken: all blocks before, and so much of this one
};

Blocks& blocks() {
  thread_local Blocks one;
  return one;
}

}  // namespace

Shelf::Shelf() : block_(blocks().block), used_(blocks().used) {}
Shelf::~Shelf() {
  blocks().block = block_;
  blocks().used = used_;
}

void* Shelf::take(size_t bytes) const {
  constexpr size_t kBlock = size_t{1} << 20;
  Blocks& b = blocks();
  bytes = (bytes + kLine - 1) / kLine * kLine;
  while (b.block < b.all.size() && b.used + bytes > b.all[b.block].size) {
    ++b.block;
    b.used = 0;
  }
  if (b.block == b.all.size()) {
    const size_t size = std::max(bytes, kBlock);
    auto* const memory = static_cast<char*>(std::aligned_alloc(kLine, size));
    if (memory == nullptr) throw std::bad_alloc();
    b.all.push_back({{memory, &std::free}, size});
  }
  void* const out = b.all[b.block].memory.get() + b.used;
  b.used += bytes;
  return out;
}

at::Tensor scratch(const std::vector<int64_t>& sizes, at::ScalarType type) {
  size_t bytes = c10::elementSize(type);
  for (const int64_t size : sizes) bytes *= static_cast<size_t>(size);
  if (bytes < kLeast) return at::empty(sizes, type);
  bytes = (bytes + kLine - 1) / kLine * kLine;
  return at::from_blob(
      waiting().take(bytes), sizes, [](void* memory) { waiting().give_back(memory); }, type);
}

}  // namespace arrcoc::kernels
