#include "arrcoc/scenes.h"
#include "arrcoc/training.h"
#include "training/dice.h"

namespace arrcoc::training {
namespace {

std::string kind_of(const std::map<std::string, double>& mix, uint64_t seed) {
  double total = 0;
  for (const auto& [kind, weight] : mix) total += weight;
  double at = Dice(seed, 7).uniform() * total;
  for (const auto& [kind, weight] : mix)
    if ((at -= weight) < 0) return kind;
  return mix.rbegin()->first;
}

}  // namespace

Report train(const Options& options, const std::function<void(const std::string&)>& say) {
  const auto assets = scenes::Assets::load(options.assets);
  const SceneSource source = [assets, &options](uint64_t seed, bool small) {
    scenes::Options wanted;
    wanted.longest = small ? options.canvas / 2 : options.canvas;
    wanted.questions = 12;
    Dice dice(seed, 11);
    if (dice.chance(options.strange)) wanted.strange = dice.uniform(0.3F, 1);
    return options.mix.empty() ? scenes::make_mixed(*assets, seed, wanted)
                               : scenes::make(*assets, kind_of(options.mix, seed), seed, wanted);
  };
  return train(options, source, say);
}

}  // namespace arrcoc::training
