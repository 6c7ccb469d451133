#include "media/ocr/reader.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <opencv2/imgproc.hpp>
#include <string>
#include <thread>
#include <vector>

#include "arrcoc/error.h"
#include "arrcoc/media.h"
#include "media/ocr/tesseract_page.h"

namespace arrcoc {
namespace {

struct Line {
  std::string text;
  int x, y;  // left end of the base line
  cv::Scalar colour = {0, 0, 0};
};

Picture to_picture(const cv::Mat& rgb) {
  const at::Tensor t = at::from_blob(rgb.data, {rgb.rows, rgb.cols, 3}, at::kByte);
  return make_picture(t.permute({2, 0, 1}).contiguous().clone(), "test");
}

// White paper with lines of text; below row `bar_from` it is dark blue.
Picture paper(const std::vector<Line>& lines, int width = 640, int height = 480, double size = 1,
              int bar_from = -1) {
  cv::Mat rgb(height, width, CV_8UC3, cv::Scalar(255, 255, 255));
  if (bar_from >= 0)
    cv::rectangle(rgb, {0, bar_from}, {width, height}, cv::Scalar(30, 60, 140), cv::FILLED);
  for (const Line& line : lines) {
    cv::putText(rgb, line.text, {line.x, line.y}, cv::FONT_HERSHEY_DUPLEX, size, line.colour, 2,
                cv::LINE_AA);
  }
  return to_picture(rgb);
}

const Word* find(const std::vector<Word>& words, const std::string& text) {
  for (const Word& word : words) {
    if (word.text == text) return &word;
  }
  return nullptr;
}

std::string all_text(const std::vector<Word>& words) {
  std::string out;
  for (const Word& word : words) out += word.text + " ";
  return out;
}

// Where putText draws the line's ink, within a few pixels.
void expect_box(const std::vector<Word>& words, const Line& line, double size) {
  const Word* word = find(words, line.text);
  ASSERT_NE(word, nullptr) << line.text << " not in: " << all_text(words);
  const cv::Size extent = cv::getTextSize(line.text, cv::FONT_HERSHEY_DUPLEX, size, 2, nullptr);
  EXPECT_NEAR(word->box.x0, line.x, 6) << line.text;
  EXPECT_NEAR(word->box.x1, line.x + extent.width, 8) << line.text;
  EXPECT_NEAR(word->box.y1, line.y, 8) << line.text;
  EXPECT_NEAR(word->box.y0, line.y - extent.height, 8) << line.text;
  EXPECT_GT(word->confidence, 0.5F) << line.text;
}

TEST(Tesseract, ReadsPrintedWordsWithTheirBoxes) {
  const std::vector<Line> lines = {{"Invoice", 40, 80}, {"Total", 40, 240}, {"34.66", 400, 240}};
  const std::vector<Word> words = media::tesseract()->read(paper(lines));
  for (const Line& line : lines) expect_box(words, line, 1);
}

TEST(Tesseract, SmallPrintIsEnlargedAndBoxesStayInPicturePixels) {
  const std::vector<Line> lines = {{"Answer", 20, 40}, {"Question", 120, 100}};
  cv::Mat rgb(140, 260, CV_8UC3, cv::Scalar(255, 255, 255));
  for (const Line& line : lines)
    cv::putText(rgb, line.text, {line.x, line.y}, cv::FONT_HERSHEY_SIMPLEX, 0.5, {0, 0, 0}, 1,
                cv::LINE_AA);
  const std::vector<Word> words = media::tesseract()->read(to_picture(rgb));
  for (const Line& line : lines) {
    const Word* word = find(words, line.text);
    ASSERT_NE(word, nullptr) << line.text << " not in: " << all_text(words);
    EXPECT_NEAR(word->box.x0, line.x, 4);
    EXPECT_NEAR(word->box.y1, line.y, 5);
    EXPECT_LT(word->box.height(), 20);
  }
}

TEST(Tesseract, LightTextOnADarkBarIsReadAsWellAsDarkTextOnPaper) {
  const std::vector<Word> words = media::tesseract()->read(
      paper({{"Paper", 60, 120}, {"Harbour", 60, 400, {255, 255, 255}}}, 640, 480, 1, 300));
  EXPECT_NE(find(words, "Paper"), nullptr) << all_text(words);
  EXPECT_NE(find(words, "Harbour"), nullptr) << all_text(words);
}

TEST(Tesseract, AWordAtTheSeamOfTwoSheetsIsReadOnce) {
  std::vector<Line> lines;
  for (int i = 0; i < 24; ++i) lines.push_back({"Window", 60, 60 + 38 * i});
  const Picture picture = paper(lines, 400, 980);
  ASSERT_EQ(media::sheets_of(picture).size(), 2U);
  const std::vector<Word> words = media::tesseract()->read(picture);
  int read = 0;
  for (const Word& word : words) read += word.text == "Window" ? 1 : 0;
  EXPECT_GE(read, 22) << all_text(words);
  EXPECT_LE(words.size(), lines.size()) << all_text(words);
}

TEST(Tesseract, BlankAndTinyPicturesHaveNoWords) {
  EXPECT_TRUE(media::tesseract()->read(paper({})).empty());
  EXPECT_TRUE(media::tesseract()->read(paper({}, 1, 1)).empty());
  EXPECT_TRUE(media::tesseract()->read(paper({}, 3000, 1)).empty());
  EXPECT_TRUE(media::tesseract()->read(paper({}, 9, 2000)).empty());
}

// Print on a grey of black dots, each beside its place of a grid by chance: a scan of a halftone.
Picture dotted_form(const std::vector<Line>& lines, double size) {
  cv::Mat rgb(2200, 1700, CV_8UC3, cv::Scalar(255, 255, 255));
  cv::RNG chance(4711);
  for (int y = 200; y < 2000; y += 5) {
    for (int x = 150; x < 1550; x += 5) {
      const cv::Point at(x + chance.uniform(0, 3), y + chance.uniform(0, 3));
      cv::rectangle(rgb, at, at + cv::Point(1, 1), {0, 0, 0}, cv::FILLED);
    }
  }
  for (const Line& line : lines)
    cv::putText(rgb, line.text, {line.x, line.y}, cv::FONT_HERSHEY_DUPLEX, size, {0, 0, 0}, 3,
                cv::LINE_AA);
  cv::GaussianBlur(rgb, rgb, {}, 0.7);
  return to_picture(rgb);
}

TEST(Tesseract, PrintOnAGroundOfDotsIsReadAndSoon) {
  const std::vector<Line> lines = {{"Royalty payment", 300, 100},
                                   {"Vendor: Emerson", 300, 500},
                                   {"Period ending", 300, 800},
                                   {"Quarter sales", 300, 1100},
                                   {"Please send checks", 300, 1400}};
  const std::clock_t start = std::clock();
  const std::vector<Word> words = media::tesseract()->read(dotted_form(lines, 1.8));
  EXPECT_LT(std::clock() - start, 60 * CLOCKS_PER_SEC);
  int read = 0;
  for (const char* text : {"Royalty", "payment", "Emerson", "Period", "ending", "Quarter", "sales",
                           "Please", "send", "checks"})
    read += find(words, text) != nullptr ? 1 : 0;
  EXPECT_GE(read, 8) << all_text(words);
  EXPECT_LT(words.size(), 20U) << all_text(words);
}

TEST(Tesseract, SeveralThreadsReadTheSameWordsAsOne) {
  const auto page = [](int i) {
    return paper({{"Number", 30, 60 + 10 * i}, {std::to_string(4711 + i), 300, 60 + 10 * i}});
  };
  std::vector<std::string> together(4);
  {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] { together[i] = all_text(media::tesseract()->read(page(i))); });
    }
    for (std::thread& thread : threads) thread.join();
  }
  for (int i = 0; i < 4; ++i) {
    // One white pixel turned grey: the same words, but a picture that was not seen before.
    Picture again = page(i);
    at::Tensor pixels = again.rgb.clone();
    pixels[0][0][0] = 254;
    EXPECT_EQ(all_text(media::tesseract()->read(make_picture(pixels))), together[i]);
    EXPECT_NE(together[i].find(std::to_string(4711 + i)), std::string::npos) << together[i];
  }
}

TEST(Tesseract, MissingLanguageDataIsAnErrorThatNamesThePackage) {
  // In a process of its own: engines that exist already have their data.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto read_without_data = [] {
    setenv("TESSDATA_PREFIX", "/nonexistent", 1);
    try {
      media::tesseract()->read(paper({{"Word", 40, 80}}));
    } catch (const Error& error) {
      const bool named = std::string(error.what()).find("tesseract-ocr-eng") != std::string::npos;
      std::exit(error.code() == ErrorCode::not_found && named ? 7 : 1);
    }
    std::exit(0);
  };
  EXPECT_EXIT(read_without_data(), testing::ExitedWithCode(7), "");
}

class Counting : public WordSource {
 public:
  std::vector<Word> read(const Picture& picture) const override {
    ++reads;
    const auto w = static_cast<float>(picture.width());
    return {{"Total", {0, 0, 0.2F * w, 16}, 1, -1, -1},
            {"12.50", {0.5F * w, 0, 0.7F * w, 16}, 1, -1, -1},
            {"Monday", {0, 40, 0.3F * w, 56}, 0.5F, -1, -1}};
  }
  mutable int reads = 0;
};

TEST(Remembering, ReadsAPictureOnceAndForgetsTheOneUsedLongestAgo) {
  const auto counting = std::make_shared<Counting>();
  const auto source = media::remembering(counting, 2);
  const Picture a = paper({}, 10, 10);
  const Picture b = paper({}, 20, 10);
  const Picture c = paper({}, 30, 10);
  const std::vector<Word> first = source->read(a);
  EXPECT_EQ(source->read(a).size(), first.size());
  EXPECT_EQ(source->read(paper({}, 10, 10)).size(), first.size());  // equal pixels, other object
  EXPECT_EQ(counting->reads, 1);
  source->read(b);
  source->read(a);  // b is now the one used longest ago
  source->read(c);
  EXPECT_EQ(counting->reads, 3);
  source->read(a);
  EXPECT_EQ(counting->reads, 3);
  source->read(b);
  EXPECT_EQ(counting->reads, 4);
}

TEST(Reader, PutsTheAnswersCellsAboveTheRest) {
  const Picture picture = paper({}, 320, 64);
  const at::Tensor frame = frame_of(picture);
  const Texture texture;
  const Query query = parse_query("What is the total amount?");
  const Sight sight{picture, frame, texture, query, scoring::map_shape(picture, frame, 16)};
  const Map map = media::make_reader(std::make_shared<Counting>())->score(sight);
  ASSERT_EQ(map.rows, 4);
  ASSERT_EQ(map.cols, 20);
  EXPECT_EQ(map.at(0, 11), 1.0F);          // the amount
  EXPECT_LT(map.at(0, 1), map.at(0, 11));  // its label
  EXPECT_LT(map.at(2, 1), map.at(0, 1));   // another word
  EXPECT_EQ(map.at(1, 19), 0.0F);          // no word
}

TEST(Reader, TextChannelIsSetUnderWordsOnly) {
  const Picture picture = paper({}, 320, 64);
  const auto provider = media::make_reader_text(std::make_shared<Counting>());
  EXPECT_EQ(provider->channels(), std::vector<Channel>{Channel::text_mask});
  const at::Tensor mask = provider->provide(frame_of(picture), picture);
  ASSERT_EQ(mask.sizes(), (std::vector<int64_t>{1, 64, 320}));
  EXPECT_EQ(mask[0][5][10].item<float>(), 1.0F);
  EXPECT_EQ(mask[0][45][10].item<float>(), 0.75F);
  EXPECT_EQ(mask[0][30][10].item<float>(), 0.0F);
  EXPECT_EQ(mask[0][5][300].item<float>(), 0.0F);
}

TEST(Reader, IsInstalledByName) {
  media::register_strategies();
  media::register_strategies();
  EXPECT_TRUE(registry<Scorer>().has("reader"));
  EXPECT_NE(registry<Scorer>().make("reader"), nullptr);
  EXPECT_NE(registry<Provider>().make("reader-text"), nullptr);
}

}  // namespace
}  // namespace arrcoc
