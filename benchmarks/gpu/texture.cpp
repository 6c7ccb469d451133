// arrcoc_texture_gpu: time of the texture stage on the GPU, where only libtorch is installed.
//
// One line each for the plain calls and for the replay of a CUDA graph of the same calls: the
// median over repeats of the mean time of one call (100 calls queued, then one synchronisation).
// Then the largest difference to the CPU's result on the same frame.
#include <ATen/ATen.h>
#include <torch/version.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#include "arrcoc/texture.h"

#if TORCH_VERSION_MAJOR >= 2 && __has_include(<cuda_runtime_api.h>) && \
    __has_include(<ATen/cuda/CUDAGraph.h>)
#define ARRCOC_CUDA_GRAPH
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace {

using Work = std::function<at::Tensor()>;

float wait_for(const at::Tensor& t) { return t.flatten()[0].item<float>(); }

double milliseconds_per_call(const Work& work) {
  constexpr int kCalls = 100;
  constexpr int kRepeats = 9;
  for (int i = 0; i < 20; ++i) wait_for(work());
  std::vector<double> times;
  for (int r = 0; r < kRepeats; ++r) {
    const auto start = std::chrono::steady_clock::now();
    at::Tensor last;
    for (int i = 0; i < kCalls; ++i) last = work();
    wait_for(last);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    times.push_back(took.count() / kCalls);
  }
  std::nth_element(times.begin(), times.begin() + kRepeats / 2, times.end());
  return times[kRepeats / 2];
}

float difference(const at::Tensor& a, const at::Tensor& b) {
  return (a.to(at::kCPU) - b.to(at::kCPU)).abs().max().item<float>();
}

// Times the plain calls and the graph; returns the largest difference of either to `expected`.
float report(const char* what, const Work& work, const at::Tensor& expected) {
  float worst = difference(work(), expected);
  std::printf("%s, plain calls: %.3f ms a frame\n", what, milliseconds_per_call(work));
#ifdef ARRCOC_CUDA_GRAPH
  const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
  for (int i = 0; i < 5; ++i) wait_for(work());  // handles and constants are made before capturing
  at::cuda::CUDAGraph graph;
  graph.capture_begin();
  const at::Tensor result = work();
  graph.capture_end();
  const Work replay = [&] {
    graph.replay();
    return result;
  };
  std::printf("%s, CUDA graph:  %.3f ms a frame\n", what, milliseconds_per_call(replay));
  worst = std::max(worst, difference(replay(), expected));
#else
  std::printf("%s, CUDA graph:  not in this build (needs libtorch 2 and the CUDA headers)\n", what);
#endif
  return worst;
}

}  // namespace

int main() {
  if (!at::hasCUDA()) {
    std::fprintf(stderr, "arrcoc_texture_gpu: no CUDA device\n");
    return 1;
  }
  using namespace arrcoc::texture;
  const at::Tensor host = at::rand({1, 3, 1024, 1024});
  const at::Tensor frame = host.to(at::kCUDA);
  const float full = report(
      "11 channels 1024x1024", [&] { return sense_full(frame); }, sense_full(host));
  const float compact = report(
      "13 channels on 64x64", [&] { return sense_compact(frame, 64, 64); },
      sense_compact(host, 64, 64));
  const float worst = std::max(full, compact);
  std::printf("largest difference to the CPU: %.2e\n", worst);
  return worst < 1e-3F ? 0 : 1;
}
