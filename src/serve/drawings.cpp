#include "serve/drawings.h"

#include "arrcoc/error.h"
#include "arrcoc/media.h"
#include "serve/encoding.h"

namespace arrcoc::serving {

namespace {

std::string url_of(const at::Tensor& rgb) { return png_url(media::encode_png(rgb)); }

// The numbers that a drawing is made of are in the reply with or without it, so a build that cannot
// draw answers all the same, and says so where everything that was given up is named.
template <class Draw>
void draw_or_note(ordered_json& out, const Draw& draw) {
  try {
    draw();
  } catch (const Error& problem) {
    if (problem.code() != ErrorCode::unsupported) throw;
    out["fallbacks"].push_back(problem.what());
  }
}

}  // namespace

void add_homunculi(const Answer& answer,
                   const std::vector<std::shared_ptr<const SeenPicture>>& pictures,
                   ordered_json& out) {
  draw_or_note(out, [&] {
    for (size_t i = 0; i < pictures.size(); ++i)
      out["pictures"][i]["homunculus"] = url_of(media::draw_homunculus(
          pictures[i]->pyramid->picture(), answer.pictures[i].answer().allocation));
  });
}

void add_drawings(const Answer& answer, const SeenPicture& picture, ordered_json& out) {
  const Picture& canvas = picture.pyramid->picture();
  const Allocation& allocation = answer.from().answer().allocation;
  draw_or_note(out,
               [&] { out["homunculus"] = url_of(media::draw_homunculus(canvas, allocation)); });
  draw_or_note(out, [&] {
    out["relevance"] = url_of(media::draw_relevance(canvas, answer.from().look.relevance));
  });
  draw_or_note(out, [&] { out["quadtree"] = url_of(media::draw_quadtree(canvas, allocation)); });
}

}  // namespace arrcoc::serving
