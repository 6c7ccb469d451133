#include "models/tiny/attend_cpu.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>

namespace arrcoc::tiny {
namespace {

using at::Tensor;

struct Sizes {
  int64_t batch, heads, rows, length, width;
};

// [B,H,L,d] in the memory of [B,L,H,d], as the layers hand it over.
Tensor random(const Sizes& s, int64_t rows) {
  return at::randn({s.batch, rows, s.heads, s.width}).transpose(1, 2);
}

TEST(AttendCpu, EqualsTheFormula) {
  at::NoGradGuard no_grad;
  at::manual_seed(1);
  for (const Sizes& s : {Sizes{1, 1, 1, 1, 16}, Sizes{3, 2, 5, 17, 32}, Sizes{2, 5, 40, 33, 64},
                         Sizes{1, 2, 1030, 64, 32}}) {
    const Tensor q = random(s, s.rows) * 3, k = random(s, s.length), v = random(s, s.length);
    Tensor mask = at::zeros({s.batch, 1, 1, s.length});
    if (s.length > 3) mask.narrow(3, s.length - 2, 2).fill_(-30000);
    ASSERT_TRUE(attend_cpu_takes(q, k, v, mask));
    const Tensor scores =
        at::matmul(q, k.transpose(2, 3)) / std::sqrt(static_cast<double>(s.width)) + mask;
    const Tensor wanted = at::matmul(at::softmax(scores, -1), v);
    EXPECT_LT((attend_cpu(q, k, v, mask) - wanted).abs().max().item<double>(), 2e-5) << s.length;
  }
}

TEST(AttendCpu, ThreadsChangeNoBit) {
  at::NoGradGuard no_grad;
  at::manual_seed(2);
  const Sizes s{2, 3, 600, 90, 32};
  const Tensor q = random(s, s.rows), k = random(s, s.length), v = random(s, s.length);
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const Tensor one = attend_cpu(q, k, v, {});
  at::set_num_threads(2);
  const Tensor two = attend_cpu(q, k, v, {});
  at::set_num_threads(before);
  EXPECT_TRUE(one.equal(two));
}

TEST(AttendCpu, LeavesTrainingAndOtherTypesToLibtorch) {
  const Sizes s{1, 1, 2, 2, 16};
  const Tensor t = random(s, 2);
  EXPECT_FALSE(attend_cpu_takes(t, t, t, {}));  // gradients are on
  at::NoGradGuard no_grad;
  EXPECT_TRUE(attend_cpu_takes(t, t, t, {}));
  const Tensor half = t.to(at::kBFloat16);
  EXPECT_FALSE(attend_cpu_takes(half, half, half, {}));
  const Tensor odd = at::randn({1, 1, 2, 12});
  EXPECT_FALSE(attend_cpu_takes(odd, odd, odd, {}));
}

}  // namespace
}  // namespace arrcoc::tiny
