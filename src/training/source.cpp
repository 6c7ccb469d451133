#include "arrcoc/scenes.h"
#include "arrcoc/training.h"

namespace arrcoc::training {

Report train(const Options& options, const std::function<void(const std::string&)>& say) {
  const auto assets = scenes::Assets::load(options.assets);
  const SceneSource source = [assets, &options](uint64_t seed, bool small) {
    scenes::Options wanted;
    wanted.longest = small ? options.canvas / 2 : options.canvas;
    wanted.questions = 12;
    return scenes::make_mixed(*assets, seed, wanted);
  };
  return train(options, source, say);
}

}  // namespace arrcoc::training
