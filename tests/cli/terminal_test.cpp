// Pictures for terminals, taken apart again as a terminal does it.
#include "cli/terminal.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "arrcoc/error.h"
#include "base/base64.h"
#include "cli/process.h"

namespace arrcoc::cli {
namespace {

using test::Outcome;
using test::run_arrcoc;

// Gradients with an edge: every level of every channel, and odd sizes.
cv::Mat sheet(int width, int height) {
  cv::Mat out(height, width, CV_8UC3);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      out.at<cv::Vec3b>(y, x) =
          cv::Vec3b(static_cast<uint8_t>(255 * x / (width - 1)),
                    static_cast<uint8_t>(255 * y / (height - 1)), x < width / 3 ? 230 : 20);
  return out;
}

at::Tensor tensor_of(const cv::Mat& bgr) {
  cv::Mat rgb;
  cv::cvtColor(bgr, rgb, cv::COLOR_BGR2RGB);
  return at::from_blob(rgb.data, {rgb.rows, rgb.cols, 3}, at::kByte)
      .permute({2, 0, 1})
      .contiguous();
}

int number(const std::string& text, size_t& at) {
  int out = 0;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') out = out * 10 + text[at++] - '0';
  return out;
}

// DEC's sixels (VT330/340 programmer reference, chapter 14) as pixels; throws for anything else.
cv::Mat from_sixels(const std::string& text) {
  size_t at = text.find('q') + 1;
  if (text.rfind("\033P", 0) != 0 || text.at(at) != '"') throw std::runtime_error("no sixels");
  std::vector<int> raster;
  do {
    raster.push_back(number(text, ++at));
  } while (text.at(at) == ';');
  cv::Mat out(raster.at(3), raster.at(2), CV_8UC3, cv::Scalar(1, 2, 3));
  std::map<int, cv::Vec3b> palette;
  cv::Vec3b colour;
  int x = 0, band = 0, repeat = 1;
  while (text.at(at) != '\033') {
    const char c = text[at++];
    if (c == '#') {
      const int index = number(text, at);
      if (text[at] == ';') {
        std::vector<int> given;
        while (text[at] == ';') given.push_back(number(text, ++at));
        if (given.size() != 4 || given[0] != 2 || index > 255) throw std::runtime_error("colour");
        for (int i = 0; i < 3; ++i)
          palette[index][2 - i] = static_cast<uint8_t>((given[i + 1] * 255 + 50) / 100);
      }
      colour = palette.at(index);
    } else if (c == '!') {
      repeat = number(text, at);
    } else if (c == '$') {
      x = 0;
    } else if (c == '-') {
      x = 0;
      ++band;
    } else if (c >= '?' && c <= '~') {
      for (; repeat > 0; --repeat, ++x)
        for (int r = 0; r < 6; ++r)
          if (((c - '?') >> r & 1) != 0) out.at<cv::Vec3b>(6 * band + r, x) = colour;
      repeat = 1;
    } else {
      throw std::runtime_error(std::string("not of sixels: ") + c);
    }
  }
  return out;
}

// The PNG of a kitty graphics command.
cv::Mat from_kitty(const std::string& text, size_t& commands) {
  std::string base64;
  size_t at = 0;
  commands = 0;
  for (bool more = true; more; ++commands) {
    EXPECT_EQ(text.compare(at, 3, "\033_G"), 0) << commands;
    const size_t semicolon = text.find(';', at), end = text.find("\033\\", at);
    const std::string keys = text.substr(at + 3, semicolon - at - 3);
    if (commands == 0) {
      EXPECT_NE(("," + keys + ",").find(",a=T,"), std::string::npos);
      EXPECT_NE(("," + keys + ",").find(",f=100,"), std::string::npos);
    }
    more = ("," + keys + ",").find(",m=1,") != std::string::npos;
    EXPECT_LE(end - semicolon - 1, 4096U);
    base64 += text.substr(semicolon + 1, end - semicolon - 1);
    at = end + 2;
  }
  EXPECT_EQ(text.substr(at), "\n");
  return cv::imdecode(from_base64(base64), cv::IMREAD_COLOR);
}

// Colours of 24 bit and half blocks as pixels; an odd last row has no lower half.
cv::Mat from_blocks(const std::string& text) {
  std::vector<std::vector<cv::Vec3b>> rows(2);
  int set[2][3] = {};
  bool lower = true;
  for (size_t at = 0; at < text.size();) {
    if (text.compare(at, 2, "\033[") == 0) {
      std::vector<int> codes;
      ++at;
      do {
        codes.push_back(number(text, ++at));
      } while (text.at(at) == ';');
      ++at;                                                 // m
      lower = codes.size() % 5 == 0 || codes.back() != 49;  // "48;2;R;G;49" is a colour
      for (size_t i = 0; i + 4 < codes.size(); i += 5)
        for (int k = 0; k < 3; ++k) set[codes[i] == 38 ? 0 : 1][k] = codes[i + 2 + k];
    } else if (text.compare(at, 3, "\u2580") == 0) {
      for (int half = 0; half < (lower ? 2 : 1); ++half)
        rows[rows.size() - 2 + half].emplace_back(set[half][2], set[half][1], set[half][0]);
      at += 3;
    } else {
      EXPECT_EQ(text[at++], '\n');
      rows.resize(rows.size() + 2);
    }
  }
  while (!rows.empty() && rows.back().empty()) rows.pop_back();
  cv::Mat out(static_cast<int>(rows.size()), static_cast<int>(rows[0].size()), CV_8UC3);
  for (int y = 0; y < out.rows; ++y)
    for (int x = 0; x < out.cols; ++x) out.at<cv::Vec3b>(y, x) = rows.at(y).at(x);
  return out;
}

double most_apart(const cv::Mat& a, const cv::Mat& b) {
  EXPECT_EQ(a.size(), b.size());
  return cv::norm(a, b, cv::NORM_INF);
}

TEST(TerminalPictures, SixelsShowThePicture) {
  for (const auto& [width, height] : {std::pair{97, 64}, {64, 97}, {5, 7}, {200, 6}}) {
    const cv::Mat picture = sheet(width, height);
    const cv::Mat shown = from_sixels(sixel_image(tensor_of(picture)));
    ASSERT_EQ(shown.size(), picture.size());
    // Single pixels are of 252 colours; what they miss is made up for by their neighbours.
    EXPECT_LE(most_apart(shown, picture), 60);
    if (std::min(width, height) < 32) continue;
    cv::Mat blurred, wanted;
    cv::blur(shown, blurred, {9, 9});
    cv::blur(picture, wanted, {9, 9});
    EXPECT_LE(most_apart(blurred, wanted), 16);
  }
}

TEST(TerminalPictures, KittyGetsThePngInPieces) {
  cv::Mat noise(90, 120, CV_8UC3);
  cv::randu(noise, 0, 256);
  std::vector<uint8_t> png;
  cv::imencode(".png", noise, png);
  size_t commands = 0;
  EXPECT_EQ(most_apart(from_kitty(kitty_image(png), commands), noise), 0);
  EXPECT_GT(commands, 2U);
}

TEST(TerminalPictures, HalfBlocksShowThePictureExactlyInFullColour) {
  for (const auto& [width, height] : {std::pair{31, 20}, {20, 31}, {2, 3}}) {
    const cv::Mat picture = sheet(width, height);
    EXPECT_EQ(most_apart(from_blocks(block_image(tensor_of(picture), Colours::full)), picture), 0);
  }
}

TEST(TerminalPictures, WithoutColoursBlocksAreShadesAndNothingElse) {
  const std::string shades = block_image(tensor_of(sheet(40, 20)), Colours::none);
  EXPECT_EQ(shades.find('\033'), std::string::npos);
  EXPECT_EQ(std::count(shades.begin(), shades.end(), '\n'), 10);
  const auto grey = [](int value) {
    return block_image(at::full({3, 2, 1}, value, at::kByte), Colours::none);
  };
  EXPECT_EQ(grey(0), " \n");
  EXPECT_EQ(grey(128), "\u2592\n");
  EXPECT_EQ(grey(255), "\u2588\n");
}

TEST(TerminalPictures, ThePaletteHasTheNearestColour) {
  const auto code = [](int r, int g, int b) {
    at::Tensor one = at::zeros({3, 1, 1}, at::kByte);
    one[0] = r, one[1] = g, one[2] = b;
    const std::string text = block_image(one, Colours::palette);
    size_t at = text.find(";5;") + 3;
    return number(text, at);
  };
  EXPECT_EQ(code(0, 0, 0), 16);
  EXPECT_EQ(code(255, 255, 255), 231);
  EXPECT_EQ(code(255, 0, 0), 196);
  EXPECT_EQ(code(95, 135, 175), 67) << "exactly xterm's colour 67";
}

TEST(TerminalChoice, GoesByWhatTheTerminalSays) {
  using Variables = std::map<std::string, std::string>;
  const auto environment = [](const Variables& set) {
    return [set](const char* name) -> const char* {
      const auto found = set.find(name);
      return found == set.end() ? nullptr : found->second.c_str();
    };
  };
  const std::pair<Variables, Graphics> known[] = {
      {{{"TERM", "xterm-kitty"}}, Graphics::kitty},
      {{{"TERM", "xterm-256color"}, {"TERM_PROGRAM", "ghostty"}}, Graphics::kitty},
      {{{"TERM", "foot"}}, Graphics::sixel},
      {{{"TERM", "xterm-256color"}, {"TERM_PROGRAM", "WezTerm"}}, Graphics::sixel},
      {{{"TERM", "xterm-256color"}, {"COLORTERM", "truecolor"}}, Graphics::blocks},
      {{{"TERM", "tmux-256color"}, {"KITTY_WINDOW_ID", "1"}}, Graphics::blocks},
      {{}, Graphics::blocks}};
  for (const auto& [set, form] : known) EXPECT_EQ(graphics_of(environment(set)), form);
  EXPECT_EQ(colours_of(environment({{"COLORTERM", "truecolor"}})), Colours::full);
  EXPECT_EQ(colours_of(environment({{"TERM", "xterm"}})), Colours::palette);
  EXPECT_EQ(colours_of(environment({{"TERM", "dumb"}})), Colours::none);
  EXPECT_EQ(colours_of(environment({{"COLORTERM", "truecolor"}, {"NO_COLOR", "1"}})),
            Colours::none);
}

// The program itself, piped.
class Show : public ::testing::Test {
 protected:
  static Outcome look(const std::string& flags, const std::string& before = "") {
    return run_arrcoc(
        "look " ARRCOC_SOURCE_DIR "/examples/pictures/receipt.jpg 'What is the total?' " + flags,
        before);
  }
  // What comes before the words.
  static std::string picture(const Outcome& o) {
    return o.out.substr(0, o.out.find(ARRCOC_SOURCE_DIR));
  }
};

TEST_F(Show, SixelAndKittyShowTheSameHeatMap) {
  test::Folder folder;
  size_t commands = 0;
  const cv::Mat kitty = from_kitty(picture(look("--show=kitty")), commands);
  const cv::Mat sixel = from_sixels(picture(look("--show=sixel --heatmap " + folder / "map.png")));
  EXPECT_EQ(std::max(kitty.rows, kitty.cols), 800);
  cv::Mat a, b;
  cv::blur(kitty, a, {9, 9});
  cv::blur(sixel, b, {9, 9});
  EXPECT_LE(cv::norm(a, b, cv::NORM_L1) / static_cast<double>(a.total() * 3), 4);
  // And it is the heat map that --heatmap writes, smaller.
  cv::Mat written = cv::imread(folder / "map.png");
  cv::resize(written, written, kitty.size(), 0, 0, cv::INTER_AREA);
  cv::blur(written, b, {9, 9});
  EXPECT_LE(cv::norm(a, b, cv::NORM_L1) / static_cast<double>(a.total() * 3), 12);
}

TEST_F(Show, PipedItIsShownOnlyWhereTheFormIsNamed) {
  const Outcome bare = look("--show");
  EXPECT_EQ(bare.code, 0);
  EXPECT_EQ(bare.out.find('\033'), std::string::npos);
  EXPECT_NE(bare.err.find("--show=blocks"), std::string::npos);
  const Outcome named = look("--show=blocks", "env -u NO_COLOR TERM=xterm COLORTERM=truecolor");
  const cv::Mat blocks = from_blocks(picture(named));
  EXPECT_EQ(std::max(blocks.rows, blocks.cols), 80);
  const Outcome plain = look("--show=blocks", "NO_COLOR=1");
  EXPECT_EQ(plain.out.find('\033'), std::string::npos);
  EXPECT_NE(plain.out.find("\u2592"), std::string::npos);
  const Outcome wrong = look("--show=sixl");
  EXPECT_EQ(wrong.code, 1);
  EXPECT_NE(wrong.err.find("did you mean sixel?"), std::string::npos) << wrong.err;
  EXPECT_EQ(look("--show=sixel --json").code, 1);
}

}  // namespace
}  // namespace arrcoc::cli
