// Pages of texts and tables that other people wrote, with their questions.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "arrcoc/error.h"
#include "folder.h"
#include "lab/scenes/scenes.h"
#include "lab/scenes/texts.h"

namespace arrcoc::scenes {
namespace {

const char* const kText =
    "P\tThe mill was built in 1874 by Anna Berg. It burned down twice. Since 1931 it is a "
    "museum.\n";
const char* const kTable =
    "H\tShip\tBuilt\tMaster\nR\tDelphin\t1901\tO. Lund\nR\tMöwe\t1913\tP. Holm\nR\tTern\t1920\tK. "
    "Voss\n";

std::string written(const std::string& name, const std::string& lines) {
  const std::string path = test::fresh_folder("texts_" + name + ".txt");
  std::ofstream(path) << lines;
  return path;
}

std::string both() {
  return written("both", std::string("T\tThe mill\n") + kText +
                             "Q\tWho built the mill?\tAnna Berg\t30\n"
                             "Q\tSince when is it a museum?\t1931\t69\n"
                             "T\tShips\n" +
                             kTable +
                             "A\tIn which year was the Möwe built?\t1\t1\n"
                             "A\tWho was master of the Tern?\t2\t2\n");
}

const Assets& assets() {
  static const auto loaded = Assets::load(std::string(ARRCOC_SOURCE_DIR) + "/assets");
  return *loaded;
}

TEST(TextsFile, IsReadWithItsQuestions) {
  const auto texts = load_texts(both());
  ASSERT_EQ(texts->texts.size(), 1U);
  ASSERT_EQ(texts->tables.size(), 1U);
  EXPECT_EQ(texts->texts[0].asked[0].answer, "Anna Berg");
  EXPECT_EQ(texts->tables[0].rows[1][0], "Möwe");
}

TEST(TextsFile, EverySixteenthIsHeldAside) {
  std::string lines;
  for (int i = 0; i < 32; ++i)
    lines +=
        "T\tno. " + std::to_string(i) + "\n" + kText + "Q\tWho built the mill?\tAnna Berg\t30\n";
  const std::string path = written("held", lines);
  EXPECT_EQ(load_texts(path)->texts.size(), 30U);
  const auto held = load_texts(path, true);
  ASSERT_EQ(held->texts.size(), 2U);
  EXPECT_EQ(held->texts[0].title, "no. 15");
}

TEST(TextsFile, WrongLinesAreNamed) {
  const std::pair<const char*, const char*> wrong[] = {
      {"P\tno title\n", ":1: the first line begins with T"},
      {"T\ta\nP\tb\nQ\tq\tz\t0\n", ":3: the answer does not stand at its place"},
      {"T\ta\nP\tb\nQ\tq\tb\tx\n", ":3: 'x' is no whole number"},
      {"T\ta\nH\tx\ty\nR\t1\n", ":3: R takes as many cells as there are heads"},
      {"T\ta\nR\n", ":2: R takes as many cells as there are heads"},
      {"T\ta\nH\tx\ty\nR\t1\t2\nH\tx\ty\tz\n", ":4: a title has one row of heads"},
      {"T\ta\nP\tb\nP\tc\n", ":3: a title has one text"},
      {"T\ta\nP\tb\nQ\t\tb\t0\n", ":3: Q takes question, answer and place"},
      {"T\ta\nH\tx\ty\nR\t1\t2\nA\tq\t1\t0\n", ":4: there is no such cell"},
      {"T\ta\nZ\tb\n", ":2: 'Z' is none of T P Q H R A"}};
  for (const auto& [lines, message] : wrong) {
    try {
      load_texts(written("wrong", lines));
      ADD_FAILURE() << lines;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(load_texts("/nowhere/texts.txt"), Error);
}

TEST(Texts, NeedAFile) {
  assets();  // is there
  EXPECT_THROW(make(assets(), kTexts, 1), Error);
}

// The answer's letters stand in its boxes, in order, and cells name their column as evidence.
TEST(Texts, AnswersStandInTheirBoxes) {
  Options options;
  options.effects = false;
  options.texts = load_texts(both());
  int passages = 0, cells = 0;
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    const Scene scene = make(assets(), kTexts, seed, options);
    for (const Question& q : scene.questions) {
      if (q.intent.rfind("texts.", 0) != 0) continue;
      ++(q.intent == "texts.cell" ? cells : passages);
      std::string read;
      for (const Box& box : q.answer_boxes)
        for (const Glyph& glyph : scene.images[0].glyphs)
          if (glyph.x > box.x0 && glyph.x < box.x1 && glyph.y > box.y0 - 2 &&
              glyph.y < box.y1 + 2 && glyph.code < 128 && glyph.code != ' ')
            read += static_cast<char>(std::tolower(static_cast<int>(glyph.code)));
      std::string wanted;
      for (const char c : q.answer)
        if (c != ' ') wanted += c;
      EXPECT_NE(read.find(wanted), std::string::npos) << q.text << ": " << read;
      EXPECT_FALSE(q.evidence_boxes.empty()) << q.text;
    }
  }
  EXPECT_GT(passages, 20);
  EXPECT_GT(cells, 10);
}

TEST(Texts, DependOnTheSeedAlone) {
  Options options;
  options.texts = load_texts(both());
  const Scene a = make(assets(), kTexts, 9, options), b = make(assets(), kTexts, 9, options);
  EXPECT_EQ(a.images[0].rgb, b.images[0].rgb);
}

}  // namespace
}  // namespace arrcoc::scenes
