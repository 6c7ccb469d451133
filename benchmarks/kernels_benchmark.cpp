// Fast kernels (8 bits) against the float32 reference, in turns on the same questions.
//
// Ratio*Page: `times` is the reference's median time over the fast one's, asking from the picture
// in memory to the answer. RatioOfServing: two threads with one thread of arithmetic each, as
// `serve` works; questions about pages that are known to the second half of them.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <thread>

#include "arrcoc/ask.h"
#include "arrcoc/bundle.h"
#include "arrcoc/media.h"
#include "lab/measure/cost.h"

namespace {

using namespace arrcoc;
using measuring::median;

struct Pair {
  std::shared_ptr<const Bundle> fast, reference;
  Asker asks_fast, asks_reference;
  Picture page;

  Pair()
      : fast(load_bundle(folder(), Kernels::fast)),
        reference(load_bundle(folder(), Kernels::reference)),
        asks_fast(fast),
        asks_reference(reference),
        page(resize(media::load(std::string(ARRCOC_SOURCE_DIR) + "/examples/pictures/receipt.jpg"),
                    1024, 1024)) {}
  static std::string folder() { return std::string(ARRCOC_SOURCE_DIR) + "/models/tiny"; }
};

Pair& pair() {
  static Pair one;
  if (std::getenv("OMP_NUM_THREADS") == nullptr)
    at::set_num_threads(static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
  return one;
}

const char* const kQuestions[] = {"What is the total?", "What is the date?",
                                  "What is the phone number?", "What is the tax?"};

AskOptions usual() {
  AskOptions options = policy("realized");
  options.budget = "130";
  return options;
}

void report(benchmark::State& state, const measuring::Timing& fast,
            const measuring::Timing& reference) {
  state.SetLabel(kernels_of(*pair().fast));
  state.counters["fast_ms"] = median(fast.wall);
  state.counters["reference_ms"] = median(reference.wall);
  state.counters["times"] = median(reference.wall) / median(fast.wall);
  state.counters["times_cpu"] = median(reference.cpu) / median(fast.cpu);
}

void RatioOfNewPage(benchmark::State& state) {
  Pair& p = pair();
  measuring::Timing fast, reference;
  uint64_t round = 1;
  for (auto _ : state) {
    const Picture page = measuring::unknown(p.page, round++);
    fast.time([&] { p.asks_fast.ask(page, kQuestions[0], usual()); });
    reference.time([&] { p.asks_reference.ask(page, kQuestions[0], usual()); });
  }
  report(state, fast, reference);
}

void RatioOfKnownPage(benchmark::State& state) {
  Pair& p = pair();
  p.asks_fast.ask(p.page, kQuestions[0], usual());
  p.asks_reference.ask(p.page, kQuestions[0], usual());
  measuring::Timing fast, reference;
  for (auto _ : state) {
    fast.time([&] { p.asks_fast.ask(p.page, kQuestions[1], usual()); });
    reference.time([&] { p.asks_reference.ask(p.page, kQuestions[1], usual()); });
  }
  report(state, fast, reference);
}

// The same kernels over all 4,096 native patches.
void RatioOfNative(benchmark::State& state) {
  Pair& p = pair();
  measuring::Timing known, fresh, native;
  uint64_t round = 1000;
  const AskOptions all = policy("native");
  for (auto _ : state) {
    const Picture page = measuring::unknown(p.page, round++);
    fresh.time([&] { p.asks_fast.ask(page, kQuestions[0], usual()); });
    known.time([&] { p.asks_fast.ask(page, kQuestions[1], usual()); });
    native.time([&] { p.asks_fast.ask(page, kQuestions[1], all); });
  }
  state.counters["native_ms"] = median(native.wall);
  state.counters["times_known"] = median(native.wall) / median(known.wall);
  state.counters["times_new"] = median(native.wall) / median(fresh.wall);
}

double served_per_second(const Asker& asker, const Picture& page, uint64_t first) {
  constexpr int kPages = 3;
  Stopwatch watch;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < kPages; ++i) {
        const Picture own = measuring::unknown(page, first + t * kPages + i);
        for (const char* question : kQuestions) asker.ask(own, question, usual());
      }
    });
  for (std::thread& thread : threads) thread.join();
  return 2 * kPages * std::size(kQuestions) / (1e-3 * watch.lap());
}

void RatioOfServing(benchmark::State& state) {
  Pair& p = pair();
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  uint64_t first = 1'000'000;
  std::vector<double> fast, reference;
  for (auto _ : state) {
    fast.push_back(served_per_second(p.asks_fast, p.page, first));
    reference.push_back(served_per_second(p.asks_reference, p.page, first));
    first += 100;
  }
  state.counters["fast_per_second"] = median(fast);
  state.counters["reference_per_second"] = median(reference);
  state.counters["times"] = median(fast) / median(reference);
  at::set_num_threads(before);
}

BENCHMARK(RatioOfNewPage)->Unit(benchmark::kMillisecond)->Iterations(7);
BENCHMARK(RatioOfKnownPage)->Unit(benchmark::kMillisecond)->Iterations(9);
BENCHMARK(RatioOfNative)->Unit(benchmark::kMillisecond)->Iterations(3);
BENCHMARK(RatioOfServing)->Unit(benchmark::kMillisecond)->Iterations(3);

}  // namespace
