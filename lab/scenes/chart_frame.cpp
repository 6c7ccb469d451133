// Size, type, head, foot and legend of charts. Everything is measured before the page is made, so
// that the picture is as large as what stands on it.
#include <algorithm>
#include <cmath>

#include "lab/scenes/chart_data.h"

namespace arrcoc::scenes {

ChartSize chart_size(Context& c, float low, float high) {
  Random& r = c.random;
  ChartSize s;
  const float aspect = r.real(low, high);  // height over width
  if (r.chance(0.72F)) {
    // As published on the web: narrow pictures with 9 to 12 px type, enlarged when they are shown.
    const float w = c.px(static_cast<float>(
        r.pick(std::vector<int>{190, 240, 310, 310, 310, 310, 420, 420, 480, 620})));
    s.width = static_cast<int>(w);
    s.size = c.px(w < c.px(400) ? r.real(10.5F, 12.5F) : r.real(11, 15));
  } else {
    s.width = static_cast<int>(c.px(r.real(640, 1000)));
    s.size = s.width * r.real(0.021F, 0.033F);
  }
  s.height = std::min(static_cast<int>(s.width * aspect), c.options.longest);
  s.size = std::round(s.size * 2) / 2;
  return s;
}

Frame chart_type(Context& c, const ChartSize& s) {
  Random& r = c.random;
  const Color ink{25, 25, 25};
  const Family& sans = c.family(r.chance(0.8F) ? "sans" : "narrow");
  const Family& head = r.chance(0.7F) ? sans : c.family("sans");
  const Family& italic = c.options.held_back
                             ? sans
                             : c.library.named(r.pick({"noto-serif", "dejavu-serif",
                                                       "liberation-serif", "liberation-sans"}));
  Frame f;
  f.title =
      bold(head, s.size * r.real(1.15F, 1.35F), r.chance(0.15F) ? Color{64, 104, 150} : kBlack);
  f.subtitle = style(italic, s.size * r.real(1.0F, 1.12F), Color{105, 105, 105}, Weight::italic);
  f.label = style(sans, s.size, ink);
  f.value = style(sans, s.size * (r.chance(0.3F) ? 0.92F : 1.0F), ink,
                  r.chance(0.12F) ? Weight::bold : Weight::regular);
  f.note = style(sans, std::max(s.size * 0.86F, c.px(8.5F)), Color{120, 120, 120});
  f.brand = bold(sans, f.note.size, ink);
  f.pad = s.size * r.real(0.3F, 1.2F);
  widen(f, s.width);
  return f;
}

void widen(Frame& f, int width) {
  f.left = f.pad;
  f.right = width - f.pad;
}

namespace {

constexpr int kHeadLines = 3;  // of the title, and of the subtitle

std::vector<std::string> head_lines(const Page& page, const std::string& text, const Style& style,
                                    const Frame& f) {
  std::vector<std::string> lines = page.wrap(text, style, f.right - f.left);
  if (lines.size() > kHeadLines) lines.resize(kHeadLines);
  return lines;
}

std::vector<std::string> foot_lines(const Page& page, const ChartData& d, const Frame& f) {
  std::vector<std::string> lines;
  for (const std::string& text : {d.note, d.source})
    for (const auto& line : page.wrap(text, f.note, f.right - f.left)) lines.push_back(line);
  return lines;
}

float head_height(const Page& page, const ChartData& d, const Frame& f) {
  return f.pad + f.label.size +
         f.title.size * (0.5F + 1.2F * head_lines(page, d.title, f.title, f).size()) +
         f.subtitle.size * 1.25F * head_lines(page, d.subtitle, f.subtitle, f).size();
}

float foot_height(const Page& page, const ChartData& d, const Frame& f) {
  return f.pad * 0.6F + f.label.size * 0.4F + (d.brand.empty() ? 0.0F : f.note.size * 1.7F) +
         f.note.size * 1.33F * foot_lines(page, d, f).size();
}

}  // namespace

int fit_height(const Page& page, ChartData& d, Frame& f, int wanted, int most,
               const std::function<float(const Frame&)>& body) {
  for (;;) {
    const float need = head_height(page, d, f) + body(f) + foot_height(page, d, f);
    if (need <= static_cast<float>(most))
      return std::clamp(static_cast<int>(std::ceil(need)), std::min(wanted, most), most);
    if (!d.subtitle.empty())
      d.subtitle.clear();
    else if (!d.note.empty())
      d.note.clear();
    else
      for (Style* style : {&f.title, &f.label, &f.value, &f.note, &f.brand}) style->size *= 0.9F;
  }
}

void draw_frame(Context& c, Page& page, const ChartData& d, Frame& f) {
  Random& r = c.random;
  const float w = static_cast<float>(page.width), h = static_cast<float>(page.height);
  if (r.chance(0.5F)) page.hline(0, w, 1, 1, {60, 60, 60});
  if (r.chance(0.3F)) page.hline(0, w, h - 2, 1, {60, 60, 60});
  float y = f.pad + f.label.size + f.title.size * 0.5F;
  std::vector<Run> title;
  std::string whole;
  for (const std::string& line : head_lines(page, d.title, f.title, f)) {
    title.push_back(page.text(f.left, y, line, f.title));
    whole += (whole.empty() ? "" : " ") + line;
    y += f.title.size * 1.2F;
  }
  page.ask("chart.title", whole, title, 0.35F);
  for (const std::string& line : head_lines(page, d.subtitle, f.subtitle, f)) {
    page.text(f.left, y, line, f.subtitle);
    y += f.subtitle.size * 1.25F;
  }
  f.top = y;
  float bottom = h - f.pad * 0.6F;
  if (!d.brand.empty()) {
    const Run run =
        page.text(f.left, bottom - 2, d.brand, page.narrowed(d.brand, f.brand, f.right - f.left));
    page.ask("chart.source", d.brand, {run}, 0.25F);
    bottom -= f.note.size * 1.7F;
  }
  const auto foot = foot_lines(page, d, f);
  bottom -= f.note.size * 1.33F * foot.size();
  for (size_t i = 0; i < foot.size(); ++i)
    page.text(f.left, bottom + f.note.size * (1.1F + 1.33F * i) - 3, foot[i], f.note);
  f.bottom = bottom - f.label.size * 0.4F;
}

Legend legend_spots(const Page& page, const std::vector<std::string>& names, const Frame& f) {
  const float em = f.label.size, gap = em * 1.9F;
  float total = 0;
  for (const auto& name : names) total += page.measure(name, f.label) + gap;
  Legend spots;
  // One row, a quarter from the left where it fits; else rows from the left edge.
  float x = std::max(f.left, std::min(f.left + (f.right - f.left) * 0.25F, f.right - total));
  float y = em * 1.1F;
  for (size_t i = 0; i < names.size(); ++i) {
    const float width = page.measure(names[i], f.label) + gap;
    if (i > 0 && x + width > f.right + em) {
      x = f.left;
      y += em * 1.4F;
    }
    spots.at.push_back({x, y});
    x += width;
  }
  spots.height = y + em * 0.9F;
  return spots;
}

float widest(const Page& page, const std::vector<std::string>& texts, const Style& style) {
  float most = 0;
  for (const auto& text : texts) most = std::max(most, page.measure(text, style));
  return most;
}

}  // namespace arrcoc::scenes
