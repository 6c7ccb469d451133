#include "lab/train/networks.h"

#include <ATen/ATen.h>

#include <tuple>

#include "arrcoc/error.h"
#include "lab/train/refit.h"

namespace arrcoc::training {
namespace {

using at::Tensor;

// Adds the gradients of all processes; false when none has one (dense steps do not look).
bool add_up(Together& together, FlatWeights& weights) {
  if (together.world() == 1) return weights.gradient().defined();
  Tensor gradient = weights.gradient_or_zeros();
  Tensor having =
      at::full({1}, weights.gradient().defined() ? 1.0 : 0.0, gradient.options().dtype(at::kFloat));
  together.sum(having);
  if (having.item<float>() == 0) return false;
  together.sum(gradient);
  weights.replace_gradient(gradient);
  return true;
}

}  // namespace

tiny::NetworkWeights Networks::first_weights(const Options& options) {
  if (options.init.empty())
    return {options.shape, tiny::RealizerNet(options.shape).layout().initial(options.seed * 2),
            tiny::Answerer(options.shape).layout().initial(options.seed * 2 + 1)};
  tiny::NetworkWeights given = tiny::load_networks(options.init);
  return options.refit ? refit(given, options.shape, options.seed) : given;
}

Networks::Networks(const Options& options, const tiny::NetworkWeights& first, int names,
                   at::Device device, at::ScalarType type)
    : type_(type),
      shape_(first.shape),
      realizer_(shape_),
      answerer_(shape_),
      history_(shape_),
      look_(realizer_.layout(), first.realizer, device),
      answer_(answerer_.layout(), first.answerer, device) {
  for (const std::string& prefix : options.freeze)
    if (look_.freeze("realizer.", {prefix}) + answer_.freeze("answerer.", {prefix}) == 0)
      throw Error(ErrorCode::bad_argument, "freeze: no tensor's name starts with '" + prefix + "'");
  look_.freeze("realizer.", options.freeze);
  answer_.freeze("answerer.", options.freeze);
  if (options.optimiser == "muon") {
    look_.use_muon();
    answer_.use_muon();
  }
  if (options.history > 0 || !first.history.empty())
    past_ = std::make_unique<FlatWeights>(
        history_.layout(),
        first.history.empty() ? history_.layout().initial(options.seed * 2 + 3) : first.history,
        device);
  realizer_.set_recompute(options.recompute);
  answerer_.set_recompute(options.recompute);
  if (names > 0)
    names_ =
        std::make_unique<NameHeads>(names, shape_.ask, shape_.width, options.seed * 2 + 2, device);
}

void Networks::update(const Options& options, float rate, Together& together, Window& window) {
  for (auto& [weights, own_rate, name] :
       {std::tuple{&look_, options.realizer_rate, "look_norm"},
        std::tuple{&answer_, options.rate, "answer_norm"},
        std::tuple{past_.get(), options.realizer_rate, "past_norm"},
        std::tuple{names_ ? &names_->weights() : nullptr, options.rate, "names_norm"}}) {
    if (!weights || !add_up(together, *weights)) continue;
    Tensor norm;
    const Tensor factor = clip_factor({weights}, options.clip, &norm);
    window.add(name, norm);
    weights->step(own_rate * rate, options.decay, factor);
    weights->forget_gradient();
  }
}

void Networks::save(const std::string& folder, const std::string& tag) const {
  tiny::NetworkWeights all{shape_, look_.on_cpu(), answer_.on_cpu()};
  if (past_) all.history = past_->on_cpu();
  tiny::save_networks(folder, all, tag);
}

void Networks::store(std::map<std::string, Tensor>& into) const {
  look_.store(into, "realizer");
  answer_.store(into, "answerer");
  if (past_) past_->store(into, "history");
  if (names_) names_->weights().store(into, "names");
}

void Networks::restore(const std::map<std::string, Tensor>& from) {
  look_.restore(from, "realizer");
  answer_.restore(from, "answerer");
  if (past_) past_->restore(from, "history");
  if (names_) names_->weights().restore(from, "names");
}

}  // namespace arrcoc::training
