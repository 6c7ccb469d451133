#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "arrcoc/knowing.h"
#include "arrcoc/realizing.h"
#include "models/tiny/page.h"
#include "models/tiny/state.h"

namespace arrcoc::tiny {
namespace {

constexpr size_t kPages = 4;  // a page of 1024x1024 keeps 2 MB
constexpr int kLongestFrame = 4096;

template <size_t N>
void copy_to(const Tensor& row, std::array<float, N>& out) {
  Tensor values = row.to(at::kCPU, at::kFloat).contiguous();
  std::copy_n(values.data_ptr<float>(), N, out.begin());
}

}  // namespace

Tensor symbols_tensor(std::string_view question, bool* shortened) {
  const std::vector<uint8_t> symbols = encode_question(question, shortened);
  if (symbols.empty()) throw Error(ErrorCode::bad_argument, "the question is empty");
  return at::tensor(std::vector<int64_t>(symbols.begin(), symbols.end()), at::kLong).view({1, -1});
}

PageFeatures TinyModel::State::read(const Tensor& frame) const {
  const int64_t h = frame.size(1), w = frame.size(2);
  if (std::max(h, w) > kLongestFrame)
    throw Error(ErrorCode::too_large, "the realizer looks at frames of at most " +
                                          std::to_string(kLongestFrame) + " pixels, not " +
                                          std::to_string(std::max(h, w)));
  const Tensor canvas = canvas_of(frame.to(at::kFloat));
  const Tensor extent =
      at::tensor({static_cast<float>(w), static_cast<float>(h)}, at::kFloat).view({1, 2});
  const Page seen{page_pixels(canvas), page_texture(canvas, extent), extent};
  PageFeatures features = realizer.read(weights.realizer, seen, at::kFloat);
  features.cells = Tensor();
  return features;
}

PageFeatures TinyModel::State::page(const Picture& picture, const Tensor& frame) {
  const int64_t h = frame.size(1), w = frame.size(2);
  {
    const std::scoped_lock lock(mutex);
    const auto known = std::find_if(pages.begin(), pages.end(), [&](const RememberedPage& seen) {
      return seen.hash == picture.hash && seen.height == h && seen.width == w;
    });
    if (known != pages.end()) {
      pages.splice(pages.begin(), pages, known);
      return known->features;
    }
  }
  PageFeatures features = read(frame);
  const std::scoped_lock lock(mutex);
  pages.push_front({picture.hash, h, w, features});
  if (pages.size() > kPages) pages.pop_back();
  return features;
}

TinyModel::TinyModel() = default;
TinyModel::~TinyModel() = default;

std::shared_ptr<const TinyModel> TinyModel::load(const std::string& folder) {
  at::NoGradGuard no_grad;
  std::shared_ptr<TinyModel> model(new TinyModel);
  model->state_ = std::make_unique<State>(load_bundle(folder));
  return model;
}

const Shape& TinyModel::shape() const { return state_->weights.shape; }

int64_t TinyModel::parameters() const {
  return state_->realizer.layout().count() + state_->answerer.layout().count();
}

Opinion TinyModel::State::judge(const PageFeatures& page, const Map& shape,
                                std::string_view question) const {
  const Judgement judged =
      realizer.judge(weights.realizer, page, symbols_tensor(question), at::zeros({1}, at::kLong));
  Opinion out;
  out.relevance = shape;
  // Cells beyond the picture (the canvas is a multiple of 32 pixels) are left out.
  Tensor map = at::sigmoid(judged.relevance[0])
                   .narrow(0, 0, out.relevance.rows)
                   .narrow(1, 0, out.relevance.cols)
                   .contiguous();
  out.relevance.values.assign(map.data_ptr<float>(), map.data_ptr<float>() + map.numel());
  copy_to(judged.tier[0], out.tier);
  copy_to(judged.tensions[0], out.tensions);
  return out;
}

Opinion TinyModel::look(const Picture& picture, const Tensor& frame,
                        std::string_view question) const {
  at::NoGradGuard no_grad;
  if (encode_question(question).empty())
    throw Error(ErrorCode::bad_argument, "the question is empty");
  return state_->judge(state_->page(picture, frame),
                       knowing::map_shape(picture, frame, kCellHeight), question);
}

Tensor TinyModel::text(const Picture& picture, const Tensor& frame) const {
  at::NoGradGuard no_grad;
  const Map shape = knowing::map_shape(picture, frame, kCellHeight);
  return at::sigmoid(state_->page(picture, frame).text[0])
      .narrow(0, 0, shape.rows)
      .narrow(1, 0, shape.cols)
      .contiguous();
}

Answer TinyModel::answer(const TokenSequence& tokens, const Geometry& geometry,
                         std::string_view question) const {
  return answer_all({{&tokens, geometry, std::string(question)}})[0];
}

}  // namespace arrcoc::tiny
