#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <mutex>

#include "arrcoc/error.h"
#include "arrcoc/knowing.h"
#include "arrcoc/realizing.h"
#include "models/tiny/files.h"
#include "models/tiny/page.h"

namespace arrcoc::tiny {
namespace {

constexpr size_t kPages = 4;  // a page of 1024x1024 keeps 2 MB
constexpr int kLongestFrame = 4096;

struct SeenPage {
  uint64_t hash = 0;
  int64_t height = 0, width = 0;  // of the frame
  PageFeatures features;          // without `cells`, which only training needs
};

Tensor symbols_tensor(std::string_view question, bool* shortened = nullptr) {
  const std::vector<uint8_t> symbols = encode_question(question, shortened);
  if (symbols.empty()) throw Error(ErrorCode::bad_argument, "the question is empty");
  return at::tensor(std::vector<int64_t>(symbols.begin(), symbols.end()), at::kLong).view({1, -1});
}

template <size_t N>
void copy_to(const Tensor& row, std::array<float, N>& out) {
  Tensor values = row.to(at::kCPU, at::kFloat).contiguous();
  std::copy_n(values.data_ptr<float>(), N, out.begin());
}

}  // namespace

struct TinyModel::State {
  explicit State(Bundle bundle)
      : weights(std::move(bundle)), realizer(weights.shape), answerer(weights.shape) {}
  PageFeatures page(const Picture& picture, const Tensor& frame);

  Bundle weights;
  RealizerNet realizer;
  Answerer answerer;
  std::mutex mutex;
  std::list<SeenPage> pages;  // latest first
};

PageFeatures TinyModel::State::page(const Picture& picture, const Tensor& frame) {
  const int64_t h = frame.size(1), w = frame.size(2);
  {
    const std::scoped_lock lock(mutex);
    const auto known = std::find_if(pages.begin(), pages.end(), [&](const SeenPage& seen) {
      return seen.hash == picture.hash && seen.height == h && seen.width == w;
    });
    if (known != pages.end()) {
      pages.splice(pages.begin(), pages, known);
      return known->features;
    }
  }
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

Opinion TinyModel::look(const Picture& picture, const Tensor& frame,
                        std::string_view question) const {
  at::NoGradGuard no_grad;
  const Tensor asked = symbols_tensor(question);
  const PageFeatures page = state_->page(picture, frame);
  const Judgement judged =
      state_->realizer.judge(state_->weights.realizer, page, asked, at::zeros({1}, at::kLong));
  Opinion out;
  out.relevance = knowing::map_shape(picture, frame, kCellHeight);
  // Cells beyond the picture (the canvas is a multiple of 32 pixels) are left out.
  Tensor map =
      relevance_of(
          judged.relevance.narrow(1, 0, out.relevance.rows).narrow(2, 0, out.relevance.cols))
          .contiguous();
  out.relevance.values.assign(map.data_ptr<float>(), map.data_ptr<float>() + map.numel());
  copy_to(judged.tier[0], out.tier);
  copy_to(judged.tensions[0], out.tensions);
  return out;
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
  at::NoGradGuard no_grad;
  const int64_t n = tokens.size();
  if (n == 0) throw Error(ErrorCode::bad_argument, "there are no tokens to read an answer from");
  Answer out;
  tiny::Look look;
  look.question = symbols_tensor(question, &out.shortened);
  look.extent =
      at::tensor({static_cast<float>(geometry.width), static_cast<float>(geometry.height)},
                 at::kFloat)
          .view({1, 2});
  look.patches = tokens.around.permute({0, 2, 3, 1}).reshape({1, n, -1});
  look.centre = tokens.centre.unsqueeze(0) * look.extent.unsqueeze(1);
  look.scale = tokens.scale.unsqueeze(0);
  look.relevance = tokens.relevance.unsqueeze(0);
  look.real = at::ones({1, n}, at::kBool);
  const Tensors& w = state_->weights.answerer;
  const auto written =
      state_->answerer.write_greedy(w, state_->answerer.encode(w, look, at::kFloat));
  out.text = decode(written.symbols[0]);
  out.probabilities = written.probabilities[0];
  double product = 1;
  for (float p : out.probabilities) product *= p;
  out.confidence = static_cast<float>(product);
  return out;
}

}  // namespace arrcoc::tiny
