// Rectangles for models that take whole pictures and count their tokens by rules of their own.
#include <algorithm>

#include "allocate/strategies.h"

namespace arrcoc::allocating {

namespace {

using ViewTokens = std::function<int64_t(int, int)>;

Crop counted(Crop crop, const ViewTokens& view_tokens) {
  crop.tokens = static_cast<int>(view_tokens(crop.width, crop.height));
  return crop;
}

// The largest view of the whole picture that costs at most `budget`; no tokens when even a tiny one
// costs more.
Crop largest(const Geometry& g, int budget, const ViewTokens& view_tokens) {
  Crop view{{0, 0, static_cast<float>(g.width), static_cast<float>(g.height)}, 0, 0, 0};
  for (double scale = 1; scale > 1.0 / 64; scale *= 0.95) {
    view.width = std::max(1, static_cast<int>(g.width * scale));
    view.height = std::max(1, static_cast<int>(g.height * scale));
    view = counted(view, view_tokens);
    if (view.tokens <= budget) return view;
  }
  return {};
}

}  // namespace

Allocation allocate_views(const Relevance& relevance, const Geometry& geometry,
                          const Budget& budget, const AllocateOptions& options,
                          const ViewTokens& view_tokens) {
  const Crop whole =
      counted({{0, 0, static_cast<float>(geometry.width), static_cast<float>(geometry.height)},
               geometry.width,
               geometry.height,
               0},
              view_tokens);
  Allocation out;
  out.geometry = geometry;
  out.budget = budget;
  if (whole.tokens > budget.tokens && options.token_pixels > 0) {
    out = allocate(relevance, geometry, budget, "zoom", options);
    for (Crop& crop : out.crops) crop = counted(crop, view_tokens);
    // The model may round up or have a least size: the weakest crops go first.
    while (out.crops.size() > 1 && out.tokens() > budget.tokens) out.crops.pop_back();
  }
  out.allocator = "zoom";
  if (!out.crops.empty() && out.tokens() <= budget.tokens) return out;
  const Crop fitting =
      whole.tokens <= budget.tokens ? whole : largest(geometry, budget.tokens, view_tokens);
  out.crops = {fitting};
  out.fallbacks.clear();  // of crops that are not used
  if (fitting.tokens == 0) {
    out.crops = {whole};
    out.budget.tokens = whole.tokens;
    out.fallbacks.push_back("a picture costs this model " + std::to_string(whole.tokens) +
                            kAnySize);
  }
  return out;
}

}  // namespace arrcoc::allocating
