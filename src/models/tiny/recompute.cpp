#include "models/tiny/recompute.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

namespace arrcoc::tiny {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The part travels in the context as an owned capsule.
struct Held : torch::CustomClassHolder {
  explicit Held(Part given) : part(std::move(given)) {}
  Part part;
};

struct Recompute : torch::autograd::Function<Recompute> {
  static Tensor forward(AutogradContext* context, const Part& part, const Tensor& x,
                        at::TensorList w) {
    variable_list kept{x};
    kept.insert(kept.end(), w.begin(), w.end());
    context->save_for_backward(kept);
    context->saved_data["part"] = c10::IValue::make_capsule(c10::make_intrusive<Held>(part));
    return part(w.vec(), x);  // gradients are off here
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto held = context->saved_data["part"].toCapsule();
    const Part& part = static_cast<const Held&>(*held).part;
    variable_list inputs;
    for (const Tensor& saved : context->get_saved_variables())
      inputs.push_back(saved.detach().requires_grad_(saved.requires_grad()));
    Tensor out;
    {
      const at::AutoGradMode on(true);
      out = part(Tensors(inputs.begin() + 1, inputs.end()), inputs[0]);
    }
    variable_list wanted;
    std::vector<size_t> places;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].requires_grad()) {
        wanted.push_back(inputs[i]);
        places.push_back(i);
      }
    const variable_list found =
        torch::autograd::grad({out}, wanted, {gradients[0]}, false, false, true);
    variable_list result(inputs.size() + 1);  // the part itself has none
    for (size_t i = 0; i < found.size(); ++i) result[places[i] + 1] = found[i];
    return result;
  }
};

}  // namespace

Tensor recomputed(const Part& part, const Tensors& w, const Tensor& x) {
  if (!at::GradMode::is_enabled()) return part(w, x);
  return Recompute::apply(part, x, at::TensorList(w));
}

}  // namespace arrcoc::tiny
