// How the bundled networks are computed on the CPU.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "arrcoc/registry.h"

namespace arrcoc {

struct Bundle;

// automatic: $ARRCOC_KERNELS where that is set; else fast where oneDNN runs on this machine and the
// bundle has the ranges of its activations (ranges.json, `arrcoc eval --ranges`), else reference.
// fast: 8 bits (docs/kernels.md). reference: float32 by libtorch.
enum class Kernels { automatic, fast, reference };
template <>
struct EnumNames<Kernels> {
  static constexpr const char* kWhat = "kernels";
  static constexpr std::pair<Kernels, const char*> kNames[] = {
      {Kernels::automatic, "auto"}, {Kernels::fast, "fast"}, {Kernels::reference, "reference"}};
};

// load_bundle of bundle.h with a choice. Error{unsupported} says why there are no fast ones.
std::shared_ptr<const Bundle> load_bundle(const std::string& folder, Kernels kernels);
// "fast (AVX512-VNNI)", or "reference (why)".
std::string kernels_of(const Bundle& bundle);

}  // namespace arrcoc
