// Maps for the relevance stages: what a model's tokens say about places of the picture.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "models/hf/hf.h"
#include "models/hf/checkpoint.h"
#include "models/hf/dual.h"
#include "models/hf/vlm.h"

namespace arrcoc::hf {
namespace {

Map empty_map(int64_t rows, int64_t cols, int width, int height) {
  Map map;
  map.rows = static_cast<int>(rows);
  map.cols = static_cast<int>(cols);
  map.cell_width = static_cast<float>(width) / static_cast<float>(cols);
  map.cell_height = static_cast<float>(height) / static_cast<float>(rows);
  map.values.assign(static_cast<size_t>(rows * cols), 0.0F);
  return map;
}

}  // namespace

Map token_map(const Features& features, const std::vector<float>& values) {
  if (features.views.empty() || static_cast<int64_t>(values.size()) != features.size()) {
    throw Error(ErrorCode::bad_argument, std::to_string(values.size()) + " values for " +
                                             std::to_string(features.size()) + " visual tokens");
  }
  const Features::View* largest = &features.views[0];
  for (const Features::View& view : features.views) {
    if (view.box.area() > largest->box.area()) largest = &view;
  }
  Map map = empty_map(largest->rows, largest->cols, features.width, features.height);
  std::vector<float> weight(map.values.size(), 0.0F);
  auto add = [&](int64_t token, float value) {
    const Box& box = features.boxes[static_cast<size_t>(token)];
    auto col = static_cast<int>(std::floor((box.x0 + box.x1) / 2 / map.cell_width));
    auto row = static_cast<int>(std::floor((box.y0 + box.y1) / 2 / map.cell_height));
    if (row < 0 || col < 0 || row >= map.rows || col >= map.cols) return;
    map.at(row, col) += value;
    weight[static_cast<size_t>(row) * static_cast<size_t>(map.cols) + static_cast<size_t>(col)] +=
        1;
  };
  for (size_t i = 0; i < values.size(); ++i) {
    if (features.groups.empty()) {
      add(static_cast<int64_t>(i), values[i]);
      continue;
    }
    for (int64_t token : features.groups[i]) add(token, values[i]);
  }
  for (size_t i = 0; i < weight.size(); ++i) {
    if (weight[i] > 0) map.values[i] /= weight[i];
  }
  return map;
}

Map combine(const std::vector<Map>& maps, const std::vector<float>& weights) {
  if (maps.empty() || (!weights.empty() && weights.size() != maps.size())) {
    throw Error(ErrorCode::bad_argument, std::to_string(weights.size()) + " weights for " +
                                             std::to_string(maps.size()) + " maps");
  }
  float total = 0;
  for (size_t i = 0; i < maps.size(); ++i) {
    if (maps[i].empty()) throw Error(ErrorCode::bad_argument, "an empty map cannot be combined");
    total += weights.empty() ? 1.0F : weights[i];
  }
  if (!(total > 0)) throw Error(ErrorCode::bad_argument, "the weights of the maps sum to nothing");
  const Map& finest = *std::max_element(
      maps.begin(), maps.end(), [](const Map& a, const Map& b) { return a.size() < b.size(); });
  Map out = like(finest, 0);
  for (size_t i = 0; i < maps.size(); ++i) {
    Map one = min_max(maps[i]);
    float share = (weights.empty() ? 1.0F : weights[i]) / total;
    for (int row = 0; row < out.rows; ++row) {
      for (int col = 0; col < out.cols; ++col) {
        float x = (static_cast<float>(col) + 0.5F) * out.cell_width / one.cell_width;
        float y = (static_cast<float>(row) + 0.5F) * out.cell_height / one.cell_height;
        out.at(row, col) += share * one.at(std::clamp(static_cast<int>(y), 0, one.rows - 1),
                                           std::clamp(static_cast<int>(x), 0, one.cols - 1));
      }
    }
  }
  return out;
}

TextImageModel::TextImageModel() = default;
TextImageModel::~TextImageModel() = default;

std::shared_ptr<const TextImageModel> TextImageModel::open(
    const std::string& folder, const LoadOptions& options,
    std::shared_ptr<const Tokenizer> tokenizer) {
  c10::InferenceMode guard;
  ModelConfig config = read_config(folder);
  if (config.family != Family::clip && config.family != Family::siglip) {
    throw Error(ErrorCode::unsupported, config.file + ": " + to_string(config.family) +
                                            " does not compare pictures with texts");
  }
  at::Device device = device_of(options.device);
  FileSource source(WeightFile::open(folder), spellings_of(config), dtype_of(options.dtype, device),
                    device);
  std::shared_ptr<TextImageModel> model(new TextImageModel());
  model->model_ = std::make_unique<DualEncoder>(config, source);
  model->processor_ = std::make_unique<ImageProcessor>(open_processor(folder, config));
  model->tokenizer_ = std::move(tokenizer);
  if (!model->tokenizer_) throw Error(ErrorCode::bad_argument, folder + ": a tokenizer is needed");
  return model;
}

// As many tokens as the model has places for; the last one, the end, is kept.
at::Tensor TextImageModel::text_embeds(const std::string& text) const {
  std::vector<int64_t> ids = tokenizer_->encode(text);
  auto most = static_cast<size_t>(model_->max_text());
  if (ids.size() > most) {
    ids[most - 1] = ids.back();
    ids.resize(most);
  }
  if (ids.empty()) throw Error(ErrorCode::bad_argument, "the text has no tokens");
  return model_->text_embeds(at::tensor(ids, at::kLong).unsqueeze(0)).to(at::kCPU, at::kFloat);
}

float TextImageModel::similarity(const Picture& picture, const std::string& text) const {
  c10::InferenceMode guard;
  at::Tensor image = model_->image_embeds(processor_->process(picture.rgb).values);
  return (image.to(at::kCPU, at::kFloat) * text_embeds(text)).sum().item<float>();
}

Map TextImageModel::relevance(const Picture& picture, const std::string& text) const {
  c10::InferenceMode guard;
  at::Tensor dense = model_->dense(processor_->process(picture.rgb).values)[0];
  dense = dense.to(at::kCPU, at::kFloat);
  if (model_->clip()) dense = dense.narrow(0, 1, dense.size(0) - 1);  // without the class token
  at::Tensor cosine =
      at::matmul(dense / dense.norm(2, -1, true).clamp_min(1e-12), text_embeds(text)[0]);
  cosine = cosine.contiguous();
  const float* at = cosine.data_ptr<float>();
  auto side = static_cast<int64_t>(std::lround(std::sqrt(static_cast<double>(cosine.numel()))));
  float mean = cosine.mean().item<float>();

  auto seen = processor_->visible(picture.height(), picture.width());
  double x = (seen[2] - seen[0]) / static_cast<double>(side);
  double y = (seen[3] - seen[1]) / static_cast<double>(side);
  auto cells = [](double length, double cell) {
    return std::clamp<int64_t>(static_cast<int64_t>(std::ceil(length / cell - 1e-6)), 1, 4096);
  };
  Map map = empty_map(cells(picture.height(), y), cells(picture.width(), x), picture.width(),
                      picture.height());
  for (int row = 0; row < map.rows; ++row) {
    for (int col = 0; col < map.cols; ++col) {
      double px = (static_cast<double>(col) + 0.5) * static_cast<double>(map.cell_width) - seen[0];
      double py = (static_cast<double>(row) + 0.5) * static_cast<double>(map.cell_height) - seen[1];
      auto c = static_cast<int64_t>(std::floor(px / x));
      auto r = static_cast<int64_t>(std::floor(py / y));
      bool inside = c >= 0 && r >= 0 && c < side && r < side;
      map.at(row, col) = inside ? at[r * side + c] : mean;
    }
  }
  return min_max(map);
}

}  // namespace arrcoc::hf
