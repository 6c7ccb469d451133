#include <atomic>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "arrcoc/error.h"
#include "lab/scenes/library.h"

// A contour of one point makes stb read the point after the last: there is one, and it is zero.
#define STBTT_malloc(size, user) ((void)(user), std::calloc(1, (size) + 64))
#define STBTT_free(memory, user) ((void)(user), std::free(memory))
#define STB_TRUETYPE_IMPLEMENTATION
#define STBTT_STATIC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_truetype.h>
#pragma GCC diagnostic pop

namespace arrcoc::scenes {
namespace {

// Bitmaps of this thread by (font, glyph, size, stretch, phase). Emptied when it grows past the
// limit, so that a long run stays within bounded memory; what it holds never changes a picture.
struct GlyphCache {
  static constexpr size_t kLimit = size_t{40} << 20;
  std::unordered_map<uint64_t, Bitmap> bitmaps;
  size_t bytes = 0;
};

GlyphCache& cache() {
  thread_local GlyphCache glyphs;
  return glyphs;
}

std::atomic<uint64_t> next_font_id{1};

}  // namespace

struct Font::Face {
  std::vector<unsigned char> data;
  stbtt_fontinfo info;
  float em_scale = 1;  // font units to em
};

Font::Font(const std::string& path) : face_(std::make_unique<Face>()) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(ErrorCode::not_found, "font not found: " + path);
  face_->data.assign(std::istreambuf_iterator<char>(in), {});
  const int offset = stbtt_GetFontOffsetForIndex(face_->data.data(), 0);
  if (offset < 0 || !stbtt_InitFont(&face_->info, face_->data.data(), offset))
    throw Error(ErrorCode::not_found, "not a font that can be read: " + path);
  face_->em_scale = stbtt_ScaleForMappingEmToPixels(&face_->info, 1.0F);
  id_ = next_font_id++;
  for (int code = 0; code < 256; ++code) {
    int width = 0, bearing = 0;
    stbtt_GetCodepointHMetrics(&face_->info, code, &width, &bearing);
    latin_[code] = width * face_->em_scale;
  }
  int x0, y0, x1, y1;
  if (stbtt_GetCodepointBox(&face_->info, 'H', &x0, &y0, &x1, &y1))
    cap_height_ = y1 * face_->em_scale;
}

Font::~Font() = default;
Font::Font(Font&&) noexcept = default;

float Font::advance(char32_t code) const {
  if (code < 256) return latin_[code];
  int width = 0, bearing = 0;
  stbtt_GetCodepointHMetrics(&face_->info, static_cast<int>(code), &width, &bearing);
  return width * face_->em_scale;
}

bool Font::has(char32_t code) const {
  return stbtt_FindGlyphIndex(&face_->info, static_cast<int>(code)) != 0;
}

const Bitmap& Font::glyph(char32_t code, float size, float stretch, int phase) const {
  const auto quarter = static_cast<uint64_t>(std::lround(size * 4));
  const auto wide = static_cast<uint64_t>(std::lround(stretch * 32));
  const uint64_t key = (id_ << 48) ^ (uint64_t{code} << 28) ^ (quarter << 12) ^ (wide << 2) ^
                       static_cast<uint64_t>(phase);
  GlyphCache& store = cache();
  if (auto found = store.bitmaps.find(key); found != store.bitmaps.end()) return found->second;
  if (store.bytes > GlyphCache::kLimit) {
    store.bitmaps.clear();
    store.bytes = 0;
  }
  const float scale_y = quarter / 4.0F * face_->em_scale;
  const float scale_x = scale_y * (wide / 32.0F);
  Bitmap made;
  int x0, y0, x1, y1;
  const int index = stbtt_FindGlyphIndex(&face_->info, static_cast<int>(code));
  stbtt_GetGlyphBitmapBoxSubpixel(&face_->info, index, scale_x, scale_y, phase * 0.5F, 0, &x0, &y0,
                                  &x1, &y1);
  made.left = x0;
  made.top = y0;
  made.width = x1 - x0;
  made.height = y1 - y0;
  if (made.width > 0 && made.height > 0) {
    made.alpha.assign(static_cast<size_t>(made.width) * made.height, 0);
    stbtt_MakeGlyphBitmapSubpixel(&face_->info, made.alpha.data(), made.width, made.height,
                                  made.width, scale_x, scale_y, phase * 0.5F, 0, index);
  }
  store.bytes += made.alpha.size() + 96;
  return store.bitmaps.emplace(key, std::move(made)).first->second;
}

std::u32string decode(const std::string& s) {
  std::u32string out;
  out.reserve(s.size());
  for (size_t i = 0; i < s.size();) {
    const auto c = static_cast<unsigned char>(s[i]);
    int more = c < 0x80 ? 0 : c >= 0xF0 ? 3 : c >= 0xE0 ? 2 : c >= 0xC0 ? 1 : -1;
    if (more < 0 || i + static_cast<size_t>(more) >= s.size()) {
      out.push_back(U'?');
      ++i;
      continue;
    }
    char32_t code = more == 0 ? c : c & (0x3FU >> more);
    for (int k = 1; k <= more; ++k)
      code = (code << 6) | (static_cast<unsigned char>(s[i + k]) & 0x3FU);
    out.push_back(code);
    i += static_cast<size_t>(more) + 1;
  }
  return out;
}

std::string encode(char32_t c) {
  std::string out;
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xE0 | (c >> 12));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
  return out;
}

}  // namespace arrcoc::scenes
