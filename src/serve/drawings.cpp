#include "serve/drawings.h"

#include "arrcoc/media.h"
#include "serve/encoding.h"

namespace arrcoc::serving {

namespace {

std::string url_of(const at::Tensor& rgb) { return png_url(media::encode_png(rgb)); }

}  // namespace

void add_homunculi(const Answer& answer,
                   const std::vector<std::shared_ptr<const SeenPicture>>& pictures,
                   ordered_json& out) {
  for (size_t i = 0; i < pictures.size(); ++i)
    out["pictures"][i]["homunculus"] = url_of(media::draw_homunculus(
        pictures[i]->pyramid->picture(), answer.pictures[i].answer().allocation));
}

void add_drawings(const Answer& answer, const SeenPicture& picture, ordered_json& out) {
  const Picture& canvas = picture.pyramid->picture();
  const Allocation& allocation = answer.from().answer().allocation;
  out["homunculus"] = url_of(media::draw_homunculus(canvas, allocation));
  out["relevance"] = url_of(media::draw_relevance(canvas, answer.from().look.relevance));
  out["quadtree"] = url_of(media::draw_quadtree(canvas, allocation));
}

}  // namespace arrcoc::serving
