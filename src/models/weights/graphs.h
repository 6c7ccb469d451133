// Much work in few launches: functions of tensors recorded as CUDA graphs.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace arrcoc {

// Shared by threads. On the CPU, in a build without CUDA and with ARRCOC_GRAPHS=0 it only calls.
// ARRCOC_GRAPHS=first, for checks: recorded at the first call, and available() on the CPU, too, so
// that lengths are those of graphs.
// On a GPU a name with inputs of the same shapes is called plainly the first time, recorded the
// second, and replayed from then on; the 16 used last are kept. What cannot be recorded (it waits
// for the device, say) is called plainly; where memory is short, all graphs are given up first.
class Graphs {
 public:
  using Tensors = std::vector<at::Tensor>;
  using Work = std::function<Tensors(const Tensors&)>;

  Graphs();
  ~Graphs();
  // work(inputs) with the inputs on that device. It must depend on nothing else that changes but
  // what the name says, and must not write to its inputs. The results are the caller's own.
  Tensors run(at::Device device, const std::string& name, const Tensors& inputs, const Work& work);

  static bool available(at::Device device);
  int64_t calls() const;  // of run()

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The least multiple of `step` that is not below `count`: graphs are made for few lengths.
inline int64_t bucket(int64_t count, int64_t step) { return (count + step - 1) / step * step; }

}  // namespace arrcoc
