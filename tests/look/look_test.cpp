// Know, then balance: what a looker computes, shares and reports.
#include "arrcoc/look.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "arrcoc/error.h"
#include "sight.h"

using namespace arrcoc;
using namespace arrcoc::test;

namespace {

std::atomic<int> scored{0};

// Counts how often it is asked; bright where the picture is bright.
class Counting : public Scorer {
 public:
  explicit Counting(bool reads) : reads_(reads) {}
  bool reads_question() const override { return reads_; }
  Map score(const Sight& sight) const override {
    ++scored;
    Map out = like(sight.shape, 0.2F);
    out.values[0] = 0.6F;
    return out;
  }

 private:
  bool reads_;
};

void register_scorers() {
  registry<Scorer>().add("test-blind", "", [] { return std::make_unique<Counting>(false); });
  registry<Scorer>().add("test-asked", "", [] { return std::make_unique<Counting>(true); });
}

// A network: its map has 2x2 cells, its need is a fifth.
class Network : public Looker {
 public:
  struct Page : Seen {
    int64_t bytes() const override { return 1000; }
  };
  std::shared_ptr<const Seen> see(const Picture&, const at::Tensor&) const override {
    ++seen;
    return std::make_shared<Page>();
  }
  std::vector<Look> look(const Seen&, std::span<const Query> questions,
                         const History&) const override {
    Look one;
    one.relevance.map = {2, 2, 128, 128, {0.1F, 0.2F, 0.3F, 0.4F}};
    one.need = 0.2F;
    return std::vector<Look>(questions.size(), one);
  }
  mutable int seen = 0;
};

Picture picture() { return make_picture(at::full({3, 256, 256}, 90, at::kByte)); }

std::vector<Query> two() { return {parse_query("what is it?"), parse_query("who is it?")}; }

}  // namespace

TEST(Look, TheNetworksMapIsPassedOnAndTheOtherScorersAreNotAsked) {
  register_scorers();
  LookOptions options;
  options.information = options.salience = "test-blind";
  const auto looker = make_looker(options, std::make_shared<Network>());
  scored = 0;
  const auto looks = looker->look(*looker->see(picture()), two());
  ASSERT_EQ(looks.size(), 2U);
  EXPECT_EQ(scored, 0);
  EXPECT_EQ(looks[0].relevance.weights, (Weights{0, 0, 1}));
  EXPECT_FALSE(looks[0].relevance.tensions);
  EXPECT_EQ(looks[0].need, 0.2F);
  // On the cells that were asked for, in pixels of the picture, unstretched.
  EXPECT_EQ(looks[0].relevance.map.rows, 16);
  EXPECT_FLOAT_EQ(looks[0].relevance.map.at(0, 0), 0.1F);
  EXPECT_FLOAT_EQ(looks[0].relevance.map.at(15, 15), 0.4F);
}

TEST(Look, MapsThatDoNotDependOnTheQuestionAreMadeOnce) {
  register_scorers();
  LookOptions options;
  options.information = options.salience = "test-blind";
  options.coupling = "test-asked";
  options.balance.preset = "vervaeke";
  const auto looker = make_looker(options);
  const auto seen = looker->see(picture());
  scored = 0;
  looker->look(*seen, two());
  looker->look(*seen, two());
  EXPECT_EQ(scored, 2 + 4);  // information and salience once each, coupling for every question
  EXPECT_GT(seen->bytes(), 0);
}

TEST(Look, EveryMapIsThereWhereItIsWanted) {
  LookOptions options;
  options.coupling = "lexical";
  const auto maps = [&] {
    const auto looker = make_looker(options);
    const std::vector<Query> one = {parse_query("What is in the top left corner?")};
    return looker->look(*looker->see(picture()), one).front().knowledge;
  };
  EXPECT_TRUE(maps().information.empty());
  options.every_map = true;
  EXPECT_EQ(maps().information.size(), 256U);
}

TEST(Look, AFlatCouplingMapBringsTheOtherTwoIn) {
  LookOptions options;
  options.coupling = "lexical";
  at::Tensor rgb = flat(.9, .9, .9, 512, 512);
  scribble(rgb, 60, 60, 300, 300, .1);
  const Picture print = make_picture((rgb * 255).to(at::kByte));
  const auto looker = make_looker(options);
  const std::vector<Query> nothing = {parse_query("Is it going to happen again?")};
  const Look look = looker->look(*looker->see(print), nothing).front();
  ASSERT_EQ(look.relevance.fallbacks.size(), 1U);
  EXPECT_NE(look.relevance.fallbacks[0].find("flat"), std::string::npos);
  EXPECT_EQ(look.relevance.weights, weight_preset("vervaeke"));
  EXPECT_GT(variance(look.relevance.map), 0.001F);
}

TEST(Look, NamesTheScorerThatFails) {
  class Nan : public Scorer {
   public:
    Map score(const Sight& sight) const override { return like(sight.shape, NAN); }
  };
  registry<Scorer>().add("test-nan", "", [] { return std::make_unique<Nan>(); });
  LookOptions options;
  options.coupling = "test-nan";
  const auto looker = make_looker(options);
  try {
    looker->look(*looker->see(picture()), two());
    FAIL() << "NaN passed";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::numeric);
    EXPECT_NE(std::string(e.what()).find("test-nan"), std::string::npos);
  }
  options.coupling = "no-such";
  EXPECT_THROW(make_looker(options), Error);
  options.coupling = kNetwork;  // and nobody to ask
  EXPECT_THROW(make_looker(options), Error);
  EXPECT_THROW(looker->look(Network::Page(), two()), Error);  // another looker's page
}

TEST(Look, TheGazeFeedsTheScorerOfAttention) {
  History history;
  history.gaze = {2, 2, 128, 128, {0, 0, 0, 0.9F}};
  LookOptions attention;
  attention.coupling = "attention";
  const auto eye = make_looker(attention);
  EXPECT_GT(eye->look(*eye->see(picture()), two(), history).front().relevance.map.at(14, 14), 0.8F);
  EXPECT_THROW(eye->look(*eye->see(picture()), two()), Error);  // nobody looked anywhere
}

TEST(Look, OptionsAreChecked) {
  LookOptions options;
  options.coupling = "lexical";
  options.frame = 8;
  EXPECT_THROW(make_looker(options), Error);
  options.frame = 1024;
  options.cell = 2;
  EXPECT_THROW(make_looker(options), Error);
}

TEST(Lookers, AGivenMapIsStretchedOverThePicture) {
  const auto looker = given_map({1, 2, 1, 1, {0.25F, 0.75F}});
  const Look look = looker->look(*looker->see(picture()), two()).front();
  EXPECT_FLOAT_EQ(look.relevance.map.cell_width, 128);
  EXPECT_FLOAT_EQ(look.relevance.map.cell_height, 256);
  EXPECT_FLOAT_EQ(look.relevance.map.values[1], 0.75F);
}

TEST(Lookers, TheMeanStretchesEachMapFirst) {
  const auto mean =
      mean_of({given_map({1, 2, 1, 1, {0.4F, 0.6F}}), given_map({2, 2, 1, 1, {0, 0, 0.5F, 0.5F}})});
  const Look look = mean->look(*mean->see(picture()), two()).front();
  EXPECT_EQ(look.relevance.map.values, (std::vector<float>{0, 0.5F, 0.5F, 1}));
  EXPECT_THROW(mean_of({}), Error);
}

TEST(Lookers, TheNeedComesFromTheNetworkWhereALookerHasNone) {
  const auto network = std::make_shared<Network>();
  const auto looker = with_need_of(given_map({1, 1, 1, 1, {0.5F}}), network);
  const auto looks = looker->look(*looker->see(picture()), two());
  EXPECT_EQ(looks[1].need, 0.2F);
  EXPECT_EQ(looks[1].relevance.map.values, (std::vector<float>{0.5F}));
}

TEST(Lookers, RememberingSeesAPictureOnce) {
  const auto network = std::make_shared<Network>();
  const auto looker = remembering(network, 2500);  // two pages
  const Picture a = picture();
  const Picture b = make_picture(at::full({3, 256, 256}, 91, at::kByte));
  const Picture c = make_picture(at::full({3, 256, 256}, 92, at::kByte));
  const auto first = looker->see(a);
  EXPECT_EQ(looker->see(a), first);
  EXPECT_EQ(network->seen, 1);
  looker->see(b);
  looker->see(c);  // a goes
  EXPECT_EQ(network->seen, 3);
  looker->see(c);
  looker->see(b);
  EXPECT_EQ(network->seen, 3);
  looker->see(a);
  EXPECT_EQ(network->seen, 4);
  EXPECT_EQ(remembering(network, 10)->see(a)->bytes(), 1000);  // one at least
}
