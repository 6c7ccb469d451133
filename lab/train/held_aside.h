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
#include "lab/train/real/measure.h"
#include "lab/train/streams.h"

namespace arrcoc::training {

class HeldAside {
 public:
  // Makes all of them. options must outlive it.
  HeldAside(const Options& options, const Streams& streams, at::Device device, at::ScalarType type);

  // Every question about a real picture as the last measure() found it, and by other weights in
  // the same order.
  const std::vector<real::Result>& last_real() const { return last_real_; }
  std::vector<real::Result> measure_real(const tiny::NetworkWeights& weights,
                                         at::ScalarType type) const;

  // Figures go into `line` ("evaluation", "real") and, one text for scenes and one for real
  // pictures, to `say`.
  Evaluation measure(const Networks& networks, nlohmann::json& line,
                     const std::function<void(const std::string&)>& say);

 private:
  struct Reader {
    const tiny::RealizerNet& realizer;
    const tiny::Tensors look;
    const tiny::Answerer& answerer;
    const tiny::Tensors write;
    at::ScalarType type;
  };
  std::vector<real::Result> results_of(const Reader& reader) const;
  std::string measure_real(const Networks& networks, nlohmann::json& line);

  const Options& options_;
  Pool scenes_;
  struct Real {
    Shelf shelf;
    std::vector<std::shared_ptr<const Sample>> samples;
  };
  std::vector<Real> real_;  // pages, photographs
  std::vector<real::Result> last_real_;
};

}  // namespace arrcoc::training
