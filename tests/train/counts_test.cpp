// Counts are asked for what a view shows; means of weights are named and refused.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "arrcoc/error.h"
#include "folder.h"
#include "lab/train/means.h"
#include "lab/train/real/counts.h"

namespace arrcoc::training {
namespace {

// A photograph of 400 x 200 pixels: three cats, the last of them in the right half, and a dog that
// nobody asks for.
std::shared_ptr<const real::Data> photographs() {
  const std::string path = test::fresh_folder("counts");
  std::filesystem::create_directories(path);
  std::ofstream(path + "/items.jsonl")
      << R"({"id":"a_count_cat","image":"a.png","width":400,"height":200,"question":"How many cats?",)"
         R"("answer":"3","answer_boxes":[[10,20,60,80]],"kind":"count"})"
      << "\n";
  std::ofstream(path + "/objects.jsonl")
      << R"({"image":"a.png","objects":[[10,20,60,80,"cat"],[100,20,150,80,"cat"],)"
         R"([300,20,350,80,"cat"],[300,100,380,180,"dog"]]})"
      << "\n";
  return real::Data::load({{path, 1}}, 0);
}

std::set<std::string> answers(const real::Data& data, const Box& crop) {
  real::View view;
  view.crop = crop;
  view.width = static_cast<int>(crop.width());
  view.height = static_cast<int>(crop.height());
  std::set<std::string> out;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Dice dice(seed);
    for (const Ask& ask : real::count_asks(data, data.entries()[0], view, dice)) {
      out.insert(tiny::decode(ask.answer));
      EXPECT_EQ(std::to_string(ask.answer_boxes.size()), tiny::decode(ask.answer));
    }
  }
  return out;
}

TEST(RealCounts, AnAnswerIsThatOfTheView) {
  const auto data = photographs();
  ASSERT_TRUE(data->entries()[0].listed);
  using Set = std::set<std::string>;
  EXPECT_EQ(answers(*data, {0, 0, 400, 200}), Set{"3"});
  EXPECT_EQ(answers(*data, {0, 0, 200, 200}), Set{"2"});
  EXPECT_EQ(answers(*data, {200, 0, 400, 200}), Set{"1"});
  EXPECT_EQ(answers(*data, {0, 0, 320, 200}), Set{});     // a cat is cut
  EXPECT_EQ(answers(*data, {200, 90, 400, 200}), Set{});  // nobody asks for dogs
}

TEST(RealCounts, SingleThingsAreThinned) {
  const auto data = photographs();
  const auto asked = [&](const Box& crop) {
    const real::View view{
        crop, static_cast<int>(crop.width()), static_cast<int>(crop.height()), false, false, {}, 0};
    int out = 0;
    for (uint64_t seed = 0; seed < 400; ++seed) {
      Dice dice(seed);
      out += static_cast<int>(real::count_asks(*data, data->entries()[0], view, dice).size());
    }
    return out;
  };
  EXPECT_EQ(asked({0, 0, 400, 200}), 400);
  EXPECT_NEAR(asked({0, 0, 200, 200}), 280, 40);
  EXPECT_NEAR(asked({200, 0, 400, 200}), 120, 40);
}

TEST(Means, SharesAreReadAndNonsenseIsRefused) {
  const auto means = means_of("0/0,0.4/0.6,1/1");
  ASSERT_EQ(means.size(), 3u);
  EXPECT_EQ(means[1].name, "0.4/0.6");
  EXPECT_DOUBLE_EQ(means[1].answerer, 0.4);
  EXPECT_DOUBLE_EQ(means[1].realizer, 0.6);
  for (const char* odd : {"", "0.4", "0.4/", "/1", "a/b", "0.4/2", "0.4/0.6/1", "-1/0"})
    EXPECT_THROW(means_of(odd), Error) << odd;
}

}  // namespace
}  // namespace arrcoc::training
