// Bar charts: horizontal and vertical; single, grouped, stacked and back to back.
#include <algorithm>
#include <cmath>

#include "lab/scenes/chart_data.h"
#include "lab/scenes/layouts.h"
#include "lab/scenes/words.h"

namespace arrcoc::scenes {
namespace {

Color label_on(Color bar) { return luma(bar) > 120 ? Color{20, 20, 20} : kWhite; }

constexpr float kLabelShare = 0.42F;  // of the width, for the names of lying bars at most
constexpr float kSqueeze = 0.7F;      // how narrow letters may become before room is made for them

enum class Bars { single, grouped, stacked, opposed };

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

class BarDrawer {
 public:
  BarDrawer(Context& c, Page& page, const ChartData& data, const Frame& frame, Bars kind)
      : r(c.random), page_(page), d(data), f(frame), kind_(kind) {
    out_.values.assign(ns_, std::vector<Run>(nc_));
    for (size_t k = 0; k < nc_; ++k) {
      float sum = 0;
      for (size_t s = 0; s < ns_; ++s) {
        sum += d.values[s][k];
        top_ = std::max(top_, kind == Bars::stacked ? sum : d.values[s][k]);
      }
    }
  }

  ChartRuns horizontal() {
    const float y = legend(kind_ == Bars::opposed ? 0.3F : 0.85F);
    const float names =
        std::min(widest(page_, d.categories, f.label), (f.right - f.left) * kLabelShare);
    x0_ = f.left + names + f.label.size * 0.6F;
    reserve_ = value_room(page_, d, f);
    room_ = f.right - x0_ - reserve_;
    const float pitch = std::min((f.bottom - y) / nc_,
                                 f.label.size * (kind_ == Bars::grouped ? 1.5F * ns_ + 1 : 3.4F));
    thick_ = pitch * r.real(0.5F, 0.78F);
    const bool right_aligned = r.chance(0.7F);
    all_signs_ = r.chance(0.25F);
    first_sign_ = r.chance(0.5F);
    middle_ = x0_ + reserve_ + (room_ - reserve_) / 2;
    if (kind_ != Bars::stacked && r.chance(0.5F))
      page_.vline(kind_ == Bars::opposed ? middle_ : x0_ - 1, y, y + pitch * nc_, 1,
                  {140, 140, 140});
    for (size_t k = 0; k < nc_; ++k) {
      const float cy = y + pitch * (k + 0.5F);
      out_.categories.push_back(page_.text(right_aligned ? x0_ - f.label.size * 0.6F : f.left,
                                           cy + page_.cap_height(f.label) / 2, d.categories[k],
                                           page_.narrowed(d.categories[k], f.label, names),
                                           right_aligned ? Align::right : Align::left));
      float x = x0_;
      for (size_t s = 0; s < ns_; ++s) {
        const std::string text = value_text(d, s, k, all_signs_ || (first_sign_ && k == 0));
        if (kind_ == Bars::stacked)
          out_.values[s][k] = lying_piece(s, d.values[s][k], text, cy, x);
        else if (kind_ == Bars::opposed)
          out_.values[s][k] = opposed_bar(s, d.values[s][k], text, cy);
        else
          out_.values[s][k] = lying_bar(s, d.values[s][k], text, cy);
      }
    }
    return std::move(out_);
  }

  ChartRuns vertical() {
    const float y = legend(0.85F);
    const bool axis = r.chance(0.35F);
    x0_ = f.left + (axis ? page_.measure(shown(top_, 0), f.label) + f.label.size : 0);
    const float pitch = (f.right - x0_) / nc_;
    bottom_ = f.bottom - f.label.size * 1.6F;
    high_ = y + f.value.size * 1.4F;
    if (axis) draw_axis();
    page_.hline(x0_, f.right, bottom_, 1, {120, 120, 120});
    const float wide = value_room(page_, d, f) - f.value.size * 0.5F;
    const float wish =
        std::max(pitch * r.real(0.55F, 0.85F),
                 wide * 1.04F * (kind_ == Bars::grouped ? static_cast<float>(ns_) : 1));
    const float group = std::min(wish, pitch * 0.92F);
    thick_ = kind_ == Bars::grouped ? group / ns_ : group;
    const bool sign = r.chance(0.3F);
    for (size_t k = 0; k < nc_; ++k) {
      const float cx = x0_ + pitch * (k + 0.5F);
      out_.categories.push_back(
          page_.centred(cx, bottom_ + f.label.size * 1.2F, d.categories[k],
                        page_.narrowed(d.categories[k], f.label, pitch * 0.94F)));
      float floor = bottom_;
      for (size_t s = 0; s < ns_; ++s) {
        const std::string text = value_text(d, s, k, sign);
        if (kind_ == Bars::stacked) {
          out_.values[s][k] = upright_piece(s, d.values[s][k], text, cx, floor);
          continue;
        }
        const bool grouped = kind_ == Bars::grouped;
        const float bx = grouped ? cx - group / 2 + thick_ * (s + 0.5F) : cx,
                    h = std::max(1.0F, (bottom_ - high_) * d.values[s][k] / top_);
        page_.rect(bx - thick_ * 0.46F, bottom_ - h, bx + thick_ * 0.46F, bottom_,
                   d.colors[s].color);
        if (page_.measure(text, f.value) < (grouped ? thick_ : pitch * 0.95F))
          out_.values[s][k] = page_.centred(bx, bottom_ - h - f.value.size * 0.3F, text, f.value);
      }
    }
    return std::move(out_);
  }

 private:
  // Names of several series, with squares or in the colour of their bars. Returns where bars start.
  float legend(float squares_share) {
    if (ns_ == 1) return f.top + f.label.size * 1.1F;
    const bool squares = r.chance(squares_share);
    const Legend spots = legend_spots(page_, d.series, f);
    const float side = f.label.size * 0.6F;
    for (size_t i = 0; i < ns_; ++i) {
      const float x = spots.at[i].x, base = f.top + spots.at[i].y;
      const Color color = d.colors[i].color;
      if (squares) page_.rect(x, base - side, x + side, base, color);
      const Color dark = mix(color, kBlack, luma(color) > 150 ? 0.35F : 0.0F);
      out_.series.push_back(page_.text(x + (squares ? side * 1.5F : 0), base, d.series[i],
                                       squares ? f.label : coloured(f.label, dark)));
    }
    return f.top + spots.height;
  }

  void draw_axis() {
    const int room = static_cast<int>((bottom_ - high_) / (f.label.size * 1.8F));
    const int ticks = std::clamp(r.between(3, 5), 1, std::max(1, room - 1));
    for (int i = 0; i <= ticks; ++i) {
      const float y = bottom_ - (bottom_ - high_) * i / ticks;
      page_.hline(x0_, f.right, y, 1, {225, 225, 225});
      page_.right(x0_ - f.label.size * 0.4F, y + f.label.size * 0.35F, shown(top_ * i / ticks, 0),
                  f.label);
    }
  }

  Run lying_piece(size_t s, float value, const std::string& text, float cy, float& x) {
    const Color color = d.colors[s].color;
    const float w = room_ * value / top_, from = x;
    page_.rect(x, cy - thick_ / 2, x + w, cy + thick_ / 2, color);
    x += w;
    if (w <= page_.measure(text, f.value) * 1.15F) return {};
    return page_.centred(from + w / 2, cy + page_.cap_height(f.value) / 2, text,
                         coloured(f.value, label_on(color)));
  }

  // The first series to the left of the middle, the second to the right.
  Run opposed_bar(size_t s, float value, const std::string& text, float cy) {
    const Color color = d.colors[s].color;
    const float w = (room_ - reserve_) / 2 * value / top_;
    const float a = s == 0 ? middle_ - w : middle_, b = s == 0 ? middle_ : middle_ + w;
    page_.rect(a, cy - thick_ / 2, b, cy + thick_ / 2, color);
    const float base = cy + page_.cap_height(f.value) / 2, air = f.value.size * 0.3F;
    if (w > page_.measure(text, f.value) * 1.6F && first_sign_)
      return page_.centred((a + b) / 2, base, text, coloured(f.value, label_on(color)));
    return page_.text(s == 0 ? a - air : b + air, base, text, f.value,
                      s == 0 ? Align::right : Align::left);
  }

  Run lying_bar(size_t s, float value, const std::string& text, float cy) {
    const bool grouped = kind_ == Bars::grouped;
    const Color color = d.colors[s].color;
    const float bar = grouped ? std::min(thick_ / ns_, f.value.size * 1.2F) : thick_;
    const float y =
        grouped ? cy + (s - (ns_ - 1) / 2.0F) * std::max(bar, f.value.size * 1.05F) : cy;
    const float w = std::max(1.0F, room_ * value / top_), base = y + page_.cap_height(f.value) / 2;
    page_.rect(x0_, y - bar / 2, x0_ + w, y + bar / 2, color);
    if (!grouped && all_signs_ && w > page_.measure(text, f.value) * 1.5F &&
        bar > f.value.size * 0.9F)
      return page_.right(x0_ + w - f.value.size * 0.3F, base, text,
                         coloured(f.value, label_on(color)));
    return page_.text(x0_ + w + f.value.size * 0.35F, base, text, f.value);
  }

  Run upright_piece(size_t s, float value, const std::string& text, float cx, float& floor) {
    const Color color = d.colors[s].color;
    const float h = std::max(1.0F, (bottom_ - high_) * value / top_), from = floor;
    page_.rect(cx - thick_ / 2, floor - h, cx + thick_ / 2, floor, color);
    floor -= h;
    if (h <= f.value.size * 1.2F || page_.measure(text, f.value) >= thick_) return {};
    return page_.centred(cx, from - h / 2 + page_.cap_height(f.value) / 2, text,
                         coloured(f.value, label_on(color)));
  }

  Random& r;
  Page& page_;
  const ChartData& d;
  const Frame& f;
  const Bars kind_;
  const size_t ns_ = d.series.size(), nc_ = d.categories.size();
  ChartRuns out_;
  float top_ = 1;                                       // the value of a bar over the whole length
  float x0_ = 0, room_ = 0, reserve_ = 0, middle_ = 0;  // lying bars
  float bottom_ = 0, high_ = 0;                         // upright bars
  float thick_ = 0;
  bool all_signs_ = false, first_sign_ = false;
};

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
  const Page scale(c, 1, 1, kWhite);
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
  static const char* const names[] = {"bars", "bars-grouped", "bars-stacked", "bars-opposed"};
  const std::string name = names[static_cast<int>(kind)];
  Sheet sheet(name + (upright ? "-vertical" : ""), Finish::chart);
  Page& page = sheet.add(c, s.width, s.height, kWhite);
  draw_frame(c, page, d, f);
  BarDrawer drawer(c, page, d, f, kind);
  chart_questions(page, r, d, upright ? drawer.vertical() : drawer.horizontal());
  return sheet;
}

}  // namespace arrcoc::scenes
