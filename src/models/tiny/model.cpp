#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "arrcoc/look.h"
#include "arrcoc/texture.h"
#include "arrcoc/tokens.h"
#include "models/tiny/page.h"
#include "models/tiny/state.h"

namespace arrcoc::tiny {

struct SeenPage {
  PageFeatures features;  // without `cells`, which only training needs
  Map shape;
};

namespace {

constexpr int kLongestFrame = 4096;

template <size_t N>
void copy_to(const Tensor& row, std::array<float, N>& out) {
  Tensor values = row.to(at::kCPU, at::kFloat).contiguous();
  std::copy_n(values.data_ptr<float>(), N, out.begin());
}

}  // namespace

Tensor symbols_tensor(const std::vector<std::string>& questions, std::vector<bool>* shortened) {
  std::vector<std::vector<uint8_t>> all;
  size_t longest = 0;
  for (const std::string& question : questions) {
    bool cut = false;
    all.push_back(encode_question(question, &cut));
    if (all.back().empty()) throw Error(ErrorCode::bad_argument, "the question is empty");
    longest = std::max(longest, all.back().size());
    if (shortened) shortened->push_back(cut);
  }
  // The realizer joins five neighbouring characters. Two pads after the longest question give every
  // question the same neighbours alone, in a batch and as in training.
  longest = std::min<size_t>(longest + 2, kMaxQuestion);
  Tensor out =
      at::full({static_cast<int64_t>(all.size()), static_cast<int64_t>(longest)}, kPad, at::kLong);
  for (size_t q = 0; q < all.size(); ++q)
    std::copy(all[q].begin(), all[q].end(), out[static_cast<int64_t>(q)].data_ptr<int64_t>());
  return out;
}

PageFeatures TinyModel::State::read(const Tensor& frame, PageChannels channels) const {
  const int64_t h = frame.size(1), w = frame.size(2);
  if (std::max(h, w) > kLongestFrame)
    throw Error(ErrorCode::too_large, "the realizer looks at frames of at most " +
                                          std::to_string(kLongestFrame) + " pixels, not " +
                                          std::to_string(std::max(h, w)));
  Page seen = page_of_frame(frame);
  if (channels == PageChannels::colour) {  // red, green, blue lead the compact set
    Tensor others = seen.texture.narrow(3, 3, kCompactChannels - 3);
    others.copy_(others.mean({1, 2}, true).expand_as(others));
  }
  if (!device.is_cpu())
    seen = {seen.pixels.to(device), seen.texture.to(device), seen.extent.to(device)};
  PageFeatures features = realizer.read(looking(), seen, type);
  features.cells = Tensor();
  return features;
}

TinyModel::TinyModel() = default;
TinyModel::~TinyModel() = default;

const Shape& TinyModel::shape() const { return state_->weights.shape; }

int64_t TinyModel::parameters() const {
  return state_->realizer.layout().count() + state_->answerer.layout().count();
}

uint64_t TinyModel::fingerprint() const { return state_->fingerprint; }

std::vector<Opinion> TinyModel::State::judge(const PageFeatures& page, const Map& shape,
                                             const std::vector<std::string>& questions) const {
  const Tensor asked = symbols_tensor(questions).to(device);
  const Judgement judged = realizer.judge(looking(), page, asked, Tensor(), asked.size(0));
  // Cells beyond the picture (the canvas is a multiple of 32 pixels) are left out.
  const Tensor maps =
      relevance_of(judged.relevance.narrow(1, 0, shape.rows).narrow(2, 0, shape.cols)).to(at::kCPU);
  std::vector<Opinion> out(questions.size());
  for (size_t q = 0; q < out.size(); ++q) {
    const auto row = static_cast<int64_t>(q);
    const Tensor map = maps[row].contiguous();
    out[q].relevance = shape;
    out[q].relevance.values.assign(map.data_ptr<float>(), map.data_ptr<float>() + map.numel());
    copy_to(judged.tier[row], out[q].tier);
    copy_to(judged.tensions[row], out[q].tensions);
  }
  return out;
}

std::shared_ptr<const SeenPage> TinyModel::see(const Picture& picture, const Tensor& frame,
                                               PageChannels channels) const {
  at::NoGradGuard no_grad;
  return std::make_shared<const SeenPage>(
      SeenPage{state_->read(frame, channels), scoring::map_shape(picture, frame, kCellHeight)});
}

std::vector<Opinion> TinyModel::look(const SeenPage& page,
                                     const std::vector<std::string>& questions) const {
  if (questions.empty()) return {};
  at::NoGradGuard no_grad;
  return state_->judge(page.features, page.shape, questions);
}

Tensor TinyModel::text(const SeenPage& page) const {
  at::NoGradGuard no_grad;
  return at::sigmoid(page.features.text[0].to(at::kCPU, at::kFloat))
      .narrow(0, 0, page.shape.rows)
      .narrow(1, 0, page.shape.cols)
      .contiguous();
}

int64_t TinyModel::bytes(const SeenPage& page) { return page.features.bytes(); }

ReadAnswer TinyModel::answer(const TokenSequence& tokens, const Geometry& geometry,
                             std::string_view question) const {
  return answer({{&tokens, geometry, std::string(question)}}).front();
}

}  // namespace arrcoc::tiny
