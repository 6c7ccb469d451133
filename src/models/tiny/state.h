// What a TinyModel holds.
#pragma once

#include <list>
#include <mutex>
#include <string_view>

#include "models/tiny/files.h"

namespace arrcoc::tiny {

struct RememberedPage {
  uint64_t hash = 0;
  int64_t height = 0, width = 0;  // of the frame
  PageFeatures features;          // without `cells`, which only training needs
};

struct TinyModel::State {
  explicit State(Bundle bundle)
      : weights(std::move(bundle)), realizer(weights.shape), answerer(weights.shape) {}
  PageFeatures read(const Tensor& frame) const;
  PageFeatures page(const Picture& picture, const Tensor& frame);  // remembered
  Opinion judge(const PageFeatures& page, const Map& shape, std::string_view question) const;

  Bundle weights;
  RealizerNet realizer;
  Answerer answerer;
  std::mutex mutex;
  std::list<RememberedPage> pages;  // latest first
};

// A question as [1,T] symbols. Error{bad_argument} when nothing is left of it.
Tensor symbols_tensor(std::string_view question, bool* shortened = nullptr);

}  // namespace arrcoc::tiny
