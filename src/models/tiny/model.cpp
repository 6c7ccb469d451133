#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <optional>

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

namespace {

void keep_colours(Page& page) {  // red, green, blue lead the compact set
  Tensor others = page.texture.narrow(3, 3, kCompactChannels - 3);
  others.copy_(others.mean({1, 2}, true).expand_as(others));
}

// What questions need of a page, as one list; without lookups there is no index.
std::vector<Tensor> listed(const PageFeatures& page) {
  std::vector<Tensor> out = {page.words, page.text, page.row_mask, page.column_mask};
  if (page.index.keys.defined()) out.insert(out.end(), {page.index.keys, page.index.values});
  return out;
}

PageFeatures from_list(const std::vector<Tensor>& all) {
  PageFeatures out;
  out.words = all[0];
  out.text = all[1];
  out.row_mask = all[2];
  out.column_mask = all[3];
  if (all.size() > 4) out.index = {all[4], all[5]};
  return out;
}

}  // namespace

PageFeatures TinyModel::State::read(const Tensor& frame, PageChannels channels) const {
  const int64_t h = frame.size(1), w = frame.size(2);
  if (std::max(h, w) > kLongestFrame)
    throw Error(ErrorCode::too_large, "the realizer looks at frames of at most " +
                                          std::to_string(kLongestFrame) + " pixels, not " +
                                          std::to_string(std::max(h, w)));
  if (!device.is_cpu()) return read_there(frame, channels);
  Page seen = page_of_frame(frame);
  if (channels == PageChannels::colour) keep_colours(seen);
  PageFeatures features = realizer.read(looking(), seen, type);
  features.cells = Tensor();
  return features;
}

PageFeatures TinyModel::State::read_there(const Tensor& frame, PageChannels channels) const {
  const bool colour = channels == PageChannels::colour;
  const Tensor bytes = frame.scalar_type() == at::kByte ? frame : bytes_of_frame(frame);
  const Tensor extent =
      at::tensor({static_cast<float>(frame.size(2)), static_cast<float>(frame.size(1))}, at::kFloat)
          .view({1, 2});
  return from_list(page_graphs.run(device, colour ? "page of colours" : "page", {bytes, extent},
                                   [&](const std::vector<Tensor>& in) {
                                     Page seen = page_of_bytes(in[0], in[1]);
                                     if (colour) keep_colours(seen);
                                     return listed(realizer.read(looking(), seen, type));
                                   }));
}

TinyModel::TinyModel() = default;
TinyModel::~TinyModel() = default;

const Shape& TinyModel::shape() const { return state_->weights.shape; }

at::ScalarType TinyModel::dtype() const { return state_->type; }

int64_t TinyModel::parameters() const {
  return state_->realizer.layout().count() + state_->answerer.layout().count();
}

uint64_t TinyModel::fingerprint() const { return state_->fingerprint; }

std::vector<Opinion> TinyModel::State::judge(const PageFeatures& page, const Map& shape,
                                             const std::vector<std::string>& questions,
                                             const History* given) const {
  const int64_t cells = int64_t{shape.rows} * shape.cols;
  const bool again = given && !weights.history.empty();
  // Of each question its map, tiers and tensions: one row, one way back from the device.
  const auto judged = [&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    const auto behind = in.end() - (again ? 2 : 0);
    const PageFeatures there = from_list({in.begin() + 1, behind});
    Past past;
    std::optional<Recalled> recalled;
    if (again) {
      past = {behind[0], behind[1]};
      recalled.emplace(Recalled{history, weights.history, past});
    }
    const Judgement all = realizer.judge(looking(), there, in[0], Tensor(), in[0].size(0),
                                         recalled ? &*recalled : nullptr);
    // Cells beyond the picture (the canvas is a multiple of 32 pixels) are left out.
    const Tensor maps =
        relevance_of(all.relevance.narrow(1, 0, shape.rows).narrow(2, 0, shape.cols));
    return {at::cat({maps.flatten(1), all.tier.to(at::kFloat), all.tensions.to(at::kFloat)}, 1)};
  };
  const auto padded = [&](const Tensor& symbols, int64_t most) {  // pads are nobody's characters
    const int64_t length = symbols.size(1);
    const int64_t longest =
        Graphs::available(device) ? std::min<int64_t>(bucket(length, 32), most) : length;
    return at::constant_pad_nd(symbols, {0, longest - length}, kPad);
  };
  std::vector<Tensor> inputs = listed(page);
  inputs.insert(inputs.begin(), padded(symbols_tensor(questions), kMaxQuestion));
  if (again) {
    const Past past = past_of(std::vector<History>(questions.size(), *given), page.words.size(1),
                              page.words.size(2));
    inputs.insert(inputs.end(), {past.cells.to(type), padded(past.said, kMaxAnswer + 2)});
  }
  const std::string name = (again ? "questions again " : "questions ") +
                           std::to_string(shape.rows) + "x" + std::to_string(shape.cols);
  const Tensor rows =
      look_graphs.run(device, name, inputs, judged).front().to(at::kCPU).contiguous();
  std::vector<Opinion> out(questions.size());
  for (size_t q = 0; q < out.size(); ++q) {
    const Tensor row = rows[static_cast<int64_t>(q)];
    const float* values = row.data_ptr<float>();
    out[q].relevance = shape;
    out[q].relevance.values.assign(values, values + cells);
    values += cells;
    std::copy_n(values, out[q].tier.size(), out[q].tier.begin());
    std::copy_n(values + out[q].tier.size(), out[q].tensions.size(), out[q].tensions.begin());
  }
  return out;
}

std::shared_ptr<const SeenPage> TinyModel::see(const Picture& picture, const Tensor& frame,
                                               PageChannels channels) const {
  at::NoGradGuard no_grad;
  // A frame of the picture's own size is the picture's bytes.
  const bool whole = frame.sizes() == picture.rgb.sizes() && !state_->device.is_cpu();
  return std::make_shared<const SeenPage>(
      SeenPage{state_->read(whole ? picture.rgb : frame, channels),
               scoring::map_shape(picture, frame, kCellHeight)});
}

bool TinyModel::takes_bytes() const { return !state_->device.is_cpu(); }
bool TinyModel::recalls() const { return !state_->weights.history.empty(); }

std::vector<Opinion> TinyModel::look(const SeenPage& page,
                                     const std::vector<std::string>& questions,
                                     const History* past) const {
  if (questions.empty()) return {};
  at::NoGradGuard no_grad;
  return state_->judge(page.features, page.shape, questions, past);
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
