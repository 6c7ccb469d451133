// arrcoc label: what OCR reads of generated pages, whose characters are known, becomes training
// data.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "arrcoc/error.h"
#include "arrcoc/media.h"
#include "cli/process.h"
#include "lab/measure/lines.h"
#include "lab/measure/measure.h"
#include "lab/train/real/sample.h"
#include "lab/train/real/words.h"

namespace arrcoc {
namespace {

namespace fs = std::filesystem;
using namespace arrcoc::test;
using nlohmann::json;
namespace real = training::real;

scenes::Image page(uint64_t seed) {
  static const auto assets = scenes::Assets::load(std::string(ARRCOC_SOURCE_DIR) + "/assets");
  scenes::Options options;
  options.effects = false;
  return scenes::make(*assets, "documents", seed, options).images.at(0);
}

void write(const std::string& path, const scenes::Image& image) {
  media::write_png(path, measuring::picture_of(image, "page").rgb);
}

std::map<std::string, std::vector<real::Word>> words_of(const std::string& folder) {
  std::map<std::string, std::vector<real::Word>> out;
  measuring::each_line(folder + "/words.jsonl", [&](const measuring::Line& line) {
    out[line.text("image")] = real::words_in(line);
  });
  return out;
}

json labelled(const std::string& arguments) {
  const Outcome o = run_arrcoc("label " + arguments + " --json");
  EXPECT_EQ(o.code, 0) << o.err;
  return o.code == 0 ? json::parse(o.out) : json();
}

void expect_one_line_error(const Outcome& o, const std::string& part) {
  EXPECT_NE(o.code, 0);
  EXPECT_EQ(o.out, "");
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  EXPECT_NE(o.err.find(part), std::string::npos) << o.err;
  EXPECT_EQ(o.err.find("json.exception"), std::string::npos) << o.err;
}

struct Found {
  int words = 0, read = 0;  // of the page's lines; also read, at their place
  int characters = 0,
      off = 0;         // of those; further than 3 pixels or a quarter of an em from the truth
  float distance = 0;  // sum over the characters
};

// How far each character lies from the nearest one of the same code on its line.
void compare_characters(const scenes::Image& truth, const real::Word& word, Found& found) {
  const std::u32string text = real::code_points(word.text);
  for (size_t i = 0; i < text.size(); ++i) {
    float nearest = 1e9F, em = 0;
    for (const scenes::Glyph& glyph : truth.glyphs) {
      if (glyph.code != text[i] || glyph.y < word.box.y0 - 4 || glyph.y > word.box.y1 + 4) continue;
      if (const float off = std::abs(glyph.x - word.centres[i]); off < nearest)
        nearest = off, em = glyph.height;
    }
    if (em == 0) continue;  // its line is written in other characters that look alike
    ++found.characters;
    found.distance += nearest;
    found.off += nearest > std::max(3.0F, 0.25F * em);
  }
}

void compare(const scenes::Image& truth, const std::vector<real::Word>& words, Found& found) {
  for (const scenes::TextBox& line : truth.texts) {
    std::istringstream parts(line.text);
    for (std::string part; parts >> part;) {
      ++found.words;
      const auto same = std::find_if(words.begin(), words.end(), [&](const real::Word& word) {
        return word.text == part && intersect(word.box, line.box).area() > 0.5F * word.box.area();
      });
      if (same == words.end()) continue;
      ++found.read;
      compare_characters(truth, *same, found);
    }
  }
}

TEST(Label, GeneratedPagesAreReadWithThePlacesOfTheirCharacters) {
  Folder folder;
  std::vector<scenes::Image> pages;
  for (uint64_t i = 0; i < 4; ++i) {
    pages.push_back(page(11 + i));
    write(folder / (std::to_string(i) + ".png"), pages.back());
  }
  const json report = labelled(folder.path());
  EXPECT_EQ(report["read"], 4);
  const auto words = words_of(folder.path());
  Found all;
  for (size_t i = 0; i < pages.size(); ++i)
    compare(pages[i], words.at(std::to_string(i) + ".png"), all);
  std::cout << all.read << " of " << all.words << " words, " << all.off << " of " << all.characters
            << " characters misplaced, mean distance "
            << all.distance / static_cast<float>(all.characters) << " px\n";
  EXPECT_GT(all.words, 100);
  EXPECT_GT(all.read, 0.9 * all.words);
  EXPECT_GT(all.characters, 300);
  EXPECT_LT(all.off, 0.1 * all.characters);
  EXPECT_LT(all.distance, 2.0F * static_cast<float>(all.characters));
}

TEST(Label, ABareFolderTeachesReading) {
  Folder folder;
  fs::create_directories(folder / "scans");
  write(folder / "scans/a.png", page(21));
  write(folder / "scans/b.png", page(22));
  labelled(folder.path());
  const auto data = real::Data::load({{folder.path(), 1}}, 0);
  ASSERT_EQ(data->entries().size(), 2u);
  for (const real::Entry& entry : data->entries()) {
    EXPECT_FALSE(entry.photo);
    training::Dice dice(5);
    size_t asked = 0;
    for (uint64_t ticket = 0; ticket < 4; ++ticket)
      asked +=
          real::training_sample(*data, entry, ticket, {1024, 1, 1024, 1600, 1600, 12, false}, dice)
              .words.size();
    EXPECT_GT(asked, 8u) << entry.path;
  }
  expect_one_line_error(run_arrcoc("eval --data " + folder.path()), "no questions in");
}

TEST(Label, GoesOnWhereItWasEndedAndTakesInNewPictures) {
  Folder folder;
  for (int i = 0; i < 3; ++i)
    write(folder / (std::to_string(i) + ".png"), page(31 + static_cast<uint64_t>(i)));
  labelled(folder.path() + " --threads 2");
  const std::string whole = slurp(folder / "words.jsonl");
  const size_t first = whole.find('\n') + 1;
  std::ofstream(folder / "words.jsonl") << whole.substr(0, first);  // as an earlier end leaves it
  json report = labelled(folder.path() + " --threads 1");
  EXPECT_EQ(report["known_before"], 1);
  EXPECT_EQ(report["read"], 2);
  EXPECT_EQ(slurp(folder / "words.jsonl"), whole);  // and the threads change nothing
  write(folder / "3.png", page(34));
  report = labelled(folder.path());
  EXPECT_EQ(report["known_before"], 3);
  EXPECT_EQ(report["read"], 1);
  EXPECT_EQ(words_of(folder.path()).size(), 4u);
}

TEST(Label, PicturesThatNobodyCanReadAreSaidAndCounted) {
  Folder folder;
  std::ofstream(folder / "broken.png") << "this is no picture";
  expect_one_line_error(run_arrcoc("label " + folder / "nowhere"), "nowhere");
  const Outcome none = run_arrcoc("label " + folder.path());
  EXPECT_NE(none.code, 0);
  EXPECT_NE(none.err.find("none of the 1 pictures"), std::string::npos) << none.err;
  write(folder / "good.png", page(41));
  const Outcome some = run_arrcoc("label " + folder.path() + " --json");
  ASSERT_EQ(some.code, 0) << some.err;
  EXPECT_EQ(json::parse(some.out)["left_out"], 1);
  EXPECT_NE(some.err.find("broken.png"), std::string::npos) << some.err;
  EXPECT_EQ(words_of(folder.path()).size(), 1u);
  const Outcome strict = run_arrcoc("label " + folder.path() + " --min-confidence 101");
  EXPECT_NE(strict.code, 0);
}

TEST(Label, FoldersThatSayWhichPicturesKeepTheirItems) {
  Folder folder;
  const scenes::Image image = page(51);
  write(folder / "a.png", image);
  write(folder / "other.png", image);
  const std::string item = json{{"image", "a.png"},
                                {"width", image.width},
                                {"height", image.height},
                                {"question", "what is it?"},
                                {"answer", "a page"}}
                               .dump() +
                           "\n";
  std::ofstream(folder / "items.jsonl") << item;
  EXPECT_EQ(labelled(folder.path())["pictures"], 1);
  EXPECT_EQ(slurp(folder / "items.jsonl"), item);
  std::ofstream(folder / "words.jsonl", std::ios::app) << R"({"image":"a.png","words":[[1,2)";
  expect_one_line_error(run_arrcoc("label " + folder.path()), "words.jsonl:2");
  std::ofstream(folder / "items.jsonl")
      << R"({"image":"a.png","width":9,"height":9,"question":"how many?","answer":12})"
      << "\n";
  for (const char* command : {"eval --data ", "bench --policies realized --out report --data "})
    expect_one_line_error(run_arrcoc(command + folder.path()),
                          "items.jsonl:1: 'answer' must be a string");
  expect_one_line_error(
      run_arrcoc("train --steps 1 --data " + folder.path() + " --out " + folder / "out"),
      "items.jsonl:1: 'answer' must be a string");
}

}  // namespace
}  // namespace arrcoc
