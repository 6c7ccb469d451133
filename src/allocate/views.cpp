// Rectangles for models that take whole pictures and count their tokens by rules of their own.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "allocate/strategies.h"

namespace arrcoc::allocating {

namespace {

using ViewTokens = std::function<int64_t(int, int)>;

constexpr int kNever = std::numeric_limits<int>::max();
constexpr double kSmallest = 16, kExact = 128;  // pixels
constexpr double kStep = 0.93;                  // from a size to the next smaller one that is tried
constexpr double kWorthwhile =
    1.25;  // as in zoom.cpp: a crop must be so much larger than the glance

Crop counted(Crop crop, const ViewTokens& view_tokens) {
  crop.tokens = static_cast<int>(std::min<int64_t>(view_tokens(crop.width, crop.height), kNever));
  return crop;
}

Box box_of_all(const Geometry& g) {
  return {0, 0, static_cast<float>(g.width), static_cast<float>(g.height)};
}

int whole_pixels(double length) { return std::max(1, static_cast<int>(length + 1e-6)); }

double scale_of(const Crop& crop) {
  return std::sqrt(static_cast<double>(crop.width) * crop.height / crop.box.area());
}

// What a rectangle costs at the sizes up to its own: in its own shape, and squeezed step by step
// towards a square, because a count may hang on the shape alone. Sides below kSmallest are left
// out: there whole pixels change the shape.
class Sizes {
 public:
  Sizes(const Box& box, const ViewTokens& view_tokens) : box_(box), view_tokens_(view_tokens) {
    const double wide = box.width(), high = box.height();
    const double ratio = std::min(wide, high) / std::max(wide, high);
    for (const double squeeze : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      if (squeeze > 0 && ratio > 0.999) break;
      const double shorten = std::pow(ratio, squeeze);
      const double w = wide > high ? wide * shorten : wide, h = wide > high ? high : high * shorten;
      shapes_.emplace_back();
      for (double scale = 1; scale == 1 || std::min(w, h) * scale >= kSmallest; scale *= kStep)
        shapes_.back().push_back(view(w * scale, h * scale));
    }
  }

  // The floor. Squares keep their shape at every size; others count where a pixel matters little.
  int least() const {
    int out = kNever;
    for (const auto& shape : shapes_)
      for (size_t i = 0; i < shape.size(); ++i)
        if (i == 0 || &shape == &shapes_.back() ||
            std::min(shape[i].width, shape[i].height) >= kExact)
          out = std::min(out, shape[i].tokens);
    return out;
  }
  // The view of at most `limit` tokens whose worse side is shown largest.
  std::optional<Crop> largest(int limit) const {
    std::optional<Crop> best;
    for (const auto& shape : shapes_)
      for (size_t i = 0; i < shape.size(); ++i) {
        if (shape[i].tokens > limit) continue;
        const Crop crop = i == 0 ? shape[i] : between(shape[i], shape[i - 1], limit);
        if (!best || worse_scale(crop) > worse_scale(*best)) best = crop;
        break;
      }
    return best;
  }

 private:
  static double worse_scale(const Crop& crop) {
    return std::min(crop.width / crop.box.width(), crop.height / crop.box.height());
  }
  // Models refuse what is over 200 to 1.
  Crop view(double width, double height) const {
    Crop out{box_, whole_pixels(width), whole_pixels(height), kNever};
    const double longer = std::max(out.width, out.height);
    const double shorter = std::min(out.width, out.height);
    const double own =
        std::max(box_.width(), box_.height()) / std::min(box_.width(), box_.height());
    return longer > std::max(100.0, own) * shorter ? out : counted(out, view_tokens_);
  }
  // Between a size that fits and one that does not.
  Crop between(Crop fits, Crop exceeds, int limit) const {
    for (int step = 0; step < 5; ++step) {
      const Crop middle = view(std::sqrt(static_cast<double>(fits.width) * exceeds.width) + 0.5,
                               std::sqrt(static_cast<double>(fits.height) * exceeds.height) + 0.5);
      (middle.tokens <= limit ? fits : exceeds) = middle;
    }
    return fits;
  }

  const Box box_;
  const ViewTokens& view_tokens_;
  std::vector<std::vector<Crop>> shapes_;
};

int sum(const std::vector<Crop>& crops) {
  int64_t out = 0;
  for (const Crop& crop : crops) out += crop.tokens;
  return static_cast<int>(std::min<int64_t>(out, kNever));
}

// A glance and rectangles of whole tokens, planned with less until the model's own count, which may
// round up or add to every row, fits too.
Allocation zoomed(const Relevance& relevance, const Geometry& geometry, const Budget& budget,
                  AllocateOptions options, const Sizes& sizes, const ViewTokens& view_tokens) {
  Allocation out;
  for (const double share : {1.0, 0.97, 0.94, 0.9, 0.85, 0.8, 0.7}) {
    Budget planned = budget;
    planned.tokens = std::max(1, static_cast<int>(budget.tokens * share));
    Allocation plan = allocate(relevance, geometry, planned, "zoom", options);
    for (Crop& crop : plan.crops) crop = counted(crop, view_tokens);
    const bool fewer = !out.crops.empty() && plan.crops.size() < out.crops.size();
    if (!fewer && sum(plan.crops) <= budget.tokens) return plan;
    if (out.crops.empty()) out = std::move(plan);
  }
  // The weakest go first; the glance takes what is left.
  for (; out.crops.size() > 1; out.crops.pop_back()) {
    const int crops = sum(out.crops) - out.crops[0].tokens;
    const auto glance = crops < budget.tokens ? sizes.largest(budget.tokens - crops) : std::nullopt;
    if (!glance || scale_of(out.crops.back()) < kWorthwhile * scale_of(*glance)) continue;
    out.crops[0] = *glance;
    return out;
  }
  out.crops.clear();
  return out;
}

// A square around the middle of a box, at least `side` long where the picture has it.
Box square_around(const Box& box, double side, const Geometry& g) {
  const double most = std::min(g.width, g.height);
  side = std::min(
      most, std::max({side, static_cast<double>(box.width()), static_cast<double>(box.height())}));
  const auto place = [side](double middle, int limit) {
    return std::floor(std::clamp(middle - side / 2, 0.0, limit - side));
  };
  const double x = place((box.x0 + box.x1) / 2, g.width),
               y = place((box.y0 + box.y1) / 2, g.height);
  side = std::floor(side);
  return {static_cast<float>(x), static_cast<float>(y), static_cast<float>(x + side),
          static_cast<float>(y + side)};
}

// For models that count by tiles: a glance, and squares at the price of the cheapest view each.
std::vector<Crop> tiled(const Relevance& relevance, const Geometry& geometry, int budget, int floor,
                        int max_crops, const Sizes& sizes, const ViewTokens& view_tokens) {
  const int count = std::min(max_crops, budget / std::max(1, floor) - 1);
  if (count < 1) return {};
  const auto square = static_cast<float>(std::min(geometry.width, geometry.height));
  const auto cheapest = Sizes({0, 0, square, square}, view_tokens).largest(floor);
  if (!cheapest) return {};
  std::vector<Crop> crops;
  for (const Region& region : find_regions(relevance.map, geometry, count, 1)) {
    const Box box = square_around(region.box, cheapest->width, geometry);
    const bool apart = std::all_of(crops.begin(), crops.end(), [&](const Crop& crop) {
      return intersect(crop.box, box).area() < 0.5F * box.area();
    });
    const auto crop = apart ? Sizes(box, view_tokens).largest(floor) : std::nullopt;
    if (crop) crops.push_back(*crop);
  }
  while (!crops.empty()) {
    const auto glance = sizes.largest(budget - sum(crops));
    const auto useless = std::find_if(crops.begin(), crops.end(), [&](const Crop& crop) {
      return !glance || scale_of(crop) < kWorthwhile * scale_of(*glance);
    });
    if (useless == crops.end()) {
      crops.insert(crops.begin(), *glance);
      break;
    }
    crops.erase(useless);
  }
  return crops;
}

}  // namespace

Allocation allocate_views(const Relevance& relevance, const Geometry& geometry,
                          const Budget& budget, const AllocateOptions& options,
                          const ViewTokens& view_tokens) {
  const Crop whole =
      counted({box_of_all(geometry), geometry.width, geometry.height, 0}, view_tokens);
  Allocation out;
  out.geometry = geometry;
  out.budget = budget;
  out.allocator = "zoom";
  out.crops = {whole};
  if (whole.tokens <= budget.tokens && geometry.finest >= 0) return out;
  const Sizes sizes(whole.box, view_tokens);
  const int floor = sizes.least();
  if (floor > budget.tokens) {
    const bool same = floor == whole.tokens;
    if (!same) out.crops = {*sizes.largest(floor)};
    out.budget.tokens = floor;
    out.fallbacks.push_back("a picture costs this model " + std::to_string(floor) +
                            (same ? kAnySize : kLeastSize));
    return out;
  }
  Allocation zoom;
  if (options.token_pixels > 0) {
    AllocateOptions planned = options;
    planned.least_view = floor;
    zoom = zoomed(relevance, geometry, budget, planned, sizes, view_tokens);
  } else {
    zoom.crops =
        tiled(relevance, geometry, budget.tokens, floor, options.max_crops, sizes, view_tokens);
  }
  // One view shows all, crops only parts: they must pay.
  const Crop single = *sizes.largest(budget.tokens);
  const bool pays =
      zoom.crops.size() > 1 || (!zoom.crops.empty() && scale_of(zoom.crops[0]) >= scale_of(single));
  out.crops = {single};
  if (pays) {
    out.crops = std::move(zoom.crops);
    out.fallbacks = std::move(zoom.fallbacks);
  }
  return out;
}

std::vector<Allocation> allocate_views_together(const std::vector<Relevance>& relevance,
                                                const std::vector<Geometry>& geometry,
                                                const Budget& budget, int least,
                                                const AllocateOptions& options,
                                                const ViewTokens& view_tokens) {
  const auto worth = allocate_together(relevance, geometry, budget, least, options);
  struct Share {
    int least, most, tokens = 0;
    bool settled = false;
  };
  std::vector<Share> shares;
  for (const Geometry& g : geometry) {
    const Crop whole = counted({box_of_all(g), g.width, g.height, 0}, view_tokens);
    shares.push_back({Sizes(whole.box, view_tokens).least(), whole.tokens});
  }
  // Whoever would get less than it costs is settled first, then whoever would get more than it can
  // use.
  for (bool again = true; again;) {
    again = false;
    double left = budget.tokens, all = 0;
    for (size_t i = 0; i < shares.size(); ++i)
      shares[i].settled ? left -= shares[i].tokens : all += worth[i].tokens();
    for (size_t i = 0; i < shares.size(); ++i)
      if (!shares[i].settled)
        shares[i].tokens = static_cast<int>(std::max(0.0, left) * worth[i].tokens() / all);
    for (const bool poor : {true, false})
      for (Share& one : shares) {
        const int bound = poor ? one.least : one.most;
        if (again || one.settled || (poor ? one.tokens >= bound : one.tokens <= bound)) continue;
        one.tokens = bound;
        one.settled = again = true;
      }
  }
  std::vector<Allocation> out;
  for (size_t i = 0; i < shares.size(); ++i) {
    Budget own = budget;
    own.tokens = std::max(1, shares[i].tokens);
    own.why = worth[i].budget.why;
    out.push_back(allocate_views(relevance[i], geometry[i], own, options, view_tokens));
  }
  return out;
}

}  // namespace arrcoc::allocating
