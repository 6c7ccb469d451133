// Looking into folders of bundled weights.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "arrcoc/bundle.h"
#include "models/tiny/tiny.h"

namespace arrcoc {

ModelInfo inspect_bundle(const std::string& folder) {
  const tiny::WeightsInfo own = tiny::inspect(folder);
  return {folder, own.architecture, own.dtype, own.parameters, own.bytes, 0, own.problem};
}

std::vector<TensorCheck> check_bundle(const std::string& folder) {
  const auto networks = tiny::TinyModel::load(folder);
  const Picture picture = make_picture(
      at::arange(3 * 256 * 384, at::kLong).remainder(251).to(at::kByte).view({3, 256, 384}));
  const auto page = networks->see(picture, frame_of(picture, 384));
  const std::vector<std::string> questions = {"What is the total?", "Who wrote this?"};
  const auto together = networks->look(*page, questions);
  const double allowed = networks->dtype() == at::kFloat ? 1e-3 : 5e-2;
  TensorCheck alike{"relevance alone and together", 0, allowed, ""};
  for (size_t i = 0; i < questions.size(); ++i) {
    const Map alone = networks->look(*page, {questions[i]}).front().relevance;
    for (const Map* map : {&alone, &together[i].relevance}) require_finite(*map, "relevance");
    for (size_t k = 0; k < alone.values.size(); ++k) {
      const double difference = std::abs(alone.values[k] - together[i].relevance.values[k]);
      alike.difference = std::max(alike.difference, difference);
    }
  }
  return {{"weights", 0, 0, ""}, alike};
}

}  // namespace arrcoc
