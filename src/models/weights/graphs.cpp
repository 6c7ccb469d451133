#include "models/weights/graphs.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <map>
#include <mutex>
#include <sstream>

#ifdef ARRCOC_CUDA_GRAPHS
#include <ATen/cuda/CUDAGraph.h>
#include <c10/core/InferenceMode.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace arrcoc {
namespace {

Graphs::Tensors moved(const Graphs::Tensors& inputs, at::Device device) {
  Graphs::Tensors out;
  for (const at::Tensor& input : inputs) out.push_back(input.to(device));
  return out;
}

std::string setting() {
  const char* set = std::getenv("ARRCOC_GRAPHS");
  return set == nullptr ? "" : set;
}

#ifdef ARRCOC_CUDA_GRAPHS

constexpr size_t kKept = 16;
constexpr int kWarmUps = 3;

std::string key_of(at::Device device, const std::string& name, const Graphs::Tensors& inputs) {
  std::ostringstream out;
  out << device << '|' << name;
  for (const at::Tensor& input : inputs) out << '|' << input.scalar_type() << input.sizes();
  return out.str();
}

// For what was queued where graphs run, not for the whole device: another may be recording.
void wait() { c10::cuda::getCurrentCUDAStream().synchronize(); }

// Recording runs beside what the device does for others, always on the same stream: memory that was
// freed there is found again.
c10::cuda::CUDAStream side_stream(at::Device device) {
  static std::map<c10::DeviceIndex, c10::cuda::CUDAStream> streams;
  const auto found = streams.find(device.index());
  if (found != streams.end()) return found->second;
  const auto stream = c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index());
  return streams.emplace(device.index(), stream).first->second;
}

// A recording that could not even be ended leaves the allocator waiting for its end: the graph must
// live on, and nothing may be recorded beside it.
std::atomic<bool> broken = false;
void give_up(std::unique_ptr<at::cuda::CUDAGraph> graph) {
  broken = true;
  static_cast<void>(graph.release());
}

// Neither records gradients nor makes tensors that may not be written to later.
struct Plain {
  c10::InferenceMode normal{false};
  at::NoGradGuard no_grad;
};

struct Recorded {
  Graphs::Tensors inputs, outputs;
  std::unique_ptr<at::cuda::CUDAGraph> graph;

  Recorded(at::Device device, const Graphs::Tensors& given, const Graphs::Work& work) {
    const Plain plain;
    for (const at::Tensor& input : given) {
      at::Tensor own = at::empty(input.sizes(), input.options().device(device));
      own.copy_(input);
      inputs.push_back(own);
    }
    wait();
    {
      static std::mutex one_at_a_time;
      const std::scoped_lock lock(one_at_a_time);
      const c10::cuda::CUDAStreamGuard beside(side_stream(device));
      for (int i = 0; i < kWarmUps; ++i) work(inputs);
      beside.current_stream().synchronize();
      graph = std::make_unique<at::cuda::CUDAGraph>();
      // Other threads go on using the device meanwhile.
      graph->capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
      try {
        outputs = work(inputs);
      } catch (...) {
        try {
          graph->capture_end();
        } catch (const std::exception&) {  // the first problem is the one that is told
          give_up(std::move(graph));
        }
        throw;
      }
      try {
        graph->capture_end();
      } catch (...) {
        give_up(std::move(graph));
        throw;
      }
    }
  }

  Graphs::Tensors replay(const Graphs::Tensors& given) {
    const Plain plain;
    for (size_t i = 0; i < inputs.size(); ++i) inputs[i].copy_(given[i], /*non_blocking=*/true);
    graph->replay();
    Graphs::Tensors out;
    for (const at::Tensor& output : outputs) out.push_back(output.clone());
    return out;
  }
};

#endif

}  // namespace

struct Graphs::State {
  std::mutex mutex;
  std::atomic<int64_t> calls = 0;
#ifdef ARRCOC_CUDA_GRAPHS
  struct Entry {
    bool refused = false;
    std::unique_ptr<Recorded> graph;
    std::list<std::string>::iterator used;
  };
  std::map<std::string, Entry> entries;
  std::list<std::string> order;  // used last: first

  // False the first time. The least recently used one makes room.
  bool known(const std::string& key) {
    const auto found = entries.find(key);
    if (found != entries.end()) {
      order.splice(order.begin(), order, found->second.used);
      return true;
    }
    order.push_front(key);
    entries[key].used = order.begin();
    if (order.size() > kKept) {
      wait();  // it may still run
      entries.erase(order.back());
      order.pop_back();
    }
    return false;
  }

  void forget_all() {
    wait();
    entries.clear();
    order.clear();
  }
#endif
};

Graphs::Graphs() : state_(std::make_unique<State>()) {}
Graphs::~Graphs() = default;

bool Graphs::available(at::Device device) {
  if (setting() == "first") return true;
#ifdef ARRCOC_CUDA_GRAPHS
  return device.is_cuda() && setting() != "0";
#else
  (void)device;
  return false;
#endif
}

int64_t Graphs::calls() const { return state_->calls; }

Graphs::Tensors Graphs::run(at::Device device, const std::string& name, const Tensors& inputs,
                            const Work& work) {
  ++state_->calls;
#ifdef ARRCOC_CUDA_GRAPHS
  if (device.is_cuda() && available(device)) {
    const std::scoped_lock lock(state_->mutex);
    const c10::cuda::CUDAGuard here(device);
    const std::string key = key_of(device, name, inputs);
    if (state_->known(key) || setting() == "first") {
      State::Entry& entry = state_->entries[key];
      if (!entry.graph && !entry.refused && !broken) {
        try {
          entry.graph = std::make_unique<Recorded>(device, inputs, work);
        } catch (const c10::OutOfMemoryError&) {  // what graphs hold is wanted elsewhere
          state_->forget_all();
          return work(moved(inputs, device));
        } catch (const c10::Error& problem) {
          entry.refused = true;
          const std::string what = problem.what_without_backtrace();
          if (!setting().empty())
            std::fprintf(stderr, "arrcoc: not recorded: %s: %s\n", name.c_str(),
                         what.substr(0, what.find('\n')).c_str());
        }
      }
      if (entry.graph) return entry.graph->replay(inputs);
    }
  }
#else
  (void)name;
#endif
  return work(moved(inputs, device));
}

}  // namespace arrcoc
