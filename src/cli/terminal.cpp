#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <iostream>

#include "arrcoc/error.h"
#include "base/base64.h"

namespace arrcoc::cli {

namespace {

constexpr int kLongest = 800;      // pixels of a picture
constexpr int kMostColumns = 100;  // of half blocks
constexpr int kUsualColumns = 80;
constexpr size_t kChunk = 4096;  // base64 digits of one kitty command
// Red, green and blue steps of the colours that sixels are made of.
constexpr std::array<int, 3> kSteps = {6, 7, 6};

std::string value(const Environment& get, const char* name) {
  const char* text = get(name);
  return text != nullptr ? text : "";
}

bool starts(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

struct Pixels {
  explicit Pixels(const at::Tensor& rgb)
      : whole(rgb.contiguous()),
        data(whole.data_ptr<uint8_t>()),
        height(static_cast<int>(whole.size(1))),
        width(static_cast<int>(whole.size(2))) {}
  int at(int channel, int y, int x) const {
    return data[(static_cast<int64_t>(channel) * height + y) * width + x];
  }
  at::Tensor whole;
  const uint8_t* data;
  int height, width;
};

// Every pixel as one of the colours, what each misses handed on to its neighbours (Floyd and
// Steinberg).
std::vector<int> quantised(const Pixels& p) {
  std::vector<int> out(static_cast<size_t>(p.width) * p.height, 0);
  for (int channel = 0; channel < 3; ++channel) {
    const int steps = kSteps[channel] - 1;
    std::vector<float> now(p.width + 2, 0), next(p.width + 2, 0);  // errors, one pixel shifted
    for (int y = 0; y < p.height; ++y) {
      std::fill(next.begin(), next.end(), 0.0F);
      for (int x = 0; x < p.width; ++x) {
        const float want = static_cast<float>(p.at(channel, y, x)) + now[x + 1];
        const int level = std::clamp(
            static_cast<int>(std::lround(want * static_cast<float>(steps) / 255)), 0, steps);
        const float missed = want - static_cast<float>(level) * 255 / static_cast<float>(steps);
        now[x + 2] += missed * 7 / 16;
        next[x] += missed * 3 / 16;
        next[x + 1] += missed * 5 / 16;
        next[x + 2] += missed * 1 / 16;
        int& colour = out[static_cast<size_t>(y) * p.width + x];
        colour = colour * kSteps[channel] + level;
      }
      now.swap(next);
    }
  }
  return out;
}

// "!" and a count stand for repetitions.
void append_run(std::string& out, char sixel, int count) {
  if (count > 3) {
    out += "!" + std::to_string(count) + sixel;
  } else {
    out.append(static_cast<size_t>(count), sixel);
  }
}

// The pixels of one colour in a band of six rows.
void append_colour(std::string& out, const std::vector<int>& pixels, int width, int top, int rows,
                   int colour) {
  out += "#" + std::to_string(colour);
  char last = 0;
  int run = 0;
  for (int x = 0; x < width; ++x) {
    int bits = 0;
    for (int r = 0; r < rows; ++r)
      if (pixels[static_cast<size_t>(top + r) * width + x] == colour) bits |= 1 << r;
    const char sixel = static_cast<char>('?' + bits);
    if (sixel != last) {
      append_run(out, last, run);
      run = 0;
    }
    last = sixel;
    ++run;
  }
  if (last != '?') append_run(out, last, run);
  out += '$';
}

// "38;2;r;g;b" or the nearest of the 6x6x6 colours of the palette.
std::string colour_code(const Pixels& p, int y, int x, int ground, Colours colours) {
  const int r = p.at(0, y, x), g = p.at(1, y, x), b = p.at(2, y, x);
  const std::string start = std::to_string(ground);
  if (colours == Colours::full)
    return start + ";2;" + std::to_string(r) + ";" + std::to_string(g) + ";" + std::to_string(b);
  const auto level = [](int v) { return v < 48 ? 0 : v < 115 ? 1 : (v - 35) / 40; };
  return start + ";5;" + std::to_string(16 + 36 * level(r) + 6 * level(g) + level(b));
}

const char* shade(const Pixels& p, int y, int x) {
  static const char* const kShades[] = {" ", "\u2591", "\u2592", "\u2593", "\u2588"};
  const int below = std::min(y + 1, p.height - 1);
  int sum = 0;
  for (const int row : {y, below})
    sum += 299 * p.at(0, row, x) + 587 * p.at(1, row, x) + 114 * p.at(2, row, x);
  return kShades[std::min(4, sum / 2 * 5 / 255'001)];
}

}  // namespace

Graphics graphics_of(const Environment& get) {
  const std::string term = value(get, "TERM"), program = value(get, "TERM_PROGRAM");
  if (!value(get, "TMUX").empty() || starts(term, "screen") || starts(term, "tmux"))
    return Graphics::blocks;
  if (!value(get, "KITTY_WINDOW_ID").empty() || term == "xterm-kitty" || term == "xterm-ghostty" ||
      program == "ghostty")
    return Graphics::kitty;
  if (starts(term, "foot") || starts(term, "mlterm") || starts(term, "contour") ||
      term.find("sixel") != std::string::npos || program == "WezTerm" || program == "iTerm.app" ||
      program == "mintty")
    return Graphics::sixel;
  return Graphics::blocks;
}

Colours colours_of(const Environment& get) {
  const std::string term = value(get, "TERM"), depth = value(get, "COLORTERM");
  if (!value(get, "NO_COLOR").empty() || term == "dumb") return Colours::none;
  return depth == "truecolor" || depth == "24bit" ? Colours::full : Colours::palette;
}

bool coloured_output() {
  return ::isatty(STDOUT_FILENO) != 0 &&
         colours_of([](const char* name) { return std::getenv(name); }) != Colours::none;
}

std::string kitty_image(const std::vector<uint8_t>& png) {
  const std::string text = to_base64(png);
  std::string out;
  for (size_t at = 0; at < text.size(); at += kChunk) {
    // Transmit and show a PNG; no answer on standard input.
    out += at == 0 ? "\033_Ga=T,f=100,q=2,m=" : "\033_Gm=";
    out += at + kChunk < text.size() ? "1;" : "0;";
    out += text.substr(at, kChunk) + "\033\\";
  }
  return out + "\n";
}

std::string sixel_image(const at::Tensor& rgb) {
  const Pixels p(rgb);
  const std::vector<int> pixels = quantised(p);
  std::string out = "\033P0;1;0q\"1;1;" + std::to_string(p.width) + ";" + std::to_string(p.height);
  std::vector<int> used = pixels;
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  const auto percent = [](int level, int steps) {
    return ";" + std::to_string((level * 200 + steps - 1) / (2 * (steps - 1)));
  };
  for (const int colour : used) {
    const int blue = colour % kSteps[2], green = colour / kSteps[2] % kSteps[1];
    const int red = colour / (kSteps[2] * kSteps[1]);
    out += "#" + std::to_string(colour) + ";2" + percent(red, kSteps[0]) +
           percent(green, kSteps[1]) + percent(blue, kSteps[2]);
  }
  for (int top = 0; top < p.height; top += 6) {
    const int rows = std::min(6, p.height - top);
    const auto first = pixels.begin() + static_cast<int64_t>(top) * p.width;
    std::vector<int> here(first, first + static_cast<int64_t>(rows) * p.width);
    std::sort(here.begin(), here.end());
    here.erase(std::unique(here.begin(), here.end()), here.end());
    for (const int colour : here) append_colour(out, pixels, p.width, top, rows, colour);
    out += '-';
  }
  return out + "\033\\\n";
}

std::string block_image(const at::Tensor& rgb, Colours colours) {
  const Pixels p(rgb);
  std::string out;
  for (int y = 0; y < p.height; y += 2) {
    for (int x = 0; x < p.width; ++x) {
      if (colours == Colours::none) {
        out += shade(p, y, x);
        continue;
      }
      out += "\033[" + colour_code(p, y, x, 38, colours) + ";" +
             (y + 1 < p.height ? colour_code(p, y + 1, x, 48, colours) : "49") + "m\u2580";
    }
    out += colours == Colours::none ? "\n" : "\033[0m\n";
  }
  return out;
}

void write_raw(const std::string& bytes) {
  std::cout.flush();
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t n = ::write(STDOUT_FILENO, bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw Error(ErrorCode::io, "cannot write to standard output");
    at += static_cast<size_t>(n);
  }
}

ShowFlag::ShowFlag(CLI::App& app) : form_(std::make_shared<std::string>()) {
  app.add_flag("--show{auto}", *form_,
               "the heat map in the terminal; --show=kitty, sixel or blocks to choose");
}

void ShowFlag::show(const Picture& canvas, const Allocation& allocation) const {
  if (!given()) return;
  const Environment get = [](const char* name) { return std::getenv(name); };
  Graphics form = parse_enum<Graphics>(*form_);
  if (form == Graphics::automatic) {
    if (::isatty(STDOUT_FILENO) == 0) {
      std::cerr << "arrcoc: note: standard output is no terminal: --show=blocks shows it there\n";
      return;
    }
    form = graphics_of(get);
  }
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) size = {};
  media::DrawOptions draw;
  draw.longest = kLongest;
  if (size.ws_xpixel > 0) draw.longest = std::clamp<int>(size.ws_xpixel, 64, kLongest);
  if (form == Graphics::blocks) {
    draw.longest = std::min<int>(size.ws_col > 0 ? size.ws_col : kUsualColumns, kMostColumns);
    draw.legend = draw.quadtree = false;
  }
  const at::Tensor rgb = media::draw_homunculus(canvas, allocation, draw);
  if (form == Graphics::kitty) return write_raw(kitty_image(media::encode_png(rgb)));
  if (form == Graphics::sixel) return write_raw(sixel_image(rgb));
  // A form that was named has colours wherever it goes, unless NO_COLOR says otherwise.
  write_raw(block_image(rgb, colours_of(get)));
}

}  // namespace arrcoc::cli
