#include "serve/shrink.h"

#include <ATen/ATen.h>

#include <cmath>

#include "arrcoc/error.h"
#include "arrcoc/media.h"

namespace arrcoc::serving {

namespace {

// The largest view of the whole picture that costs at most `budget`; no tokens when even a tiny one
// costs more.
View largest(const Picture& picture, const Family& family, int64_t budget) {
  View view;
  view.box = {0, 0, static_cast<float>(picture.width()), static_cast<float>(picture.height())};
  for (double scale = 1; scale > 1.0 / 64; scale *= 0.95) {
    view.width = std::max(1, static_cast<int>(picture.width() * scale));
    view.height = std::max(1, static_cast<int>(picture.height() * scale));
    view.tokens = picture_tokens(family, view.width, view.height);
    if (view.tokens <= budget) return view;
  }
  return {};
}

int64_t sum(const std::vector<View>& views) {
  int64_t tokens = 0;
  for (const View& view : views) tokens += view.tokens;
  return tokens;
}

}  // namespace

Shrunk shrink(const SeenPicture& seen, const Family& family, int64_t budget,
              const std::function<Allocation(int)>& look) {
  const Picture& picture = seen.picture;
  Shrunk out;
  out.native = out.kept = picture_tokens(family, picture.width(), picture.height());
  if (out.native <= budget) return out;
  if (family.token_pixels > 0) {
    for (const Crop& crop : look(family.token_pixels).crops)
      out.views.push_back(
          {crop.box, crop.width, crop.height, picture_tokens(family, crop.width, crop.height)});
    // The family may round up or have a least size: the weakest crops go first.
    while (out.views.size() > 1 && sum(out.views) > budget) out.views.pop_back();
  }
  if (out.views.empty() || sum(out.views) > budget) out.views = {largest(picture, family, budget)};
  if (out.views[0].tokens == 0) {
    out.views.clear();
    out.fallbacks.push_back("a picture costs this model " + std::to_string(out.native) +
                            " tokens at any size: sent as it is");
    return out;
  }
  out.kept = sum(out.views);
  return out;
}

std::vector<uint8_t> render(const Picture& picture, const View& view) {
  const auto x0 = static_cast<int64_t>(view.box.x0), y0 = static_cast<int64_t>(view.box.y0);
  const auto x1 = static_cast<int64_t>(std::ceil(view.box.x1));
  const auto y1 = static_cast<int64_t>(std::ceil(view.box.y1));
  const at::Tensor part = picture.rgb.slice(1, y0, y1).slice(2, x0, x1).contiguous();
  return media::encode_png(resize(make_picture(part), view.width, view.height).rgb);
}

ordered_json to_json(const Shrunk& shrunk, const Picture& picture) {
  auto views = ordered_json::array();
  for (const View& v : shrunk.views)
    views.push_back({{"box", {v.box.x0, v.box.y0, v.box.x1, v.box.y1}},
                     {"width", v.width},
                     {"height", v.height},
                     {"tokens", v.tokens}});
  return {{"width", picture.width()},  {"height", picture.height()},
          {"kept", shrunk.kept},       {"native", shrunk.native},
          {"views", std::move(views)}, {"fallbacks", shrunk.fallbacks}};
}

}  // namespace arrcoc::serving
