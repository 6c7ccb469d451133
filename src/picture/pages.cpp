#include "picture/pages.h"

#include <ATen/ATen.h>
#include <sys/mman.h>

#include <mutex>
#include <string>
#include <utility>

#include "arrcoc/error.h"
#include "arrcoc/picture.h"

namespace arrcoc {

namespace {

constexpr size_t kSmall = size_t{4} << 20;  // below this, the allocator's own memory is as good
constexpr size_t kLarge = size_t{2} << 20;  // a large page
constexpr size_t kMost = size_t{16} << 20;  // that waits

size_t bytes_of(at::IntArrayRef sizes) {
  size_t count = sizeof(float);
  for (const int64_t n : sizes) count *= static_cast<size_t>(n);
  return count;
}

struct Pages {
  void* memory = nullptr;
  size_t mapped = 0;
  void* first() const {  // at a large page
    const size_t skip = (kLarge - reinterpret_cast<uintptr_t>(memory) % kLarge) % kLarge;
    return static_cast<uint8_t*>(memory) + skip;
  }
};

Pages mapped(size_t bytes) {
  Pages out{nullptr, bytes + kLarge};
  out.memory = mmap(nullptr, out.mapped, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (out.memory == MAP_FAILED) {
    throw Error(ErrorCode::too_large,
                "no memory for the texture: " + std::to_string(bytes >> 20) + " MB needed");
  }
  madvise(out.memory, out.mapped, MADV_HUGEPAGE);  // advice: no large pages are no error
  return out;
}

class Waiting {
 public:
  // Null where no buffer of that size waits.
  Pages take(size_t bytes) {
    const std::scoped_lock lock(mutex_);
    return one_.mapped == bytes + kLarge ? std::exchange(one_, {}) : Pages{};
  }
  void give_back(Pages pages) {
    if (pages.mapped <= kMost + kLarge) {
      const std::scoped_lock lock(mutex_);
      std::swap(one_, pages);
    }
    if (pages.memory != nullptr) munmap(pages.memory, pages.mapped);
  }

 private:
  std::mutex mutex_;
  Pages one_;
};

Waiting& waiting() {
  static auto* const one = new Waiting;  // tensors may outlive every static object
  return *one;
}

}  // namespace

at::Tensor zero_pages(at::IntArrayRef sizes) {
  const size_t bytes = bytes_of(sizes);
  if (bytes < kSmall) return at::zeros(sizes, at::kFloat);
  const Pages pages = mapped(bytes);
  return at::from_blob(
      pages.first(), sizes, [pages](void*) { munmap(pages.memory, pages.mapped); },
      at::TensorOptions(at::kFloat));
}

at::Tensor frame_pages(at::IntArrayRef sizes) {
  const size_t bytes = bytes_of(sizes);
  if (bytes < kSmall) return at::empty(sizes, at::kFloat);
  Pages pages = waiting().take(bytes);
  if (pages.memory == nullptr) pages = mapped(bytes);
  return at::from_blob(
      pages.first(), sizes, [pages](void*) { waiting().give_back(pages); },
      at::TensorOptions(at::kFloat));
}

}  // namespace arrcoc
