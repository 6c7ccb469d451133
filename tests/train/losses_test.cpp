// What is taught, and in which stage.
#include "lab/train/losses.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

namespace arrcoc::training {
namespace {

// configs/stages: the second stage trains the heads of tiers and tensions alone, whatever parts the
// realizer has.
TEST(Stages, BudgetsFreezeAllButTheirHeads) {
  std::ifstream in(ARRCOC_SOURCE_DIR "/configs/stages/2_budgets.json");
  const Options options = options_from_json(
      std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()));
  const tiny::RealizerNet net(options.shape);
  for (const tiny::TensorSpec& spec : net.layout().specs()) {
    const std::string name = "realizer." + spec.name;
    const bool frozen =
        std::any_of(options.freeze.begin(), options.freeze.end(),
                    [&](const std::string& prefix) { return name.rfind(prefix, 0) == 0; });
    const bool head = spec.name.rfind("tier.", 0) == 0 || spec.name.rfind("tensions.", 0) == 0;
    EXPECT_EQ(frozen, !head) << name;
  }
}

TEST(LookupLoss, SomeCharacterShouldFindEveryCellOfEvidence) {
  // Two questions of three characters on a page of 2x2 word cells (2 rows of 4 cells).
  at::Tensor target = at::zeros({2, 2, 4}, at::kByte);
  target[0][0][1] = 1;  // the right half of word cell 0
  target[0][1][2] = 1;  // the left half of word cell 3
  target[0][1][0] = 2;  // the answer: nothing to look up
  const at::Tensor question = at::tensor({5, 6, 7, 5, 6, 7}, at::kLong).view({2, 3});
  const at::Tensor even = at::zeros({2, 3, 4});
  // Without a clue every share is a quarter; the second question has no evidence and does not
  // count.
  EXPECT_NEAR(lookup_loss(even, question, target).item<float>(), std::log(4.0F), 1e-3F);
  at::Tensor found = even.clone();
  found[0][0][0] = 20;  // the first character finds the one
  found[0][2][3] = 20;  // the third the other
  EXPECT_NEAR(lookup_loss(found, question, target).item<float>(), 0, 1e-3F);
  // A pad finds nothing.
  at::Tensor padded = question.clone();
  padded[0][2] = tiny::kPad;
  EXPECT_NEAR(lookup_loss(found, padded, target).item<float>(), std::log(4.0F) / 2, 1e-3F);
  // What is lost entirely costs a bounded amount and still has a direction.
  at::Tensor lost = even.clone();
  lost.select(2, 1).fill_(9);
  lost.requires_grad_(true);
  at::Tensor loss = lookup_loss(lost, question, target);
  EXPECT_LT(loss.item<float>(), 11.6F);
  loss.backward();
  EXPECT_LT(lost.grad()[0].select(1, 0).min().item<float>(), -1e-4F);
}

}  // namespace
}  // namespace arrcoc::training
