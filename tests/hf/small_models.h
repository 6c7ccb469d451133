// Small random models, a picture and a choice of cells, for the tests of this folder.
#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <string>

#include "hf/small_folder.h"
#include "hf/support.h"
#include "models/hf/hf.h"

namespace arrcoc::testing_support {

inline Picture picture(int height, int width) {
  at::Tensor ramp = at::arange(int64_t{3} * height * width).reshape({3, height, width});
  return make_picture((ramp * 7919 % 251).to(at::kByte), "test");
}

// A random checkpoint whose vocabulary is that of the golden tokenizer, as it would be downloaded.
inline std::string folder_of(const std::string& family, const Scratch& scratch) {
  write_text(scratch.path("c.json"), small_config(data("goldens"), family).dump());
  init_checkpoint(scratch.path("c.json"), scratch.path(family), "float32", 1);
  write_text(scratch.path(family + "/tokenizer.json"),
             small_tokenizer(data("goldens"), family).dump());
  return scratch.path(family);
}

inline std::shared_ptr<const hf::HfModel> model_of(const std::string& family,
                                                   const Scratch& scratch) {
  const std::string folder = folder_of(family, scratch);
  return hf::HfModel::open(folder, {}, load_tokenizer(folder));
}

// A quadtree by hand: the top-left quarter fine, the rest coarse. 256 x 256 pixels.
inline Allocation allocation(int budget) {
  Allocation out;
  out.geometry = {256, 256, 0};
  out.budget.tokens = budget;
  for (int row = 0; row < 4; ++row) {
    for (int col = 0; col < 4; ++col) out.leaves.push_back({1, row, col, 0.9F});
  }
  out.leaves.push_back({3, 0, 1, 0.2F});
  out.leaves.push_back({3, 1, 0, 0.5F});
  out.leaves.push_back({3, 1, 1, 0.1F});
  return out;
}

inline hf::GenerationSettings short_answer() {
  hf::GenerationSettings settings;
  settings.max_new_tokens = 5;
  return settings;
}

inline hf::Generation answer(const hf::HfModel& model, const std::vector<Turn>& turns,
                             const std::vector<hf::Features>& pictures,
                             const hf::GenerationSettings& settings = short_answer()) {
  return model.generate(model.prompt_ids(turns, pictures), pictures, settings);
}

}  // namespace arrcoc::testing_support
