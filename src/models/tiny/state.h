// What a TinyModel holds.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "models/tiny/files.h"
#include "models/tiny/history.h"
#include "models/tiny/prepared.h"
#include "models/tiny/query_former.h"
#include "models/weights/graphs.h"

namespace arrcoc::tiny {

struct TinyModel::State {
  explicit State(NetworkWeights bundle)
      : weights(std::move(bundle)),
        realizer(weights.shape),
        answerer(weights.shape),
        history(weights.shape) {}
  // frame: floats in [0,1]; or bytes, for a device.
  PageFeatures read(const Tensor& frame, PageChannels channels) const;
  PageFeatures read_there(const Tensor& frame, PageChannels channels) const;  // on a device
  // past: what earlier passes left; null, or without weights for it: nothing.
  std::vector<Opinion> judge(const PageFeatures& page, const Map& shape,
                             const std::vector<std::string>& questions, const History* past) const;

  std::vector<ReadAnswer> read_batch(const std::vector<TokenReading>& readings,
                                     const OnText& on_text);
  Memory read_tokens(const Parameters& w, const AnswererInput& look, bool adapter) const;
  std::vector<ReadAnswer> read_reduced(const std::vector<TokenReading>& readings,
                                       const OnText& on_text);
  void write(const Memory& memory, const std::vector<int64_t>& lengths,
             const std::vector<bool>& shortened, const OnText& on_text,
             std::vector<ReadAnswer>& answers) const;

  // The learned queries, read once.
  const Tensors& query_weights();
  // What the queries see of each reading's tokens, [Q,kQueries,width].
  Tensor seen_by_queries(const std::vector<TokenReading>& readings);

  // Weights with the kernels that were chosen.
  Parameters looking() const {
    return {weights.realizer, fast_realizer.get(), seen_realizer.get()};
  }
  Parameters answering() const {
    return {weights.answerer, fast_answerer.get(), seen_answerer.get()};
  }
  // Reads ranges.json and decides. Error{unsupported} where fast ones were asked for.
  void choose(Kernels kernels);
  // To $ARRCOC_DEVICE (cpu, cuda, cuda:N), in $ARRCOC_DTYPE there; nothing set: they stay.
  // Error{bad_argument, unsupported}.
  void place(Kernels kernels);
  void move_to(at::Device device, at::ScalarType type);

  std::string folder;   // that the weights came from
  std::string kernels;  // that were chosen, for people
  NetworkWeights weights;
  uint64_t fingerprint = 0;  // of the weights as they were read
  at::Device device = at::kCPU;
  at::ScalarType type = at::kFloat;                       // of the weights and of all states
  mutable Graphs page_graphs, look_graphs, token_graphs;  // of what runs on a GPU
  RealizerNet realizer;
  Answerer answerer;
  HistoryNet history;
  std::unique_ptr<const Prepared> fast_realizer, fast_answerer;  // null: reference
  std::unique_ptr<RangesSeen> seen_realizer, seen_answerer;      // null: nobody wants them
  QueryFormer query_former{weights.shape};
  std::mutex query_mutex;
  Tensors query_tensors;  // empty until they are needed
};

// Symbols of all questions, padded to the longest: [Q,T]. Error{bad_argument} when nothing is left
// of one.
Tensor symbols_tensor(const std::vector<std::string>& questions,
                      std::vector<bool>* shortened = nullptr);

}  // namespace arrcoc::tiny
