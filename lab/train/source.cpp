#include "lab/train/source.h"

#include "arrcoc/error.h"
#include "lab/scenes/scenes.h"
#include "lab/scenes/texts.h"
#include "lab/train/dice.h"

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

SceneSource scene_source(const Options& options) {
  const auto assets = scenes::Assets::load(options.assets);
  std::shared_ptr<const scenes::Texts> texts, held;
  if (!options.texts.empty()) {
    texts = scenes::load_texts(options.texts);
    held = scenes::load_texts(options.texts, true);
    if (held->texts.empty() && held->tables.empty())
      throw Error(ErrorCode::bad_argument,
                  options.texts + ": too few texts: every sixteenth is held aside from training");
  }
  return [assets, texts, held, canvas = options.canvas, mix = options.mix,
          strange = options.strange](uint64_t seed, bool small) {
    scenes::Options wanted;
    wanted.longest = small ? canvas / 2 : canvas;
    wanted.questions = 12;
    wanted.texts = seed >> 63 != 0 ? held : texts;
    Dice dice(seed, 11);
    if (dice.chance(strange)) wanted.strange = dice.uniform(0.3F, 1);
    return mix.empty() ? scenes::make_mixed(*assets, seed, wanted)
                       : scenes::make(*assets, kind_of(mix, seed), seed, wanted);
  };
}

Report train(const Options& options, const std::function<void(const std::string&)>& say) {
  return train(options, scene_source(options), say);
}

}  // namespace arrcoc::training
