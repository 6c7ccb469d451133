// How fast scenes are made, on one core. The goal is 30 pictures of the training mix a second at
// 1024x1024 with all effects; pictures, not scenes, are counted (a clip has several).
#include <benchmark/benchmark.h>

#include <string>

#include "lab/scenes/scenes.h"

namespace {

using namespace arrcoc::scenes;

const Assets& assets() {
  static const auto loaded = Assets::load(std::string(ARRCOC_SOURCE_DIR) + "/assets");
  return *loaded;
}

void report(benchmark::State& state, double pictures, double pixels) {
  state.counters["pictures/s"] = benchmark::Counter(pictures, benchmark::Counter::kIsRate);
  state.counters["megapixels/s"] = benchmark::Counter(pixels / 1e6, benchmark::Counter::kIsRate);
}

void scenes_mixed(benchmark::State& state) {
  Options options;
  options.effects = state.range(0) != 0;
  uint64_t seed = 0;
  double pictures = 0, pixels = 0;
  for (auto _ : state) {
    const Scene scene = make_mixed(assets(), seed++, options);
    pictures += static_cast<double>(scene.images.size());
    for (const Image& image : scene.images)
      pixels += static_cast<double>(image.width) * image.height;
    benchmark::DoNotOptimize(scene.images.data());
  }
  report(state, pictures, pixels);
}
BENCHMARK(scenes_mixed)->ArgName("effects")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void scenes_kind(benchmark::State& state) {
  const std::string& kind = kinds()[static_cast<size_t>(state.range(0))];
  uint64_t seed = 0;
  double pictures = 0, pixels = 0;
  for (auto _ : state) {
    const Scene scene = make(assets(), kind, seed++);
    pictures += static_cast<double>(scene.images.size());
    for (const Image& image : scene.images)
      pixels += static_cast<double>(image.width) * image.height;
    benchmark::DoNotOptimize(scene.images.data());
  }
  report(state, pictures, pixels);
  state.SetLabel(kind);
}
BENCHMARK(scenes_kind)->DenseRange(0, 7)->Unit(benchmark::kMillisecond);

}  // namespace
