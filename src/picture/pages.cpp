#include "arrcoc/picture.h"

#include <ATen/ATen.h>
#include <sys/mman.h>

#include <string>

#include "arrcoc/error.h"

namespace arrcoc {

at::Tensor zero_pages(at::IntArrayRef sizes) {
  constexpr size_t kSmall = size_t{4} << 20;  // below this, the allocator's own memory is as good
  constexpr size_t kLarge = size_t{2} << 20;  // a large page
  int64_t count = 1;
  for (int64_t n : sizes) count *= n;
  const size_t bytes = static_cast<size_t>(count) * sizeof(float);
  if (bytes < kSmall) return at::zeros(sizes, at::kFloat);
  const size_t mapped = bytes + kLarge;
  void* memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw Error(ErrorCode::too_large,
                "no memory for the texture: " + std::to_string(bytes >> 20) + " MB needed");
  }
  madvise(memory, mapped, MADV_HUGEPAGE);  // advice: a system without large pages is no error
  const size_t skip = (kLarge - reinterpret_cast<uintptr_t>(memory) % kLarge) % kLarge;
  return at::from_blob(
      static_cast<uint8_t*>(memory) + skip, sizes,
      [memory, mapped](void*) { munmap(memory, mapped); }, at::TensorOptions(at::kFloat));
}

}  // namespace arrcoc
