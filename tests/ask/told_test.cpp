// What tokens say of relevance: the network's, wherever the balance sent them.
#include "ask/told.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "arrcoc/ask.h"
#include "models.h"

using namespace arrcoc;
using namespace arrcoc::test;

namespace {

std::vector<float> list_of(const at::Tensor& values) {
  return {values.data_ptr<float>(), values.data_ptr<float>() + values.numel()};
}

// Relevance that the tokens of a first look say, and that their leaves have.
std::pair<std::vector<float>, std::vector<float>> said_and_had(const std::string& policy,
                                                               float* most_coupling) {
  static const Asker asker(load_bundle(small_weights()));
  AskOptions options = asker.fitted(arrcoc::policy(policy));
  options.budget = "80";
  options.look.balance.void_variance = 0;  // noise is looked at like any picture
  Asking asking({asker.see(noise(400, 300), options)}, asker.model(), "What is the total?",
                options);
  const std::vector<Reading> readings = asking.next();
  const PictureTokens& picture = readings.at(0).pictures.at(0);
  std::vector<float> had;
  for (const Leaf& leaf : picture.allocation.leaves) had.push_back(leaf.relevance);
  std::vector<float> said = list_of(picture.tokens.relevance);
  *most_coupling = maximum(asking.finish().from().look.knowledge.coupling);
  return {said, had};
}

}  // namespace

TEST(Told, IsTheLargestValueUnderEachLeaf) {
  Map map{4, 4, 16, 16, std::vector<float>(16, 0.1F)};
  map.at(0, 0) = 0.5F;
  map.at(3, 3) = 0.9F;
  Allocation allocation;
  allocation.geometry = {64, 64, 0};
  allocation.leaves = {{1, 0, 0, 0.7F}, {1, 1, 1, 0.7F}, {0, 0, 2, 0.7F}, {0, 3, 3, 0.7F}};
  TokenSequence tokens;
  const at::Tensor before = tokens.relevance = at::full({4}, 0.7F);
  asking::tell(map, allocation, tokens);
  EXPECT_EQ(list_of(tokens.relevance), (std::vector<float>{0.5F, 0.9F, 0.1F, 0.9F}));
  EXPECT_EQ(list_of(before), std::vector<float>(4, 0.7F));  // others may hold it
  // Cells that are no whole number of pixels: a sliver of the next one does not count.
  Map odd = map;
  odd.cell_width = odd.cell_height = 16.5F;
  tokens.relevance = at::zeros({4});
  asking::tell(odd, allocation, tokens);
  EXPECT_EQ(list_of(tokens.relevance)[0], 0.5F);
  EXPECT_EQ(list_of(tokens.relevance)[2], 0.1F);
}

TEST(Told, ABalancedMapMovesTokensNotWhatTheySay) {
  float most = 0;
  const auto [said, had] = said_and_had("realizer-thirds", &most);
  EXPECT_EQ(said.size(), had.size());
  EXPECT_NE(said, had);
  for (const float v : said) EXPECT_LE(v, most);
}

TEST(Told, TheNetworksMapAloneIsSaidAsItWasAllocated) {
  float most = 0;
  const auto [said, had] = said_and_had("realized", &most);
  EXPECT_EQ(said, had);
}
