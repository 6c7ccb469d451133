// arrcoc bench --speed: the adaptive way against all native patches, on the same picture in one
// run.
#include <algorithm>
#include <chrono>
#include <iostream>

#include "lab/cli/bench.h"
#include "lab/measure/cost.h"

namespace arrcoc::cli {

namespace {

struct Cost {
  double wall = 0, cpu = 0;  // seconds
};

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class Work>
Cost time(const Work& work) {
  const double wall = seconds(), cpu = answering::cpu_seconds();
  work();
  return {seconds() - wall, answering::cpu_seconds() - cpu};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Series {
  std::vector<double> wall, cpu;
  void add(const Cost& c) {
    wall.push_back(c.wall);
    cpu.push_back(c.cpu);
  }
  nlohmann::ordered_json json() const {
    return {{"wall_ms", rounded(1e3 * median(wall))}, {"cpu_ms", rounded(1e3 * median(cpu))}};
  }
};

// A page of 1024x1024 that was never seen before: one pixel tells the rounds apart.
Picture fresh(const Picture& picture, int round) {
  at::Tensor rgb = picture.rgb.clone();
  rgb.data_ptr<uint8_t>()[0] = static_cast<uint8_t>(round);
  return make_picture(rgb, picture.source);
}

}  // namespace

void bench_speed(int rounds, const std::string& budget, bool json) {
  std::shared_ptr<const answering::Answerer> model;
  const Cost loading = time([&] { model = answering::Answerer::load(); });
  const auto group = answering::suite_groups({"documents"}, 2)();
  const Picture page = resize(group->picture, 1024, 1024);
  const std::string first = group->cases[0].item.question, second = group->cases[1].item.question;
  answering::AskOptions adaptive = answering::options_for("realized");
  adaptive.look.budget = budget;
  const answering::AskOptions native = answering::options_for("native");
  model->ask(fresh(page, 255), first, adaptive);  // threads and caches are warm
  answering::reset_peak();
  Series new_page, known_page, all;
  std::vector<double> share;
  int tokens = 0;
  double adaptive_peak = 0, flops[2] = {0, 0};
  for (int round = 0; round < rounds; ++round) {
    const Picture picture = fresh(page, round);
    new_page.add(time([&] { model->ask(picture, first, adaptive); }));
    answering::Reply reply;
    {
      const answering::FlopCounter counter;
      known_page.add(time([&] { reply = model->ask(picture, second, adaptive); }));
      flops[0] = counter.flops();
    }
    tokens = reply.tokens;
    for (const Stage& stage : reply.stages)
      if (stage.name == "looking") share.push_back(stage.milliseconds / reply.milliseconds());
  }
  adaptive_peak = answering::peak_megabytes();
  for (int round = 0; round < rounds; ++round) {
    const answering::FlopCounter counter;
    all.add(time([&] { model->ask(fresh(page, round), second, native); }));
    flops[1] = counter.flops();
  }
  nlohmann::ordered_json out;
  out["rounds"] = rounds;
  out["tokens"] = tokens;
  out["loading"] = {{"wall_ms", rounded(1e3 * loading.wall)},
                    {"cpu_ms", rounded(1e3 * loading.cpu)}};
  out["adaptive_new_page"] = new_page.json();
  out["adaptive_known_page"] = known_page.json();
  out["native"] = all.json();
  out["native_over_adaptive"] = {
      {"known_page_wall", rounded(median(all.wall) / median(known_page.wall))},
      {"known_page_cpu", rounded(median(all.cpu) / median(known_page.cpu))},
      {"new_page_wall", rounded(median(all.wall) / median(new_page.wall))},
      {"new_page_cpu", rounded(median(all.cpu) / median(new_page.cpu))},
      {"flops", rounded(flops[1] / flops[0])}};
  out["gflop"] = {{"adaptive", rounded(flops[0] * 1e-9)}, {"native", rounded(flops[1] * 1e-9)}};
  out["looking_share"] = rounded(median(share));
  out["peak_mb"] = {{"adaptive", rounded(adaptive_peak)},
                    {"native", rounded(answering::peak_megabytes())}};
  std::cout << (json ? out.dump() : out.dump(2)) << "\n";
}

}  // namespace arrcoc::cli
