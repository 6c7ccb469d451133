// The two networks, their weights, and how these learn from a step's gradients.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "lab/train/meters.h"
#include "lab/train/names.h"
#include "lab/train/optimiser.h"
#include "lab/train/parallel.h"
#include "lab/train/plan.h"
#include "models/tiny/answerer.h"
#include "models/tiny/files.h"
#include "models/tiny/history.h"
#include "models/tiny/realizer.h"

namespace arrcoc::training {

class Networks {
 public:
  // Fresh weights, or those of options.init. names: things that photographs name; 0: no heads for
  // them. Error{bad_argument} for a frozen prefix that no tensor has.
  Networks(const Options& options, int names, at::Device device, at::ScalarType type)
      : Networks(options, first_weights(options), names, device, type) {}

  const tiny::RealizerNet& realizer() const { return realizer_; }
  const tiny::Answerer& answerer() const { return answerer_; }
  const NameHeads* names() const { return names_.get(); }  // null: none
  const tiny::HistoryNet& history() const { return history_; }
  at::ScalarType type() const { return type_; }
  tiny::Tensors look_tensors() const { return look_.tensors(type_); }
  tiny::Tensors answer_tensors() const { return answer_.tensors(type_); }
  // Of the history; there are some where `history` is trained or the first weights had them.
  tiny::Tensors past_tensors() const { return past_->tensors(type_); }

  // One step of the optimisers by the gradients of all processes, which are forgotten then.
  void update(const Options& options, float rate, Together& together, Window& window);
  void save(const std::string& folder, const std::string& tag) const;
  void store(std::map<std::string, at::Tensor>& into) const;
  void restore(const std::map<std::string, at::Tensor>& from);

 private:
  static tiny::NetworkWeights first_weights(const Options& options);
  Networks(const Options& options, const tiny::NetworkWeights& first, int names, at::Device device,
           at::ScalarType type);

  at::ScalarType type_;
  tiny::Shape shape_;
  tiny::RealizerNet realizer_;
  tiny::Answerer answerer_;
  tiny::HistoryNet history_;
  FlatWeights look_, answer_;
  std::unique_ptr<FlatWeights> past_;  // null: nobody looks again
  std::unique_ptr<NameHeads> names_;
};

}  // namespace arrcoc::training
