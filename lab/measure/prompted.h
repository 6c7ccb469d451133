// What a set of questions tells a model besides the question: the options of a choice, or to be
// brief. The looker is not asked for it.
#pragma once

#include <memory>
#include <string>

#include "arrcoc/model.h"

namespace arrcoc::measuring {

// The model, with what Saying says behind every question that it reads.
std::shared_ptr<const Model> prompted(std::shared_ptr<const Model> model);

// Holds for this thread while it lives.
class Saying {
 public:
  explicit Saying(const std::string& after);
  ~Saying();
  Saying(const Saying&) = delete;
};

}  // namespace arrcoc::measuring
