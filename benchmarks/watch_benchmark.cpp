// Following a film against decoding it: `times_decoding` is the time of allocation (thumb, flow,
// maps, close looks, trees) over the time of decoding the same 640x360 film alone, in one run.
// While it is followed, the decoder's threads work on during allocation, and reading a frame hardly
// waits (`waiting_ms`): that is not what decoding costs.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include <filesystem>

#include "arrcoc/ask.h"
#include "arrcoc/media.h"
#include "base/stopwatch.h"

namespace {

using namespace arrcoc;

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
  media::register_strategies();
  const auto bundle = load_bundle(std::string(ARRCOC_SOURCE_DIR) + "/models/tiny");
  const std::string path = film();
  AskOptions options = policy(policy_name);
  options.canvas = 1024;
  options.look.frame = 416;  // as `arrcoc watch` does
  const auto looker = make_looker(options.look, bundle->looker);
  const Query question = parse_query("the thing that moves");
  double waiting = 0, allocating = 0, alone = 0;  // milliseconds
  int frames = 0;
  for (auto _ : state) {
    {
      Stopwatch watch;
      media::Video video = media::Video::open(path);
      while (video.read()) {
      }
      alone += watch.lap();
    }
    media::Video video = media::Video::open(path);
    filming::Follower follower(filming::defaults(bundle->film), media::dis_flow(),
                               media::slic_segments());
    Stopwatch watch;
    while (true) {
      const auto frame = video.read();
      waiting += watch.lap();
      if (!frame) break;
      benchmark::DoNotOptimize(
          follower.step(frame->thumb(), geometry_of(frame->width(), frame->height(), options),
                        [&] { return filming::look_at(*looker, frame->picture(), question); }));
      allocating += watch.lap();
      ++frames;
    }
  }
  std::filesystem::remove(path);
  state.counters["decode_ms"] = alone / frames;
  state.counters["waiting_ms"] = waiting / frames;
  state.counters["allocate_ms"] = allocating / frames;
  state.counters["times_decoding"] = allocating / alone;
}

void Ratio_watch_lexical(benchmark::State& state) { watch(state, "lexical"); }
void Ratio_watch_realizer(benchmark::State& state) { watch(state, "realizer"); }
BENCHMARK(Ratio_watch_realizer)->Unit(benchmark::kMillisecond)->Iterations(3);
BENCHMARK(Ratio_watch_lexical)->Unit(benchmark::kMillisecond)->Iterations(3);

}  // namespace
