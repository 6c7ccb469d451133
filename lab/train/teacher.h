// What a step does with its pictures: the realizer looks, cells are chosen, the answerer reads
// them, and both get gradients.
#pragma once

#include <vector>

#include "lab/train/cells.h"
#include "lab/train/meters.h"
#include "lab/train/networks.h"
#include "lab/train/streams.h"

namespace arrcoc::training {

class Teacher {
 public:
  // All must outlive it.
  Teacher(const Options& options, const Streams& streams, const Networks& networks, Meters& meters)
      : options_(options), streams_(streams), networks_(networks), meters_(meters) {}

  struct Taught {
    int64_t questions = 0, pictures = 0;
  };
  // One part of a step; gradients are added to those of other parts.
  Taught teach(const Plan& plan, int part, Dice& dice);

 private:
  // Pictures that the realizer looks at together, on canvases of one size.
  struct Scenery {
    Plan plan;
    Batch batch;
    int taught = 0;  // questions a picture that teach the realizer
  };
  std::vector<Scenery> scenery(const Plan& plan, int part, Dice& dice) const;
  std::vector<int> choose(const Stream& stream, const Plan& plan, int part, Dice& dice) const;

  struct Looked {
    at::Tensor maps;    // [Q,g,g], when wanted
    at::Tensor logits;  // of the taught questions, with gradient
    at::Tensor loss;    // undefined when the realizer does not learn
    double count = 0;   // what its questions count beside those of other sceneries
  };
  Looked look(const Scenery& scenery, Dice& dice);
  // A pass that is drawn and answered, then the map of the next (teacher_again.cpp).
  Taught teach_again(const Plan& plan, int part, Dice& dice);
  struct Shown {  // to the answerer in a pass
    CellLists cells;
    std::vector<History> left;  // behind
  };
  Shown first_pass(const Batch& lesson, const at::Tensor& maps, Dice& dice) const;
  at::Tensor outcome_of(const Plan& plan, const Batch& batch, const Batch& lesson,
                        const at::Tensor& logits, const PageLabels& labels, Dice& dice);
  at::Tensor look_loss(const Batch& lesson, const PageLabels& labels, const tiny::Tensors& w,
                       const tiny::PageFeatures& features, const tiny::Judgement& judged);
  at::Tensor maps_of(const Scenery& scenery, const at::Tensor& inside, const tiny::Tensors& w,
                     const tiny::PageFeatures& features, const at::Tensor& taught_logits,
                     const std::vector<size_t>& others) const;

  // The answerer's part, teacher_answers.cpp. Returns every question's reward in outcome steps.
  struct Share {  // of a group in its batch
    float characters, questions;
  };
  at::Tensor answer(const Plan& plan, const Batch& batch, CellLists cells, Dice& dice);
  at::Tensor answer_part(const Plan& plan, const Batch& part, const CellLists& cells,
                         const Share& share, Dice& dice);
  std::vector<std::vector<size_t>> groups_of(const std::vector<size_t>& order,
                                             const CellLists& cells) const;
  void report_answers(const Plan& plan, const Batch& part, const at::Tensor& each);

  const Pool& pool() const { return streams_.pool(); }

  const Options& options_;
  const Streams& streams_;
  const Networks& networks_;
  Meters& meters_;
};

}  // namespace arrcoc::training
