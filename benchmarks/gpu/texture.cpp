// arrcoc_texture_gpu: time of the texture stage on the GPU, where only libtorch is installed.
//
// Prints the median over repeats of the mean time of one call (100 calls queued, then one
// synchronisation), and the largest difference to the CPU's result on the same frame.
#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#include "arrcoc/texture.h"

namespace {

using Work = std::function<at::Tensor()>;

double milliseconds_per_call(const Work& work) {
  constexpr int kCalls = 100;
  constexpr int kRepeats = 9;
  const auto wait = [](const at::Tensor& t) { return t.flatten()[0].item<float>(); };
  for (int i = 0; i < 20; ++i) wait(work());
  std::vector<double> times;
  for (int r = 0; r < kRepeats; ++r) {
    const auto start = std::chrono::steady_clock::now();
    at::Tensor last;
    for (int i = 0; i < kCalls; ++i) last = work();
    wait(last);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    times.push_back(took.count() / kCalls);
  }
  std::nth_element(times.begin(), times.begin() + kRepeats / 2, times.end());
  return times[kRepeats / 2];
}

}  // namespace

int main() {
  if (!at::hasCUDA()) {
    std::fprintf(stderr, "arrcoc_texture_gpu: no CUDA device\n");
    return 1;
  }
  const at::Tensor host = at::rand({1, 3, 1024, 1024});
  const at::Tensor frame = host.to(at::kCUDA);
  const Work full = [&] { return arrcoc::texture::sense_full(frame); };
  const Work compact = [&] { return arrcoc::texture::sense_compact(frame, 64, 64); };
  const float difference =
      (full().to(at::kCPU) - arrcoc::texture::sense_full(host)).abs().max().item<float>();
  std::printf("40 channels 1024x1024: %.3f ms a frame\n", milliseconds_per_call(full));
  std::printf("13 channels on 64x64:  %.3f ms a frame\n", milliseconds_per_call(compact));
  std::printf("largest difference to the CPU: %.2e\n", difference);
  return difference < 1e-3F ? 0 : 1;
}
