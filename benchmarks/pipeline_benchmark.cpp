// The pipeline against the decoding of its own picture: what the relevance stage really costs.
//
// Ratio* report `times_decoding`: median time of the pipeline, decoding included, over the median
// time of decoding the same JPEG, taken in turns in one run so that a noisy machine hits both. All
// cores work on the tensors (OMP_NUM_THREADS overrides); libjpeg decodes on one.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <thread>

#include "arrcoc/ask.h"
#include "arrcoc/media.h"
#include "lab/measure/cost.h"

namespace {

using namespace arrcoc;
using measuring::median;

// Soft shading, objects and lines of text: an ordinary picture, not noise and not a blank.
std::vector<uint8_t> jpeg(int width, int height) {
  cv::Mat image(height, width, CV_8UC3);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      image.at<cv::Vec3b>(y, x) = {static_cast<uchar>(90 + 100 * x / width),
                                   static_cast<uchar>(120 + 80 * y / height),
                                   static_cast<uchar>(160 - 60 * x / width)};
    }
  }
  cv::RNG rng(7);
  for (int i = 0; i < 40; ++i) {
    cv::circle(image, {rng.uniform(0, width), rng.uniform(0, height)}, rng.uniform(10, height / 10),
               {rng.uniform(0., 255.), rng.uniform(0., 255.), rng.uniform(0., 255.)}, cv::FILLED,
               cv::LINE_AA);
  }
  for (int y = 30; y < height; y += 34) {
    cv::putText(image, "Item " + std::to_string(y * 37) + "   Total 12.90   Date 2019-04-01",
                {20, y}, cv::FONT_HERSHEY_SIMPLEX, 0.6, {20, 20, 20}, 1, cv::LINE_AA);
  }
  cv::Mat noise(height, width, CV_8UC3);
  rng.fill(noise, cv::RNG::NORMAL, 0, 6);
  image += noise;
  std::vector<uint8_t> bytes;
  cv::imencode(".jpg", image, bytes, {cv::IMWRITE_JPEG_QUALITY, 90});
  return bytes;
}

// libtorch asks for physical cores, of which some virtual machines admit to one.
void use_all_cores() {
  if (std::getenv("OMP_NUM_THREADS") == nullptr) {
    at::set_num_threads(static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
  }
}

void ratio(benchmark::State& state, const std::string& policy_name, int width, int height) {
  media::register_strategies();
  use_all_cores();
  const std::vector<uint8_t> bytes = jpeg(width, height);
  AskOptions options = policy(policy_name);
  options.budget = "balanced";
  const std::shared_ptr<const Looker> looker = make_looker(options.look);
  const std::string question = "What is the red total at the top?";
  measuring::Timing decode, whole;
  std::map<std::string, std::vector<double>> stages;
  for (auto _ : state) {
    decode.time([&] { benchmark::DoNotOptimize(media::decode(bytes)); });
    whole.time([&] {
      const auto seen = see(media::decode(bytes), looker, options);
      Asking asking({seen}, nullptr, question, options);
      asking.spent("seeing", seen->milliseconds);
      asking.next();
      for (const Stage& s : asking.finish().stages) stages[s.name].push_back(s.milliseconds);
    });
  }
  state.counters["decode_ms"] = median(decode.wall);
  state.counters["pipeline_ms"] = median(whole.wall);
  state.counters["times_decoding"] = median(whole.wall) / median(decode.wall);
  state.counters["allocating_percent"] = 100 * median(stages["allocating"]) / median(whole.wall);
  for (const auto& [name, times] : stages) state.counters[name + "_ms"] = median(times);
  state.counters["us_per_kpx"] = 1e3 * median(whole.wall) / (width * 1e-3 * height);
}

// Decoding in a process of its own, over decoding here.
void Ratio_apart_1024(benchmark::State& state) {
  const std::vector<uint8_t> bytes = jpeg(1024, 1024);
  media::LoadOptions options;
  options.apart = std::make_shared<media::Decoders>();
  options.apart->warm_up();
  measuring::Timing here, apart;
  for (auto _ : state) {
    here.time([&] { benchmark::DoNotOptimize(media::decode(bytes)); });
    apart.time([&] { benchmark::DoNotOptimize(media::decode(bytes, "", options)); });
  }
  state.counters["decode_ms"] = median(here.wall);
  state.counters["apart_ms"] = median(apart.wall);
  state.counters["times_decoding"] = median(apart.wall) / median(here.wall);
}
void Ratio_compact_1024(benchmark::State& state) { ratio(state, "lexical", 1024, 1024); }
void Ratio_full_1024(benchmark::State& state) { ratio(state, "full", 1024, 1024); }
void Ratio_compact_2048(benchmark::State& state) { ratio(state, "lexical", 2048, 2048); }
void Ratio_compact_4096(benchmark::State& state) { ratio(state, "lexical", 4096, 4096); }
BENCHMARK(Ratio_apart_1024)->Unit(benchmark::kMillisecond)->MinTime(1.0);
BENCHMARK(Ratio_compact_1024)->Unit(benchmark::kMillisecond)->MinTime(1.0);
BENCHMARK(Ratio_full_1024)->Unit(benchmark::kMillisecond)->MinTime(1.0);
BENCHMARK(Ratio_compact_2048)->Unit(benchmark::kMillisecond)->MinTime(1.0);
BENCHMARK(Ratio_compact_4096)->Unit(benchmark::kMillisecond)->MinTime(1.0);

void Stage_sense_compact(benchmark::State& state) {
  use_all_cores();
  const at::Tensor frame = at::rand({1, 3, 1024, 1024});
  for (auto _ : state) benchmark::DoNotOptimize(texture::sense_compact(frame, 64, 64));
}
void Stage_sense_full(benchmark::State& state) {
  use_all_cores();
  const at::Tensor frame = at::rand({1, 3, 1024, 1024});
  for (auto _ : state) benchmark::DoNotOptimize(texture::sense_full(frame));
}
BENCHMARK(Stage_sense_compact)->Unit(benchmark::kMillisecond);
BENCHMARK(Stage_sense_full)->Unit(benchmark::kMillisecond);

}  // namespace
