#include "lab/train/vlm/vlm.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <map>

#include "arrcoc/weights.h"
#include "base/json.h"
#include "lab/train/vlm/allocator.h"
#include "lab/train/vlm/shapes.h"
#include "lab/train/vlm/start.h"
#include "models/hf/processor.h"
#include "models/hf/vlm.h"

namespace arrcoc::training {
namespace {

namespace fs = std::filesystem;
using at::Tensor;

constexpr uint64_t kHeldOutSeeds = 1ULL << 63;  // training seeds never have this bit

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// A scene as the model is shown it.
struct Example {
  ShapeScene scene;
  Geometry geometry;
  hf::Features features;  // where tokens lie; before a frozen model also their rows
  Tensor pixels;          // of a model that learns itself
  Tensor question;        // before a frozen model: the mean of its embeddings
};

struct Result {
  Tensor loss;  // mean over the answer's tokens
  bool exact = false;
};

class Trainer {
 public:
  Trainer(const VlmOptions& options, const std::function<void(const std::string&)>& say);
  VlmReport run();

 private:
  bool whole() const { return options_.stage == VlmStage::whole; }
  bool adapts() const {
    return options_.stage == VlmStage::adapter || options_.stage == VlmStage::both;
  }
  bool allocates() const {
    return options_.stage == VlmStage::allocator || options_.stage == VlmStage::both;
  }
  Example example(uint64_t seed) const;
  const Example& training_example(int64_t step, int i);
  Tensor relevance_of(const Example& one, Dice& dice) const;
  Result read(const Example& one, const std::vector<std::vector<int64_t>>& groups) const;
  double learn(const Example& one, Dice& dice) const;
  double learn_choice(const Example& one, Dice& dice) const;
  void measure(bool last);
  std::vector<Tensor> learned() const;
  void save() const;

  const VlmOptions options_;
  std::function<void(const std::string&)> say_;
  std::string folder_;  // of the checkpoint that it starts from
  hf::ModelConfig config_;
  std::unique_ptr<KeptSource> source_;
  std::shared_ptr<const hf::HfModel> model_;
  Named own_;  // adapter and allocator
  std::vector<Example> again_, measured_;
  Example fresh_;
  VlmReport report_;
};

std::string start(const VlmOptions& options) {
  if (options.init.empty() || options.out.empty())
    throw Error(ErrorCode::bad_argument, "training a vision-language model needs init and out");
  std::error_code ignored;
  if (fs::is_directory(options.init, ignored)) return options.init;
  if (options.stage != VlmStage::whole)
    throw Error(ErrorCode::bad_argument,
                options.init + ": a frozen model is a folder with weights");
  start_checkpoint(options.init, options.out, options.seed);
  return options.out;
}

Trainer::Trainer(const VlmOptions& options, const std::function<void(const std::string&)>& say)
    : options_(options),
      say_(say),
      folder_(start(options)),
      config_(hf::read_config(folder_)),
      source_(std::make_unique<KeptSource>(folder_, config_, whole())) {
  hf::require_language_model(config_);
  model_ = hf::HfModel::of(folder_, config_, *source_, at::kCPU, load_tokenizer(folder_));
  if (const std::string why = model_->select_refusal(); !why.empty())
    throw Error(ErrorCode::unsupported, why);
  if (!whole()) {
    own_ = first_weights(config_.decoder.hidden, options.width, options.seed);
    if (!options.learned.empty()) {
      const WeightFile file = WeightFile::open(options.learned);
      for (auto& [name, tensor] : own_)
        tensor = file.get(name, at::kFloat, tensor.sizes().vec()).clone().set_requires_grad(true);
    }
  }
  for (int i = 0; i < options.examples; ++i)
    again_.push_back(example(options.seed * 1000003 + static_cast<uint64_t>(i)));
  for (int i = 0; again_.empty() && i < options.held_out; ++i)
    measured_.push_back(
        example(kHeldOutSeeds | (options.seed * 1000003 + static_cast<uint64_t>(i))));
}

Example Trainer::example(uint64_t seed) const {
  Example out;
  out.scene = make_shapes(seed, options_.side, options_.shapes);
  out.geometry = {options_.side, options_.side, 0};
  if (whole()) {
    hf::Pixels pixels;
    out.features = model_->shown(out.scene.picture, pixels);
    out.pixels = pixels.values;
    return out;
  }
  const at::NoGradGuard no_grad;
  out.features = model_->encode_image(out.scene.picture);
  // Made under inference mode, where nothing may be kept for gradients.
  out.features.rows = out.features.rows.clone();
  for (Tensor& set : out.features.deepstack) set = set.clone();
  const auto ids = model_->tokenizer()->encode(out.scene.question, false);
  out.question = model_->vlm().decoder().embed(at::tensor(ids, at::kLong).unsqueeze(0))[0].mean(0);
  return out;
}

const Example& Trainer::training_example(int64_t step, int i) {
  const auto number = static_cast<uint64_t>(step * options_.batch + i);
  if (!again_.empty()) return again_[number % again_.size()];
  fresh_ = example((mix(options_.seed ^ mix(number)) >> 1));
  return fresh_;
}

// Relevance of the cells: what the allocator says; where the whole model learns the place that the
// question is about, but for a quarter of the scenes, which are even; before a frozen model without
// an allocator even.
Tensor Trainer::relevance_of(const Example& one, Dice& dice) const {
  if (allocates()) {
    const at::NoGradGuard no_grad;
    return at::sigmoid(cell_logits(own_, one.features, one.geometry, one.question));
  }
  const Grid grid = one.geometry.grid(0);
  Tensor out = at::full({grid.rows, grid.cols}, 0.1F);
  const bool knows = whole() && !dice.chance(0.25F);
  for (int row = 0; knows && row < grid.rows; ++row)
    for (int col = 0; col < grid.cols; ++col) {
      const auto x = static_cast<float>(col * 16), y = static_cast<float>(row * 16);
      if (intersect(one.scene.box, {x, y, x + 16, y + 16}).area() > 0) out[row][col] = 1;
    }
  return out.flatten();
}

// The loss of the right answer after the prompt with one row for each group.
Result Trainer::read(const Example& one, const std::vector<std::vector<int64_t>>& groups) const {
  const hf::Vlm& vlm = model_->vlm();
  hf::Features shown = one.features;
  if (whole() && vlm.takes_groups()) {
    shown.rows = vlm.encode_groups(one.pixels, {}, groups).rows;
  } else {
    hf::Visual rows{one.features.rows, one.features.deepstack};
    if (whole()) rows = vlm.encode(one.pixels, one.features.views.front().grid);
    rows = hf::merge(rows, groups);
    shown.rows = adapts() ? adapted(own_, rows.rows) : rows.rows;
    shown.deepstack = rows.deepstack;
  }
  shown.groups = groups;
  std::vector<int64_t> ids = model_->prompt_ids({{Role::user, one.scene.question, 1}}, {shown});
  std::vector<int64_t> answer = model_->tokenizer()->encode(one.scene.answer, false);
  const auto& stop = model_->defaults().stop;  // of a cut-down checkpoint it may lie outside
  if (!stop.empty() && stop.front() < config_.decoder.vocab) answer.push_back(stop.front());
  ids.insert(ids.end(), answer.begin(), answer.end());
  const hf::Prompt prompt = model_->prepared(ids, {shown});
  const Tensor hidden =
      vlm.decoder().forward(prompt.embeds, prompt.positions, nullptr, &prompt.deepstack);
  const auto count = static_cast<int64_t>(answer.size());
  const Tensor logits =
      vlm.decoder().logits(hidden.narrow(1, hidden.size(1) - count - 1, count))[0];
  const Tensor wanted = at::tensor(answer, at::kLong);
  return {at::nll_loss(at::log_softmax(logits, -1), wanted), logits.argmax(-1).equal(wanted)};
}

// Adds to the gradients; returns the loss.
double Trainer::learn(const Example& one, Dice& dice) const {
  if (allocates()) return learn_choice(one, dice);
  const Tensor relevance = relevance_of(one, dice);
  const Drawn choice =
      drawn_choice(one.features, one.geometry, relevance, options_.budget, 0, dice);
  const Result result = read(one, choice.groups);
  (result.loss / options_.batch).backward();
  return result.loss.item<double>();
}

// Policy gradient: several draws of the tokens, each other's baseline. The adapter learns from the
// loss of every draw.
double Trainer::learn_choice(const Example& one, Dice& dice) const {
  const Tensor logits = cell_logits(own_, one.features, one.geometry, one.question);
  const Tensor relevance = at::sigmoid(logits);
  std::vector<Tensor> scores;
  std::vector<float> losses;
  for (int i = 0; i < options_.draws; ++i) {
    const Drawn drawn = drawn_choice(one.features, one.geometry, relevance, options_.budget,
                                     options_.temperature, dice);
    const at::AutoGradMode learns(adapts());
    const Result result = read(one, drawn.groups);
    if (adapts()) (result.loss / (options_.batch * options_.draws)).backward();
    scores.push_back(drawn.score);
    losses.push_back(result.loss.item<float>());
  }
  const Tensor loss = at::tensor(losses, at::kFloat);
  const Tensor better = (loss.mean() - loss) / (loss.std() + 1e-6);
  const Tensor credit = at::matmul(better, at::stack(scores)) / options_.draws;
  (-(credit * at::log_sigmoid(logits)).sum() / options_.batch).backward();
  return loss.mean().item<double>();
}

void Trainer::measure(bool last) {
  const at::NoGradGuard no_grad;
  const std::vector<Example>& shown = again_.empty() ? measured_ : again_;
  double loss = 0, exact = 0, tokens = 0;
  std::map<bool, std::map<std::string, int>> answers;
  for (size_t i = 0; i < shown.size(); ++i) {
    Dice dice(options_.seed, i, 77);
    const Drawn choice = drawn_choice(shown[i].features, shown[i].geometry,
                                      relevance_of(shown[i], dice), options_.budget, 0, dice);
    const Result result = read(shown[i], choice.groups);
    loss += result.loss.item<double>();
    exact += result.exact ? 1 : 0;
    tokens += static_cast<double>(choice.groups.size());
    ++answers[shown[i].scene.asks_colour][shown[i].scene.answer];
  }
  const auto count = static_cast<double>(std::max<size_t>(1, shown.size()));
  (last ? report_.loss : report_.first_loss) = loss / count;
  report_.exact = exact / count;
  report_.tokens = tokens / count;
  int commonest = 0;
  for (const auto& [kind, of] : answers) {
    int most = 0;
    for (const auto& [answer, times] : of) most = std::max(most, times);
    commonest += most;
  }
  report_.majority = commonest / count;
}

std::vector<Tensor> Trainer::learned() const {
  std::vector<Tensor> out;
  if (whole())
    for (const auto& [name, tensor] : source_->tensors()) out.push_back(tensor);
  for (const auto& [name, tensor] : own_)
    if (name.rfind("adapter.", 0) == 0 ? adapts() : allocates()) out.push_back(tensor);
  return out;
}

void Trainer::save() const {
  const auto in = [&](const std::string& folder, const char* name) {
    return (fs::path(folder) / name).string();
  };
  fs::create_directories(options_.out);
  Named plain;
  for (const auto& [name, tensor] : whole() ? source_->tensors() : own_)
    plain[name] = tensor.detach();
  if (!whole()) return write_safetensors(in(options_.out, "learned.safetensors"), plain);
  write_safetensors(in(options_.out, "model.safetensors"), plain, {{"format", "pt"}});
  // Shards that were there would be read in its place.
  fs::remove(in(options_.out, "model.safetensors.index.json"));
  if (fs::equivalent(folder_, options_.out)) return;
  for (const char* name : {"config.json", "tokenizer.json", "preprocessor_config.json",
                           "video_preprocessor_config.json", "generation_config.json"})
    if (fs::exists(in(folder_, name)))
      write_text_file(in(options_.out, name), read_text(in(folder_, name)));
}

VlmReport Trainer::run() {
  const double begun = processor_seconds();
  const auto before = digest_of(source_->tensors());
  measure(false);
  Steps steps(learned());
  double window = 0;
  constexpr int64_t kWindow = 50;
  for (int64_t step = 0; step < options_.steps; ++step) {
    for (int i = 0; i < options_.batch; ++i) {
      Dice dice(options_.seed, static_cast<uint64_t>(step * options_.batch + i), 5);
      window += learn(training_example(step, i), dice) / options_.batch;
    }
    const double done = static_cast<double>(step) / static_cast<double>(options_.steps);
    const double warm = std::min(1.0, static_cast<double>(step + 1) / 20);
    steps.step(options_.rate * warm * (0.05 + 0.95 * (1 + std::cos(done * M_PI)) / 2));
    if ((step + 1) % kWindow != 0) continue;
    char line[96];
    std::snprintf(line, sizeof line, "step %lld, loss %.4f", static_cast<long long>(step + 1),
                  window / kWindow);
    say_(line);
    window = 0;
  }
  measure(true);
  save();
  report_.steps = options_.steps;
  report_.frozen_alike = whole() || digest_of(source_->tensors()) == before;
  report_.seconds = processor_seconds() - begun;
  return report_;
}

}  // namespace

VlmOptions vlm_options(const json& fields) {
  VlmOptions out;
  JsonFields("vlm", fields)
      .field("stage", out.stage)
      .field("init", out.init)
      .field("out", out.out)
      .field("learned", out.learned)
      .number("steps", out.steps, 1, 1e9)
      .number("batch", out.batch, 1, 4096)
      .number("budget", out.budget, 1, 65536)
      .number("side", out.side, 32, 4096)
      .number("shapes", out.shapes, 1, 2)
      .number("examples", out.examples, 0, 1e6)
      .number("held_out", out.held_out, 1, 1e6)
      .number("width", out.width, 1, 65536)
      .number("draws", out.draws, 2, 1024)
      .number("temperature", out.temperature, 1e-3, 1e3)
      .number("rate", out.rate, 1e-9, 10)
      .field("seed", out.seed)
      .done();
  return out;
}

VlmReport train_vlm(const VlmOptions& options, const std::function<void(const std::string&)>& say) {
  return Trainer(options, say).run();
}

}  // namespace arrcoc::training
