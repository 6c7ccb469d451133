// Strips of rows that go through several layers at once, against layer after layer by libtorch: the
// same networks with products of floats (no ranges), so that only the order of work differs.
#include "models/tiny/strips.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "models/tiny/answerer.h"
#include "models/tiny/files.h"
#include "models/tiny/realizer.h"

namespace arrcoc::tiny {
namespace {

class Strips : public testing::Test {
 protected:
  void SetUp() override {
    if (!no_fast_kernels().empty()) GTEST_SKIP() << no_fast_kernels();
    at::manual_seed(4);
    before_ = at::get_num_threads();
    at::set_num_threads(2);
  }
  void TearDown() override { at::set_num_threads(before_); }
  at::NoGradGuard no_grad_;
  int before_ = 1;
};

// `heads` of 32 numbers in the answerer, 64 in all.
Shape shape() {
  return shape_from_json(
      R"({"width":64,"heads":2,"encoder_layers":3,"decoder_layers":2,"mlp":128,"stem":8,"cell":32,
          "page":32,"page_layers":1,"ask":64,"ask_layers":3,"question_layers":2,"lookups":1})");
}

// A network's weights, not as small as they begin, and its products of floats.
template <class Net>
struct Both {
  Net net{shape()};
  Tensors tensors;
  std::unique_ptr<const Prepared> prepared;
  explicit Both(uint64_t seed) : tensors(net.layout().initial(seed)) {
    for (Tensor& t : tensors) t = t.mul(1.5).add(0.02);
    prepared = std::make_unique<const Prepared>(net.layout(), tensors, Ranges{});
  }
  Parameters fast() const { return {tensors, prepared.get()}; }
};

double most_apart(const Tensor& a, const Tensor& b) {
  return (a - b).abs().max().item<double>() / b.abs().max().item<double>();
}

AnswererInput look(int64_t questions, int64_t tokens) {
  AnswererInput out;
  out.patches = at::randint(0, 255, {questions, tokens, 24 * 24 * 3}, at::kByte);
  out.centre = at::rand({questions, tokens, 2}) * 500;
  out.scale = at::rand({questions, tokens}) * 4 - 1;
  out.relevance = at::rand({questions, tokens});
  out.extent = at::full({questions, 2}, 512.0F);
  out.real = at::ones({questions, tokens}, at::kBool);
  out.real[0].narrow(0, tokens - 5, 5).fill_(false);
  out.question = at::randint(3, 190, {questions, 19}, at::kLong);
  return out;
}

TEST_F(Strips, EncodeAsLayerAfterLayer) {
  const Both<Answerer> both(1);
  for (const int64_t tokens : {7, 110, 601}) {
    const AnswererInput seen = look(2, tokens);
    const Memory fast = both.net.encode(both.fast(), seen, at::kFloat),
                 plain = both.net.encode(both.tensors, seen, at::kFloat);
    EXPECT_LT(most_apart(fast.states, plain.states), 1e-4) << tokens;
    EXPECT_LT(most_apart(fast.quality, plain.quality), 1e-4);
    at::set_num_threads(1);
    // Sums of floats end in other places there.
    EXPECT_LT(most_apart(both.net.encode(both.fast(), seen, at::kFloat).states, fast.states), 1e-5);
    at::set_num_threads(2);
  }
}

TEST_F(Strips, WriteAsLayerAfterLayer) {
  const Both<Answerer> both(2);
  constexpr int64_t kTokens = 40;
  const Memory memory = both.net.encode(both.tensors, look(3, kTokens), at::kFloat);
  const auto same = [](const Answerer::Written& a, const Answerer::Written& b) {
    EXPECT_EQ(a.symbols, b.symbols);
    for (size_t q = 0; q < a.focus.size(); ++q) {
      ASSERT_EQ(a.probabilities[q].size(), b.probabilities[q].size());
      for (size_t i = 0; i < a.probabilities[q].size(); ++i)
        EXPECT_NEAR(a.probabilities[q][i], b.probabilities[q][i], 1e-4);
      float sum = 0;
      for (size_t i = 0; i < a.focus[q].size(); ++i) {
        EXPECT_NEAR(a.focus[q][i], b.focus[q][i], 1e-4);
        sum += a.focus[q][i];
      }
      EXPECT_GT(sum, 0.1F);  // the question has the rest
    }
  };
  same(both.net.write_beam(both.fast(), memory, 4, 9, kTokens),
       both.net.write_beam(both.tensors, memory, 4, 9, kTokens));
  same(both.net.write_greedy(both.fast(), memory, 9, kTokens),
       both.net.write_greedy(both.tensors, memory, 9, kTokens));
}

TEST_F(Strips, LookAsLayerAfterLayer) {
  const Both<RealizerNet> both(3);
  constexpr int64_t kRows = 40, kCols = 9, kPages = 2;  // 24 rows go on
  PageFeatures page;
  page.words = at::randn({kPages, kRows, kCols, shape().ask});
  page.row_mask = at::zeros({kPages, 1, 1, kCols});
  page.row_mask[1].narrow(2, kCols - 2, 2).fill_(-30000);
  page.column_mask = at::zeros({kPages, 1, 1, kRows});
  page.index.keys = at::randn({kPages, 2, kRows * kCols, 32});
  page.index.values = at::randn({kPages, 2, kRows * kCols, 32});
  const Tensor words = page.words.clone(), asked = at::randint(3, 190, {4, 21}, at::kLong);
  const Judgement fast = both.net.judge(both.fast(), page, asked, {}, 2),
                  plain = both.net.judge(both.tensors, page, asked, {}, 2);
  EXPECT_TRUE(page.words.equal(words));  // blocks work in place, but not there
  EXPECT_LT(most_apart(fast.relevance, plain.relevance), 1e-3);
  EXPECT_LT(most_apart(fast.tier, plain.tier), 1e-3);
  at::set_num_threads(1);
  EXPECT_LT(most_apart(both.net.judge(both.fast(), page, asked, {}, 2).relevance, fast.relevance),
            1e-5);
  const Tensor one = asked.narrow(0, 0, 2), which = at::zeros({2}, at::kLong);
  EXPECT_LT(most_apart(both.net.judge(both.fast(), page, one, which).relevance,
                       fast.relevance.narrow(0, 0, 2)),
            1e-5);
}

}  // namespace
}  // namespace arrcoc::tiny
