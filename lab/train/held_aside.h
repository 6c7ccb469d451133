// What a run is measured on: scenes with seeds of their own, and real pictures that were held
// aside.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/train/evaluate.h"
#include "lab/train/networks.h"
#include "lab/train/streams.h"

namespace arrcoc::training {

class HeldAside {
 public:
  // Makes all of them. options must outlive it.
  HeldAside(const Options& options, const Streams& streams, at::Device device, at::ScalarType type);

  // Figures go into `line` ("evaluation", "real") and, one text for scenes and one for real
  // pictures, to `say`.
  Evaluation measure(const Networks& networks, nlohmann::json& line,
                     const std::function<void(const std::string&)>& say);

 private:
  std::string measure_real(const Networks& networks, nlohmann::json& line) const;

  const Options& options_;
  Pool scenes_;
  struct Real {
    Shelf shelf;
    std::vector<std::shared_ptr<const Sample>> samples;
  };
  std::vector<Real> real_;  // pages, photographs
};

}  // namespace arrcoc::training
