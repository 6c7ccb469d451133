#include "lab/scenes/scenes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "arrcoc/error.h"
#include "lab/scenes/draft.h"
#include "lab/scenes/layouts.h"
#include "lab/scenes/library.h"
#include "lab/scenes/words.h"

namespace arrcoc::scenes {
namespace {

const Assets& assets() {
  static const auto loaded = Assets::load(std::string(ARRCOC_SOURCE_DIR) + "/assets");
  return *loaded;
}

TEST(Scenes, SameSeedSameSceneWhateverWasMadeBefore) {
  for (const auto& kind : kinds()) {
    const uint64_t first = digest(make(assets(), kind, 7));
    make(assets(), kinds()[0], 99);
    EXPECT_EQ(first, digest(make(assets(), kind, 7))) << kind;
    EXPECT_NE(first, digest(make(assets(), kind, 8))) << kind;
  }
}

TEST(Scenes, TwoThreadsMakeWhatOneMakes) {
  constexpr int kCount = 24;
  std::vector<uint64_t> alone(kCount), together(kCount);
  for (int i = 0; i < kCount; ++i) alone[i] = digest(make_mixed(assets(), 500 + i));
  auto work = [&](int from) {
    for (int i = from; i < kCount; i += 2) together[i] = digest(make_mixed(assets(), 500 + i));
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  EXPECT_EQ(alone, together);
}

TEST(Scenes, ReloadedAssetsGiveTheSamePictures) {
  const auto again = Assets::load(std::string(ARRCOC_SOURCE_DIR) + "/assets");
  EXPECT_EQ(digest(make(assets(), "documents", 3)), digest(make(*again, "documents", 3)));
}

TEST(Scenes, UnknownNamesAndReservedSeedsAreRefused) {
  auto code = [](auto&& call) {
    try {
      call();
    } catch (const Error& e) {
      return std::string(to_string(e.code()));
    }
    return std::string("none");
  };
  EXPECT_EQ(code([] { make(assets(), "weather", 1); }), "not_found");
  EXPECT_EQ(code([] { Assets::load("/no/such/folder"); }), "not_found");
  EXPECT_EQ(code([] { make_mixed(assets(), kSuiteSeedBase); }), "bad_argument");
  EXPECT_EQ(code([] { suite_scene(assets(), "suite:weather", 0); }), "not_found");
  EXPECT_EQ(code([] { suite_scene(assets(), "suite:charts", kSuiteScenes); }), "bad_argument");
}

bool latin_or_euro(const std::string& text) {
  for (char32_t c : decode(text))
    if (c < 32 || (c > 255 && c != 0x20AC)) return false;
  return true;
}

TEST(Scenes, QuestionsAndAnswersKeepTheirLimits) {
  Options options;
  options.longest = 512;
  for (const auto& kind : kinds()) {
    for (uint64_t seed = 0; seed < 40; ++seed) {
      const Scene scene = make(assets(), kind, seed, options);
      EXPECT_FALSE(scene.questions.empty()) << kind << seed;
      EXPECT_LE(scene.questions.size(), 8u);
      for (const Question& q : scene.questions) {
        EXPECT_LE(q.text.size(), 192u);
        EXPECT_FALSE(q.text.empty());
        EXPECT_EQ(q.text.find('{'), kind == "formulas" ? q.text.find('{') : std::string::npos)
            << q.text;
        EXPECT_LE(decode(q.answer).size(), 64u);
        EXPECT_TRUE(latin_or_euro(q.text)) << q.text;
        EXPECT_TRUE(latin_or_euro(q.answer)) << q.answer;
        EXPECT_EQ(q.answer == "none", q.answer_boxes.empty()) << q.text << " -> " << q.answer;
        ASSERT_LT(static_cast<size_t>(q.picture), scene.images.size());
      }
    }
  }
}

TEST(Scenes, BoxesAndGlyphsLieInsideThePicture) {
  for (const auto& kind : kinds()) {
    for (uint64_t seed = 100; seed < 112; ++seed) {
      const Scene scene = make(assets(), kind, seed);
      for (const Question& q : scene.questions) {
        const Image& image = scene.images[q.picture];
        for (const Box& b : q.answer_boxes) {
          const Box whole{-1, -1, image.width + 1.0F, image.height + 1.0F};
          EXPECT_GT(b.area(), 0) << q.text;
          EXPECT_FLOAT_EQ(intersect(b, whole).area(), b.area())
              << kind << " " << scene.layout << " " << seed << " " << q.text;
        }
      }
      for (const Image& image : scene.images) {
        EXPECT_EQ(image.rgb.size(), static_cast<size_t>(image.width) * image.height * 3);
        size_t outside = 0;
        for (const Glyph& g : image.glyphs)
          outside += g.x < 0 || g.y < 0 || g.x >= image.width || g.y >= image.height;
        EXPECT_EQ(outside, 0u) << kind << " " << scene.layout << " " << seed;
      }
    }
  }
}

TEST(Scenes, PicturesKeepTheLongestSideButNeedles) {
  for (int longest : {512, 1024}) {
    Options options;
    options.longest = longest;
    for (const auto& kind : kinds())
      for (uint64_t seed = 0; seed < 8; ++seed) {
        const Scene scene = make(assets(), kind, seed, options);
        for (const Image& image : scene.images)
          EXPECT_LE(std::max(image.width, image.height),
                    scene.layout == "needle" ? 2 * longest : longest)
              << scene.layout;
      }
  }
}

TEST(Scenes, StrangeNamesAreNewButLookAlike) {
  Random plain(5), odd(5);
  odd.strangeness = 1;
  int same = 0;
  for (int i = 0; i < 200; ++i) {
    const std::string name = "Harrington & Sons 24";
    EXPECT_EQ(strange(plain, name), name);
    const std::string other = strange(odd, name);
    same += other == name;
    ASSERT_EQ(other.size(), name.size());
    for (size_t k = 0; k < name.size(); ++k) {
      EXPECT_EQ(std::isupper(name[k]) != 0, std::isupper(other[k]) != 0) << other;
      if (!std::isalpha(name[k])) EXPECT_EQ(name[k], other[k]) << other;
    }
  }
  EXPECT_LT(same, 8);
  EXPECT_EQ(plain.next(), Random(5).next());  // nothing was drawn
}

TEST(Scenes, TheMixHoldsAllKindsAndAShareWithoutAnAnswer) {
  Options options;
  options.longest = 384;
  std::map<std::string, int> seen;
  int none = 0, all = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const Scene scene = make_mixed(assets(), seed, options);
    ++seen[scene.kind];
    for (const Question& q : scene.questions) none += q.answer == "none", ++all;
  }
  EXPECT_EQ(seen.size(), kinds().size() - 1);  // all but records
  EXPECT_GT(seen["documents"], seen["charts"]);
  EXPECT_GT(none, all * 0.01);
  EXPECT_LT(none, all * 0.15);
}

TEST(Scenes, TrainingNeverUsesHeldBackFontsLayoutsOrCutouts) {
  const Library& lib = library(assets());
  Random random(1);
  for (const char* role :
       {"thermal", "mono", "typewriter", "sans", "narrow", "serif", "display", "hand", "math"}) {
    for (int i = 0; i < 60; ++i) {
      EXPECT_FALSE(lib.family(random, role, false).held) << role;
      EXPECT_TRUE(lib.family(random, role, true).held) << role;
    }
  }
  for (int i : lib.usable(false)) EXPECT_FALSE(lib.cutouts()[i].held);
  for (int i : lib.usable(true)) EXPECT_TRUE(lib.cutouts()[i].held);
  EXPECT_GE(lib.usable(false).size(), 300u);
  EXPECT_GE(lib.usable(true).size(), 35u);
  Options options;
  options.longest = 256;
  const std::set<std::string> held = {"envelope", "id-card", "departure-board", "odd-one-out"};
  std::set<std::string> unseen;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    for (const char* kind : {"documents", "scenes", "hard"}) {
      options.held_back = false;
      EXPECT_EQ(held.count(make(assets(), kind, seed, options).layout), 0u);
      options.held_back = true;
      unseen.insert(make(assets(), kind, seed, options).layout);
    }
  }
  for (const auto& layout : held) EXPECT_EQ(unseen.count(layout), 1u) << layout;
}

TEST(Scenes, ClipsSayWhereTheEvidenceIsInEveryFrame) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const Scene scene = make(assets(), "clips", seed);
    ASSERT_GE(scene.images.size(), 4u);
    for (const Image& frame : scene.images) {
      ASSERT_EQ(frame.targets.size(), scene.questions.size());
      EXPECT_EQ(frame.width, scene.images[0].width);
    }
    for (size_t q = 0; q < scene.questions.size(); ++q) {
      size_t shown = 0;
      for (const Image& frame : scene.images) shown += frame.targets[q].area() > 0;
      EXPECT_GT(shown, 0u) << scene.questions[q].text;
    }
  }
}

TEST(Scenes, TypographyCoversEverythingThatIsWritten) {
  // A letter without an outline would be asked for and never seen.
  const Library& lib = library(assets());
  for (const Family& family : lib.families())
    for (char32_t code = 33; code < 127; ++code) {
      if (family.has("led") || (code >= 'a' && code <= 'z' && family.name == "bebas")) continue;
      EXPECT_TRUE(lib.font(family.regular).has(code))
          << family.name << " " << static_cast<char>(code);
    }
}

TEST(Scenes, EveryAssetHasARecordedLicence) {
  const std::filesystem::path folder = std::string(ARRCOC_SOURCE_DIR) + "/assets";
  std::ifstream in(folder / "LICENSES.md");
  std::stringstream text;
  text << in.rdbuf();
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    // The licences themselves, how to make the assets, and what is read beside the fonts.
    if (!entry.is_regular_file() || name == "LICENSES.md" || name == "README.md" ||
        name == "index.txt")
      continue;
    ++files;
    EXPECT_NE(text.str().find(name), std::string::npos) << name;
  }
  EXPECT_GE(files, 60);
}

TEST(Scenes, AssetsAreManyAndSmall) {
  const std::filesystem::path folder = std::string(ARRCOC_SOURCE_DIR) + "/assets";
  EXPECT_LE(std::filesystem::file_size(folder / "atlas.png"), 3u << 20);
  const Library& lib = library(assets());
  EXPECT_GE(lib.cutouts().size(), 300u);
  EXPECT_GE(lib.families().size(), 28u);
  std::set<std::string> names;
  for (const Cutout& cutout : lib.cutouts())
    EXPECT_TRUE(names.insert(cutout.name).second) << cutout.name << " names two cut-outs";
}

}  // namespace
}  // namespace arrcoc::scenes
