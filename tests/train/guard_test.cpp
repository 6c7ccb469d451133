// The guard: whoever trains on documents of their own keeps the better weights.
#include <gtest/gtest.h>
#include <stb/stb_image_write.h>

#include <fstream>
#include <set>

#include "base/json.h"
#include "lab/train/guard.h"
#include "models/tiny/files.h"
#include "train/digits.h"

namespace arrcoc::training {
namespace {

namespace fs = std::filesystem;

real::Result result(uint64_t picture, double anls) {
  real::Result out;
  out.picture = picture;
  out.wanted = "x";
  out.anls = anls;
  return out;
}

TEST(Guard, ComparesQuestionByQuestionAndDrawsPicturesTogether) {
  const std::vector<real::Result> before = {result(1, 0.5), result(1, 0.5), result(2, 1)};
  const std::vector<real::Result> after = {result(1, 1), result(1, 0.7), result(2, 1)};
  const Verdict better = verdict_of(before, after), worse = verdict_of(after, before);
  EXPECT_EQ(better.questions, 3);
  EXPECT_EQ(better.pictures, 2);
  EXPECT_NEAR(better.before, 2.0 / 3, 1e-9);
  EXPECT_NEAR(better.after, 0.9, 1e-9);
  EXPECT_NEAR(better.gain, 0.7 / 3, 1e-9);
  EXPECT_LE(better.low, better.gain);
  EXPECT_GE(better.high, better.gain);
  EXPECT_FALSE(better.kept_old);
  EXPECT_TRUE(worse.kept_old);
  EXPECT_FALSE(verdict_of(before, before).kept_old);
  EXPECT_NE(to_text(worse).find("0.900 before, 0.667 after, difference -0.233"), std::string::npos)
      << to_text(worse);
}

TEST(Guard, APlaceCountsByPointing) {
  real::Result hit, miss;
  hit.pointing = 1;
  miss.pointing = 0;
  EXPECT_TRUE(verdict_of({hit}, {miss}).kept_old);
  EXPECT_FALSE(verdict_of({miss}, {hit}).kept_old);
}

// A folder of pages, all with the same answer: learnt in a second or two.
std::string pages() {
  const std::string folder = test::fresh_folder("pages");
  fs::create_directories(folder);
  std::ofstream items(folder + "/items.jsonl");
  for (int i = 0; i < 8; ++i) {
    const scenes::Scene scene = digits_scene(static_cast<uint64_t>(i) + 1, 64);
    const scenes::Image& image = scene.images[0];
    const std::string name = std::to_string(i) + ".png";
    EXPECT_NE(stbi_write_png((folder + "/" + name).c_str(), 64, 64, 3, image.rgb.data(), 192), 0);
    const Box& b = scene.questions[0].answer_boxes[0];
    items << json{{"image", name},      {"width", 64},
                  {"height", 64},       {"question", "what is it?"},
                  {"answer", "digits"}, {"answer_boxes", {{b.x0, b.y0, b.x1, b.y1}}},
                  {"held", i % 2 == 0}}
          << "\n";
  }
  return folder;
}

struct Trained {
  Report report;
  std::string out, said;
};

Trained run(const std::string& name, const std::string& data, const std::string& init,
            int64_t steps, float rate, bool guard = true) {
  Options o = folder_options(name, data);
  o.init = init;
  o.guard = guard;
  o.native = 64;
  o.real = 0.75F;
  o.dense = 0;
  o.steps = steps;
  o.rate = o.realizer_rate = rate;
  o.checkpoint = false;
  Trained out;
  out.out = o.out;
  out.report = train(
      o, [](uint64_t seed, bool) { return digits_scene(seed, 64); },
      [&](const std::string& line) {
        if (line.rfind("guard", 0) == 0) out.said = line;
      });
  return out;
}

std::string shards_of(const std::string& folder) {
  std::string out;
  std::set<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.insert(entry.path());
  for (const fs::path& file : files) out += file.filename().string() + read_text(file.string());
  return out;
}

TEST(Guard, BetterWeightsAreKeptAndWorseOnesRefused) {
  const std::string data = pages();
  const Trained fresh = run("fresh", data, "", 1, 1e-4F);
  EXPECT_FALSE(fresh.report.verdict);  // it began with none
  write_text_file(fresh.out + "/weights/policies.json", "{}");

  const Trained good = run("good", data, fresh.out + "/weights", 150, 4e-3F);
  ASSERT_TRUE(good.report.verdict);
  EXPECT_FALSE(good.report.verdict->kept_old) << good.said;
  EXPECT_GT(good.report.verdict->after, good.report.verdict->before + 0.5) << good.said;
  EXPECT_EQ(good.report.verdict->pictures, 4);
  EXPECT_NE(good.said.find("the new weights are kept"), std::string::npos) << good.said;
  EXPECT_NE(shards_of(good.out + "/weights"), shards_of(fresh.out + "/weights"));
  EXPECT_FALSE(fs::exists(good.out + "/refused"));
  EXPECT_TRUE(fs::exists(good.out + "/weights/policies.json"));  // fitted things come along

  const Trained absurd = run("absurd", data, good.out + "/weights", 4, 100);
  ASSERT_TRUE(absurd.report.verdict);
  EXPECT_TRUE(absurd.report.verdict->kept_old) << absurd.said;
  EXPECT_NE(absurd.said.find("the old weights are kept"), std::string::npos) << absurd.said;
  EXPECT_EQ(shards_of(absurd.out + "/weights"), shards_of(good.out + "/weights"));
  EXPECT_TRUE(tiny::holds_weights(absurd.out + "/refused"));
  EXPECT_NO_THROW(tiny::load_networks(absurd.out + "/weights"));

  const Trained forced = run("forced", data, good.out + "/weights", 4, 100, false);
  ASSERT_TRUE(forced.report.verdict);
  EXPECT_FALSE(forced.report.verdict->kept_old);
  EXPECT_LT(forced.report.verdict->gain, 0);
  EXPECT_NE(shards_of(forced.out + "/weights"), shards_of(good.out + "/weights"));
}

TEST(Guard, WeightsAreNotTrainedOverThemselves) {
  const std::string data = pages();
  const Trained fresh = run("itself", data, "", 1, 1e-4F);
  Options o = tiny_options("unused");
  o.data = data;
  o.out = fresh.out;
  o.init = fresh.out + "/weights";
  o.native = 64;
  o.slots = o.real_slots = 8;
  o.steps = 1;
  EXPECT_THROW(
      train(
          o, [](uint64_t seed, bool) { return digits_scene(seed, 64); }, [](const std::string&) {}),
      Error);
}

}  // namespace
}  // namespace arrcoc::training
