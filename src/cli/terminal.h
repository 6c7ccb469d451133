// Pictures and colours in a terminal.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "arrcoc/registry.h"
#include "cli/cli.h"

namespace arrcoc::cli {

enum class Graphics { automatic, kitty, sixel, blocks };
enum class Colours { none, palette, full };  // of 256, or 24 bit

using Environment = std::function<const char*(const char*)>;  // getenv
// What a terminal says about itself; blocks where it says nothing, and inside tmux and screen,
// which swallow the others.
Graphics graphics_of(const Environment& get);
// NO_COLOR and TERM=dumb want none.
Colours colours_of(const Environment& get);
// Whether words on standard output may be coloured.
bool coloured_output();

// The protocols' own bytes. rgb: [3,h,w] uint8.
std::string kitty_image(const std::vector<uint8_t>& png);
std::string sixel_image(const at::Tensor& rgb);
// Two rows of pixels a line of text; without colours one shade for both.
std::string block_image(const at::Tensor& rgb, Colours colours);

// To standard output as it is, past what keeps control characters back (plain.h).
void write_raw(const std::string& bytes);

// --show[=kitty|sixel|blocks]: the heat map in the terminal.
class ShowFlag {
 public:
  explicit ShowFlag(CLI::App& app);
  // Nothing without the flag; without a terminal only where the form is named, else a note.
  void show(const Picture& canvas, const Allocation& allocation) const;
  bool given() const { return !form_->empty(); }

 private:
  std::shared_ptr<std::string> form_;
};

}  // namespace arrcoc::cli

template <>
struct arrcoc::EnumNames<arrcoc::cli::Graphics> {
  using Graphics = arrcoc::cli::Graphics;
  static constexpr const char* kWhat = "form of --show";
  static constexpr std::pair<Graphics, const char*> kNames[] = {{Graphics::automatic, "auto"},
                                                                {Graphics::kitty, "kitty"},
                                                                {Graphics::sixel, "sixel"},
                                                                {Graphics::blocks, "blocks"}};
};
