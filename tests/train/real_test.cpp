// Real pictures in training: read, moved, asked about, and cut into the very tokens of inference.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

#include "allocate/field.h"
#include "arrcoc/ask.h"
#include "arrcoc/error.h"
#include "arrcoc/look.h"
#include "arrcoc/tokens.h"
#include "folder.h"
#include "lab/measure/lines.h"
#include "lab/train/batch.h"
#include "lab/train/losses.h"
#include "lab/train/real/labels.h"
#include "lab/train/real/measure.h"
#include "lab/train/real/questions.h"
#include "lab/train/real/sample.h"
#include "lab/train/real/swap.h"
#include "lab/train/real/words.h"
#include "lab/train/train.h"
#include "models/tiny/files.h"
#include "models/tiny/page.h"
#include "places.h"
#include "train/digits.h"

namespace arrcoc::training::real {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Smooth colours with sharp marks, so that shifted or rounded pixels are noticed.
std::vector<uint8_t> drawing(int width, int height) {
  std::vector<uint8_t> out(static_cast<size_t>(width) * height * 3);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      uint8_t* p = &out[(static_cast<size_t>(y) * width + x) * 3];
      p[0] = static_cast<uint8_t>(x * 255 / width);
      p[1] = static_cast<uint8_t>(y * 255 / height);
      p[2] = static_cast<uint8_t>((x / 7 + y / 5) % 2 ? 230 : 20);
    }
  return out;
}

void write_picture(const std::string& path, int width, int height) {
  const auto pixels = drawing(width, height);
  ASSERT_NE(stbi_write_png(path.c_str(), width, height, 3, pixels.data(), width * 3), 0);
}

json item(const std::string& image, int width, int height, const std::string& question,
          const json& answer, const json& boxes) {
  return {{"id", "x"},
          {"image", "images/" + image},
          {"width", width},
          {"height", height},
          {"question", question},
          {"answer", answer},
          {"answer_boxes", boxes},
          {"kind", "doc"}};
}

struct Set {
  explicit Set(const std::string& name) : path(test::fresh_folder(name)) {
    fs::create_directories(path + "/images");
  }
  void add(const json& line, const char* file = "/items.jsonl") const {
    std::ofstream(path + file, std::ios::app) << line.dump() << "\n";
  }
  std::string path;
};

Word word(float x0, float y0, const std::string& text, int line, float em = 20) {
  Word out{{x0, y0, x0 + 0.5F * em * static_cast<float>(text.size()), y0 + 0.9F * em},
           text,
           95,
           {},
           line};
  spread(out);
  return out;
}

TEST(RealData, SharesAreReadAndNonsenseIsRefused) {
  const auto folders = folders_of("a:2,b,c/d:0.5");
  ASSERT_EQ(folders.size(), 3u);
  EXPECT_EQ(folders[0].path, "a");
  EXPECT_DOUBLE_EQ(folders[0].share, 2);
  EXPECT_DOUBLE_EQ(folders[1].share, 1);
  EXPECT_DOUBLE_EQ(folders[2].share, 0.5);
  EXPECT_THROW(folders_of("a:0"), Error);
  EXPECT_THROW(folders_of("a:two"), Error);
  EXPECT_THROW(folders_of(""), Error);
  EXPECT_THROW(Data::load({{"/nowhere", 1}}, 0), Error);
}

TEST(RealData, HeldPicturesAreNeverDrawn) {
  Set set("held");
  for (int i = 0; i < 20; ++i) {
    json line = item("p" + std::to_string(i) + ".png", 64, 64, "what?", "x", json::array());
    if (i % 4 == 0) line["held"] = true;
    set.add(line);
  }
  const auto data = Data::load({{set.path, 1}}, 0.5);
  EXPECT_EQ(data->held(false, 100).size(), 5u);
  Dice dice(1);
  for (int i = 0; i < 200; ++i) EXPECT_FALSE(data->draw(false, dice).held);
}

TEST(RealData, WrittenQuestionsJoinThePagesTheyAreAbout) {
  const std::string made = places::sources() + "/data/questions/docvqa.jsonl";
  std::ifstream in(made);
  std::string line;
  ASSERT_TRUE(std::getline(in, line));
  const json page = json::parse(line);
  Set set("written");
  set.add(item("one.png", 100, 200, "what?", "x", json::array()));
  json known = item("two.png", 1024, 1024, "who?", "y", json::array());
  known["image"] = page["image"];
  set.add(known);
  const std::string call = "python3 " + places::sources() + "/tools/written_items.py ";
  ASSERT_EQ(std::system((call + made + " " + set.path + " >/dev/null").c_str()), 0);
  const auto data = Data::load({{set.path, 1}}, 0);
  ASSERT_EQ(data->entries().size(), 2u);
  const Entry& entry = data->entries()[1];
  ASSERT_EQ(entry.items.size(), 1 + page["questions"].size());
  EXPECT_EQ(entry.items[1].question, page["questions"][0][0]);
  EXPECT_EQ(entry.items[1].boxes.size(), page["questions"][0][2].size());
  EXPECT_NE(std::system((call + made + " /nowhere 2>/dev/null").c_str()), 0);
  const std::string packed = set.path + "/asked.jsonl.gz";
  ASSERT_EQ(std::system(("gzip -c " + made + " > " + packed).c_str()), 0);
  ASSERT_EQ(std::system(("rm " + set.path + "/items_written.jsonl").c_str()), 0);
  ASSERT_EQ(std::system((call + packed + " " + set.path + " >/dev/null").c_str()), 0);
  EXPECT_EQ(Data::load({{set.path, 1}}, 0)->entries()[1].items.size(),
            1 + page["questions"].size());
}

TEST(RealData, ABrokenLineIsNamed) {
  Set set("broken");
  set.add(item("a.png", 64, 64, "what?", "x", json::array()));
  std::ofstream(set.path + "/items.jsonl", std::ios::app) << "{\"image\": 3}\n";
  try {
    Data::load({{set.path, 1}}, 0);
    FAIL();
  } catch (const Error& problem) {
    EXPECT_NE(std::string(problem.what()).find("items.jsonl:2"), std::string::npos);
  }
}

TEST(RealData, WhatDoesNotFitIsSaidInWords) {
  const auto refusal = [](const std::string& file, const std::string& line) {
    Set set("odd");
    set.add(item("a.png", 64, 64, "what?", "x", json::array()));
    std::ofstream(set.path + "/" + file, std::ios::app) << line << "\n";
    try {
      Data::load({{set.path, 1}}, 0);
    } catch (const Error& problem) {
      EXPECT_EQ(problem.code(), ErrorCode::bad_json);
      return std::string(problem.what()).substr(set.path.size() + 1);
    }
    return std::string("nothing");
  };
  const std::string begin = R"({"image":"a.png","width":64,"height":64,"question":"q",)";
  EXPECT_EQ(refusal("items.jsonl", begin + R"("answer":12})"),
            "items.jsonl:2: 'answer' must be a string");
  EXPECT_EQ(refusal("items.jsonl", begin + R"("answers":["a",3]})"),
            "items.jsonl:2: 'answers' must be a list of strings");
  EXPECT_EQ(refusal("items.jsonl", begin + R"("answer_boxes":[[1,2,3]]})"),
            "items.jsonl:2: 'answer_boxes[0]' must be [x0,y0,x1,y1]");
  EXPECT_EQ(refusal("items.jsonl", begin + R"("text_boxes":[{"text":"a"}]})"),
            "items.jsonl:2: 'text_boxes[0]' must have a 'box' and a 'text'");
  EXPECT_EQ(refusal("items.jsonl", R"({"image":"a.png"})"), "items.jsonl:2: no 'width'");
  EXPECT_EQ(refusal("items.jsonl", "[1]"), "items.jsonl:2: a line must be a JSON object");
  EXPECT_EQ(refusal("words.jsonl", R"({"image":"images/a.png"})"), "words.jsonl:1: no 'words'");
  EXPECT_EQ(refusal("words.jsonl", R"({"image":"images/a.png","words":[[1,2,3,4,5,6]]})"),
            "words.jsonl:1: 'words[0]' must be a string");
  EXPECT_EQ(refusal("words.jsonl", R"({"image":"images/a.png","words":[[1,2,3,4,"a"]]})"),
            "words.jsonl:1: 'words[0]' must be [x0,y0,x1,y1,text,confidence,...]");
  EXPECT_EQ(refusal("words.jsonl", R"({"image":"images/a.png","wo)"),
            "words.jsonl:1 is not valid JSON (UTF-8)");
}

TEST(RealData, PagesWithoutQuestionsTeachReadingAndAreMeasuredByIt) {
  Set set("bare");
  for (const char* name : {"a.png", "b.png"}) {
    write_picture(set.path + "/images/" + name, 640, 400);
    set.add({{"image", std::string("images/") + name},
             {"width", 640},
             {"height", 400},
             {"held", name[0] == 'b'}});
    json rows;
    const char* const texts[] = {"Invoice", "number", "4711", "from", "Harbour", "Street",
                                 "total",   "amount", "9.50", "date", "Monday",  "noon"};
    for (int i = 0; i < 12; ++i) {
      const Word w = word(20.0F + 200.0F * static_cast<float>(i % 3),
                          20.0F + 60.0F * static_cast<float>(i / 3), texts[i], i / 3);
      rows.push_back(row_of(w));
    }
    set.add({{"image", std::string("images/") + name}, {"words", rows}}, "/words.jsonl");
  }
  const auto data = Data::load({{set.path, 1}}, 0);
  ASSERT_TRUE(data->has(false));
  const Wish wish{1024, 1, 1024, 1600, 1600, 12, false};
  Dice dice(3);
  int asked = 0;
  for (uint64_t ticket = 0; ticket < 5; ++ticket)
    asked += static_cast<int>(
        training_sample(*data, data->draw(false, dice), ticket, wish, dice).words.size());
  EXPECT_GT(asked, 20);
  const auto held = data->held(false, 10);
  ASSERT_EQ(held.size(), 1u);
  const Sample measured = held_sample(*data, *held[0], 0, wish);
  EXPECT_GT(measured.asks.size(), 3u);
  for (const Ask& ask : measured.asks) {
    EXPECT_NE(ask.task, Task::find);
    EXPECT_FALSE(ask.answer.empty());
  }
}

TEST(RealLabels, OcrCountsOnlyWhereItAgreesWithWhatIsKnown) {
  const std::vector<Word> lines = {{{100, 100, 300, 120}, "GRAND TOTAL 12.00", 0, {}, -1}};
  const std::vector<Word> read = {
      {{101, 101, 160, 119}, "Grand", 96, {106, 118, 130, 142, 154}, 4},
      {{172, 101, 230, 119}, "T0TAL", 91, {178, 190, 202, 214, 226}, 4},
      {{241, 101, 299, 119}, "12.00", 88, {247, 259, 268, 280, 292}, 4},
      {{101, 301, 160, 319}, "TOTAL", 95, {106, 118, 130, 142, 154}, 9}};  // elsewhere on the page
  const std::vector<Word> words = agreed(read, lines);
  ASSERT_EQ(words.size(), 3u);
  EXPECT_EQ(words[0].text, "Grand");
  EXPECT_EQ(words[0].centres, read[0].centres);
  EXPECT_EQ(words[0].confidence, 96);
  EXPECT_EQ(words[1].text, "TOTAL");
  EXPECT_LT(words[1].confidence, kSure);
  EXPECT_EQ(words[2].box, read[2].box);
  const std::string line = json{{"words", {row_of(words[0])}}}.dump();
  const std::vector<Word> again = words_in(measuring::Line("a:1", line));
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].text, words[0].text);
  EXPECT_EQ(again[0].centres, words[0].centres);
  EXPECT_EQ(again[0].line, -1);
}

TEST(RealWords, AnAnswerIsFoundAcrossWordsAndLines) {
  std::vector<Word> words = {word(10, 10, "Invoice", 0), word(100, 10, "No.", 0),
                             word(150, 10, "33-A", 0),   word(10, 40, "Grand", 1),
                             word(80, 40, "Total:", 1),  word(200, 40, "$1,250.00", 1)};
  arrange(words);
  Item one;
  one.answer = "1,250.00";
  one.answers = {"1,250.00"};
  place_answer(words, one);
  ASSERT_EQ(one.boxes.size(), 1u);
  EXPECT_EQ(one.boxes[0], words[5].box);
  EXPECT_EQ(one.box_from, "words");
  Item two;
  two.answer = "33-a grand";
  two.answers = {"33-A Grand"};
  two.answers[0] = lower(two.answers[0]);
  place_answer(words, two);
  EXPECT_EQ(two.boxes.size(), 2u);  // a box a line
}

TEST(RealWords, SeveralPlacesAreLooseAndAGivenBoxDecides) {
  std::vector<Word> words = {word(10, 10, "12.00", 0), word(10, 40, "12.00", 1)};
  Item item;
  item.answer = "12.00";
  item.answers = {"12.00"};
  Item given = item;
  place_answer(words, item);
  EXPECT_EQ(item.box_from, "several");
  EXPECT_EQ(item.boxes.size(), 2u);
  given.boxes = {{0, 30, 200, 70}};
  place_answer(words, given);
  ASSERT_EQ(given.boxes.size(), 1u);
  EXPECT_EQ(given.boxes[0], words[1].box);
}

TEST(RealWords, CharactersStandWhereTheirInkIs) {
  // x-height letters, then one that reaches below: the em is the same, the centres are not.
  const Word plain{{0, 90, 40, 100}, "on", 95, {10, 30}, 0};
  const Word deep{{0, 90, 40, 104.2F}, "og", 95, {10, 30}, 0};
  const auto a = glyphs_of(plain), b = glyphs_of(deep);
  ASSERT_EQ(a.size(), 2u);
  EXPECT_NEAR(a[0].height, 20, 0.5);
  EXPECT_NEAR(b[0].height, 20, 0.5);
  EXPECT_NEAR(a[0].y, 95, 0.5);
  EXPECT_NEAR(b[0].y, 95, 0.5);
  EXPECT_GT(b[1].y, b[0].y + 1);
}

TEST(RealWords, BoxesThatAreAllAsTallBecomeThoseOfTheInk) {
  std::vector<Word> same, ink;
  for (int line = 0; line < 4; ++line)
    for (const char* text : {"Hold", "glyph", "on"}) {
      const float y = static_cast<float>(40 * line);
      same.push_back({{0, y, 60, y + 15.4F}, text, 95, {}, line});
      const bool deep = text[0] == 'g', low = text[0] == 'o';
      ink.push_back(
          {{0, low ? y + 4.4F : y, 60, deep ? y + 18.6F : y + 14.4F}, text, 95, {}, line});
    }
  const std::vector<Word> before = ink;
  tighten(ink);
  for (size_t i = 0; i < ink.size(); ++i) EXPECT_EQ(ink[i].box, before[i].box);
  tighten(same);
  EXPECT_NEAR(same[0].box.height(), 13.9, 0.5);            // capitals
  EXPECT_NEAR(same[1].box.y1 - same[0].box.y1, 4.2, 0.5);  // below the line
  EXPECT_NEAR(same[2].box.height(), 10, 0.5);
  EXPECT_NEAR(em_of(same[0]), em_of(same[2]), 0.5);
}

TEST(RealQuestions, EveryAnswerIsWrittenInItsBox) {
  std::vector<Word> words = {
      word(50, 20, "ANNUAL", 0, 40), word(190, 20, "REPORT", 0, 40), word(50, 100, "Date:", 1),
      word(130, 100, "March", 1),    word(200, 100, "3,", 1),        word(240, 100, "1984", 1),
      word(50, 140, "Prepared", 2),  word(140, 140, "by:", 2),       word(190, 140, "J.", 2),
      word(220, 140, "Smith", 2),    word(400, 180, "Sales", 3),     word(550, 180, "Profit", 3),
      word(50, 210, "Widgets", 4),   word(400, 210, "120", 4),       word(550, 210, "34", 4),
      word(50, 240, "Gadgets", 5),   word(400, 240, "77", 5),        word(550, 240, "12", 5)};
  std::map<std::string, int> seen;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Dice dice(seed);
    for (const Ask& ask : reading_asks(words, 800, 1000, 12, dice)) {
      ++seen[ask.intent];
      ASSERT_EQ(ask.answer_boxes.size(), 1u);
      std::string inside;
      for (const Word& w : words)
        if (intersect(w.box, ask.answer_boxes[0]).area() > 0.9F * w.box.area()) inside += w.text;
      EXPECT_EQ(letters(inside), letters(tiny::decode(ask.answer))) << tiny::decode(ask.question);
    }
  }
  for (const char* intent : {"real.find", "real.after", "real.below", "real.line", "real.value",
                             "real.cell", "real.date", "real.title"})
    EXPECT_GT(seen[intent], 0) << intent;
}

TEST(RealQuestions, OrdersEdgesAndKindsAreAskedFor) {
  std::vector<Word> words;
  int number = 0;
  for (const auto& [y, text] :
       std::initializer_list<std::pair<float, const char*>>{{20, "Smithville State University"},
                                                            {100, "Table 2. Mean Values"},
                                                            {200, "Members"},
                                                            {230, "Alder"},
                                                            {260, "Birch"},
                                                            {290, "Cedar"},
                                                            {500, "William Kovacs, Vice President"},
                                                            {700, "since 1984"},
                                                            {900, "closing remark"}}) {
    std::istringstream line(text);
    float x = 50;
    for (std::string one; line >> one; x = words.back().box.x1 + 8)
      words.push_back(word(x, y, one, number));
    ++number;
  }
  std::map<std::string, int> seen;
  std::map<std::string, std::string> answers;
  for (uint64_t seed = 0; seed < 120; ++seed) {
    Dice dice(seed);
    for (const Ask& ask : reading_asks(words, 800, 1000, 12, dice)) {
      ++seen[ask.intent];
      answers[tiny::decode(ask.question)] = tiny::decode(ask.answer);
      ASSERT_EQ(ask.answer_boxes.size(), 1u);
      std::string inside;
      for (const Word& w : words)
        if (intersect(w.box, ask.answer_boxes[0]).area() > 0.9F * w.box.area()) inside += w.text;
      EXPECT_EQ(letters(inside), letters(tiny::decode(ask.answer))) << tiny::decode(ask.question);
    }
  }
  for (const char* intent : {"real.nth", "real.corner", "real.edge", "real.body", "real.office",
                             "real.only", "real.caption", "real.number"})
    EXPECT_GT(seen[intent], 0) << intent;
  const auto says = [&](const char* question, const char* answer) {
    if (const auto found = answers.find(question); found != answers.end())
      EXPECT_EQ(found->second, answer) << question;
  };
  says("what is the second item under Members?", "birch");
  says("what is the last item under members?", "cedar");
  says("who is the Vice President?", "william kovacs");
  says("what is the name of the university?", "smithville state university");
  says("what is the title of the table?", "mean values");
}

TEST(RealSwap, AnswersBecomeWhatStandsAtTheirPlaces) {
  Entry entry;
  entry.width = 400;
  entry.height = 120;
  entry.words = {word(20, 20, "Total:", 0), word(120, 20, "4512", 0), word(20, 60, "Other", 1),
                 word(120, 60, "9038", 1)};
  Pixels pixels{400, 120, 1, std::vector<uint8_t>(400 * 120, 255)};
  for (size_t k = 0; k < 2; ++k) {  // figures that differ by their grey
    const Box& b = entry.words[2 * k + 1].box;
    for (int y = static_cast<int>(b.y0); y < static_cast<int>(b.y1); ++y)
      for (int x = static_cast<int>(b.x0); x < static_cast<int>(b.x1); ++x)
        pixels.bytes[static_cast<size_t>(y) * 400 + x] = k == 0 ? 40 : 120;
  }
  Item known, nowhere;
  known.question = "What is the total?";
  known.answer = "4512";
  known.boxes = {entry.words[1].box};
  known.box_from = "words";
  nowhere.question = "Is it paid?";
  nowhere.answer = "yes";
  entry.items = {known, nowhere};
  bool swapped = false;
  for (uint64_t seed = 0; seed < 20 && !swapped; ++seed) {
    Dice dice(seed);
    Entry other = entry;
    Pixels mixed = pixels;
    swapped = swap_words(other, mixed, dice);
    if (!swapped) {
      EXPECT_EQ(mixed.bytes, pixels.bytes);
      continue;
    }
    ASSERT_EQ(other.items.size(), 1u);  // what stands nowhere may be gone
    EXPECT_EQ(other.items[0].answer, "9038");
    EXPECT_EQ(other.words[3].text, "4512");
    EXPECT_EQ(other.words[0].text, "Total:");  // the question names it
    const Box& b = entry.words[1].box;
    const auto middle =
        static_cast<size_t>(0.5F * (b.y0 + b.y1)) * 400 + static_cast<size_t>(0.5F * (b.x0 + b.x1));
    EXPECT_EQ(mixed.bytes[middle], 120);
  }
  EXPECT_TRUE(swapped);
}

// What inference makes of a picture, beside what the pool holds of it.
void compare_with_inference(int width, int height, int canvas) {
  Set set("tokens");
  write_picture(set.path + "/images/a.png", width, height);
  set.add(item("a.png", width, height, "what is it?", "blue", {{40, 50, 90, 70}}));
  const auto data = Data::load({{set.path, 1}}, 0);
  const Sample sample =
      held_sample(*data, data->entries()[0], 0, {1024, 1, canvas, 1600, 1600, 0, false});
  Pool pool(1, 1024, at::kCPU, at::kFloat, 1600);
  pool.put({0}, {std::make_shared<const Sample>(sample)});

  const auto rgb = drawing(width, height);
  const Picture picture =
      make_picture(at::from_blob(const_cast<uint8_t*>(rgb.data()), {height, width, 3}, at::kByte)
                       .permute({2, 0, 1})
                       .contiguous(),
                   "drawing");
  AskOptions options;
  options.canvas = canvas;
  options.least_side = options.most_side = 0;
  options.enlarge = true;
  const Pyramid pyramid = pyramid_of(picture, options);
  ASSERT_EQ(pyramid.geometry().width, sample.native.width);
  ASSERT_EQ(pyramid.geometry().height, sample.native.height);

  // The realizer's page.
  const at::Tensor frame = frame_of(picture, 1024);
  ASSERT_EQ(frame.size(1), sample.geometry.height);
  ASSERT_EQ(frame.size(2), sample.geometry.width);
  const tiny::Page seen = tiny::page_of_frame(frame);
  const at::Tensor extent =
      at::tensor({static_cast<float>(frame.size(2)), static_cast<float>(frame.size(1))})
          .view({1, 2});
  const tiny::Page page = pool.page({0});
  EXPECT_TRUE(page.extent.equal(extent));
  EXPECT_TRUE(seen.extent.equal(extent));
  const at::Tensor &pixels = seen.pixels, &texture = seen.texture;
  const auto same_part = [&](const at::Tensor& a, const at::Tensor& b) {
    return (a.narrow(1, 0, b.size(1)).narrow(2, 0, b.size(2)).to(at::kFloat) - b.to(at::kFloat))
        .abs()
        .max()
        .item<float>();
  };
  EXPECT_LE(same_part(page.pixels, pixels), 1);  // rounding
  // All but the saliency, whose scale belongs to the whole canvas.
  constexpr int kSaliency = 11;
  for (int channel = 0; channel < tiny::kTextureChannels; ++channel)
    if (channel != kSaliency)
      EXPECT_LE(same_part(page.texture.select(3, channel), texture.select(3, channel)), 0.03F);

  // The map on the native grid, as allocators see it.
  const Grid grid = sample.geometry.grid(0), own = sample.native.grid(0);
  Map map{grid.rows, grid.cols, 0, 0, {}};
  const Map shape = scoring::map_shape(picture, frame, 16);
  map.cell_width =
      shape.cell_width * static_cast<float>(sample.native.width) / static_cast<float>(width);
  map.cell_height =
      shape.cell_height * static_cast<float>(sample.native.height) / static_cast<float>(height);
  std::vector<float> wide(64 * 64, 0);
  Dice dice(3);
  for (int r = 0; r < grid.rows; ++r)
    for (int c = 0; c < grid.cols; ++c) {
      map.values.push_back(dice.uniform());
      wide[static_cast<size_t>(r) * 64 + c] = map.values.back();
    }
  Geometry geometry = sample.native;
  const allocating::Field field(map, geometry, false);
  std::vector<float> native(static_cast<size_t>(own.cells()));
  to_native(wide.data(), 64, sample.geometry, sample.native, native.data());
  int differ = 0;
  for (int r = 0; r < own.rows; ++r)
    for (int c = 0; c < own.cols; ++c)
      differ += field.peak({0, r, c}) != native[static_cast<size_t>(r) * own.cols + c];
  EXPECT_LE(differ, own.cells() / 200);  // boundaries that rounding moves

  // The tokens: every cell of every level.
  geometry.finest = -1;
  std::vector<Cell> cells;
  Allocation allocation;
  allocation.geometry = geometry;
  for (int level = -1; level <= geometry.coarsest(); ++level) {
    const Grid g = geometry.grid(level);
    const int step = level <= 0 ? 5 : 1;
    for (int r = 0; r < g.rows; r += step)
      for (int c = 0; c < g.cols; c += step) {
        cells.push_back({level, r, c, 0.25F});
        allocation.leaves.push_back({level, r, c, 0.25F});
      }
  }
  const TokenSequence tokens = cutting::cut(pyramid, allocation);
  const tiny::AnswererInput look = pool.look({0}, {cells}, {0}, nullptr);
  const int64_t n = tokens.size();
  const at::Tensor around = tokens.around.permute({0, 2, 3, 1}).reshape({n, -1}).to(at::kFloat);
  const at::Tensor mine = look.patches[0].narrow(0, 0, n).to(at::kFloat);
  const at::Tensor off = (mine - around).abs();
  // Native patches are the very same. Beyond the border coarser levels of a padded canvas repeat
  // the last native row, those of inference the last row of the level; enlarged patches have other
  // margins.
  EXPECT_LE(off.index({tokens.level.eq(0)}).max().item<float>(), 1);
  EXPECT_LE(off.index({tokens.level.eq(1)}).mean().item<float>(), 0.1F);
  EXPECT_LE(off.mean().item<float>(), 1.5F);
  const at::Tensor centre = tokens.centre * at::tensor({static_cast<float>(geometry.width),
                                                        static_cast<float>(geometry.height)});
  EXPECT_LE((look.centre[0].narrow(0, 0, n) - centre).abs().max().item<float>(), 0.01F);
  EXPECT_TRUE(look.scale[0].narrow(0, 0, n).equal(tokens.scale));
  EXPECT_EQ(look.extent[0][0].item<float>(), geometry.width);
  EXPECT_EQ(look.extent[0][1].item<float>(), geometry.height);
}

TEST(RealTokens, ALargePageIsCutAsInInference) { compare_with_inference(1233, 1600, 0); }
TEST(RealTokens, ASmallChartIsCutAsEvalDoes) { compare_with_inference(421, 309, 1024); }
TEST(RealTokens, ASmallChartIsCutAsAskDoes) { compare_with_inference(421, 309, 0); }

TEST(RealSample, BoxesAndCharactersMoveWithThePicture) {
  // A dark word on white; wherever it is drawn to, its box must be dark and its place labelled.
  Set set("moves");
  const int width = 600, height = 800;
  std::vector<uint8_t> pixels(static_cast<size_t>(width) * height * 3, 255);
  const Box box{300, 400, 360, 420};
  for (int y = 400; y < 420; ++y)
    for (int x = 300; x < 360; ++x)
      std::fill_n(&pixels[(static_cast<size_t>(y) * width + x) * 3], 3, 0);
  ASSERT_NE(stbi_write_png((set.path + "/images/a.png").c_str(), width, height, 3, pixels.data(),
                           width * 3),
            0);
  set.add(item("a.png", width, height, "what is it?", "hallo", {{300, 400, 360, 420}}));
  set.add({{"image", "images/a.png"},
           {"words", {{300, 400, 360, 420, "hallo", 96, {306, 318, 330, 342, 354}, 0}}}},
          "/words.jsonl");
  const auto data = Data::load({{set.path, 1}}, 0);
  int asked = 0, labelled = 0;
  for (uint64_t ticket = 0; ticket < 60; ++ticket) {
    Dice dice(7, ticket);
    const Sample s = training_sample(*data, data->entries()[0], ticket,
                                     {1024, 1, 1024, 1600, 1600, 12, false}, dice);
    if (s.asks.empty()) continue;
    ++asked;
    const Box& b = s.asks[0].answer_boxes.at(0);
    const int x = static_cast<int>(0.5F * (b.x0 + b.x1)),
              y = static_cast<int>(0.5F * (b.y0 + b.y1));
    const int inside = s.picture[y][x][1].item<int>();
    const int above = std::max(0, y - static_cast<int>(1.5F * b.height()) - 8);
    const int outside = s.picture[above][x][1].item<int>();
    EXPECT_GT(std::abs(inside - outside), 60) << ticket;
    std::string read;
    const CellRange range = touched(b, 16, s.native.grid(0).rows, s.native.grid(0).cols);
    for (int r = range.r0; r < range.r1; ++r)
      for (int c = range.c0; c < range.c1; ++c)
        for (int k = 0; k < tiny::kGlyphSlots; ++k) {
          const uint8_t symbol =
              s.tokens[(static_cast<size_t>(r) * s.columns + c) * tiny::kGlyphSlots + k];
          if (symbol != tiny::kPad && symbol != kNotKnown) read += tiny::decode({symbol});
        }
    std::sort(read.begin(), read.end());
    labelled += read == "ahllo";
  }
  EXPECT_GT(asked, 40);
  EXPECT_GT(labelled, asked * 8 / 10);
}

TEST(RealSample, WhatIsNotKnownTeachesNothing) {
  // Ink without words, and a photograph: no label says "empty" there.
  Set set("unknown");
  write_picture(set.path + "/images/a.png", 320, 240);
  set.add(item("a.png", 320, 240, "what?", "x", json::array()));
  const auto data = Data::load({{set.path, 1}}, 0);
  const Sample s = held_sample(*data, data->entries()[0], 0, {512, 1, 1024, 1600, 1600, 0, false});
  EXPECT_TRUE(
      std::all_of(s.tokens.begin(), s.tokens.end(), [](uint8_t v) { return v == kNotKnown; }));
  EXPECT_TRUE(std::all_of(s.text.begin(), s.text.end(), [](uint8_t v) { return v == kNotKnown; }));
  ASSERT_EQ(s.asks.size(), 1u);
  EXPECT_EQ(s.asks[0].aim, Aim::none);
}

TEST(RealLosses, PointingWantsTheStrongestCellInTheBoxWherever) {
  const at::Tensor target = at::zeros({1, 4, 4}, at::kByte);
  target[0].narrow(0, 1, 2).narrow(1, 1, 2).fill_(2);
  const at::Tensor inside = at::ones({1, 4, 4}, at::kBool), one = at::ones({1}),
                   none = at::zeros({1});
  const auto loss = [&](int row, int col, const at::Tensor& object, const at::Tensor& loose) {
    at::Tensor z = at::full({1, 4, 4}, -2.0);
    z[0][row][col] = 4;
    return pointing_loss(z, target, inside, object, loose).item<float>();
  };
  EXPECT_LT(loss(1, 2, one, none), loss(0, 0, one, none) - 1);
  EXPECT_NEAR(loss(1, 2, none, one), loss(2, 1, none, one), 1e-5);
  EXPECT_EQ(loss(0, 0, none, none), 0);
}

TEST(RealTraining, RunsResumesAndIsDeterministic) {
  Set set("run");
  for (const char* name : {"a.png", "b.png", "c.png"}) {
    write_picture(set.path + "/images/" + name, 90, 60);
    set.add(item(name, 90, 60, "what is it?", "blue", {{10, 10, 60, 40}}));
    set.add({{"image", std::string("images/") + name},
             {"words", {{10, 10, 60, 40, "blue", 96, {16, 29, 42, 54}, 0}}}},
            "/words.jsonl");
  }
  arrcoc::training::Options o = arrcoc::training::folder_options("real", set.path);
  o.native = 128;
  o.steps = 4;
  o.evaluate_steps = 2;
  const SceneSource scenes = [](uint64_t seed, bool) {
    arrcoc::scenes::Scene scene;
    scene.kind = "documents";
    scene.seed = seed;
    arrcoc::scenes::Image image;
    image.width = image.height = 64;
    image.rgb = drawing(64, 64);
    scene.images.push_back(image);
    arrcoc::scenes::Question q;
    q.text = "what?";
    q.answer = "x";
    q.answer_boxes = {{0, 0, 20, 20}};
    scene.questions.push_back(q);
    return scene;
  };
  const auto weights = [](const std::string& folder) {
    const tiny::NetworkWeights b = tiny::load_networks(folder + "/weights");
    std::vector<at::Tensor> flat;
    for (const auto* list : {&b.realizer, &b.answerer})
      for (const at::Tensor& t : *list) flat.push_back(t.reshape({-1}));
    return at::cat(flat);
  };
  const auto quiet = [](const std::string&) {};
  o.out = test::fresh_folder("run_a");
  train(o, scenes, quiet);
  const at::Tensor whole = weights(o.out);
  struct Killed {};
  arrcoc::training::Options broken = o;
  broken.out = test::fresh_folder("run_b");
  int evaluations = 0;
  EXPECT_THROW(train(broken, scenes,
                     [&](const std::string& line) {
                       if (line.rfind("held out", 0) == 0 && ++evaluations == 1) throw Killed();
                     }),
               Killed);
  broken.resume = true;
  train(broken, scenes, quiet);
  EXPECT_TRUE(whole.equal(weights(broken.out)));
}

}  // namespace
}  // namespace arrcoc::training::real
