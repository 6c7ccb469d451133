// arrcoc bench --growth: what one question costs as pictures and budgets grow.
#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "lab/cli/bench.h"
#include "lab/measure/cost.h"

namespace arrcoc::cli {

namespace {

constexpr int kTokens = 180;  // of the rows over megapixels
constexpr int kSide = 1024;   // of the rows over tokens

// One question about a picture that was never seen before.
ordered_json measured(const Picture& picture, const std::string& question,
                      const std::string& policy, int tokens, int rounds) {
  AskOptions options = arrcoc::policy(policy);
  options.budget = std::to_string(tokens);
  measuring::Timing timing;
  double gflop = 0, peak = 0;
  int64_t spent = 0;
  for (int round = 0; round < rounds; ++round) {
    const Picture fresh = measuring::unknown(
        picture, static_cast<uint64_t>(round + 1) << 20 ^ static_cast<uint64_t>(tokens));
    malloc_trim(0);
    measuring::reset_peak();
    const measuring::FlopCounter counter;
    timing.time([&] { spent = askers().of(options).ask(fresh, question, options).tokens; });
    gflop = counter.flops() * 1e-9;
    peak = std::max(peak, measuring::peak_megabytes());
  }
  return {{"policy", policy},
          {"megapixels", rounded(picture.megapixels())},
          {"tokens", spent},
          {"wall_ms", rounded(measuring::median(timing.wall))},
          {"cpu_ms", rounded(measuring::median(timing.cpu))},
          {"gflop", rounded(gflop)},
          {"peak_mb", rounded(peak)}};
}

}  // namespace

ordered_json bench_growth(int rounds, double largest, double native_megapixels) {
  const auto group = measuring::suite_groups({"documents"}, 1)();
  const std::string question = group->cases[0].item.question;
  ordered_json out = {{"rounds", rounds}, {"question", question}};
  Progress progress("growth", 9);
  askers().of({}).ask(group->picture, question);  // threads are warm
  for (const char* policy : {"realized", "native"})
    for (int side = 512; side <= 4096; side *= 2) {
      const double megapixels = 1e-6 * side * side;
      // A quarter of a "megapixel" is 512x512, 16 are 4096x4096.
      const double most = std::string(policy) == "native" ? native_megapixels : largest;
      if (megapixels > 1.1 * most) continue;
      out["megapixels"].push_back(
          measured(resize(group->picture, side, side), question, policy, kTokens, rounds));
      progress.step();
    }
  const Picture page = resize(group->picture, kSide, kSide);
  for (const char* policy : {"realized", "resize"})
    for (int tokens : {64, 100, 160, 256, 400}) {
      out["tokens"].push_back(measured(page, question, policy, tokens, rounds));
      progress.step();
    }
  return out;
}

std::string growth_markdown(const ordered_json& growth) {
  std::ostringstream out;
  for (const char* over : {"megapixels", "tokens"}) {
    if (!growth.contains(over)) continue;
    out << "\nGrowth over " << over << " (one question, a new picture, median of "
        << growth["rounds"] << "):\n\n| policy | megapixels | tokens | CPU ms | GFLOP | peak MB |\n"
        << "|---|---|---|---|---|---|\n";
    for (const auto& row : growth[over])
      out << "| " << row["policy"].get<std::string>() << " | "
          << fixed(row["megapixels"].get<double>(), 2) << " | " << row["tokens"] << " | "
          << fixed(row["cpu_ms"].get<double>(), 0) << " | " << fixed(row["gflop"].get<double>(), 1)
          << " | " << fixed(row["peak_mb"].get<double>(), 0) << " |\n";
  }
  return out.str();
}

}  // namespace arrcoc::cli
