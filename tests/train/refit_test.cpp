// Weights of one shape fitted into another.
#include "lab/train/refit.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "arrcoc/error.h"
#include "models/tiny/page.h"

namespace arrcoc::training {
namespace {

using at::Tensor;

tiny::Shape before() {
  return tiny::shape_from_json(
      R"({"width":64,"heads":2,"encoder_layers":1,"decoder_layers":1,"mlp":128,"stem":8,"cell":32,
          "page":32,"page_layers":1,"ask":32,"ask_layers":1,"question_layers":1,"lookups":0})");
}

tiny::NetworkWeights fresh(const tiny::Shape& shape) {
  return {shape, tiny::RealizerNet(shape).layout().initial(1),
          tiny::Answerer(shape).layout().initial(2)};
}

Tensor& named(const tiny::Layout& layout, tiny::Tensors& tensors, const std::string& name) {
  for (size_t i = 0; i < tensors.size(); ++i)
    if (layout.specs()[i].name == name) return tensors[i];
  throw std::runtime_error("no tensor " + name);
}

TEST(Refit, TheSameShapeKeepsEveryTensor) {
  const tiny::NetworkWeights from = fresh(before()), to = refit(from, before(), 9);
  ASSERT_EQ(to.realizer.size(), from.realizer.size());
  for (size_t i = 0; i < from.realizer.size(); ++i)
    EXPECT_TRUE(to.realizer[i].equal(from.realizer[i]));
  for (size_t i = 0; i < from.answerer.size(); ++i)
    EXPECT_TRUE(to.answerer[i].equal(from.answerer[i]));
}

TEST(Refit, UnitsThatDoNothingAreTheFirstToGo) {
  at::NoGradGuard no_grad;
  tiny::NetworkWeights from = fresh(before());
  const tiny::Answerer old(before());
  for (const char* layer : {"encoder.0", "adapter.context", "decoder.0"}) {
    Tensor& out = named(old.layout(), from.answerer, std::string(layer) + ".mlp.out.weight");
    for (int64_t unit : {3, 50, 127}) out.select(1, unit).zero_();
  }
  tiny::Shape shape = before();
  shape.mlp = 125;
  tiny::NetworkWeights to = refit(from, shape, 9);
  const tiny::Answerer small(shape);
  Tensor& in = named(small.layout(), to.answerer, "encoder.0.mlp.in.weight");
  Tensor& was = named(old.layout(), from.answerer, "encoder.0.mlp.in.weight");
  EXPECT_TRUE(in.select(0, 2).equal(was.select(0, 2)));
  EXPECT_TRUE(in.select(0, 3).equal(was.select(0, 4)));  // 3 is gone
  // A layer computes what it did.
  const Tensor x = at::rand({5, 64});
  const auto mlp = [&](const tiny::Answerer& net, tiny::Tensors& w) {
    Tensor hidden = at::gelu(at::linear(x, named(net.layout(), w, "encoder.0.mlp.in.weight"),
                                        named(net.layout(), w, "encoder.0.mlp.in.bias")));
    return at::linear(hidden, named(net.layout(), w, "encoder.0.mlp.out.weight"),
                      named(net.layout(), w, "encoder.0.mlp.out.bias"));
  };
  EXPECT_TRUE(at::allclose(mlp(old, from.answerer), mlp(small, to.answerer), 1e-5, 1e-6));
}

TEST(Refit, ALookupIsAddedBesideWhatWasLearned) {
  at::NoGradGuard no_grad;
  const tiny::NetworkWeights from = fresh(before());
  tiny::Shape shape = before();
  shape.lookups = 1;
  tiny::NetworkWeights to = refit(from, shape, 9);
  const tiny::RealizerNet old(before()), grown(shape);
  ASSERT_GT(to.realizer.size(), from.realizer.size());
  // With nothing to say yet it changes nothing.
  named(grown.layout(), to.realizer, "lookup.out.weight").zero_();
  const Tensor canvas = at::randint(0, 255, {1, 64, 64, 3}, at::kByte);
  const Tensor extent = at::full({1, 2}, 64.0F);
  const tiny::Page page{tiny::page_pixels(canvas), tiny::page_texture(canvas, extent), extent};
  const Tensor question = at::randint(3, 190, {1, 16}, at::kLong);
  const Tensor a =
      old.judge(from.realizer, old.read(from.realizer, page, at::kFloat), question, {}, 1)
          .relevance;
  const Tensor b =
      grown.judge(to.realizer, grown.read(to.realizer, page, at::kFloat), question, {}, 1)
          .relevance;
  EXPECT_TRUE(at::allclose(a, b, 1e-5, 1e-6));
}

TEST(Refit, WhatDoesNotFitIsNamed) {
  const auto problem = [](const tiny::NetworkWeights& from,
                          const tiny::Shape& shape) -> std::string {
    try {
      refit(from, shape, 1);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  tiny::Shape wide = before();
  wide.ask = 64;
  EXPECT_NE(problem(fresh(before()), wide).find("another size"), std::string::npos);
  tiny::Shape looking = before();
  looking.lookups = 1;
  EXPECT_NE(problem(fresh(looking), before()).find("lookup"), std::string::npos);
  EXPECT_NE(problem(fresh(looking), before()).find("would be lost"), std::string::npos);
  tiny::Shape heads = before();
  heads.heads = 4;
  EXPECT_NE(problem(fresh(before()), heads).find("heads"), std::string::npos);
}

}  // namespace
}  // namespace arrcoc::training
