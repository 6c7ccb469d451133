#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "arrcoc/film.h"
#include "arrcoc/realize.h"

namespace arrcoc::filming {

Map look_at(const Picture& picture, const std::string& question, const arrcoc::Options& options) {
  const Query query = parse_query(question);
  const at::Tensor frame = frame_of(picture, options.frame);
  texture::Options sensing{channel_set(options.channels), options.frame, options.cell, {}};
  for (const std::string& name : options.providers)
    sensing.providers.push_back(registry<Provider>().make(name));
  const Texture texture = texture::sense(picture, frame, sensing);
  const Sight sight{picture, frame, texture, query,
                    scoring::map_shape(picture, frame, options.cell)};
  const Knowledge knowledge =
      scoring::know(sight, {options.information, options.salience, options.coupling});
  return balancing::balance(knowledge, query, options.balancer, options.balance).map;
}

Geometry geometry_of(const Picture& picture, const arrcoc::Options& options) {
  return geometry_of(picture.width(), picture.height(), options);
}

Geometry geometry_of(int width, int height, const arrcoc::Options& options) {
  const int finest = options.enlarge ? kFinestEver : 0;
  if (options.canvas == 0) return {width, height, finest};
  if (options.canvas < 16 || options.canvas > 16384)
    throw Error(ErrorCode::bad_argument, "canvas must be 0 (native) or 16 to 16384 pixels");
  const double scale = static_cast<double>(options.canvas) / std::max(width, height);
  const auto side = [&](int n) { return std::max(1, static_cast<int>(std::lround(n * scale))); };
  return {side(width), side(height), finest};
}

}  // namespace arrcoc::filming
