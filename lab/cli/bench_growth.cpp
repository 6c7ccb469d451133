// arrcoc bench --growth: what one question costs as pictures and budgets grow.
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <sstream>

#include "lab/cli/bench.h"
#include "lab/measure/cost.h"

namespace arrcoc::cli {

namespace {

using nlohmann::ordered_json;

constexpr int kTokens = 180;  // of the rows over megapixels
constexpr int kSide = 1024;   // of the rows over tokens

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// One question about a picture that was never seen before.
ordered_json measured(const answering::Answerer& model, const Picture& picture,
                      const std::string& question, const std::string& policy, int tokens,
                      int rounds) {
  answering::AskOptions options = answering::options_for(policy);
  options.look.budget = std::to_string(tokens);
  std::vector<double> wall, cpu;
  double gflop = 0, peak = 0;
  int spent = 0;
  for (int round = 0; round < rounds; ++round) {
    Picture fresh = picture;
    fresh.hash ^= static_cast<uint64_t>(round + 1) << 20 ^ static_cast<uint64_t>(tokens);
    malloc_trim(0);
    answering::reset_peak();
    const answering::FlopCounter counter;
    const double begun = seconds(), worked = answering::cpu_seconds();
    spent = model.ask(fresh, question, options).tokens;
    wall.push_back(seconds() - begun);
    cpu.push_back(answering::cpu_seconds() - worked);
    gflop = counter.flops() * 1e-9;
    peak = std::max(peak, answering::peak_megabytes());
  }
  return {{"policy", policy},
          {"megapixels", rounded(picture.megapixels())},
          {"tokens", spent},
          {"wall_ms", rounded(1e3 * median(wall))},
          {"cpu_ms", rounded(1e3 * median(cpu))},
          {"gflop", rounded(gflop)},
          {"peak_mb", rounded(peak)}};
}

}  // namespace

ordered_json bench_growth(int rounds, double largest, double native_megapixels) {
  const auto model = answerer();
  const auto group = answering::suite_groups({"documents"}, 1)();
  const std::string question = group->cases[0].item.question;
  ordered_json out = {{"rounds", rounds}, {"question", question}};
  Progress progress("growth", 9);
  model->ask(group->picture, question);  // threads are warm
  for (const char* policy : {"realized", "native"})
    for (int side = 512; side <= 4096; side *= 2) {
      const double megapixels = 1e-6 * side * side;
      // A quarter of a "megapixel" is 512x512, 16 are 4096x4096.
      const double most = std::string(policy) == "native" ? native_megapixels : largest;
      if (megapixels > 1.1 * most) continue;
      out["megapixels"].push_back(
          measured(*model, resize(group->picture, side, side), question, policy, kTokens, rounds));
      progress.step();
    }
  const Picture page = resize(group->picture, kSide, kSide);
  for (const char* policy : {"realized", "resize"})
    for (int tokens : {64, 100, 160, 256, 400}) {
      out["tokens"].push_back(measured(*model, page, question, policy, tokens, rounds));
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
