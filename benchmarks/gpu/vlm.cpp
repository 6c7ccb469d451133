// arrcoc_vlm_gpu: time to the first token and peak memory of a vision-language model of a real
// size with random weights, with all visual tokens and with a few, where only libtorch is
// installed.
//
//   arrcoc_vlm_gpu [--config configs/qwen3_vl_2b.json] [--device cuda] [--dtype bfloat16]
//                  [--sizes 1024,2048] [--budget 180] [--repeats 7] [--json FILE]
//                  [--clock wall|processor] [--check tests/data/goldens]
//                  [--bundle models/tiny] [--clients 1,8,64] [--seconds 5]
//
// Columns: "choose" is the work that picks the tokens (texture, scorers, allocator; CPU), "first
// token" runs from the picture's bytes in main memory to the id of the first token (median),
// "from pixels" the same from pixel values that are on the device already, which is what
// tools/reference_vlm_gpu.py times. Memory: what libtorch had handed out at most, and how much of
// that was not weights. --clock processor counts the processor time of this program instead, for
// ratios on a CPU that others use too (run it with OMP_NUM_THREADS=1). --check compares every
// golden checkpoint below the folder with its reference on that device, and times nothing.
// --bundle: the bundled network chooses the tokens, on the same device; "in all" is then the time
// from a picture that nobody has seen to the first token, looking and choosing included, and rows
// of mode "look" time looking alone: a new page, and a known one. --clients: answers of eight
// tokens to so many at once, each about a picture of its own, in one process without HTTP, after a
// first one of each thread that is told apart (the slowest).
// With CUDA graphs (ARRCOC_GRAPHS=0: without).
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/version.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <latch>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "arrcoc/ask.h"
#include "arrcoc/bundle.h"
#include "arrcoc/error.h"
#include "models/hf/hf.h"
#include "models/hf/processor.h"
#include "models/hf/vlm.h"

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 9)
#include <c10/core/CachingDeviceAllocator.h>
#define ARRCOC_DEVICE_MEMORY 1
#else
#define ARRCOC_DEVICE_MEMORY 0
#endif

namespace {

using namespace arrcoc;
using nlohmann::ordered_json;

struct Arguments {
  std::string config = "configs/qwen3_vl_2b.json";
  std::string device = "cuda";
  std::string dtype;
  std::vector<int> sizes = {1024, 2048};
  int budget = 180;
  int repeats = 7;
  std::string json;
  std::string clock = "wall";
  std::string check;
  std::string bundle;
  std::vector<int> clients;
  int seconds = 5;
};

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::bad_argument, why); }

int whole(const std::string& text) {
  char* end = nullptr;
  long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < 1 || value > 16384) {
    refuse("'" + text + "' is not a whole number of 1 to 16384");
  }
  return static_cast<int>(value);
}

std::vector<int> wholes(const std::string& value) {
  std::vector<int> out;
  std::istringstream list(value);
  for (std::string one; std::getline(list, one, ',');) out.push_back(whole(one));
  return out;
}

Arguments parse(int argc, char** argv) {
  Arguments out;
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i];
    if (i + 1 >= argc) refuse(name + " wants a value");
    std::string value = argv[++i];
    if (name == "--config") {
      out.config = value;
    } else if (name == "--device") {
      out.device = value;
    } else if (name == "--dtype") {
      out.dtype = value;
    } else if (name == "--budget") {
      out.budget = whole(value);
    } else if (name == "--repeats") {
      out.repeats = whole(value);
    } else if (name == "--check") {
      out.check = value;
    } else if (name == "--json") {
      out.json = value;
    } else if (name == "--bundle") {
      out.bundle = value;
    } else if (name == "--seconds") {
      out.seconds = whole(value);
    } else if (name == "--clients") {
      out.clients = wholes(value);
    } else if (name == "--clock") {
      if (value != "wall" && value != "processor") refuse("--clock is wall or processor");
      out.clock = value;
    } else if (name == "--sizes") {
      out.sizes = wholes(value);
    } else {
      refuse("unknown option " + name);
    }
  }
  return out;
}

// Bytes that libtorch has handed out on the GPU; zeros elsewhere.
class Memory {
 public:
  explicit Memory(const std::string& device) {
#if ARRCOC_DEVICE_MEMORY
    if (at::Device(device).is_cuda()) {
      allocator_ = dynamic_cast<c10::DeviceAllocator*>(c10::GetAllocator(c10::kCUDA));
      if (!allocator_) std::fprintf(stderr, "no memory statistics: unknown allocator\n");
    }
#endif
    (void)device;
  }
  void reset() {
#if ARRCOC_DEVICE_MEMORY
    if (allocator_) allocator_->resetPeakStats(0);
#endif
  }
  int64_t now() const { return read(false); }
  int64_t peak() const { return read(true); }

 private:
  int64_t read(bool peak) const {
#if ARRCOC_DEVICE_MEMORY
    if (allocator_) {
      auto stats = allocator_->getDeviceStats(0);
      return peak ? stats.allocated_bytes[0].peak : stats.allocated_bytes[0].current;
    }
#endif
    (void)peak;
    return 0;
  }
#if ARRCOC_DEVICE_MEMORY
  c10::DeviceAllocator* allocator_ = nullptr;
#endif
};

// A smooth ground with three striped blocks, so that some places are worth a closer look.
// Scenes of other numbers have other digests.
Picture scene(int side, int number = 0) {
  at::Tensor ramp = at::arange(side, at::kFloat) / static_cast<double>(side);
  at::Tensor ground = (ramp.unsqueeze(0) + ramp.unsqueeze(1)) * 60 + 80;
  at::Tensor rgb = at::stack({ground, ground * 0.9, ground * 0.8});
  const double blocks[3][4] = {
      {0.1, 0.15, 0.2, 0.12}, {0.6, 0.2, 0.15, 0.2}, {0.35, 0.7, 0.25, 0.1}};
  for (const auto& block : blocks) {
    auto at = [&](double share) { return static_cast<int64_t>(share * side); };
    at::Tensor stripes = (at::arange(at(block[2]), at::kFloat) * 0.8).sin() * 100 + 128;
    rgb.narrow(2, at(block[0]), at(block[2])).narrow(1, at(block[1]), at(block[3])).copy_(stripes);
  }
  rgb.narrow(1, 0, 4).narrow(2, 0, 4).fill_(number);
  return make_picture(rgb.clamp(0, 255).to(at::kByte), "scene");
}

class Clock {
 public:
  explicit Clock(bool processor) : processor_(processor) {}
  // Median over the repeats, after four runs to warm up (CUDA graphs are recorded in the second).
  double median(const std::function<void()>& work, int repeats) const {
    for (int i = 0; i < 4; ++i) work();
    std::vector<double> times;
    for (int i = 0; i < repeats; ++i) {
      const double start = now();
      work();
      times.push_back(now() - start);
    }
    std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
    return times[static_cast<size_t>(repeats / 2)];
  }

 private:
  double now() const {  // milliseconds
    if (processor_) return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::milli>(since).count();
  }
  bool processor_;
};

class Bench {
 public:
  explicit Bench(const Arguments& arguments)
      : arguments_(arguments), clock_(arguments.clock == "processor"), memory_(arguments.device) {
    model_ = hf::HfModel::random(arguments.config,
                                 {.device = arguments.device, .dtype = arguments.dtype});
    weights_ = memory_.now();
    options_ = policy(arguments.bundle.empty() ? "saliency" : "realized");
    options_.allocate.token_pixels = model_->token_pixels();
    if (!arguments.bundle.empty()) {
      ::setenv("ARRCOC_DEVICE", arguments.device.c_str(), 1);
      if (!arguments.dtype.empty()) ::setenv("ARRCOC_DTYPE", arguments.dtype.c_str(), 1);
      bundle_ = load_bundle(arguments.bundle);
      asker_ = std::make_unique<Asker>(bundle_, nullptr, nullptr, 0);
      options_.allocate.experts = bundle_->experts;
    }
    looker_ = make_looker(options_.look, bundle_ ? bundle_->looker : nullptr);
  }

  std::string kernels() const { return bundle_ ? kernels_of(*bundle_) : ""; }

  // What many at once get, for one kind of work: answers a second, and how long one takes.
  std::vector<ordered_json> serve(int side) {
    std::vector<Picture> pictures;
    for (int i = 0; i < 16; ++i) pictures.push_back(scene(side, i));
    std::vector<std::pair<std::string, std::function<void(const Picture&)>>> kinds;
    kinds.emplace_back("native",
                       [&](const Picture& picture) { answered(model_->encode_image(picture), 8); });
    kinds.emplace_back("patches", [&](const Picture& picture) {
      answered(model_->encode_patches(picture, choose(picture, ReadMode::patches)), 8);
    });
    if (asker_)
      kinds.emplace_back("bundled", [&](const Picture& picture) {
        AskOptions options = policy("realized");
        options.budget = std::to_string(arguments_.budget);
        asker_->ask(picture, "What is written on the sign?", options);
      });
    std::vector<ordered_json> rows;
    for (const auto& [name, work] : kinds)
      for (const int clients : arguments_.clients)
        rows.push_back(load(name, side, clients, work, pictures));
    return rows;
  }

  int64_t weights() const { return weights_; }

  std::vector<ordered_json> run(int side) {
    const Picture picture = scene(side);
    for (int i = 0; i < 8; ++i) fresh_.push_back(scene(side, i));
    std::vector<ordered_json> rows;
    const hf::Features all = model_->encode_image(picture);
    rows.push_back(measure(ReadMode::native, picture,
                           [&](const Allocation&) { return model_->encode_image(picture); }));
    rows.back()["from_pixels_ms"] = from_pixels(picture);
    rows.push_back(measure(ReadMode::prune, picture, [&](const Allocation& a) {
      return model_->select(model_->encode_image(picture), a);
    }));
    rows.push_back(measure(ReadMode::patches, picture, [&](const Allocation& a) {
      return model_->encode_patches(picture, a);
    }));
    if (model_->zoom_refusal().empty())
      rows.push_back(measure(ReadMode::zoom, picture,
                             [&](const Allocation& a) { return model_->encode_zoom(picture, a); }));
    for (ordered_json& row : rows) {
      row["size"] = side;
      row["native_tokens"] = all.native();
      row["speedup"] =
          rows[0]["first_token_ms"].get<double>() / row["first_token_ms"].get<double>();
      row["speedup_with_choosing"] =
          rows[0]["first_token_ms"].get<double>() /
          (row["first_token_ms"].get<double>() + row["choose_ms"].get<double>());
      if (row.contains("in_all_ms"))
        row["speedup_in_all"] =
            rows[0]["first_token_ms"].get<double>() / row["in_all_ms"].get<double>();
    }
    if (bundle_) rows.push_back(look(fresh_).front());
    fresh_.clear();
    return rows;
  }

 private:
  using Encode = std::function<hf::Features(const Allocation&)>;

  // Each view between its marks, a few words before and a question's worth of words after.
  std::vector<int64_t> prompt(const hf::Features& features) const {
    const hf::ModelConfig& config = model_->vlm().config();
    std::vector<int64_t> ids = {11, 12, 13, 14};
    for (const hf::Features::View& view : features.views) {
      if (config.vision_start >= 0) ids.push_back(config.vision_start);
      ids.insert(ids.end(), static_cast<size_t>(view.rows * view.cols), config.image_token);
      if (config.vision_end >= 0) ids.push_back(config.vision_end);
    }
    for (int64_t i = 0; i < 24; ++i) ids.push_back(20 + i);
    return ids;
  }

  int64_t answered(const hf::Features& features, int64_t tokens) const {
    hf::GenerationSettings settings;
    settings.max_new_tokens = tokens;
    return model_->generate(prompt(features), {features}, settings).ids.front();
  }
  int64_t first_token(const hf::Features& features) const { return answered(features, 1); }

  ordered_json load(const std::string& mode, int side, int clients,
                    const std::function<void(const Picture&)>& work,
                    const std::vector<Picture>& pictures) const {
    using Time = std::chrono::steady_clock;
    for (int i = 0; i < 3; ++i) work(pictures[static_cast<size_t>(i)]);
    std::vector<std::vector<double>> took(static_cast<size_t>(clients));
    std::vector<std::string> problems(took.size());
    std::vector<double> first(took.size());
    std::latch warm(clients + 1);
    std::vector<std::thread> threads;
    for (size_t c = 0; c < took.size(); ++c)
      threads.emplace_back([&, c] {
        if (clients > 1) at::set_num_threads(1);
        const auto timed = [&](size_t i) {
          const auto start = Time::now();
          try {
            work(pictures[i % pictures.size()]);
          } catch (const std::exception& problem) {
            problems[c] = problem.what();
          }
          return std::chrono::duration<double, std::milli>(Time::now() - start).count();
        };
        first[c] = timed(c);
        warm.arrive_and_wait();
        const auto until = Time::now() + std::chrono::seconds(arguments_.seconds);
        for (size_t i = c + 1; Time::now() < until; ++i) {
          const double one = timed(i);
          if (!problems[c].empty()) return;
          took[c].push_back(one);
        }
      });
    warm.arrive_and_wait();
    const auto begin = Time::now();
    for (std::thread& thread : threads) thread.join();
    const std::chrono::duration<double> all = Time::now() - begin;
    std::vector<double> times;
    for (const auto& one : took) times.insert(times.end(), one.begin(), one.end());
    std::sort(times.begin(), times.end());
    ordered_json row{{"size", side}, {"mode", mode}, {"clients", clients}};
    row["answers"] = times.size();
    row["per_second"] = static_cast<double>(times.size()) / all.count();
    row["first_ms"] = *std::max_element(first.begin(), first.end());
    row["median_ms"] = times.empty() ? 0 : times[times.size() / 2];
    row["p95_ms"] = times.empty() ? 0 : times[times.size() * 95 / 100];
    for (const std::string& problem : problems)
      if (!problem.empty()) row["problem"] = problem;
    return row;
  }

  // Tokens where salience is highest, or where the bundled network looks.
  Allocation choose(const Picture& picture, ReadMode mode) const {
    const Query query = parse_query("What is written on the sign?");
    const Look look = looker_->look(*looker_->see(picture), {&query, 1}).front();
    const Budget budget{arguments_.budget, "", ""};
    const Geometry geometry{picture.width(), picture.height(), 0};
    if (mode != ReadMode::zoom)
      return allocating::allocate(look.relevance, geometry, budget,
                                  bundle_ ? options_.allocator : "quadtree", options_.allocate);
    return allocating::allocate_views(look.relevance, geometry, budget, options_.allocate,
                                      [&](int width, int height) {
                                        const auto [rows, cols] = model_->view_grid(width, height);
                                        return rows * cols;
                                      });
  }

  // The network alone, on pictures in turn that it has not seen.
  std::vector<ordered_json> look(const std::vector<Picture>& pictures) const {
    const Query query = parse_query("What is written on the sign?");
    size_t next = 0;
    const auto fresh = [&]() -> const Picture& { return pictures[next++ % pictures.size()]; };
    const auto known = looker_->see(pictures[0]);
    ordered_json row{{"mode", "look"}, {"size", pictures[0].width()}};
    row["new_page_ms"] = clock_.median(
        [&] {
          looker_->look(*looker_->see(fresh()), {&query, 1});
        },
        5 * arguments_.repeats);
    row["known_page_ms"] = clock_.median(
        [&] {
          looker_->look(*known, {&query, 1});
        },
        5 * arguments_.repeats);
    row["choose_ms"] =
        clock_.median([&] { choose(fresh(), ReadMode::patches); }, 5 * arguments_.repeats);
    return {row};
  }

  ordered_json measure(ReadMode mode, const Picture& picture, const Encode& encode) {
    Allocation allocation;
    double choosing = 0;
    if (mode != ReadMode::native)
      choosing = clock_.median([&] { allocation = choose(picture, mode); }, 5);
    int64_t tokens = 0;
    const auto work = [&] {
      const hf::Features features = encode(allocation);
      tokens = features.size();
      first_token(features);
    };
    ordered_json row;
    row["mode"] = to_string(mode);
    row["first_token_ms"] = clock_.median(work, arguments_.repeats);
    row["choose_ms"] = choosing;
    row["tokens"] = tokens;
    if (bundle_ && mode != ReadMode::native) {
      size_t next = 0;
      row["in_all_ms"] = clock_.median(
          [&] {
            const Picture& unseen = fresh_[next++ % fresh_.size()];
            first_token(encode_of(mode, unseen));
          },
          arguments_.repeats);
    }
    memory_.reset();
    work();
    row["peak_bytes"] = memory_.peak();
    row["peak_without_weights_bytes"] = memory_.peak() - weights_;
    return row;
  }

  hf::Features encode_of(ReadMode mode, const Picture& picture) const {
    const Allocation chosen = choose(picture, mode);
    if (mode == ReadMode::zoom) return model_->encode_zoom(picture, chosen);
    if (mode == ReadMode::patches) return model_->encode_patches(picture, chosen);
    return model_->select(model_->encode_image(picture), chosen);
  }

  double from_pixels(const Picture& picture) const {
    c10::InferenceMode guard;
    const hf::Pixels pixels = model_->processor().process(picture.rgb);
    hf::Features features = model_->encode_image(picture);
    return clock_.median(
        [&] {
          hf::Visual visual = model_->vlm().encode(pixels.values, pixels.grid);
          features.rows = visual.rows;
          features.deepstack = visual.deepstack;
          first_token(features);
        },
        arguments_.repeats);
  }

  Arguments arguments_;
  Clock clock_;
  Memory memory_;
  std::shared_ptr<const hf::HfModel> model_;
  int64_t weights_ = 0;
  AskOptions options_;
  std::shared_ptr<const Bundle> bundle_;  // null: saliency chooses
  std::shared_ptr<const Looker> looker_;
  std::unique_ptr<Asker> asker_;
  std::vector<Picture> fresh_;
};

double megabytes(const ordered_json& bytes) { return bytes.get<double>() / 1e6; }

void print(const ordered_json& row) {
  if (row["mode"] == "look") {
    std::printf("%5d  look: a new page %.2f ms, a known one %.2f, a new one with choosing %.2f\n",
                row["size"].get<int>(), row["new_page_ms"].get<double>(),
                row["known_page_ms"].get<double>(), row["choose_ms"].get<double>());
    return;
  }
  if (row.contains("clients")) {
    std::printf("%5d  %-8s %4d clients %8.1f answers/s, median %.1f ms, p95 %.1f, first %.1f %s\n",
                row["size"].get<int>(), row["mode"].get<std::string>().c_str(),
                row["clients"].get<int>(), row["per_second"].get<double>(),
                row["median_ms"].get<double>(), row["p95_ms"].get<double>(),
                row["first_ms"].get<double>(), row.value("problem", "").c_str());
    return;
  }
  char pixels[32] = "-";
  if (row.contains("from_pixels_ms")) {
    std::snprintf(pixels, sizeof pixels, "%.2f", row["from_pixels_ms"].get<double>());
  }
  std::printf("%5d  %-8s %6lld %10.1f %14.2f %12s %9.2f %11.0f %15.0f\n", row["size"].get<int>(),
              row["mode"].get<std::string>().c_str(), row["tokens"].get<long long>(),
              row["choose_ms"].get<double>(), row["first_token_ms"].get<double>(), pixels,
              row["speedup"].get<double>(), megabytes(row["peak_bytes"]),
              megabytes(row["peak_without_weights_bytes"]));
  if (row.contains("in_all_ms"))
    std::printf("       %-8s in all, unseen: %.2f ms, %.2f times native\n", "",
                row["in_all_ms"].get<double>(), row["speedup_in_all"].get<double>());
}

void run(const Arguments& arguments) {
  Bench bench(arguments);
  ordered_json report;
  report["config"] = arguments.config;
  report["device"] = arguments.device;
  report["budget"] = arguments.budget;
  report["repeats"] = arguments.repeats;
  report["clock"] = arguments.clock;
  report["libtorch"] = TORCH_VERSION;
  report["weights_bytes"] = bench.weights();
  report["network"] = bench.kernels();
  std::printf("%s on %s, weights %.0f MB %s\n", arguments.config.c_str(), arguments.device.c_str(),
              static_cast<double>(bench.weights()) / 1e6, bench.kernels().c_str());
  std::printf("%5s  %-8s %6s %10s %14s %12s %9s %11s %15s\n", "size", "mode", "tokens", "choose ms",
              "first token ms", "from pixels", "speed-up", "peak MB", "without weights");
  for (int side : arguments.sizes) {
    for (const ordered_json& row : bench.run(side)) {
      print(row);
      report["rows"].push_back(row);
      std::fflush(stdout);
    }
  }
  if (!arguments.clients.empty())
    for (const ordered_json& row : bench.serve(arguments.sizes.front())) {
      print(row);
      report["rows"].push_back(row);
    }
  if (arguments.json.empty()) {
    std::printf("%s\n", report.dump().c_str());
  } else {
    std::ofstream(arguments.json) << report.dump(1) << "\n";
  }
}

// One line a tensor; false when one is not within its tolerance.
bool check(const Arguments& arguments) {
  bool good = true;
  for (const char* family :
       {"clip", "siglip", "sam", "llava", "qwen2_vl", "qwen2_5_vl", "qwen3_vl", "ovis2"}) {
    const std::string folder = arguments.check + "/" + family;
    for (const TensorCheck& one :
         check_golden(folder, folder + "/golden.safetensors", arguments.device)) {
      std::printf("%s  %-10s %-20s %.3g (allowed %.3g) %s\n", one.ok() ? "ok  " : "FAIL", family,
                  one.name.c_str(), one.difference, one.tolerance, one.problem.c_str());
      good = good && one.ok();
    }
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Arguments arguments = parse(argc, argv);
    if (!arguments.check.empty()) return check(arguments) ? 0 : 1;
    run(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "arrcoc_vlm_gpu: %s\n", error.what());
    return 1;
  }
  return 0;
}
