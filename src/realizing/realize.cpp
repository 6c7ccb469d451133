#include "arrcoc/realize.h"

#include <ATen/ATen.h>

#include <chrono>

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

}  // namespace

Realization realize(const Pyramid& pyramid, const std::string& question, const Options& options) {
  check(options);
  Realization r;
  StopWatch watch(r.stages);
  const Picture& picture = pyramid.picture();
  r.query = parse_query(question);

  const at::Tensor frame = frame_of(picture, options.frame);
  texture::Options sensing{channel_set(options.channels), options.frame, options.cell,
                           make_providers(options)};
  r.texture = texture::sense(picture, frame, sensing);
  watch.lap("texture");

  const Sight sight{picture, frame, r.texture, r.query,
                    knowing::map_shape(picture, frame, options.cell)};
  r.knowledge = knowing::know(sight, {options.information, options.salience, options.coupling});
  watch.lap("knowing");

  r.relevance = balancing::balance(r.knowledge, r.query, options.balancer, options.balance);
  watch.lap("balancing");

  const Budget budget = attending::budget(r.relevance, r.query, options.budget);
  r.allocation = attending::allocate(r.relevance, pyramid.geometry(), budget, options.allocator,
                                     options.allocate);
  watch.lap("attending");

  r.tokens = realizing::realize(pyramid, r.allocation);
  watch.lap("realizing");

  if (options.statistics) record(r);
  for (const auto* list : {&r.texture.fallbacks, &r.knowledge.fallbacks, &r.relevance.fallbacks,
                           &r.allocation.fallbacks}) {
    r.fallbacks.insert(r.fallbacks.end(), list->begin(), list->end());
  }
  return r;
}

Realization realize(const Picture& picture, const std::string& question, const Options& options) {
  return realize(Pyramid(picture, options.enlarge ? kFinestEver : 0), question, options);
}

}  // namespace arrcoc
