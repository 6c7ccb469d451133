// Bar charts: horizontal and vertical; single, grouped, stacked and back to back.
#include <algorithm>
#include <cmath>

#include "lab/scenes/chart_data.h"
#include "lab/scenes/layouts.h"
#include "lab/scenes/phrases.h"
#include "lab/scenes/words.h"

namespace arrcoc::scenes {
namespace {

Color label_on(Color bar) { return luma(bar) > 120 ? Color{20, 20, 20} : Color{255, 255, 255}; }

constexpr float kLabelShare = 0.42F;  // of the width, for the names of lying bars at most
constexpr float kSqueeze = 0.7F;      // how narrow letters may become before room is made for them

std::vector<Run> legend(Page& page, const ChartData& d, const Frame& f, float& y, bool squares) {
  std::vector<Run> runs;
  const Legend spots = legend_spots(page, d.series, f);
  const float s = f.label.size * 0.6F;
  for (size_t i = 0; i < d.series.size(); ++i) {
    const float x = spots.at[i].x, base = f.top + spots.at[i].y;
    if (squares) page.canvas.rect(x, base - s, x + s, base, d.colors[i].color);
    Style style = f.label;
    if (!squares)
      style.color = mix(d.colors[i].color, {0, 0, 0}, luma(d.colors[i].color) > 150 ? 0.35F : 0.0F);
    runs.push_back(page.text(x + (squares ? s * 1.5F : 0), base, d.series[i], style));
  }
  y = f.top + spots.height;
  return runs;
}

struct Drawn {
  std::vector<std::vector<Run>> values;
  std::vector<Run> categories, series;
};

std::string value_text(const ChartData& d, size_t s, size_t k, bool sign) {
  return shown(d.values[s][k], d.decimals) + (sign && d.percent ? "%" : "");
}

// The widest value that may be printed, and air.
float value_room(const Page& page, const ChartData& d, const Frame& f) {
  float most = f.value.size * 1.7F;
  for (size_t s = 0; s < d.series.size(); ++s)
    for (size_t k = 0; k < d.categories.size(); ++k)
      most = std::max(most, page.measure(value_text(d, s, k, true), f.value));
  return most + f.value.size * 0.5F;
}

enum class Bars { single, grouped, stacked, opposed };

Drawn horizontal(Context& c, Page& page, const ChartData& d, const Frame& f, Bars kind) {
  Random& r = c.random;
  Drawn out;
  const size_t ns = d.series.size(), nc = d.categories.size();
  out.values.assign(ns, std::vector<Run>(nc));
  float y = f.top + f.label.size * 1.1F;
  if (ns > 1)
    out.series = legend(page, d, f, y, kind == Bars::opposed ? r.chance(0.3F) : r.chance(0.85F));
  const float label_width =
      std::min(widest(page, d.categories, f.label), (f.right - f.left) * kLabelShare);
  const float x0 = f.left + label_width + f.label.size * 0.6F;
  const float reserve = value_room(page, d, f);
  const float room = f.right - x0 - reserve;
  const float pitch =
      std::min((f.bottom - y) / nc, f.label.size * (kind == Bars::grouped ? 1.5F * ns + 1 : 3.4F));
  const float thick = pitch * r.real(0.5F, 0.78F);
  const bool right_aligned = r.chance(0.7F), all_signs = r.chance(0.25F),
             first_sign = r.chance(0.5F);
  float top = 1;
  for (size_t k = 0; k < nc; ++k) {
    float sum = 0;
    for (size_t s = 0; s < ns; ++s) {
      sum += d.values[s][k];
      if (kind != Bars::stacked) top = std::max(top, d.values[s][k]);
    }
    if (kind == Bars::stacked) top = std::max(top, sum);
  }
  const float middle = x0 + reserve + (room - reserve) / 2;
  const bool axis = kind != Bars::stacked && r.chance(0.5F);
  if (axis)
    page.canvas.vline(kind == Bars::opposed ? middle : x0 - 1, y, y + pitch * nc, 1,
                      {140, 140, 140});
  const Color single = d.colors[0].color;
  for (size_t k = 0; k < nc; ++k) {
    const float cy = y + pitch * (k + 0.5F);
    const float base = cy + page.cap_height(f.label) / 2;
    out.categories.push_back(page.text(right_aligned ? x0 - f.label.size * 0.6F : f.left, base,
                                       d.categories[k],
                                       page.narrowed(d.categories[k], f.label, label_width),
                                       right_aligned ? Align::right : Align::left));
    float x = x0;
    for (size_t s = 0; s < ns; ++s) {
      const bool sign = all_signs || (first_sign && k == 0);
      const std::string text = value_text(d, s, k, sign);
      const float width = page.measure(text, f.value),
                  value_base = cy + page.cap_height(f.value) / 2;
      const Color color = ns == 1 ? single : d.colors[s].color;
      if (kind == Bars::stacked) {
        const float w = room * d.values[s][k] / top;
        page.canvas.rect(x, cy - thick / 2, x + w, cy + thick / 2, color);
        if (w > width * 1.15F)
          out.values[s][k] = page.text(x + w / 2, value_base, text,
                                       coloured(f.value, label_on(color)), Align::centre);
        x += w;
      } else if (kind == Bars::opposed) {
        const float half = (room - reserve) / 2, w = half * d.values[s][k] / top;
        const float a = s == 0 ? middle - w : middle, b = s == 0 ? middle : middle + w;
        page.canvas.rect(a, cy - thick / 2, b, cy + thick / 2, color);
        const bool inside = w > width * 1.6F && first_sign;
        const float at = inside   ? (a + b) / 2
                         : s == 0 ? a - f.value.size * 0.3F
                                  : b + f.value.size * 0.3F;
        out.values[s][k] =
            page.text(at, value_base, text, inside ? coloured(f.value, label_on(color)) : f.value,
                      inside   ? Align::centre
                      : s == 0 ? Align::right
                               : Align::left);
      } else {
        const float bar = kind == Bars::grouped ? std::min(thick / ns, f.value.size * 1.2F) : thick;
        const float by = kind == Bars::grouped
                             ? cy + (s - (ns - 1) / 2.0F) * std::max(bar, f.value.size * 1.05F)
                             : cy;
        const float w = std::max(1.0F, room * d.values[s][k] / top);
        page.canvas.rect(x0, by - bar / 2, x0 + w, by + bar / 2, color);
        const bool inside =
            kind == Bars::single && all_signs && w > width * 1.5F && bar > f.value.size * 0.9F;
        out.values[s][k] =
            page.text(inside ? x0 + w - f.value.size * 0.3F : x0 + w + f.value.size * 0.35F,
                      by + page.cap_height(f.value) / 2, text,
                      inside ? coloured(f.value, label_on(color)) : f.value,
                      inside ? Align::right : Align::left);
      }
    }
  }
  return out;
}

Drawn vertical(Context& c, Page& page, const ChartData& d, const Frame& f, Bars kind) {
  Random& r = c.random;
  Drawn out;
  const size_t ns = d.series.size(), nc = d.categories.size();
  out.values.assign(ns, std::vector<Run>(nc));
  float y = f.top + f.label.size * 1.1F;
  if (ns > 1) out.series = legend(page, d, f, y, r.chance(0.85F));
  float top = 1;
  for (size_t k = 0; k < nc; ++k) {
    float sum = 0;
    for (size_t s = 0; s < ns; ++s)
      sum += d.values[s][k], top = std::max(top, kind == Bars::stacked ? sum : d.values[s][k]);
  }
  const bool axis = r.chance(0.35F);
  const float x0 = f.left + (axis ? page.measure(shown(top, 0), f.label) + f.label.size : 0);
  const float pitch = (f.right - x0) / nc;
  const float bottom = f.bottom - f.label.size * 1.6F, high = y + f.value.size * 1.4F;
  if (axis) {
    const int room = static_cast<int>((bottom - high) / (f.label.size * 1.8F));
    const int ticks = std::clamp(r.between(3, 5), 1, std::max(1, room - 1));
    for (int i = 0; i <= ticks; ++i) {
      const float ty = bottom - (bottom - high) * i / ticks;
      page.canvas.hline(x0, f.right, ty, 1, {225, 225, 225});
      page.text(x0 - f.label.size * 0.4F, ty + f.label.size * 0.35F, shown(top * i / ticks, 0),
                f.label, Align::right);
    }
  }
  page.canvas.hline(x0, f.right, bottom, 1, {120, 120, 120});
  const float wide = value_room(page, d, f) - f.value.size * 0.5F;
  const float wish = std::max(pitch * r.real(0.55F, 0.85F),
                              wide * 1.04F * (kind == Bars::grouped ? static_cast<float>(ns) : 1));
  const float group = std::min(wish, pitch * 0.92F),
              bar = kind == Bars::grouped ? group / ns : group;
  const bool sign = r.chance(0.3F);
  for (size_t k = 0; k < nc; ++k) {
    const float cx = x0 + pitch * (k + 0.5F);
    out.categories.push_back(page.text(cx, bottom + f.label.size * 1.2F, d.categories[k],
                                       page.narrowed(d.categories[k], f.label, pitch * 0.94F),
                                       Align::centre));
    float floor = bottom;
    for (size_t s = 0; s < ns; ++s) {
      const std::string text = value_text(d, s, k, sign);
      const Color color = d.colors[s].color;
      const float h = std::max(1.0F, (bottom - high) * d.values[s][k] / top);
      if (kind == Bars::stacked) {
        page.canvas.rect(cx - bar / 2, floor - h, cx + bar / 2, floor, color);
        if (h > f.value.size * 1.2F && page.measure(text, f.value) < bar)
          out.values[s][k] = page.text(cx, floor - h / 2 + page.cap_height(f.value) / 2, text,
                                       coloured(f.value, label_on(color)), Align::centre);
        floor -= h;
      } else {
        const float bx = kind == Bars::grouped ? cx - group / 2 + bar * (s + 0.5F) : cx;
        page.canvas.rect(bx - bar * 0.46F, bottom - h, bx + bar * 0.46F, bottom, color);
        if (page.measure(text, f.value) < (kind == Bars::grouped ? bar : pitch * 0.95F))
          out.values[s][k] =
              page.text(bx, bottom - h - f.value.size * 0.3F, text, f.value, Align::centre);
      }
    }
  }
  return out;
}

// Widths that leave room for names, values and something of the bars.
float lying_width(const Page& page, const ChartData& d, const Frame& f, Bars kind) {
  const float em = f.label.size, names = widest(page, d.categories, f.label) * kSqueeze;
  const float values = value_room(page, d, f) * (kind == Bars::opposed ? 2 : 1) + 8.6F * em;
  return 2 * f.pad + std::max({names / kLabelShare, values / (1 - kLabelShare),
                               widest(page, d.series, f.label) + 2 * em});
}

float upright_width(const Page& page, const ChartData& d, const Frame& f, Bars kind) {
  const float nc = static_cast<float>(d.categories.size()),
              ns = kind == Bars::grouped ? static_cast<float>(d.series.size()) : 1.0F;
  const float pitch = std::max(widest(page, d.categories, f.label) * kSqueeze / 0.94F,
                               value_room(page, d, f) * ns / 0.9F);
  return 2 * f.pad + nc * pitch + 4 * f.label.size;
}

}  // namespace

Sheet bar_chart(Context& c) {
  Random& r = c.random;
  const auto kind = static_cast<Bars>(r.weighted({3, 1.5F, 3, 2.5F}));
  bool upright = kind != Bars::opposed && r.chance(0.35F);
  const int series = kind == Bars::single    ? 1
                     : kind == Bars::opposed ? 2
                                             : r.between(2, kind == Bars::stacked ? 4 : 3);
  ChartSize s = chart_size(c, 0.8F, 1.35F);
  const float row =
      kind == Bars::grouped ? 1.15F * series + r.real(0.9F, 1.6F) : r.real(1.9F, 3.2F);
  const int fit =
      static_cast<int>(upright ? s.width / (s.size * (kind == Bars::grouped ? 2.6F * series : 3.6F))
                               : (c.options.longest / s.size - 17) / row);
  ChartData d = chart_data(r, series, std::clamp(r.between(2, 14), 2, std::max(2, fit)),
                           kind == Bars::stacked || kind == Bars::opposed ? 100.0F : 0.0F,
                           upright && r.chance(0.5F));
  Frame f = chart_type(c, s);
  const Page scale(c, 1, 1, Color{255, 255, 255});
  // Long names would not stand beside each other: such bars lie.
  if (upright && upright_width(scale, d, f, kind) > c.options.longest) upright = false;
  const float wanted = upright ? upright_width(scale, d, f, kind) : lying_width(scale, d, f, kind);
  s.width = std::clamp(static_cast<int>(std::ceil(wanted)), s.width, c.options.longest);
  widen(f, s.width);
  // Upright bars need room above the letters; lying ones make the picture as high as they need.
  const float tall =
      upright ? r.real(11, 17) : 0.6F + row * static_cast<float>(d.categories.size());
  s.height =
      fit_height(scale, d, f, upright ? s.height : 0, c.options.longest, [&](const Frame& type) {
        const float names = d.series.size() > 1 ? legend_spots(scale, d.series, type).height
                                                : type.label.size * 1.1F;
        return names + tall * type.label.size;
      });
  Sheet sheet;
  static const char* const names[] = {"bars", "bars-grouped", "bars-stacked", "bars-opposed"};
  sheet.layout = std::string(names[static_cast<int>(kind)]) + (upright ? "-vertical" : "");
  sheet.finish = Finish::chart;
  sheet.pages.emplace_back(c, s.width, s.height, Color{255, 255, 255});
  Page& page = sheet.pages.back();
  draw_frame(c, page, d, f);
  const Drawn drawn = upright ? vertical(c, page, d, f, kind) : horizontal(c, page, d, f, kind);
  chart_questions(page, r, d, drawn.values, drawn.categories, drawn.series);
  return sheet;
}

}  // namespace arrcoc::scenes
