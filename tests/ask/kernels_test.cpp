// The bundled model answers the same with fast kernels and with the reference.
#include "arrcoc/bundle.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "arrcoc/ask.h"
#include "arrcoc/error.h"
#include "arrcoc/media.h"
#include "models/tiny/kernels.h"

namespace arrcoc {
namespace {

std::string source(const std::string& path) { return std::string(ARRCOC_SOURCE_DIR) + "/" + path; }

std::shared_ptr<const Bundle> shipped(Kernels kernels) {
  return load_bundle(source("models/tiny"), kernels);
}

TEST(KernelsOfTheBundle, AnswerTheBundledPicturesAlike) {
  const auto chosen = shipped(Kernels::automatic);
  if (const std::string& why = tiny::no_fast_kernels(); !why.empty()) {
    EXPECT_EQ(kernels_of(*chosen), "reference (" + why + ")");
    EXPECT_THROW(shipped(Kernels::fast), Error);
    return;
  }
  ASSERT_EQ(kernels_of(*chosen).rfind("fast (", 0), 0U) << kernels_of(*chosen);
  const Asker fast(chosen), reference(shipped(Kernels::reference));
  const std::pair<const char*, const char*> asked[] = {
      {"receipt.jpg", "What is the total?"},
      {"receipt.jpg", "What is the date?"},
      {"chart.jpg", "What is the value of South Africa?"},
      {"zoo.jpg", "Which animal is this?"}};
  for (const auto& [picture, question] : asked) {
    const Picture seen = media::load(source("examples/pictures/") + picture);
    const Answer a = fast.ask(seen, question), b = reference.ask(seen, question);
    EXPECT_EQ(a.text, b.text) << question;
    EXPECT_NEAR(a.confidence, b.confidence, 0.15) << question;
    EXPECT_LT(std::abs(a.tokens - b.tokens), 0.2 * static_cast<double>(b.tokens)) << question;
    EXPECT_EQ(fast.ask(seen, question).text, a.text);
  }
}

TEST(KernelsOfTheBundle, SayWhatTheyAre) {
  EXPECT_EQ(kernels_of(*shipped(Kernels::reference)), "reference (chosen)");
  if (tiny::no_fast_kernels().empty()) {
    EXPECT_EQ(kernels_of(*shipped(Kernels::fast)).rfind("fast (", 0), 0U);
    return;
  }
  try {  // a build or a machine without them
    shipped(Kernels::fast);
    ADD_FAILURE() << "fast after all";
  } catch (const Error& problem) {
    EXPECT_EQ(problem.code(), ErrorCode::unsupported);
  }
}

}  // namespace
}  // namespace arrcoc
