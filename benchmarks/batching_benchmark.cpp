// What a server gains from taking questions together: processor time of N questions one by one over
// the time of the same N in one go, by stage, on one thread. 1.0 means that the work is bound by
// arithmetic and batches cannot help.
#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <functional>

#include "arrcoc/allocate.h"
#include "arrcoc/media.h"
#include "arrcoc/tokens.h"
#include "lab/measure/cost.h"
#include "models/tiny/tiny.h"
#include "serve/engine.h"

namespace {

using namespace arrcoc;

constexpr int kRepeats = 3;

double processor_milliseconds(const std::function<void()>& work) {
  measuring::Timing timing;
  for (int i = 0; i < kRepeats; ++i) timing.time(work);
  return *std::min_element(timing.cpu.begin(), timing.cpu.end());
}

struct Desk {
  std::shared_ptr<const tiny::TinyModel> model;
  Picture picture;
  std::unique_ptr<Pyramid> pyramid;
  std::shared_ptr<const tiny::SeenPage> page;
  std::vector<std::string> questions = {
      "What is the total?",    "What is the date?",         "What is the name of the cashier?",
      "What is the subtotal?", "What is the phone number?", "How much was paid in cash?",
      "What is the tax?",      "Which city is it?"};

  Desk() {
    serving::limit_math_threads();
    model = tiny::TinyModel::load(std::string(ARRCOC_SOURCE_DIR) + "/models/tiny");
    picture = media::load(std::string(ARRCOC_SOURCE_DIR) + "/examples/pictures/receipt.jpg");
    pyramid = std::make_unique<Pyramid>(picture);
    page = model->see(picture, frame_of(picture, 1024));
  }
  TokenSequence cut(const std::string& question, int tokens) const {
    Relevance relevance;
    relevance.map = model->look(*page, {question})[0].relevance;
    const Budget budget{tokens, "", "given"};
    return cutting::cut(*pyramid,
                        allocating::allocate(relevance, pyramid->geometry(), budget, "quadtree"));
  }
};

const Desk& desk() {
  static const Desk one;
  return one;
}

// What one core can do at most, by a product large enough to fill its units.
double peak_gflops() {
  static const double best = [] {
    constexpr int64_t n = 1024;
    const at::Tensor a = at::rand({n, n}), b = at::rand({n, n});
    return 2e-6 * n * n * n / processor_milliseconds([&] { at::matmul(a, b); });
  }();
  return best;
}

void report(benchmark::State& state, double alone, double together, int64_t count,
            const std::function<void()>& work) {
  const measuring::FlopCounter counter;
  work();
  state.counters["gflop_each"] = 1e-9 * counter.flops() / static_cast<double>(count);
  state.counters["share_of_peak"] = 1e-6 * counter.flops() / together / peak_gflops();
  state.counters["alone_ms"] = alone / static_cast<double>(count);
  state.counters["together_ms"] = together / static_cast<double>(count);
  state.counters["times_alone"] = alone / together;
}

// The realizer's question part over one page.
void RatioOfLookingTogether(benchmark::State& state) {
  const Desk& d = desk();
  const auto count = static_cast<size_t>(state.range(0));
  const std::vector<std::string> some(d.questions.begin(), d.questions.begin() + state.range(0));
  for (auto _ : state) {
    const double alone = processor_milliseconds([&] {
      for (size_t i = 0; i < count; ++i) d.model->look(*d.page, {some[i]});
    });
    const auto work = [&] { d.model->look(*d.page, some); };
    report(state, alone, processor_milliseconds(work), state.range(0), work);
  }
}

// Encoder and decoder over `tokens` tokens a question.
void RatioOfAnsweringTogether(benchmark::State& state) {
  const Desk& d = desk();
  const auto count = static_cast<size_t>(state.range(0));
  std::vector<TokenSequence> cuts;
  std::vector<tiny::TokenReading> readings;
  for (size_t i = 0; i < count; ++i)
    cuts.push_back(d.cut(d.questions[i], static_cast<int>(state.range(1))));
  for (size_t i = 0; i < count; ++i)
    readings.push_back({&cuts[i], d.pyramid->geometry(), d.questions[i]});
  for (auto _ : state) {
    const double alone = processor_milliseconds([&] {
      for (const tiny::TokenReading& reading : readings) d.model->answer({reading});
    });
    const auto work = [&] { d.model->answer(readings); };
    report(state, alone, processor_milliseconds(work), state.range(0), work);
  }
}

BENCHMARK(RatioOfLookingTogether)
    ->Arg(2)
    ->Arg(4)
    ->Arg(8)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(RatioOfAnsweringTogether)
    ->ArgsProduct({{2, 4, 8}, {64, 180, 300}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
