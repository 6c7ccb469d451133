// Small random models, a picture and a choice of cells, for the tests of this folder.
#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <string>

#include "models/hf/hf.h"
#include "hf/small_folder.h"
#include "hf/support.h"

namespace arrcoc::testing_support {

inline Picture picture(int height, int width) {
  at::Tensor ramp = at::arange(int64_t{3} * height * width).reshape({3, height, width});
  return make_picture((ramp * 7919 % 251).to(at::kByte), "test");
}

// A random checkpoint whose vocabulary is that of the golden tokenizer.
inline std::shared_ptr<const hf::HfModel> model_of(const std::string& family,
                                                   const Scratch& scratch) {
  write_text(scratch.path("c.json"), small_config(data("goldens"), family).dump());
  hf::init_checkpoint(scratch.path("c.json"), scratch.path("m"), "float32", 1);
  std::string tokenizer = small_tokenizer(data("goldens"), family).dump();
  return hf::HfModel::open(scratch.path("m"), {}, parse_tokenizer(tokenizer, "t.json"));
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

inline hf::GenerateOptions short_answer() {
  hf::GenerateOptions options;
  options.max_new_tokens = 5;
  return options;
}

}  // namespace arrcoc::testing_support
