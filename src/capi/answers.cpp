// Asking, looking and what comes out of it, of arrcoc/c.h.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "arrcoc/allocate.h"
#include "arrcoc/json.h"
#include "arrcoc/tokens.h"
#include "base/json.h"
#include "capi/handles.h"

namespace arrcoc::capi {

namespace {

constexpr int kSmallestRegion = 2 * kPatch;  // as in the JSON

const arrcoc_ask_params kAsk = {sizeof(arrcoc_ask_params), nullptr, nullptr, nullptr, 0, -1, 0};

AskOptions options_of(const arrcoc_ask_params* params) {
  const arrcoc_ask_params given = given_or(params, kAsk);
  AskOptions out = policy(given.policy ? given.policy : AskOptions{}.policy);
  if (given.options) apply_json(out, parse_json(given.options, "options", 8));
  if (given.budget) out.budget = given.budget;
  if (given.passes != 0) out.passes.passes = given.passes;
  if (!std::isfinite(given.threshold) || given.threshold > 1)
    throw Error(ErrorCode::bad_argument, "threshold is at most 1");
  if (given.threshold >= 0) out.threshold = given.threshold;
  if (given.max_new_tokens < 0) throw Error(ErrorCode::bad_argument, "max_new_tokens is 0 or more");
  out.generate.max_new_tokens = given.max_new_tokens;
  return out;
}

template <class Road>
std::unique_ptr<arrcoc_answer> answered(const arrcoc_model* model, std::vector<Picture> pictures,
                                        const char* question, const arrcoc_ask_params* params,
                                        const Road& road) {
  const Asker& asker = *required(model, "model").asker;
  required(question, "question");
  auto out = std::make_unique<arrcoc_answer>();
  out->options = asker.fitted(options_of(params));
  out->pictures = std::move(pictures);
  out->answer = road(asker, out->pictures, out->options);
  return out;
}

const PictureAnswer& one_of(const arrcoc_answer* answer, int picture) {
  const auto& pictures = required(answer, "answer").answer.pictures;
  if (picture < 0 || picture >= static_cast<int>(pictures.size()))
    throw Error(ErrorCode::bad_argument, "no picture " + std::to_string(picture) + ": there are " +
                                             std::to_string(pictures.size()));
  return pictures[static_cast<size_t>(picture)];
}

arrcoc_box to_c(const Box& box, float sx = 1, float sy = 1) {
  return {box.x0 * sx, box.y0 * sy, box.x1 * sx, box.y1 * sy};
}

// From pixels that tokens are cut from to those of the picture.
arrcoc_box to_picture(const Box& box, const PictureAnswer& of) {
  const Geometry& canvas = of.answer().allocation.geometry;
  return to_c(box, static_cast<float>(of.width) / static_cast<float>(canvas.width),
              static_cast<float>(of.height) / static_cast<float>(canvas.height));
}

Pyramid pyramid(const arrcoc_answer& answer, int picture) {
  Pyramid out = pyramid_of(answer.pictures[static_cast<size_t>(picture)], answer.options);
  const Geometry& cut =
      answer.answer.pictures[static_cast<size_t>(picture)].answer().allocation.geometry;
  if (out.geometry().width != cut.width || out.geometry().height != cut.height)
    throw Error(ErrorCode::unsupported, "this model cuts its tokens itself");
  return out;
}

at::Tensor view_pixels(const arrcoc_answer& answer, int picture, const Crop& crop) {
  const at::Tensor whole = pyramid(answer, picture).picture().rgb;
  const auto x0 = static_cast<int64_t>(crop.box.x0), y0 = static_cast<int64_t>(crop.box.y0);
  const auto x1 = static_cast<int64_t>(std::ceil(crop.box.x1));
  const auto y1 = static_cast<int64_t>(std::ceil(crop.box.y1));
  const Picture part = make_picture(whole.slice(1, y0, y1).slice(2, x0, x1).contiguous());
  return resize(part, crop.width, crop.height).rgb;
}

char* counted_copy(const std::string& text) {
  auto* out = static_cast<char*>(std::malloc(text.size() + 1));
  if (out == nullptr) throw std::bad_alloc();
  std::memcpy(out, text.c_str(), text.size() + 1);
  ++live_handles;
  return out;
}

}  // namespace
}  // namespace arrcoc::capi

using namespace arrcoc;
using namespace arrcoc::capi;

arrcoc_status arrcoc_ask_params_init(arrcoc_ask_params* params, size_t size) {
  return init(params, size, kAsk);
}

arrcoc_status arrcoc_ask(const arrcoc_model* model, const arrcoc_picture* picture,
                         const char* question, const arrcoc_ask_params* params,
                         arrcoc_answer** out) {
  return arrcoc_ask_several(model, &picture, 1, question, params, out);
}

arrcoc_status arrcoc_ask_several(const arrcoc_model* model, const arrcoc_picture* const* pictures,
                                 size_t count, const char* question,
                                 const arrcoc_ask_params* params, arrcoc_answer** out) {
  return making(out, [&] {
    required(pictures, "pictures");
    std::vector<Picture> all;
    for (size_t i = 0; i < count; ++i) all.push_back(required(pictures[i], "picture").picture);
    return answered(model, std::move(all), question, params,
                    [&](const Asker& asker, const auto& of, const AskOptions& options) {
                      return asker.ask(of, question, options);
                    });
  });
}

arrcoc_status arrcoc_look(const arrcoc_model* model, const arrcoc_picture* picture,
                          const char* question, const arrcoc_ask_params* params,
                          arrcoc_answer** out) {
  return making(out, [&] {
    return answered(model, {required(picture, "picture").picture}, question, params,
                    [&](const Asker& asker, const auto& of, const AskOptions& options) {
                      return asker.look(of.front(), question, options);
                    });
  });
}

void arrcoc_answer_free(arrcoc_answer* answer) { delete answer; }

arrcoc_status arrcoc_answer_summary(const arrcoc_answer* answer, arrcoc_summary* out) {
  return guarded([&] {
    check_size(required(out, "out").size, sizeof *out);
    const Answer& a = required(answer, "answer").answer;
    *out = {sizeof *out,
            static_cast<int>(a.pictures.size()),
            static_cast<int>(a.picture),
            a.tokens,
            a.native_tokens,
            a.stop != Stop::open,
            a.confidence,
            a.calibrated,
            a.unsure,
            a.box().has_value(),
            a.box() ? to_c(*a.box()) : arrcoc_box{}};
  });
}

const char* arrcoc_answer_text(const arrcoc_answer* answer) {
  return answer ? answer->answer.text.c_str() : "";
}

arrcoc_status arrcoc_answer_json(const arrcoc_answer* answer, int details, char** out) {
  if (out != nullptr) *out = nullptr;
  return guarded([&] {
    required(out, "out");
    *out = counted_copy(to_json(required(answer, "answer").answer, {details != 0})
                            .dump(-1, ' ', false, ordered_json::error_handler_t::replace));
  });
}

void arrcoc_text_free(char* text) {
  if (text == nullptr) return;
  std::free(text);
  --live_handles;
}

arrcoc_status arrcoc_answer_map(const arrcoc_answer* answer, int picture, arrcoc_map* out) {
  if (out != nullptr) *out = {};
  return guarded([&] {
    required(out, "out");
    const Map& map = one_of(answer, picture).look.relevance.map;
    *out = {map.rows, map.cols, map.cell_width, map.cell_height, map.values.data()};
  });
}

arrcoc_status arrcoc_answer_regions(const arrcoc_answer* answer, int picture,
                                    arrcoc_region* regions, size_t capacity, size_t* count) {
  if (count != nullptr) *count = 0;
  return guarded([&] {
    required(count, "count");
    if (capacity > 0) required(regions, "regions");
    const PictureAnswer& of = one_of(answer, picture);
    const int most = static_cast<int>(std::min<size_t>(capacity, 1024));
    for (const auto& region : allocating::find_regions(
             of.look.relevance.map, {of.width, of.height, 0}, most, kSmallestRegion))
      regions[(*count)++] = {to_c(region.box), region.strength};
  });
}

arrcoc_status arrcoc_answer_views(const arrcoc_answer* answer, int picture, arrcoc_view* views,
                                  size_t capacity, size_t* count) {
  if (count != nullptr) *count = 0;
  return guarded([&] {
    required(count, "count");
    if (capacity > 0) required(views, "views");
    const PictureAnswer& of = one_of(answer, picture);
    const auto& crops = of.answer().allocation.crops;
    for (size_t i = 0; i < std::min(capacity, crops.size()); ++i)
      views[i] = {to_picture(crops[i].box, of), crops[i].width, crops[i].height, crops[i].tokens};
    *count = crops.size();
  });
}

arrcoc_status arrcoc_answer_view_rgb(const arrcoc_answer* answer, int picture, int view,
                                     uint8_t* out, size_t bytes) {
  return guarded([&] {
    const auto& crops = one_of(answer, picture).answer().allocation.crops;
    if (view < 0 || view >= static_cast<int>(crops.size()))
      throw Error(ErrorCode::bad_argument, "no view " + std::to_string(view) + ": there are " +
                                               std::to_string(crops.size()));
    copy_packed(view_pixels(*answer, picture, crops[static_cast<size_t>(view)]), out, bytes);
  });
}

arrcoc_status arrcoc_answer_tokens(const arrcoc_answer* answer, int picture, arrcoc_tokens** out) {
  return making(out, [&] {
    const PictureAnswer& of = one_of(answer, picture);
    const Allocation& allocation = of.answer().allocation;
    const TokenSequence cut = cutting::cut(pyramid(*answer, picture), allocation);
    const std::vector<Box> boxes = allocating::token_boxes(allocation);
    auto made = std::make_unique<arrcoc_tokens>();
    made->patches = cut.pixels.contiguous();
    const at::Tensor level = cut.level.to(at::kInt).contiguous();
    const at::Tensor relevance = cut.relevance.contiguous();
    for (size_t i = 0; i < boxes.size(); ++i)
      made->list.push_back(
          {to_picture(boxes[i], of), level.data_ptr<int>()[i], relevance.data_ptr<float>()[i]});
    return made;
  });
}

size_t arrcoc_tokens_count(const arrcoc_tokens* tokens) { return tokens ? tokens->list.size() : 0; }
const arrcoc_token* arrcoc_tokens_list(const arrcoc_tokens* tokens) {
  return tokens ? tokens->list.data() : nullptr;
}
const uint8_t* arrcoc_tokens_patches(const arrcoc_tokens* tokens) {
  return tokens ? tokens->patches.data_ptr<uint8_t>() : nullptr;
}
void arrcoc_tokens_free(arrcoc_tokens* tokens) { delete tokens; }
