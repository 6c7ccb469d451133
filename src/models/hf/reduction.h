// Readers over weights that are there already, and other rules than an allocation by which few of a
// picture's tokens are left: what measuring compares (lab/baselines).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "arrcoc/model.h"
#include "models/hf/hf.h"

namespace arrcoc::hf {

class Reduction {
 public:
  static constexpr const char* kStage = "reduction";
  virtual ~Reduction() = default;
  // "" when it works with this model, else why it does not.
  virtual std::string refusal(const HfModel&) const { return ""; }
  // At most `budget` tokens, in the order of their places. whole(): all of them.
  virtual Features reduce(const HfModel& model, const Picture& picture, const std::string& question,
                          int64_t budget, const std::function<Features()>& whole) const = 0;
};

// What open_model gives, over weights that are there: several modes share them. Error{unsupported}
// where the model cannot work in that mode, or with that reduction (which is instead of a mode).
std::shared_ptr<const Model> make_reader(std::shared_ptr<const HfModel> model, std::string name,
                                         const ModelOptions& options,
                                         std::shared_ptr<const Reduction> reduction = nullptr);

}  // namespace arrcoc::hf
