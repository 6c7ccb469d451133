// arrcoc bench --speed: the adaptive way against all native patches, on the same picture in one
// run.
#include <iostream>

#include "lab/cli/bench.h"
#include "lab/measure/cost.h"

namespace arrcoc::cli {

namespace {

using measuring::FlopCounter;
using measuring::median;
using measuring::Timing;

ordered_json to_json(const Timing& t) {
  return {{"wall_ms", rounded(median(t.wall))}, {"cpu_ms", rounded(median(t.cpu))}};
}

// A page of 1024x1024 that was never seen before: one pixel tells the rounds apart.
Picture fresh(const Picture& picture, int round) {
  at::Tensor rgb = picture.rgb.clone();
  rgb.data_ptr<uint8_t>()[0] = static_cast<uint8_t>(round);
  return make_picture(rgb, picture.source);
}

struct Speed {
  Timing loading, new_page, known_page, native;
  std::vector<double> looking;  // share of a known page's time
  int64_t tokens = 0;
  double adaptive_flops = 0, native_flops = 0, adaptive_peak = 0, native_peak = 0;
};

Speed measure_speed(int rounds, const std::string& budget) {
  Speed out;
  std::shared_ptr<const Bundle> bundle;
  out.loading.time([&] { bundle = load_bundle(); });
  const Asker asker(bundle);
  const auto group = measuring::suite_groups({"documents"}, 2)();
  const Picture page = resize(group->picture, 1024, 1024);
  const std::string first = group->cases[0].item.question, second = group->cases[1].item.question;
  AskOptions adaptive;
  adaptive.budget = budget;
  asker.ask(fresh(page, 255), first, adaptive);  // threads and caches are warm
  measuring::reset_peak();
  for (int round = 0; round < rounds; ++round) {
    const Picture picture = fresh(page, round);
    out.new_page.time([&] { asker.ask(picture, first, adaptive); });
    Answer answer;
    const FlopCounter counter;
    out.known_page.time([&] { answer = asker.ask(picture, second, adaptive); });
    out.adaptive_flops = counter.flops();
    out.tokens = answer.tokens;
    for (const Stage& stage : answer.stages)
      if (stage.name == "looking")
        out.looking.push_back(stage.milliseconds / answer.milliseconds());
  }
  out.adaptive_peak = measuring::peak_megabytes();
  const AskOptions native = policy("native");
  for (int round = 0; round < rounds; ++round) {
    const FlopCounter counter;
    out.native.time([&] { asker.ask(fresh(page, round), second, native); });
    out.native_flops = counter.flops();
  }
  out.native_peak = measuring::peak_megabytes();
  return out;
}

}  // namespace

void bench_speed(int rounds, const std::string& budget, bool json) {
  const Speed s = measure_speed(rounds, budget);
  const auto times = [&](std::vector<double> Timing::*clock, const Timing& adaptive) {
    return rounded(median(s.native.*clock) / median(adaptive.*clock));
  };
  ordered_json out;
  out["rounds"] = rounds;
  out["tokens"] = s.tokens;
  out["loading"] = to_json(s.loading);
  out["adaptive_new_page"] = to_json(s.new_page);
  out["adaptive_known_page"] = to_json(s.known_page);
  out["native"] = to_json(s.native);
  out["native_over_adaptive"] = {{"known_page_wall", times(&Timing::wall, s.known_page)},
                                 {"known_page_cpu", times(&Timing::cpu, s.known_page)},
                                 {"new_page_wall", times(&Timing::wall, s.new_page)},
                                 {"new_page_cpu", times(&Timing::cpu, s.new_page)},
                                 {"flops", rounded(s.native_flops / s.adaptive_flops)}};
  out["gflop"] = {{"adaptive", rounded(s.adaptive_flops * 1e-9)},
                  {"native", rounded(s.native_flops * 1e-9)}};
  out["looking_share"] = rounded(median(s.looking));
  out["peak_mb"] = {{"adaptive", rounded(s.adaptive_peak)}, {"native", rounded(s.native_peak)}};
  std::cout << (json ? out.dump() : out.dump(2)) << "\n";
}

}  // namespace arrcoc::cli
