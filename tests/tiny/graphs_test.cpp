// Pages made on their device, and what graphs are given: lengths of few kinds.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "arrcoc/picture.h"
#include "models/tiny/page.h"
#include "models/weights/graphs.h"

using namespace arrcoc;
using namespace arrcoc::tiny;

TEST(Graphs, OnTheCpuTheyOnlyCall) {
  Graphs graphs;
  int calls = 0;
  const auto twice = [&](const Graphs::Tensors& in) -> Graphs::Tensors {
    ++calls;
    return {in[0] * 2};
  };
  for (int i = 1; i <= 3; ++i) {
    const at::Tensor given = at::full({3}, i, at::kFloat);
    EXPECT_TRUE(at::equal(graphs.run(at::kCPU, "twice", {given}, twice)[0], given + given));
    EXPECT_EQ(calls, i);
  }
  EXPECT_EQ(graphs.calls(), 3);
}

TEST(Graphs, TheirLengthsAreTriedOnTheCpuWhereThatIsSaid) {
  EXPECT_FALSE(Graphs::available(at::kCPU));
  ::setenv("ARRCOC_GRAPHS", "first", 1);
  EXPECT_TRUE(Graphs::available(at::kCPU));
  ::unsetenv("ARRCOC_GRAPHS");
}

TEST(Graphs, LengthsAreMultiples) {
  EXPECT_EQ(bucket(1, 32), 32);
  EXPECT_EQ(bucket(32, 32), 32);
  EXPECT_EQ(bucket(33, 32), 64);
}

// Two ways to one page: rows of bytes on the CPU, and plain operations on any device.
TEST(Graphs, APageOfBytesIsThePageOfItsFrame) {
  for (const auto& [height, width] : {std::pair(64, 96), std::pair(70, 101), std::pair(33, 32)}) {
    at::manual_seed(height);
    const Picture picture = make_picture(at::randint(0, 256, {3, height, width}, at::kByte));
    const at::Tensor frame = frame_of(picture);
    const Page wanted = page_of_frame(frame);
    EXPECT_TRUE(at::equal(bytes_of_frame(frame), picture.rgb));
    const Page page = page_of_bytes(picture.rgb, wanted.extent);
    EXPECT_TRUE(at::equal(page.pixels, wanted.pixels));
    EXPECT_TRUE(at::allclose(page.texture, wanted.texture, 1e-4, 1e-5));
  }
}
