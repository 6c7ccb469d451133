// Large buffers that are handed back and used again: fresh memory of this size costs a page fault
// every 4 KB, as much time as the work in it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace arrcoc::kernels {

// An uninitialised dense tensor; its memory goes back when the last reference to it does. Safe for
// threads. At most 64 MB wait for their next use.
at::Tensor scratch(const std::vector<int64_t>& sizes, at::ScalarType type);

// Memory of this thread for what ends before the function that asked for it: one after the other,
// all handed back when the object goes. Objects of a thread end in the order opposite to that in
// which they began.
class Shelf {
 public:
  Shelf();
  ~Shelf();
  Shelf(const Shelf&) = delete;
  Shelf& operator=(const Shelf&) = delete;
  float* floats(int64_t count) const { return static_cast<float*>(take(sizeof(float) * count)); }
  uint8_t* bytes(int64_t count) const { return static_cast<uint8_t*>(take(count)); }

 private:
  void* take(size_t bytes) const;
  size_t block_, used_;  // where the thread's memory stood
};

}  // namespace arrcoc::kernels
