#include <algorithm>
#include <cmath>

#include "allocate/strategies.h"
#include "allocate/tree.h"
#include "arrcoc/allocate.h"

namespace arrcoc::allocating {

namespace {

constexpr double kGlanceShare = 1.0 / 3;  // of the budget, at least
// A rectangle must be shown this much larger than the glance shows it, or it tells nothing new.
constexpr double kWorthwhile = 1.25;

// The largest picture of whole tokens that shows `box` at up to `scale` with at most `tokens`
// tokens; as near to the aspect ratio of the box as whole tokens allow.
Crop fit(const Box& box, int tokens, int token_pixels, double scale) {
  const double wide = box.width() / token_pixels;
  const double high = box.height() / token_pixels;
  const double s = std::min(scale, std::sqrt(tokens / (wide * high)));
  int cols = std::max(1, static_cast<int>(wide * s + 1e-6));
  int rows = std::max(1, static_cast<int>(high * s + 1e-6));
  // Only a strip that is thinner than one token gets here with too many.
  if (static_cast<int64_t>(cols) * rows > tokens) {
    (cols > rows ? cols : rows) = tokens / std::min(cols, rows);
  }
  return Crop{box, cols * token_pixels, rows * token_pixels, cols * rows};
}

double scale_of(const Crop& crop) {
  return std::sqrt(static_cast<double>(crop.width) * crop.height / crop.box.area());
}

class Zoom : public Allocator {
 public:
  bool tiles() const override { return false; }

  Allocation allocate(const Relevance& relevance, const Geometry& geometry, const Budget& budget,
                      const AllocateOptions& options) const override {
    const Field field(relevance.map, geometry);  // refuses a broken map
    Allocation out;
    out.geometry = geometry;
    out.budget = budget;
    out.allocator = "zoom";
    const Box whole{0, 0, static_cast<float>(geometry.width), static_cast<float>(geometry.height)};
    const double largest = geometry.finest < 0 ? 2 : 1;  // enlarging is opt-in
    std::vector<Region> regions;
    const int least = std::max(1, options.least_view);
    const int most =
        std::min(options.max_crops, least == 1 ? options.max_crops : budget.tokens / least - 1);
    if (scale_of(fit(whole, budget.tokens, options.token_pixels, 1)) * kWorthwhile < largest) {
      // A rectangle that costs `least` anyway may as well show as much as that pays for.
      const int side = std::max(2, static_cast<int>(std::ceil(std::sqrt(least))));
      regions = find_regions(relevance.map, geometry, most, side * options.token_pixels);
      if (regions.empty() && most > 0) {
        out.fallbacks.emplace_back(
            "zoom: no region stands out, the whole budget goes to the glance");
      }
    }
    std::vector<Crop> crops = share(regions, budget.tokens, options, largest);
    Crop glance = rest(whole, crops, budget.tokens, options);
    // Each crop that goes leaves its tokens to the glance, which may make another one pointless.
    for (bool again = true; again;) {
      const auto useless = std::find_if(crops.begin(), crops.end(), [&](const Crop& crop) {
        return scale_of(crop) < kWorthwhile * scale_of(glance);
      });
      again = useless != crops.end();
      if (again) crops.erase(useless);
      glance = rest(whole, crops, budget.tokens, options);
    }
    out.crops.push_back(glance);
    out.crops.insert(out.crops.end(), crops.begin(), crops.end());
    return out;
  }

 private:
  // What the glance does not need, by strength x sqrt(area): a larger region needs more tokens, but
  // not so many more that a small one gets none. Each gets at least least_view, or is left out.
  static std::vector<Crop> share(std::vector<Region> regions, int budget,
                                 const AllocateOptions& options, double scale) {
    const int least = std::max(1, options.least_view);
    int left = budget - std::max(least, static_cast<int>(budget * kGlanceShare));
    while (least > 1 && !regions.empty() &&
           left < least * static_cast<int>(regions.size()))  // the weakest stands last
      regions.pop_back();
    double total = 0;
    for (const Region& region : regions) total += weight(region);
    std::vector<Crop> out;
    for (size_t i = 0; i < regions.size(); ++i) {
      const int others = least == 1 ? 0 : least * static_cast<int>(regions.size() - i - 1);
      int tokens = static_cast<int>(left * (weight(regions[i]) / total));
      if (least > 1) tokens = std::clamp(tokens, least, std::max(least, left - others));
      total -= weight(regions[i]);
      if (tokens < 1) continue;
      out.push_back(fit(regions[i].box, tokens, options.token_pixels, scale));
      left -= std::max(least == 1 ? 0 : least, out.back().tokens);
    }
    return out;
  }

  static double weight(const Region& region) {
    return region.strength * std::sqrt(static_cast<double>(region.box.area()));
  }

  static Crop rest(const Box& whole, const std::vector<Crop>& crops, int budget,
                   const AllocateOptions& options) {
    for (const Crop& crop : crops) budget -= std::max(options.least_view, crop.tokens);
    return fit(whole, std::max(1, budget), options.token_pixels, 1);
  }
};

}  // namespace

std::unique_ptr<Allocator> make_zoom() { return std::make_unique<Zoom>(); }

}  // namespace arrcoc::allocating
