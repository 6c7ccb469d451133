#include "arrcoc/realize.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "arrcoc/error.h"

namespace arrcoc {

namespace {

// Names the time between two calls.
class StopWatch {
 public:
  explicit StopWatch(std::vector<Stage>& stages) : stages_(stages) {}
  void lap(const char* name) {
    const auto now = Clock::now();
    stages_.push_back({name, std::chrono::duration<double, std::milli>(now - last_).count()});
    last_ = now;
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::vector<Stage>& stages_;
  Clock::time_point last_ = Clock::now();
};

std::vector<std::shared_ptr<const Provider>> make_providers(const Options& options) {
  std::vector<std::shared_ptr<const Provider>> out;
  for (const std::string& name : options.providers) out.push_back(registry<Provider>().make(name));
  return out;
}

void check(const Options& options) {
  if (options.frame < 16 || options.frame > 16384) {
    throw Error(ErrorCode::bad_argument, "frame must be 16 to 16384 pixels");
  }
  if (options.cell < 4 || options.cell > 256) {
    throw Error(ErrorCode::bad_argument, "cell must be 4 to 256 pixels");
  }
}

void record(Realization& r) {
  r.statistics = {measure("texture", r.texture.values),
                  measure("knowing.information", r.knowledge.information),
                  measure("knowing.salience", r.knowledge.salience),
                  measure("knowing.coupling", r.knowledge.coupling),
                  measure("balancing", r.relevance.map),
                  measure("realizing.pixels", r.tokens.pixels),
                  measure("realizing.centre", r.tokens.centre),
                  measure("realizing.scale", r.tokens.scale),
                  measure("realizing.relevance", r.tokens.relevance)};
}

// The map speaks of picture pixels, the pyramid may be of another size.
void move_to(const Geometry& geometry, const Picture& picture, Map& map) {
  map.cell_width *= static_cast<float>(geometry.width) / static_cast<float>(picture.width());
  map.cell_height *= static_cast<float>(geometry.height) / static_cast<float>(picture.height());
}

}  // namespace

Realization realize(const Picture& picture, const Pyramid& pyramid, const std::string& question,
                    const Options& options) {
  check(options);
  Realization r;
  StopWatch watch(r.stages);
  r.query = parse_query(question);

  const at::Tensor frame = frame_of(picture, options.frame);
  texture::Options sensing{channel_set(options.channels), options.frame, options.cell,
                           make_providers(options)};
  r.texture = texture::sense(picture, frame, sensing);
  watch.lap("texture");

  const Sight sight{picture, frame, r.texture, r.query,
                    scoring::map_shape(picture, frame, options.cell)};
  r.knowledge = scoring::know(sight, {options.information, options.salience, options.coupling});
  watch.lap("knowing");

  r.relevance = balancing::balance(r.knowledge, r.query, options.balancer, options.balance);
  move_to(pyramid.geometry(), picture, r.relevance.map);
  watch.lap("balancing");

  const Budget budget = allocating::budget(r.relevance, r.query, options.budget);
  r.allocation = allocating::allocate(r.relevance, pyramid.geometry(), budget, options.allocator,
                                      options.allocate);
  watch.lap("attending");

  r.tokens = cutting::realize(pyramid, r.allocation);
  watch.lap("realizing");

  if (options.statistics) record(r);
  for (const auto* list : {&r.texture.fallbacks, &r.knowledge.fallbacks, &r.relevance.fallbacks,
                           &r.allocation.fallbacks}) {
    r.fallbacks.insert(r.fallbacks.end(), list->begin(), list->end());
  }
  return r;
}

Pyramid pyramid_of(const Picture& picture, const Options& options) {
  const int finest = options.enlarge ? kFinestEver : 0;
  if (options.canvas == 0) return Pyramid(picture, finest);
  if (options.canvas < 16 || options.canvas > 16384) {
    throw Error(ErrorCode::bad_argument, "canvas must be 0 (native) or 16 to 16384 pixels");
  }
  const double scale =
      static_cast<double>(options.canvas) / std::max(picture.width(), picture.height());
  const auto side = [&](int n) { return std::max(1, static_cast<int>(std::lround(n * scale))); };
  return Pyramid(resize(picture, side(picture.width()), side(picture.height())), finest);
}

Realization realize(const Picture& picture, const std::string& question, const Options& options) {
  return realize(picture, pyramid_of(picture, options), question, options);
}

}  // namespace arrcoc
