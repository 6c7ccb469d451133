// What a TinyModel holds.
#pragma once

#include <list>
#include <mutex>
#include <string>
#include <vector>

#include "models/tiny/files.h"
#include "models/tiny/query_former.h"

namespace arrcoc::tiny {

struct RememberedPage {
  uint64_t hash = 0;
  int64_t height = 0, width = 0;  // of the frame
  PageChannels channels = PageChannels::texture;
  PageFeatures features;  // without `cells`, which only training needs
};

struct TinyModel::State {
  explicit State(NetworkWeights bundle)
      : weights(std::move(bundle)), realizer(weights.shape), answerer(weights.shape) {}
  PageFeatures read(const Tensor& frame, PageChannels channels = PageChannels::texture) const;
  // Remembered; known (optional): whether it was already.
  PageFeatures page(const Picture& picture, const Tensor& frame,
                    PageChannels channels = PageChannels::texture, bool* known = nullptr);
  std::vector<Opinion> judge(const PageFeatures& page, const Map& shape,
                             const std::vector<std::string>& questions) const;

  // The learned queries, read once.
  const Tensors& query_weights();
  // What the queries see of each reading's tokens, [Q,kQueries,width].
  Tensor seen_by_queries(const std::vector<Reading>& readings);

  std::string folder;  // that the weights came from
  NetworkWeights weights;
  RealizerNet realizer;
  Answerer answerer;
  QueryFormer query_former{weights.shape};
  std::mutex mutex;
  std::list<RememberedPage> pages;  // latest first
  std::mutex query_mutex;
  Tensors query_tensors;  // empty until they are needed
};

// Symbols of all questions, padded to the longest: [Q,T]. Error{bad_argument} when nothing is left
// of one.
Tensor symbols_tensor(const std::vector<std::string>& questions,
                      std::vector<bool>* shortened = nullptr);

}  // namespace arrcoc::tiny
