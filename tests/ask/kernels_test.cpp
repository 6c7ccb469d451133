// The bundled model answers the same with fast kernels and with the reference.
#include "arrcoc/bundle.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "arrcoc/ask.h"
#include "arrcoc/error.h"
#include "arrcoc/look.h"
#include "arrcoc/media.h"
#include "arrcoc/query.h"
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
      {"street.jpg", "Which platform is this?"}};
  for (const auto& [picture, question] : asked) {
    const Picture seen = media::load(source("examples/pictures/") + picture);
    const Answer a = fast.ask(seen, question), b = reference.ask(seen, question);
    EXPECT_EQ(a.text, b.text) << question;
    EXPECT_NEAR(a.confidence, b.confidence, 0.15) << question;
    EXPECT_LT(std::abs(a.tokens - b.tokens), 0.2 * static_cast<double>(b.tokens)) << question;
    EXPECT_EQ(fast.ask(seen, question).text, a.text);
  }
}

// Most of a page is one colour: what rounding adds to one of its pixels it adds to all of them.
TEST(KernelsOfTheBundle, LookAtPaperAsTheReference) {
  if (!tiny::no_fast_kernels().empty()) GTEST_SKIP() << tiny::no_fast_kernels();
  if (tiny::scale_of({0, 1}).top < 255) GTEST_SKIP() << "bytes end at 127";
  const std::vector<Query> asked = {parse_query("What is the total?"),
                                    parse_query("Which animal is this?")};
  for (const int level : {255, 250}) {
    const Picture paper = make_picture(at::full({3, 512, 640}, level, at::kByte));
    std::vector<std::vector<Look>> looks;
    for (const Kernels kernels : {Kernels::fast, Kernels::reference}) {
      const auto looker = shipped(kernels)->looker;
      looks.push_back(looker->look(*looker->see(paper), asked));
    }
    for (size_t q = 0; q < asked.size(); ++q) {
      const std::vector<float>& fast = looks[0][q].relevance.map.values;
      const std::vector<float>& exact = looks[1][q].relevance.map.values;
      ASSERT_EQ(fast.size(), exact.size());
      double apart = 0;
      for (size_t i = 0; i < fast.size(); ++i) apart += std::abs(fast[i] - exact[i]);
      EXPECT_LT(apart / static_cast<double>(fast.size()), 5e-4) << level << asked[q].text;
    }
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
