// Folders of checkpoints: what is in them, how to open them, how to make one.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "arrcoc/model.h"
#include "models/hf/config.h"
#include "models/hf/processor.h"
#include "models/weights/device.h"

namespace arrcoc::hf {

// What a model computes with. dtype "int8", or none on the CPU with ARRCOC_KERNELS=fast: linear
// layers in 8 bits, float32 between them; note: why they are float32 after all.
struct Numbers {
  at::ScalarType dtype = at::kFloat;
  bool in_bytes = false;
  std::string note;
};
Numbers numbers_of(const ModelOptions& options);
// The weights of a folder, converted for the device and dtype of the options.
FileSource open_weights(const std::string& folder, const ModelConfig& config,
                        const ModelOptions& options);

// preprocessor_config.json of the folder, or the family's own settings where there is none.
ImageProcessor open_processor(const std::string& folder, const ModelConfig& config);
json default_processor(const ModelConfig& config);
// The same for films: video_preprocessor_config.json, else what pictures have.
ImageProcessor open_film_processor(const std::string& folder, const ModelConfig& config);
json film_settings(json settings, const ModelConfig& config);

// Builds the model that the configuration describes from the source and lets go of it.
void visit_tensors(const ModelConfig& config, Source& source);

}  // namespace arrcoc::hf
