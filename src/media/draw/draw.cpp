// Pictures for people: where the tokens go, what is relevant, what is left to see.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <opencv2/imgproc.hpp>

#include "media/draw/paint.h"
#include "media/mats.h"

namespace arrcoc::media {

namespace {

constexpr int kSmallestOutline = 5;  // sheet pixels: below this, outlines would hide the picture

// A rectangle of native pixels and the tokens per native pixel in it.
struct Patch {
  Box box;
  double density = 0;
};

std::vector<Patch> patches_of(const Allocation& allocation) {
  std::vector<Patch> out;
  for (const Leaf& leaf : allocation.leaves) {
    const auto side = static_cast<double>(Geometry::side(leaf.level));
    out.push_back({allocating::box_of(allocation.geometry, leaf), 1 / (side * side)});
  }
  for (const Crop& crop : allocation.crops) {
    if (crop.box.area() > 0) out.push_back({crop.box, crop.tokens / crop.box.area()});
  }
  return out;
}

std::string count(const Allocation& allocation) {
  return std::to_string(allocation.tokens()) + " of " + std::to_string(allocation.budget.tokens) +
         " tokens";
}

// 64, 2.5, 1/4
std::string short_number(double value) {
  char text[32];
  if (value < 1 && std::abs(1 / value - std::round(1 / value)) < 1e-6) {
    std::snprintf(text, sizeof text, "1/%.0f", 1 / value);
  } else {
    std::snprintf(text, sizeof text, value < 10 ? "%.2g" : "%.0f", value);
  }
  return text;
}

// The scale of densities: logarithmic between the sparsest and the densest patch.
class Scale {
 public:
  explicit Scale(const std::vector<Patch>& patches) {
    for (const Patch& p : patches) {
      if (p.density <= 0) continue;
      low_ = low_ == 0 ? p.density : std::min(low_, p.density);
      high_ = std::max(high_, p.density);
    }
  }
  double place(double density) const {
    return high_ > low_ ? std::log(density / low_) / std::log(high_ / low_) : 0.5;
  }
  // The square of which the sparsest patch gives about one token.
  double side() const {
    return low_ > 0 ? std::exp2(std::round(std::log2(1 / std::sqrt(low_)))) : kPatch;
  }
  std::vector<Tick> ticks() const {
    std::vector<Tick> out;
    if (high_ <= 0) return out;
    const double area = side() * side();
    if (high_ <= low_) return {{0.5, short_number(low_ * area)}};
    for (double tokens = 1.0 / 64; tokens <= 1e9; tokens *= 4) {
      const double t = place(tokens / area);
      if (t > -1e-6 && t < 1 + 1e-6) out.push_back({t, short_number(tokens)});
    }
    return out;
  }

 private:
  double low_ = 0, high_ = 0;
};

// Mixes colours into the faded picture; the stronger, the more opaque.
void heat(cv::Mat& picture, const cv::Mat& strength) {
  for (int y = 0; y < picture.rows; ++y) {
    for (int x = 0; x < picture.cols; ++x) {
      const double t = strength.at<float>(y, x);
      if (t < 0) continue;  // nothing here
      mix(picture.at<cv::Vec3b>(y, x), colour_of(t), 0.45 + 0.2 * t);
    }
  }
}

// The faded picture as the ground for colours.
Sheet faded(const Picture& picture, const DrawOptions& options, double contrast) {
  Sheet sheet(picture.width(), picture.height(), options);
  sheet.show(picture.rgb);
  sheet.fade(contrast);
  return sheet;
}

}  // namespace

at::Tensor draw_homunculus(const Picture& picture, const Allocation& allocation,
                           const DrawOptions& options) {
  Sheet sheet = faded(picture, options, 0.62);
  sheet.cover(allocation.geometry.width, allocation.geometry.height);
  const std::vector<Patch> patches = patches_of(allocation);
  const Scale scale(patches);
  cv::Mat strength(sheet.picture().size(), CV_32FC1, cv::Scalar(-1));
  for (const Patch& patch : patches) {
    if (patch.density <= 0) continue;
    cv::Mat part = strength(sheet.place(patch.box));
    cv::max(part, scale.place(patch.density), part);  // where patches overlap the densest shows
  }
  heat(sheet.picture(), strength);
  if (options.quadtree) {
    for (const Patch& patch : patches) {
      const cv::Rect r = sheet.place(patch.box);
      if (std::min(r.width, r.height) >= kSmallestOutline) {
        sheet.outline(r, {255, 255, 255}, 0.28);
      }
    }
  }
  const std::string side = short_number(scale.side());
  sheet.legend_bar(count(allocation), "tokens per " + side + " x " + side + " pixels",
                   scale.ticks());
  return sheet.finish();
}

at::Tensor draw_relevance(const Picture& picture, const Relevance& relevance,
                          const DrawOptions& options) {
  Sheet sheet = faded(picture, options, 0.62);
  const Map& map = relevance.map;
  if (!map.empty()) {
    // Bilinear between the middles of the cells, in source pixels: cells may reach past the edge.
    cv::Mat strength(sheet.picture().size(), CV_32FC1);
    for (int y = 0; y < strength.rows; ++y) {
      const double v = std::clamp(sheet.source_y(y) / map.cell_height - 0.5, 0.0, map.rows - 1.0);
      const int r0 = static_cast<int>(v);
      const int r1 = std::min(r0 + 1, map.rows - 1);
      for (int x = 0; x < strength.cols; ++x) {
        const double u = std::clamp(sheet.source_x(x) / map.cell_width - 0.5, 0.0, map.cols - 1.0);
        const int c0 = static_cast<int>(u);
        const int c1 = std::min(c0 + 1, map.cols - 1);
        const double fu = u - c0;
        const double fv = v - r0;
        const double value = (1 - fv) * ((1 - fu) * map.at(r0, c0) + fu * map.at(r0, c1)) +
                             fv * ((1 - fu) * map.at(r1, c0) + fu * map.at(r1, c1));
        strength.at<float>(y, x) = static_cast<float>(std::clamp(value, 0.0, 1.0));
      }
    }
    heat(sheet.picture(), strength);
  }
  sheet.mark(options.marks);
  const Weights& w = relevance.weights;
  char text[96];
  std::snprintf(text, sizeof text, "information %.2f, salience %.2f, coupling %.2f", w.information,
                w.salience, w.coupling);
  sheet.legend_bar("relevance", text,
                   {{0, "0"}, {0.25, "0.25"}, {0.5, "0.5"}, {0.75, "0.75"}, {1, "1"}});
  return sheet.finish();
}

at::Tensor draw_quadtree(const Picture& picture, const Allocation& allocation,
                         const DrawOptions& options) {
  Sheet sheet = faded(picture, options, 0.7);
  sheet.cover(allocation.geometry.width, allocation.geometry.height);
  std::map<int, int> levels;  // level -> leaves
  for (const Leaf& leaf : allocation.leaves) ++levels[leaf.level];
  const int finest = levels.empty() ? 0 : levels.begin()->first;
  const int coarsest = levels.empty() ? 0 : levels.rbegin()->first;
  const auto colour = [&](int level) {
    return colour_of(coarsest > finest
                         ? 0.15 + 0.75 * (coarsest - level) / static_cast<double>(coarsest - finest)
                         : 0.5);
  };
  // Coarse first: where two leaves share a border the finer one's colour stays.
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    for (const Leaf& leaf : allocation.leaves) {
      if (leaf.level != level->first) continue;
      const cv::Rect r = sheet.place(allocating::box_of(allocation.geometry, leaf));
      if (std::min(r.width, r.height) >= 3) sheet.outline(r, colour(leaf.level), 0.85);
    }
  }
  for (const Crop& crop : allocation.crops) {
    const cv::Rect r = sheet.place(crop.box);
    cv::rectangle(sheet.picture(), r, cv::Scalar(255, 214, 64), 2);
  }
  std::vector<Swatch> swatches;
  for (const auto& [level, leaves] : levels) {
    const auto side = std::to_string(Geometry::side(level));
    swatches.push_back({colour(level), side + ": " + std::to_string(leaves)});
  }
  sheet.legend_swatches(count(allocation), "leaves by side in pixels", swatches);
  return sheet.finish();
}

namespace {

// One mip level over the whole sheet: averaged where it is finer than the sheet, else as squares.
cv::Mat level_on(const Sheet& sheet, cv::Size size, const Pyramid& pyramid, int level) {
  const at::Tensor pixels = pyramid.level(std::max(0, level));
  const int shift = std::max(0, level);
  cv::Mat planes[3];
  for (int c = 0; c < 3; ++c) {
    const cv::Mat plane = plane_of(pixels, c);
    if (plane.cols > size.width || plane.rows > size.height) {
      cv::resize(plane, planes[c], size, 0, 0, cv::INTER_AREA);
      continue;
    }
    planes[c].create(size, CV_8UC1);
    std::vector<int> column(size.width);
    for (int x = 0; x < size.width; ++x) {
      column[x] = std::min(plane.cols - 1, static_cast<int>(sheet.source_x(x)) >> shift);
    }
    for (int y = 0; y < size.height; ++y) {
      const int row = std::min(plane.rows - 1, static_cast<int>(sheet.source_y(y)) >> shift);
      const uint8_t* from = plane.ptr(row);
      uint8_t* to = planes[c].ptr(y);
      for (int x = 0; x < size.width; ++x) to[x] = from[column[x]];
    }
  }
  cv::Mat out;
  cv::merge(planes, 3, out);
  return out;
}

// A crop as the model gets it: resampled to its own few pixels, here enlarged again.
void show_crop(Sheet& sheet, const Picture& picture, const Crop& crop) {
  const int x0 = std::clamp(static_cast<int>(crop.box.x0), 0, picture.width() - 1);
  const int y0 = std::clamp(static_cast<int>(crop.box.y0), 0, picture.height() - 1);
  const int x1 = std::clamp(static_cast<int>(std::ceil(crop.box.x1)), x0 + 1, picture.width());
  const int y1 = std::clamp(static_cast<int>(std::ceil(crop.box.y1)), y0 + 1, picture.height());
  const cv::Size given(std::max(1, crop.width), std::max(1, crop.height));
  cv::Mat part = sheet.picture()(sheet.place(crop.box));
  cv::Mat planes[3];
  for (int c = 0; c < 3; ++c) {
    const cv::Mat region = plane_of(picture.rgb, c)(cv::Rect(x0, y0, x1 - x0, y1 - y0));
    const bool smaller = given.width < region.cols || given.height < region.rows;
    cv::resize(region, planes[c], given, 0, 0, smaller ? cv::INTER_AREA : cv::INTER_LINEAR);
    const bool shrink = part.cols < given.width || part.rows < given.height;
    cv::resize(planes[c], planes[c], part.size(), 0, 0,
               shrink ? cv::INTER_AREA : cv::INTER_NEAREST);
  }
  cv::merge(planes, 3, part);
}

}  // namespace

at::Tensor draw_seen(const Pyramid& pyramid, const Allocation& allocation,
                     const DrawOptions& options) {
  const Picture& picture = pyramid.picture();
  Sheet sheet(picture.width(), picture.height(), options);
  sheet.picture() = kPaper;  // what no token covers is not seen
  std::map<int, std::vector<const Leaf*>, std::greater<>> by_level;  // coarse first
  for (const Leaf& leaf : allocation.leaves) by_level[leaf.level].push_back(&leaf);
  for (const auto& [level, leaves] : by_level) {
    const cv::Mat whole = level_on(sheet, sheet.picture().size(), pyramid, level);
    for (const Leaf* leaf : leaves) {
      const cv::Rect r = sheet.place(allocating::box_of(allocation.geometry, *leaf));
      whole(r).copyTo(sheet.picture()(r));
    }
  }
  for (const Crop& crop : allocation.crops) {
    if (crop.box.area() > 0) show_crop(sheet, picture, crop);
  }
  sheet.mark(options.marks);
  const int64_t native = allocation.geometry.native_tokens();
  char text[64];
  std::snprintf(text, sizeof text, "%.1f %% of %lld native patches",
                100.0 * allocation.tokens() / static_cast<double>(std::max<int64_t>(1, native)),
                static_cast<long long>(native));
  std::string sides = "leaves by side in pixels  ";
  for (auto level = by_level.rbegin(); level != by_level.rend(); ++level) {
    sides += "  " + std::to_string(Geometry::side(level->first)) + ": " +
             std::to_string(level->second.size());
  }
  if (by_level.empty()) sides = std::to_string(allocation.crops.size()) + " views";
  sheet.legend_line(count(allocation), text, sides);
  return sheet.finish();
}

at::Tensor draw_passes(const Picture& canvas, const PictureAnswer& answer, int longest) {
  constexpr int kTitle = 24, kGap = 8;
  std::vector<cv::Mat> tiles;
  int width = 0, height = 0;
  DrawOptions options;
  options.longest = longest;
  for (const Pass& pass : answer.passes) {
    tiles.push_back(interleaved(draw_homunculus(canvas, pass.allocation, options)));
    width += tiles.back().cols + (tiles.size() > 1 ? kGap : 0);
    height = std::max(height, tiles.back().rows);
  }
  cv::Mat sheet(height + kTitle, width, CV_8UC3, kPaper);
  int x = 0;
  for (size_t i = 0; i < tiles.size(); ++i) {
    const Pass& pass = answer.passes[i];
    char title[160];
    std::snprintf(title, sizeof title, "%zu%s %s: %.40s  sure %.2f, %lld tokens", i + 1,
                  i == answer.best ? "*" : "", to_string(pass.manner), pass.reply.text.c_str(),
                  pass.confidence, static_cast<long long>(pass.tokens));
    cv::Mat part = sheet(cv::Rect(x, 0, tiles[i].cols, sheet.rows));
    write(part, title, {6, 16}, kInk);
    tiles[i].copyTo(part(cv::Rect(0, kTitle, tiles[i].cols, tiles[i].rows)));
    x += tiles[i].cols + kGap;
  }
  return planar(sheet);
}

}  // namespace arrcoc::media
