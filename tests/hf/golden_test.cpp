#include <gtest/gtest.h>

#include "arrcoc/model.h"
#include "hf/support.h"

namespace arrcoc::hf {
namespace {

using testing_support::data;

class GoldenModel : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenModel, EveryTensorOfTheReferenceIsReproduced) {
  std::string folder = data("goldens/") + GetParam();
  for (const TensorCheck& check : check_golden(folder, folder + "/golden.safetensors")) {
    EXPECT_TRUE(check.ok()) << check.name << " differs by " << check.difference << " (allowed "
                            << check.tolerance << ") " << check.problem;
    RecordProperty(check.name, std::to_string(check.difference));
  }
}

INSTANTIATE_TEST_SUITE_P(Families, GoldenModel,
                         ::testing::Values("clip", "siglip", "sam", "llava", "qwen2_vl",
                                           "qwen2_5_vl", "qwen3_vl", "ovis2", "smolvlm",
                                           "qwen2_5_vl_film", "qwen3_vl_film", "deepseek_ocr2"));

}  // namespace
}  // namespace arrcoc::hf
