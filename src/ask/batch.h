// Several questions about one picture on their way through the stages.
#pragma once

#include "arrcoc/answering.h"

namespace arrcoc::answering {

// A picture made ready: what is looked at and what tokens are cut from.
struct PageView {
  uint64_t hash = 0;
  int frame_size = 0, canvas = 0;
  bool enlarge = false;
  at::Tensor frame;
  std::shared_ptr<const Pyramid> pyramid;
};

double now_ms();

// begun: when the caller started, for the stage "opening".
std::vector<Reply> run_batch(const tiny::TinyModel& model, const Calibration& calibration,
                             const Picture& picture, const PageView& page,
                             const std::vector<Inquiry>& inquiries, const AskOptions& options,
                             double begun);

}  // namespace arrcoc::answering
