#include "lab/train/parallel.h"

#include <ATen/ATen.h>

#include <cstdlib>
#include <string>

#include "arrcoc/error.h"

#ifdef ARRCOC_C10D
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#ifdef ARRCOC_GLOO
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#endif
#ifdef ARRCOC_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif
#endif

namespace arrcoc::training {
namespace {

class Alone : public Together {
 public:
  int rank() const override { return 0; }
  int world() const override { return 1; }
  void sum(at::Tensor&) override {}
};

int number_of(const char* name, int low, int high) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0')
    throw Error(ErrorCode::bad_argument,
                std::string("WORLD_SIZE is set, but ") + name +
                    " is not: all of RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT are needed");
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (*end != '\0' || value < low || value > high)
    throw Error(ErrorCode::bad_argument, std::string(name) + " must be a number from " +
                                             std::to_string(low) + " to " + std::to_string(high) +
                                             ", not '" + text + "'");
  return static_cast<int>(value);
}

#ifdef ARRCOC_C10D

template <class Group>
class Grouped : public Together {
 public:
  Grouped(int rank, int world, c10::intrusive_ptr<Group> group)
      : rank_(rank), world_(world), group_(std::move(group)) {}
  int rank() const override { return rank_; }
  int world() const override { return world_; }
  void sum(at::Tensor& tensor) override {
    std::vector<at::Tensor> tensors{tensor};
    group_->allreduce(tensors)->wait();
  }

 private:
  int rank_, world_;
  c10::intrusive_ptr<Group> group_;
};

std::unique_ptr<Together> join(int rank, int world, const std::string& address, int port,
                               at::Device device) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(port);
  options.isServer = rank == 0;
  options.numWorkers = static_cast<size_t>(world);
  const auto store = c10::make_intrusive<c10d::TCPStore>(address, options);
#ifdef ARRCOC_NCCL
  if (device.is_cuda()) {
    using Group = c10d::ProcessGroupNCCL;
    return std::make_unique<Grouped<Group>>(
        rank, world, c10::make_intrusive<Group>(store, rank, world, Group::Options::create()));
  }
#endif
#ifdef ARRCOC_GLOO
  if (device.is_cpu()) {
    using Group = c10d::ProcessGroupGloo;
    const auto gloo = Group::Options::create();
    // On one machine the loopback device works without a name for the host.
    gloo->devices.push_back(address == "127.0.0.1" || address == "localhost"
                                ? Group::createDeviceForHostname("127.0.0.1")
                                : Group::createDefaultDevice());
    return std::make_unique<Grouped<Group>>(rank, world,
                                            c10::make_intrusive<Group>(store, rank, world, gloo));
  }
#endif
  throw Error(ErrorCode::unsupported, "this libtorch has no c10d backend for " + device.str());
}

#else

std::unique_ptr<Together> join(int, int, const std::string&, int, at::Device) {
  throw Error(ErrorCode::unsupported,
              "WORLD_SIZE asks for several processes; this build has no c10d (-DARRCOC_C10D=ON)");
}

#endif

}  // namespace

std::unique_ptr<Together> Together::from_environment(at::Device device) {
  const char* size = std::getenv("WORLD_SIZE");
  if (size == nullptr || *size == '\0' || std::string(size) == "1")
    return std::make_unique<Alone>();
  const int world = number_of("WORLD_SIZE", 1, 65536);
  const int rank = number_of("RANK", 0, world - 1);
  const int port = number_of("MASTER_PORT", 1, 65535);
  const char* address = std::getenv("MASTER_ADDR");
  if (address == nullptr || *address == '\0')
    throw Error(ErrorCode::bad_argument, "WORLD_SIZE is set, but MASTER_ADDR is not");
  try {
    return join(rank, world, address, port, device);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& problem) {
    throw Error(ErrorCode::io, "cannot join " + std::string(address) + ":" + std::to_string(port) +
                                   " as process " + std::to_string(rank) + " of " +
                                   std::to_string(world) + ": " + problem.what());
  }
}

}  // namespace arrcoc::training
