// Following a film against decoding it: `times_decoding` is the time of allocation (thumb, flow,
// maps, close looks, trees) over the time of decoding the same 640x360 film alone, in one run.
// While it is followed, the decoder's threads work on during allocation, and reading a frame hardly
// waits (`waiting_ms`): that is not what decoding costs.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include <chrono>
#include <filesystem>

#include "models/tiny/tiny.h"
#include "arrcoc/video.h"

namespace {

using namespace arrcoc;
using Seconds = std::chrono::duration<double>;

// Two hundred frames: a structured ground, a slow pan and a thing that crosses.
std::string film() {
  const std::string path =
      (std::filesystem::temp_directory_path() / "arrcoc_watch_benchmark.mp4").string();
  media::VideoWriter writer(path, 25);
  for (int i = 0; i < 200; ++i) {
    at::Tensor rgb = at::empty({3, 360, 640}, at::kByte);
    uint8_t* p = rgb.data_ptr<uint8_t>();
    for (int c = 0; c < 3; ++c)
      for (int y = 0; y < 360; ++y)
        for (int x = 0; x < 640; ++x) {
          const int u = x + i / 4, hash = (u * 7919 + y * 104729 + c * 31) % 61;
          const bool thing = x > 3 * i && x < 3 * i + 40 && y > 150 && y < 240;
          p[(c * 360 + y) * 640 + x] =
              static_cast<uint8_t>(thing ? 30 : 90 + (u / 40 * 37 + y / 30 * 53) % 90 + hash / 4);
        }
    writer.write(rgb);
  }
  writer.finish();
  return path;
}

void watch(benchmark::State& state, const std::string& policy_name) {
  at::set_num_threads(2);
  media::install();
  tiny::install(std::string(ARRCOC_SOURCE_DIR) + "/models/tiny");
  tiny::installed();  // reading the weights is not allocation
  const std::string path = film();
  Options look = policy(policy_name);
  look.canvas = 1024;
  look.frame = 416;  // as `arrcoc watch` does
  double waiting = 0, allocating = 0, alone = 0;
  int frames = 0;
  const auto now = [] { return std::chrono::steady_clock::now(); };
  for (auto _ : state) {
    {
      const auto start = now();
      media::Video video = media::Video::open(path);
      while (video.read()) {
      }
      alone += Seconds(now() - start).count();
    }
    media::Video video = media::Video::open(path);
    filming::Realizer realizer(filming::defaults(), media::dis_flow(), media::slic_segments());
    while (true) {
      const auto start = now();
      const auto frame = video.read();
      const auto decoded = now();
      waiting += Seconds(decoded - start).count();
      if (!frame) break;
      benchmark::DoNotOptimize(realizer.step(
          frame->thumb(), filming::geometry_of(frame->width(), frame->height(), look),
          [&] { return filming::look_at(frame->picture(), "the thing that moves", look); }));
      allocating += Seconds(now() - decoded).count();
      ++frames;
    }
  }
  std::filesystem::remove(path);
  state.counters["decode_ms"] = 1e3 * alone / frames;
  state.counters["waiting_ms"] = 1e3 * waiting / frames;
  state.counters["allocate_ms"] = 1e3 * allocating / frames;
  state.counters["times_decoding"] = allocating / alone;
}

void Ratio_watch_lexical(benchmark::State& state) { watch(state, "lexical"); }
void Ratio_watch_realizer(benchmark::State& state) { watch(state, "realizer"); }
BENCHMARK(Ratio_watch_realizer)->Unit(benchmark::kMillisecond)->Iterations(3);
BENCHMARK(Ratio_watch_lexical)->Unit(benchmark::kMillisecond)->Iterations(3);

}  // namespace
