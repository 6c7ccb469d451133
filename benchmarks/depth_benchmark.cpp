// What it saves when the less relevant tokens leave the picture's encoder early (--depth): a
// Qwen3-VL with the vision tower of the 2B model and random weights, one language layer. Each row
// times the encoder with all tokens to its end and with that depth in turn; times are of the
// processor.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "lab/measure/cost.h"
#include "models/hf/depth.h"
#include "models/hf/hf.h"
#include "models/hf/processor.h"
#include "models/hf/vlm.h"

namespace {

using namespace arrcoc;

constexpr int kRepeats = 3;

std::shared_ptr<const hf::HfModel> tower() {
  static const auto one = [] {
    at::set_num_threads(1);
    std::ifstream in(std::string(ARRCOC_SOURCE_DIR) + "/configs/qwen3_vl_2b.json");
    nlohmann::json config = nlohmann::json::parse(in);
    config["text_config"]["num_hidden_layers"] = 1;
    config["text_config"]["vocab_size"] = 2048;
    int id = 2001;
    for (const char* key :
         {"vision_start_token_id", "vision_end_token_id", "image_token_id", "video_token_id"})
      config[key] = id++;
    const auto file = std::filesystem::temp_directory_path() / "arrcoc_depth_benchmark.json";
    std::ofstream(file) << config;
    auto model = hf::HfModel::random(file.string(), {.dtype = "float32"});
    std::filesystem::remove(file);
    return model;
  }();
  return one;
}

// Depth by shares in percent, over a square picture of that side; relevance falls from token to
// token, so that those that leave lie side by side.
void RatioOfDepth(benchmark::State& state) {
  c10::InferenceMode guard;
  const auto model = tower();
  const auto side = static_cast<int>(state.range(0));
  const Picture picture = make_picture(
      at::arange(int64_t{3} * side * side).remainder(251).to(at::kByte).reshape({3, side, side}));
  const hf::Pixels pixels = model->processor().process(picture.rgb);
  Depth depth{DepthRule::share, {}};
  for (int i = 1; i <= 4; ++i) depth.values.push_back(static_cast<double>(state.range(i)) / 100);
  std::vector<float> relevance(
      static_cast<size_t>(model->vlm().tokens(pixels.values, pixels.grid)));
  for (size_t i = 0; i < relevance.size(); ++i) relevance[i] = -static_cast<float>(i);
  const std::vector<int64_t> levels = hf::levels_of(depth, relevance, 4);
  const auto whole = [&] { model->vlm().encode(pixels.values, pixels.grid); };
  const auto early = [&] { model->vlm().encode_depths(pixels.values, pixels.grid, {}, levels); };
  const auto gflop = [](const auto& work) {
    const measuring::FlopCounter counter;
    work();
    return 1e-9 * counter.flops();
  };
  for (auto _ : state) {
    const double all = gflop(whole), some = gflop(early);
    measuring::Timing slow, fast;
    for (int i = 0; i < kRepeats; ++i) {
      slow.time(whole);
      fast.time(early);
    }
    state.counters["tokens"] = static_cast<double>(levels.size());
    state.counters["gflop"] = some;
    state.counters["gflop_share"] = some / all;
    state.counters["ms"] = measuring::median(fast.cpu);
    state.counters["time_share"] = measuring::median(fast.cpu) / measuring::median(slow.cpu);
  }
}

BENCHMARK(RatioOfDepth)
    ->Args({512, 0, 0, 0, 100})
    ->Args({512, 25, 25, 25, 25})
    ->Args({512, 50, 25, 15, 10})
    ->Args({512, 75, 0, 0, 25})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
