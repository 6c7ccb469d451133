// The model as strategies of the pipeline, and where its weights lie.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>

#include "arrcoc/error.h"
#include "arrcoc/film.h"
#include "arrcoc/look.h"
#include "arrcoc/texture.h"
#include "models/tiny/tiny.h"
#include "lab/fit/policies_fit.h"

namespace arrcoc::tiny {
namespace {

namespace fs = std::filesystem;

// Weights that are read when somebody needs them, once.
struct Lazy {
  std::mutex mutex;
  std::string folder;
  std::shared_ptr<const TinyModel> model;
};

Lazy& lazy() {
  static Lazy instance;
  return instance;
}

class RealizerScorer : public Scorer {
 public:
  explicit RealizerScorer(std::shared_ptr<const TinyModel> model) : model_(std::move(model)) {}
  Map score(const Sight& sight) const override {
    const auto channels = sight.texture.colour_only ? PageChannels::colour : PageChannels::texture;
    const Map map = model_
                        ->look(sight.picture, sight.frame,
                               std::vector<std::string>(1, sight.query.text), channels)
                        .front()
                        .relevance;
    if (map.rows == sight.shape.rows && map.cols == sight.shape.cols) return map;
    Map out = resample(map, sight.shape.rows, sight.shape.cols);
    out.cell_width = sight.shape.cell_width;
    out.cell_height = sight.shape.cell_height;
    return out;
  }

 private:
  std::shared_ptr<const TinyModel> model_;
};

class RealizerText : public Provider {
 public:
  explicit RealizerText(std::shared_ptr<const TinyModel> model) : model_(std::move(model)) {}
  std::vector<Channel> channels() const override { return {Channel::text_mask}; }
  at::Tensor provide(const at::Tensor& frame, const Picture& picture) const override {
    return model_->text(picture, frame).unsqueeze(0);
  }

 private:
  std::shared_ptr<const TinyModel> model_;
};

bool holds_model(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "config.json", ignored);
}

// What was fitted for these weights; without a file, what was fitted for others goes. Errors name
// the file.
void install_file(const fs::path& path, void (*put)(const std::string&)) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return put("");
  try {
    put({std::istreambuf_iterator<char>(in), {}});
  } catch (const Error& problem) {
    throw Error(problem.code(), path.string() + ": " + problem.what());
  }
}

}  // namespace

std::string find_model() {
  if (const char* models = std::getenv("ARRCOC_MODELS"); models != nullptr && *models != '\0') {
    const fs::path folder = fs::path(models) / "tiny";
    return holds_model(folder) ? folder.string() : "";
  }
  std::error_code failed;
  const fs::path executable = fs::read_symlink("/proc/self/exe", failed);
  if (failed) return "";
  fs::path folder = executable.parent_path();
  const fs::path shared = folder.parent_path() / "share" / "arrcoc" / "models" / "tiny";
  if (holds_model(shared)) return shared.string();
  // build/arrcoc and build/release/arrcoc lie below the sources, tests a level deeper.
  for (int up = 0; up <= 3; ++up, folder = folder.parent_path())
    if (holds_model(folder / "models" / "tiny")) return (folder / "models" / "tiny").string();
  return "";
}

void install(const std::string& folder) {
  {
    Lazy& state = lazy();
    const std::scoped_lock lock(state.mutex);
    state.folder = folder;
    state.model.reset();
  }
  install_file(fs::path(folder) / "policies.json", training::install_policies);
  install_file(fs::path(folder) / "film.json", filming::install_constants);
  registry<Scorer>().add("realizer", "coupling: the bundled network looks for what is asked",
                         [] { return std::make_unique<RealizerScorer>(installed()); });
  registry<Provider>().add("realizer-text", "where print is, by the bundled network",
                           [] { return std::make_unique<RealizerText>(installed()); });
}

std::string installed_folder() {
  Lazy& state = lazy();
  const std::scoped_lock lock(state.mutex);
  return state.folder;
}

std::shared_ptr<const TinyModel> installed() {
  Lazy& state = lazy();
  const std::scoped_lock lock(state.mutex);
  if (state.folder.empty())
    throw Error(ErrorCode::not_found,
                "the bundled model is not installed: set ARRCOC_MODELS to the folder that holds "
                "tiny/config.json");
  if (!state.model) state.model = TinyModel::load(state.folder);
  return state.model;
}

}  // namespace arrcoc::tiny
