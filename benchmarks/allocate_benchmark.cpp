// The quadtree, whose share of the pipeline must stay below 2 %: <= 0.3 ms at 1024x1024.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include "arrcoc/allocate.h"

namespace {

using namespace arrcoc;

// Smooth bumps over noise, like a real relevance map; the same on every machine.
Relevance sample(const Geometry& geometry, int cells) {
  Relevance out;
  out.map = Map{cells,
                cells,
                static_cast<float>(geometry.width) / static_cast<float>(cells),
                static_cast<float>(geometry.height) / static_cast<float>(cells),
                {}};
  uint64_t state = 1;
  for (int r = 0; r < cells; ++r) {
    for (int c = 0; c < cells; ++c) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      const double noise = static_cast<double>(state >> 40) / static_cast<double>(1 << 24);
      const double dy = (r - 0.3 * cells) / (0.1 * cells);
      const double dx = (c - 0.6 * cells) / (0.1 * cells);
      out.map.values.push_back(static_cast<float>(0.7 / (1 + dx * dx + dy * dy) + 0.3 * noise));
    }
  }
  return out;
}

void allocate(benchmark::State& state, const std::string& allocator,
              const AllocateOptions& options) {
  const auto side = static_cast<int>(state.range(0));
  const Geometry geometry{side, side, 0};
  const Relevance relevance = sample(geometry, static_cast<int>(state.range(1)));
  const Budget budget{static_cast<int>(state.range(2)), "", ""};
  int tokens = 0;
  for (auto _ : state) {
    const Allocation out = allocating::allocate(relevance, geometry, budget, allocator, options);
    tokens = out.tokens();
    benchmark::DoNotOptimize(tokens);
  }
  state.counters["tokens"] = tokens;
}

void allocate_quadtree(benchmark::State& state) { allocate(state, "quadtree", {}); }
BENCHMARK(allocate_quadtree)
    ->ArgNames({"side", "map", "budget"})
    ->Args({1024, 64, 64})
    ->Args({1024, 64, 180})
    ->Args({1024, 64, 400})
    ->Args({4096, 64, 400})
    ->Args({10000, 64, 400})
    ->Args({10000, 625, 400})
    ->Unit(benchmark::kMicrosecond);

void allocate_quadtree_mass(benchmark::State& state) {
  AllocateOptions options;
  options.gain = SplitGain::mass;
  allocate(state, "quadtree", options);
}
BENCHMARK(allocate_quadtree_mass)
    ->ArgNames({"side", "map", "budget"})
    ->Args({1024, 64, 180})
    ->Unit(benchmark::kMicrosecond);

void allocate_quadtree_balanced(benchmark::State& state) {
  AllocateOptions options;
  options.balanced = true;
  options.falloff = 100;
  allocate(state, "quadtree", options);
}
BENCHMARK(allocate_quadtree_balanced)
    ->ArgNames({"side", "map", "budget"})
    ->Args({1024, 64, 180})
    ->Args({1024, 64, 400})
    ->Unit(benchmark::kMicrosecond);

// The costliest of the selections.
void allocate_diverse(benchmark::State& state) { allocate(state, "diverse", {}); }
BENCHMARK(allocate_diverse)
    ->ArgNames({"side", "map", "budget"})
    ->Args({1024, 64, 180})
    ->Args({1024, 64, 400})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
