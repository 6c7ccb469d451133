// Where a model's tokens say that a question's answer lies.
#include "models/hf/looker.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "models/hf/checkpoint.h"
#include "models/hf/dual.h"

namespace arrcoc {
namespace hf {
namespace {

Map empty_map(int64_t rows, int64_t cols, int width, int height) {
  return {static_cast<int>(rows), static_cast<int>(cols),
          static_cast<float>(width) / static_cast<float>(cols),
          static_cast<float>(height) / static_cast<float>(rows),
          std::vector<float>(static_cast<size_t>(rows * cols), 0.0F)};
}

// Attention has sinks: a few tokens that take most of it whatever is asked. Values are cut at three
// deviations above the mean, so that these do not flatten the rest.
Map without_sinks(Map map) {
  const float limit = mean(map) + 3 * std::sqrt(variance(map));
  for (float& value : map.values) value = std::min(value, limit);
  return min_max(map);
}

// Looks with one map a question.
template <class SeenHere>
class MapLooker : public Looker {
 public:
  std::vector<Look> look(const Seen& given, std::span<const Query> questions,
                         const History&) const override {
    const auto* seen = dynamic_cast<const SeenHere*>(&given);
    if (!seen) throw Error(ErrorCode::bad_argument, "[look] another looker has seen this picture");
    c10::InferenceMode guard;
    std::vector<Look> out(questions.size());
    for (size_t i = 0; i < out.size(); ++i) {
      out[i].relevance.map = map_of(*seen, questions[i].text);
      out[i].relevance.weights = {0, 0, 1};
    }
    return out;
  }

 protected:
  virtual Map map_of(const SeenHere& seen, const std::string& question) const = 0;
};

struct SeenFeatures : Seen {
  explicit SeenFeatures(Features given) : features(std::move(given)) {}
  int64_t bytes() const override { return features.bytes(); }
  Features features;
};

class AttentionLooker : public MapLooker<SeenFeatures> {
 public:
  AttentionLooker(std::shared_ptr<const HfModel> model, std::shared_ptr<FeatureCache> cache,
                  int64_t max_tokens)
      : model_(std::move(model)), cache_(std::move(cache)), max_tokens_(max_tokens) {}

  std::shared_ptr<const Seen> see(const Picture& picture, const at::Tensor&) const override {
    return std::make_shared<SeenFeatures>(cache_->whole(*model_, picture, max_tokens_));
  }

 private:
  Map map_of(const SeenFeatures& seen, const std::string& question) const override {
    const Features& features = seen.features;
    return without_sinks(
        token_map(features, model_->early_attention({{Role::user, question, 1}}, {features})));
  }

  std::shared_ptr<const HfModel> model_;
  std::shared_ptr<FeatureCache> cache_;
  int64_t max_tokens_;
};

struct SeenPatches : Seen {
  int64_t bytes() const override { return static_cast<int64_t>(rows.nbytes()); }
  at::Tensor rows;  // [side*side,P], unit length
  Box visible;      // that they show, source pixels
  int width = 0, height = 0;
};

// Cosine of every patch with the question's text.
class TextImageLooker : public MapLooker<SeenPatches> {
 public:
  TextImageLooker(const std::string& folder, const ModelConfig& config, Source& source)
      : encoder_(config, source),
        processor_(open_processor(folder, config)),
        tokenizer_(load_tokenizer(folder)) {}

  std::shared_ptr<const Seen> see(const Picture& picture, const at::Tensor&) const override {
    c10::InferenceMode guard;
    at::Tensor rows = encoder_.dense(processor_.process(picture.rgb).values)[0];
    rows = rows.to(at::kCPU, at::kFloat);
    if (encoder_.clip()) rows = rows.narrow(0, 1, rows.size(0) - 1);  // without the class token
    auto out = std::make_shared<SeenPatches>();
    out->rows = rows / rows.norm(2, -1, true).clamp_min(1e-12);
    out->visible = processor_.visible(picture.height(), picture.width());
    out->width = picture.width();
    out->height = picture.height();
    return out;
  }

 private:
  // As many tokens as the model has places for; the last one, the end, is kept.
  at::Tensor text_embeds(const std::string& text) const {
    std::vector<int64_t> ids = tokenizer_->encode(text);
    const auto most = static_cast<size_t>(encoder_.max_text());
    if (ids.size() > most) {
      ids[most - 1] = ids.back();
      ids.resize(most);
    }
    if (ids.empty()) throw Error(ErrorCode::bad_argument, "the text has no tokens");
    return encoder_.text_embeds(at::tensor(ids, at::kLong).unsqueeze(0)).to(at::kCPU, at::kFloat);
  }

  // Stretched to [0,1] over the picture. What the model's centre crop leaves out gets the mean.
  Map map_of(const SeenPatches& seen, const std::string& question) const override {
    const at::Tensor cosine = at::matmul(seen.rows, text_embeds(question)[0]).contiguous();
    const float* at = cosine.data_ptr<float>();
    const float mean = cosine.mean().item<float>();
    const auto side = static_cast<int>(std::lround(std::sqrt(static_cast<double>(cosine.numel()))));
    const float x = seen.visible.width() / static_cast<float>(side);
    const float y = seen.visible.height() / static_cast<float>(side);
    const auto cells = [](int length, float cell) {
      return std::clamp<int64_t>(std::lround(std::ceil(static_cast<float>(length) / cell - 1e-4F)),
                                 1, 4096);
    };
    Map map = empty_map(cells(seen.height, y), cells(seen.width, x), seen.width, seen.height);
    for (int row = 0; row < map.rows; ++row)
      for (int col = 0; col < map.cols; ++col) {
        const float px = (static_cast<float>(col) + 0.5F) * map.cell_width - seen.visible.x0;
        const float py = (static_cast<float>(row) + 0.5F) * map.cell_height - seen.visible.y0;
        const auto c = static_cast<int>(std::floor(px / x)),
                   r = static_cast<int>(std::floor(py / y));
        const bool inside = c >= 0 && r >= 0 && c < side && r < side;
        map.at(row, col) = inside ? at[r * side + c] : mean;
      }
    return min_max(map);
  }

  DualEncoder encoder_;
  ImageProcessor processor_;
  std::shared_ptr<const Tokenizer> tokenizer_;
};

}  // namespace

Map token_map(const Features& features, std::span<const float> values) {
  if (features.views.empty() || static_cast<int64_t>(values.size()) != features.size())
    throw Error(ErrorCode::bad_argument, std::to_string(values.size()) + " values for " +
                                             std::to_string(features.size()) + " visual tokens");
  const auto& largest =
      *std::max_element(features.views.begin(), features.views.end(),
                        [](const auto& a, const auto& b) { return a.box.area() < b.box.area(); });
  const bool views = features.placeless;  // a value for every tile
  Map map = empty_map(views ? features.tile_rows : largest.rows,
                      views ? features.tile_cols : largest.cols, features.width, features.height);
  Map weight = map;
  const auto add = [&](size_t token, float value) {
    const Box& box = features.boxes[token];
    if (views && box == largest.box && map.size() > 1) return;  // of the whole: of no tile
    const auto col = static_cast<int>(std::floor((box.x0 + box.x1) / 2 / map.cell_width));
    const auto row = static_cast<int>(std::floor((box.y0 + box.y1) / 2 / map.cell_height));
    if (row < 0 || col < 0 || row >= map.rows || col >= map.cols) return;
    map.at(row, col) += value;
    weight.at(row, col) += 1;
  };
  for (size_t i = 0; i < values.size(); ++i) {
    if (features.groups.empty())
      add(i, values[i]);
    else
      for (int64_t token : features.groups[i]) add(static_cast<size_t>(token), values[i]);
  }
  for (size_t i = 0; i < map.size(); ++i)
    if (weight.values[i] > 0) map.values[i] /= weight.values[i];
  return map;
}

std::shared_ptr<const Looker> make_attention_looker(std::shared_ptr<const HfModel> model,
                                                    std::shared_ptr<FeatureCache> cache,
                                                    int64_t max_tokens) {
  return std::make_shared<AttentionLooker>(std::move(model), std::move(cache), max_tokens);
}

}  // namespace hf

std::shared_ptr<const Looker> open_text_image_looker(const std::string& folder,
                                                     const ModelOptions& options) {
  using namespace hf;
  c10::InferenceMode guard;
  const ModelConfig config = read_config(folder);
  if (config.family != Family::clip && config.family != Family::siglip)
    throw Error(ErrorCode::unsupported, config.file + ": " + to_string(config.family) +
                                            " does not compare pictures with texts");
  FileSource source = open_weights(folder, config, options);
  return std::make_shared<TextImageLooker>(folder, config, source);
}

std::shared_ptr<const Looker> relevance_looker(RelevanceSource source, const Model& model,
                                               std::shared_ptr<const Looker> network,
                                               const std::string& clip,
                                               const ModelOptions& options) {
  const bool combined = source == RelevanceSource::combined;
  std::vector<std::shared_ptr<const Looker>> lookers;
  if (combined && network) lookers.push_back(std::move(network));
  if (source == RelevanceSource::clip || (combined && !clip.empty())) {
    if (clip.empty())
      throw Error(ErrorCode::bad_argument,
                  "relevance 'clip' needs the folder of a CLIP or SigLIP model");
    lookers.push_back(open_text_image_looker(clip, options));
  }
  if (source == RelevanceSource::attention || combined) {
    auto attention = model.looker();
    if (attention) lookers.push_back(std::move(attention));
    if (lookers.empty())
      throw Error(ErrorCode::bad_argument, "relevance '" + std::string(to_string(source)) + "': " +
                                               model.name() + " does not show what it attends to");
  }
  if (lookers.empty()) return nullptr;  // the bundle's network
  return lookers.size() == 1 ? lookers.front() : mean_of(std::move(lookers));
}

}  // namespace arrcoc
