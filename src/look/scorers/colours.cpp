// Coupling by dot products: the colour of each cell against the colours that the question names.
#include <ATen/ATen.h>

#include <vector>

#include "arrcoc/error.h"
#include "look/scorers/lexicon.h"
#include "look/scorers/maps.h"
#include "look/scorers/scorers.h"

namespace arrcoc::scoring {

Map couple(const at::Tensor& features, const at::Tensor& tokens, const at::Tensor& keep,
           const Map& shape, float sharpness) {
  if (features.dim() != 3 || tokens.dim() != 2 || features.size(0) != tokens.size(1)) {
    throw Error(ErrorCode::bad_argument,
                "[couple] features [D,rows,cols] and tokens [T,D] must share D");
  }
  at::Tensor chosen = tokens;
  if (keep.defined()) {
    if (keep.dim() != 1 || keep.size(0) != tokens.size(0)) {
      throw Error(ErrorCode::bad_argument, "[couple] keep must be [T]");
    }
    chosen = tokens.index_select(0, keep.to(at::kBool).nonzero().squeeze(1));
  }
  if (chosen.size(0) == 0)
    throw Error(ErrorCode::bad_argument, "[couple] no question token is left");
  const at::Tensor cells = features.flatten(1).t().to(at::kFloat);  // [N,D]
  const auto unit = [](const at::Tensor& t) { return t / t.norm(2, {1}, true).clamp_min(1e-8); };
  const at::Tensor cosine = at::matmul(unit(cells), unit(chosen.to(at::kFloat)).t());  // [N,T]
  // Largest over tokens, not the mean vector: one word that fits is enough.
  const at::Tensor best = std::get<0>(cosine.max(1));
  const at::Tensor score = ((best - best.mean()) * sharpness).sigmoid();
  return to_map(score.reshape({features.size(1), features.size(2)}), shape);
}

// In L*a*b.
Map colours(const Sight& sight) {
  std::vector<at::Tensor> wanted;
  for (const std::string& word : sight.query.words) {
    if (const Colour* colour = find_colour(word)) {
      wanted.push_back(at::tensor({colour->lightness - 0.5F, colour->a * 2, colour->b * 2}));
    }
  }
  if (wanted.empty()) return like(sight.shape, 0.0F);
  const at::Tensor rgb =
      texture::area_pool(sight.frame.unsqueeze(0), sight.shape.rows, sight.shape.cols);
  at::Tensor lab = texture::rgb_to_lab(rgb).squeeze(0);
  lab = at::stack({lab[0] - 0.5, lab[1] * 2, lab[2] * 2});
  return couple(lab, at::stack(wanted), {}, sight.shape);
}

}  // namespace arrcoc::scoring
