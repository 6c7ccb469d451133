#include "lab/scenes/page.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace arrcoc::scenes {

int Bitmap::sample(float u, float v) const {
  const int x = static_cast<int>(std::floor(u)), y = static_cast<int>(std::floor(v));
  const float fx = u - x, fy = v - y;
  auto at = [&](int i, int k) {
    return i < 0 || k < 0 || i >= width || k >= height
               ? 0.0F
               : static_cast<float>(alpha[static_cast<size_t>(k) * width + i]);
  };
  const float over = at(x, y) * (1 - fx) + at(x + 1, y) * fx,
              under = at(x, y + 1) * (1 - fx) + at(x + 1, y + 1) * fx;
  return static_cast<int>(over * (1 - fy) + under * fy + 0.5F);
}

Style style(const Family& family, float size, Color color, Weight weight) {
  Style made;
  made.font = family.regular;
  made.size = size;
  made.color = color;
  if (weight == Weight::bold) {
    made.font = family.bold >= 0 ? family.bold : family.regular;
    made.twice = family.bold < 0;
  } else if (weight == Weight::italic && family.italic >= 0) {
    made.font = family.italic;
  }
  return made;
}

Style sized(Style style, float size) {
  style.size = size;
  return style;
}

Style coloured(Style style, Color color) {
  style.color = color;
  return style;
}

Box hull(const Box& a, const Box& b) {
  if (a.area() <= 0) return b;
  if (b.area() <= 0) return a;
  return {std::min(a.x0, b.x0), std::min(a.y0, b.y0), std::max(a.x1, b.x1), std::max(a.y1, b.y1)};
}

Box hull(const std::vector<Run>& runs) {
  Box box;
  for (const Run& run : runs) box = hull(box, run.box);
  return box;
}

std::string figure(const std::string& text) {
  std::string out;
  for (char c : text)
    if ((c >= '0' && c <= '9') || c == '.' || c == ',' || c == '-') out += c;
  while (!out.empty() && (out.back() == '.' || out.back() == ',' || out.back() == '-'))
    out.pop_back();
  while (!out.empty() && (out.front() == '.' || out.front() == ',')) out.erase(0, 1);
  return out;
}

Page& Sheet::add(Context& c, bool portrait, float low, float high, Color paper) {
  const int long_side = c.options.longest,
            short_side = static_cast<int>(long_side * c.random.real(low, high));
  return portrait ? add(c, short_side, long_side, paper) : add(c, long_side, short_side, paper);
}

Page::Page(const Context& context, int width, int height, Color paper)
    : Canvas(width, height, paper),
      next_item(context.first_item),
      library_(&context.library),
      suppressed_(context.suppressed) {}

float Page::measure(const std::string& text, const Style& style) const {
  const Font& font = library_->font(style.font);
  float width = 0;
  for (char32_t code : decode(text))
    width += font.advance(code) * style.size * style.stretch + style.tracking;
  return width;
}

Style Page::narrowed(const std::string& text, Style style, float width) const {
  const float needed = measure(text, style);
  if (needed > width) style.stretch *= width / needed;
  return style;
}

float Page::cap_height(const Style& style) const {
  return library_->font(style.font).cap_height() * style.size;
}

Run Page::text(float x, float baseline, const std::string& text, const Style& style, Align align) {
  if (align != Align::left) {
    const float width = measure(text, style);
    x -= align == Align::right ? width : width / 2;
  }
  Run run;
  run.item = group_ >= 0 ? group_ : next_item++;
  run.start = x;
  run.baseline = baseline;
  run.text = text;
  const Font& font = library_->font(style.font);
  const int line = static_cast<int>(std::lround(baseline));
  const bool draw = run.item != suppressed_;
  bool inked = false;
  for (char32_t code : decode(text)) {
    const float step = font.advance(code) * style.size * style.stretch + style.tracking;
    if (code != U' ' && code != 0xA0) {
      const float pen = std::floor(x * 2 + 0.5F) / 2;
      const int whole = static_cast<int>(std::floor(pen));
      const Bitmap& bitmap =
          font.glyph(code, style.size, style.stretch, static_cast<int>((pen - whole) * 2));
      if (bitmap.width > 0 && bitmap.height > 0) {
        const int left = whole + bitmap.left, top = line + bitmap.top;
        const int wide = bitmap.width + (style.twice ? 1 : 0);
        const Box box{static_cast<float>(left), static_cast<float>(top),
                      static_cast<float>(left + wide), static_cast<float>(top + bitmap.height)};
        run.box = inked ? hull(run.box, box) : box;
        inked = true;
        // The alphabet of the model: Latin-1 and the euro sign.
        if (code < 256 || code == 0x20AC)
          glyphs.push_back({code, left + wide / 2.0F, top + bitmap.height / 2.0F, style.size});
        if (draw) draw_glyph(bitmap, left, top, style);
      }
    }
    x += step;
  }
  // Where the next piece may start: slanted letters reach past their advance.
  run.end = inked ? std::max(x, run.box.x1) : x;
  if (!inked) run.box = {run.start, baseline - 1, run.start + 1, baseline};
  if (inked) texts.push_back({run.box, text});
  return run;
}

void Page::draw_glyph(const Bitmap& bitmap, int left, int top, const Style& style) {
  const int x0 = std::max(0, -left), x1 = std::min(bitmap.width, width - left);
  const int y0 = std::max(0, -top), y1 = std::min(bitmap.height, height - top);
  const int r = style.color.r, g = style.color.g, b = style.color.b;
  for (int y = y0; y < y1; ++y) {
    const uint8_t* a = bitmap.alpha.data() + static_cast<size_t>(y) * bitmap.width;
    uint8_t* p = at(left + x0, top + y);
    for (int x = x0; x < x1; ++x, p += 3) {
      const int alpha = a[x] + (a[x] >> 7);  // 0..256
      if (alpha == 0) continue;
      p[0] = static_cast<uint8_t>(p[0] + (((r - p[0]) * alpha) >> 8));
      p[1] = static_cast<uint8_t>(p[1] + (((g - p[1]) * alpha) >> 8));
      p[2] = static_cast<uint8_t>(p[2] + (((b - p[2]) * alpha) >> 8));
    }
  }
  if (style.twice) {
    Style once = style;
    once.twice = false;
    draw_glyph(bitmap, left + 1, top, once);
  }
}

Run Page::turned(Point centre, const std::string& text, const Style& style, float degrees) {
  const Font& font = library_->font(style.font);
  const float cs = std::cos(degrees * 0.01745329252F), sn = std::sin(degrees * 0.01745329252F);
  Run run;
  run.item = group_ >= 0 ? group_ : next_item++;
  run.text = text;
  const bool draw = run.item != suppressed_;
  float x = -measure(text, style) / 2;
  const float top = cap_height(style) / 2;
  for (char32_t code : decode(text)) {
    const Bitmap& bitmap = font.glyph(code, style.size, style.stretch, 0);
    if (code != U' ' && bitmap.width > 0 && bitmap.height > 0) {
      const float left = x + bitmap.left, high = top + bitmap.top;
      const float mx = left + bitmap.width / 2.0F, my = high + bitmap.height / 2.0F;
      const Point middle{centre.x + mx * cs - my * sn, centre.y + mx * sn + my * cs};
      const float rx = (bitmap.width * std::fabs(cs) + bitmap.height * std::fabs(sn)) / 2,
                  ry = (bitmap.width * std::fabs(sn) + bitmap.height * std::fabs(cs)) / 2;
      run.box = hull(run.box, {std::floor(middle.x - rx), std::floor(middle.y - ry),
                               std::ceil(middle.x + rx), std::ceil(middle.y + ry)});
      if (code < 256 || code == 0x20AC) glyphs.push_back({code, middle.x, middle.y, style.size});
      // Each pixel under the turned bitmap is looked up in it, between its four neighbours.
      for (int py = static_cast<int>(middle.y - ry) - 1; draw && py <= middle.y + ry + 1; ++py)
        for (int px = static_cast<int>(middle.x - rx) - 1; px <= middle.x + rx + 1; ++px) {
          const float dx = px + 0.5F - centre.x, dy = py + 0.5F - centre.y;
          const float u = dx * cs + dy * sn - left - 0.5F, v = dy * cs - dx * sn - high - 0.5F;
          blend(px, py, style.color, bitmap.sample(u, v));
        }
    }
    x += font.advance(code) * style.size * style.stretch + style.tracking;
  }
  if (run.box.area() > 0) texts.push_back({run.box, text});
  return run;
}

std::vector<std::string> Page::wrap(const std::string& text, const Style& style,
                                    float width) const {
  std::vector<std::string> lines;
  std::istringstream words(text);
  std::string word, line;
  while (words >> word) {
    const std::string longer = line.empty() ? word : line + " " + word;
    if (!line.empty() && measure(longer, style) > width) {
      lines.push_back(line);
      line = word;
    } else {
      line = longer;
    }
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

std::vector<Run> Page::paragraph(float x, float baseline, float width, float line_height,
                                 const std::string& body, const Style& style, Align align,
                                 int max_lines) {
  std::vector<Run> runs;
  for (const std::string& line : wrap(body, style, width)) {
    if (static_cast<int>(runs.size()) >= max_lines) break;
    runs.push_back(text(x, baseline, line, style, align));
    baseline += line_height;
  }
  return runs;
}

bool Page::free(const Box& box) const {
  for (const TextBox& t : texts)
    if (intersect(t.box, box).area() > 0) return false;
  return true;
}

Run Page::item(const Box& box, const std::string& name) {
  Run run;
  run.item = next_item++;
  run.box = box;
  run.text = name;
  things.push_back(box);
  return run;
}

Run Page::begin_group() {
  Run run;
  run.item = group_ = next_item++;
  return run;
}

// Cut-outs are stored at kAtlasCell pixels; larger ones are interpolated, smaller ones averaged
// over 2x2 samples.
void Page::cutout(const Run& run, const Cutout& cutout, bool flip, float light) {
  if (!drawn(run)) return;
  const Box& box = run.box;
  const int x0 = std::max(0, static_cast<int>(box.x0)), y0 = std::max(0, static_cast<int>(box.y0));
  const int x1 = std::min(width, static_cast<int>(box.x1));
  const int y1 = std::min(height, static_cast<int>(box.y1));
  const float sx = kAtlasCell / box.width(), sy = kAtlasCell / box.height();
  const int gain = static_cast<int>(light * 256);
  for (int y = y0; y < y1; ++y) {
    const float v = std::clamp((y + 0.5F - box.y0) * sy - 0.5F, 0.0F, kAtlasCell - 1.001F);
    const int iy = static_cast<int>(v), fy = static_cast<int>((v - iy) * 256);
    for (int x = x0; x < x1; ++x) {
      float u = std::clamp((x + 0.5F - box.x0) * sx - 0.5F, 0.0F, kAtlasCell - 1.001F);
      if (flip) u = kAtlasCell - 1.001F - u;
      const int ix = static_cast<int>(u), fx = static_cast<int>((u - ix) * 256);
      const uint8_t* p = cutout.rgba.data() + (static_cast<size_t>(iy) * kAtlasCell + ix) * 4;
      const uint8_t* q = p + kAtlasCell * 4;
      int sum[4];
      for (int c = 0; c < 4; ++c)
        sum[c] = ((p[c] * (256 - fx) + p[c + 4] * fx) * (256 - fy) +
                  (q[c] * (256 - fx) + q[c + 4] * fx) * fy) >>
                 16;
      auto lit = [gain](int value) {
        return static_cast<uint8_t>(std::min(255, value * gain >> 8));
      };
      blend(x, y, {lit(sum[0]), lit(sum[1]), lit(sum[2])}, sum[3]);
    }
  }
}

}  // namespace arrcoc::scenes
