// Fonts, cut-outs and word lists behind scenes::Assets.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "lab/scenes/canvas.h"
#include "lab/scenes/random.h"
#include "lab/scenes/scenes.h"

namespace arrcoc::scenes {

// Coverage of one glyph; (left, top) is the bitmap's corner relative to pen position and baseline.
struct Bitmap {
  int width = 0, height = 0, left = 0, top = 0;
  std::vector<uint8_t> alpha;
  int sample(float u, float v) const;  // coverage 0..255 between pixels; nothing outside
};

class Font {
 public:
  explicit Font(const std::string& path);
  ~Font();
  Font(Font&&) noexcept;

  float advance(char32_t code) const;  // in em
  bool has(char32_t code) const;
  // The glyph at `size` pixels an em, widths times `stretch`, shifted right by phase/2 pixel. The
  // reference is valid until the calling thread asks for another glyph.
  const Bitmap& glyph(char32_t code, float size, float stretch, int phase) const;
  float cap_height() const { return cap_height_; }  // in em

 private:
  struct Face;
  std::unique_ptr<Face> face_;
  float latin_[256];
  float cap_height_ = 0.7F;
  uint64_t id_ = 0;
};

struct Family {
  std::string name;
  int regular = 0, bold = -1, italic = -1;
  std::vector<std::string> roles;
  bool held = false;
  bool has(const std::string& role) const;
};

// A named picture with transparency, kAtlasCell pixels square.
struct Cutout {
  std::string name;
  std::string group;  // animal, food, ...
  bool held = false;
  std::vector<uint8_t> rgba;
};
constexpr int kAtlasCell = 64;

class Library : public Assets {
 public:
  explicit Library(const std::string& folder);

  const Font& font(int index) const { return fonts_[static_cast<size_t>(index)]; }
  const Family& family(Random& random, const std::string& role, bool held) const;
  const Family& named(const std::string& family) const;
  const WordLists& words() const { return words_; }
  const std::vector<Family>& families() const { return families_; }
  const std::vector<Cutout>& cutouts() const { return cutouts_; }
  // Indices of the cut-outs that may be used.
  const std::vector<int>& usable(bool held) const { return held ? held_cutouts_ : open_cutouts_; }

 private:
  void load_fonts(const std::string& folder);
  void load_atlas(const std::string& folder);

  WordLists words_;
  std::vector<Font> fonts_;
  std::vector<Family> families_;
  std::vector<Cutout> cutouts_;
  std::vector<int> open_cutouts_, held_cutouts_;
  std::unordered_map<std::string, std::vector<int>> open_, held_;
};

inline const Library& library(const Assets& assets) { return static_cast<const Library&>(assets); }

// UTF-8 to code points; broken bytes become '?'.
std::u32string decode(const std::string& utf8);
std::string encode(char32_t code);

}  // namespace arrcoc::scenes
