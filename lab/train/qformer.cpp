#include "lab/train/qformer.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <torch/version.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <memory>
#include <thread>

#include "arrcoc/error.h"
#include "lab/train/batch.h"
#include "lab/train/losses.h"
#include "lab/train/meters.h"
#include "lab/train/optimiser.h"
#include "lab/train/pool.h"
#include "lab/train/prefetch.h"
#include "lab/train/source.h"
#include "models/tiny/files.h"
#include "models/tiny/query_former.h"

namespace arrcoc::training {
namespace {

using at::Tensor;
using Say = std::function<void(const std::string&)>;

constexpr uint64_t kHeldOut = 1ULL << 62;  // tickets from here on are never trained on
constexpr int kHeldOutQuestions = 4;       // a picture

at::Device device_of(const std::string& name) {
  const bool there = at::hasCUDA();
  if (name == "cuda" && !there)
    throw Error(ErrorCode::unsupported, "device cuda: this libtorch finds no CUDA device");
  return at::Device(name == "cpu" || !there ? at::kCPU : at::kCUDA);
}

int workers_of(const Options& options) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  return options.workers > 0 ? options.workers : std::max(1, cores - 2);
}

class QueryTrainer {
 public:
  QueryTrainer(const Options& options, SceneSource source, Say say);
  QueryReport run();

 private:
  Sample make(uint64_t ticket) const;
  void fill_held_out();
  void refresh();
  std::vector<int> choose(Dice& dice) const;
  tiny::Memory memory_of(const tiny::Tensors& own, const Pool& pool, const Batch& batch) const;
  Tensor loss_of(const tiny::Memory& memory, const Batch& batch) const;
  void step(double progress);
  double progress() const {
    return options_.steps > 0 ? static_cast<double>(steps_) / static_cast<double>(options_.steps)
                              : (now() - start_) / (60 * options_.minutes);
  }
  void report();
  void evaluate_and_save();

  const Options options_;
  SceneSource source_;
  Say say_;
  at::Device device_;
  at::ScalarType type_;
  tiny::NetworkWeights bundle_;
  tiny::Answerer answerer_;
  tiny::QueryFormer net_;
  uint64_t tag_;
  tiny::Tensors frozen_;  // of the answerer, on the device
  std::unique_ptr<FlatWeights> weights_;
  Pool pool_, held_out_;
  std::unique_ptr<Prefetch> prefetch_;
  uint64_t tickets_ = 0;
  int filled_ = 0;
  int64_t steps_ = 0, questions_ = 0;
  double start_ = 0, last_report_ = 0, last_save_ = 0;
  Window window_;
  QueryReport report_;
};

QueryTrainer::QueryTrainer(const Options& options, SceneSource source, Say say)
    : options_(options),
      source_(std::move(source)),
      say_(std::move(say)),
      device_(device_of(options.device)),
      type_(device_.is_cuda() ? at::kBFloat16 : at::kFloat),
      bundle_(tiny::load_networks(options.init)),
      answerer_(bundle_.shape),
      net_(bundle_.shape),
      tag_(tiny::answerer_tag(answerer_, bundle_.answerer)),
      pool_(options.slots, options.canvas, device_, type_),
      held_out_(options.held_out, options.canvas, device_, type_) {
  for (const Tensor& tensor : bundle_.answerer) frozen_.push_back(tensor.to(device_, type_));
  const tiny::Tensors first = options.resume
                                  ? tiny::load_queries(options.out, bundle_.shape).tensors
                                  : net_.layout().initial(options.seed);
  weights_ = std::make_unique<FlatWeights>(net_.layout(), first, device_);
  if (options.optimiser == "muon") weights_->use_muon();
}

// As the trainer's: held-out seeds have their top bit set, training seeds never do.
Sample QueryTrainer::make(uint64_t ticket) const {
  Dice dice(options_.seed, ticket, 3);
  for (int tries = 0; tries < 32; ++tries) {
    const uint64_t seed = (dice.next() >> 2) | (ticket >= kHeldOut ? 1ULL << 63 : 0);
    try {
      Sample sample = make_sample(source_(seed, false), ticket, options_.canvas, device_.is_cuda());
      if (!sample.asks.empty()) return sample;
    } catch (const Error&) {
      // One bad scene must not end a run.
    }
  }
  throw Error(ErrorCode::bad_argument,
              "32 scenes in a row failed or had no question that fits the canvas");
}

void QueryTrainer::fill_held_out() {
  Prefetch prefetch([this](uint64_t ticket) { return make(ticket); }, kHeldOut,
                    workers_of(options_), options_.held_out);
  std::vector<int> slots;
  for (int i = 0; i < options_.held_out; ++i) slots.push_back(i);
  held_out_.put(slots, prefetch.take(options_.held_out, options_.held_out));
}

// Fresh pictures go round the pool; the first step waits for one step's worth.
void QueryTrainer::refresh() {
  const int first = std::min(options_.slots, options_.pictures);
  const int least = filled_ < first ? first - filled_ : options_.fresh;
  const int most =
      options_.fresh > 0 && filled_ >= first ? options_.fresh : std::max(least, options_.pictures);
  const auto samples = prefetch_->take(least, std::min(most, options_.slots));
  std::vector<int> slots;
  for (size_t i = 0; i < samples.size(); ++i)
    slots.push_back(static_cast<int>((tickets_ + i) % static_cast<uint64_t>(options_.slots)));
  pool_.put(slots, samples);
  tickets_ += samples.size();
  filled_ = static_cast<int>(std::min<uint64_t>(tickets_, static_cast<uint64_t>(options_.slots)));
}

std::vector<int> QueryTrainer::choose(Dice& dice) const {
  std::vector<int> candidates, slots;
  for (int i = 0; i < filled_; ++i) candidates.push_back(i);
  while (static_cast<int>(slots.size()) < options_.pictures && !candidates.empty()) {
    const size_t pick = static_cast<size_t>(dice.below(static_cast<int>(candidates.size())));
    slots.push_back(candidates[pick]);
    candidates[pick] = candidates.back();
    candidates.pop_back();
  }
  return slots;
}

// Pictures are encoded once, without gradient and without question; their questions share what the
// queries make of them.
tiny::Memory QueryTrainer::memory_of(const tiny::Tensors& own, const Pool& pool,
                                     const Batch& batch) const {
  Tensor states, mask;
  {
    const at::NoGradGuard no_grad;
    std::vector<std::vector<Cell>> cells;
    for (int slot : batch.slots) cells.push_back(dense_cells(pool.sample(slot).geometry));
    const std::vector<int> octaves(batch.slots.size(), 0);
    const tiny::Look look = pool.look(batch.slots, cells, octaves, nullptr);
    states = answerer_.encode_picture(frozen_, look, type_, mask);
  }
  const Tensor seen = net_(own, states, mask);
  return answerer_.encode_given(frozen_, seen.index_select(0, batch.pages), batch.question);
}

Tensor QueryTrainer::loss_of(const tiny::Memory& memory, const Batch& batch) const {
  const Tensor logits = answerer_.write(frozen_, memory, batch.previous).to(at::kFloat);
  const Tensor expected = batch.expected.reshape({-1});
  const Tensor losses = at::cross_entropy_loss(logits.reshape({-1, tiny::kSymbols}), expected, {},
                                               at::Reduction::None, tiny::kPad);
  return losses.sum() / expected.ne(tiny::kPad).sum().clamp_min(1).to(at::kFloat);
}

void QueryTrainer::step(double progress) {
  Dice dice(options_.seed, static_cast<uint64_t>(steps_), 1);
  const Batch batch = draw(pool_, choose(dice), options_.questions, options_.words, dice);
  const Tensor loss = loss_of(memory_of(weights_->tensors(type_), pool_, batch), batch);
  loss.backward();
  Tensor norm;
  const Tensor factor = clip_factor({weights_.get()}, options_.clip, &norm);
  const double p = std::clamp(progress, 0.0, 1.0);
  const double warm = std::min(1.0, (p + 1e-4) / std::max(1e-6, double{options_.warmup}));
  const double low = options_.final_rate;
  const double cosine = low + (1 - low) * 0.5 * (1 + std::cos(M_PI * p));
  weights_->step(static_cast<float>(options_.rate * warm * cosine), options_.decay, factor);
  weights_->forget_gradient();
  window_.add("answer", loss);
  window_.add("norm", norm);
  questions_ += static_cast<int64_t>(batch.size());
}

void QueryTrainer::report() {
  const auto means = window_.read();  // waits for the device
  if (means.empty()) return;
  report_.loss = means.at("answer");
  if (report_.first_loss == 0) report_.first_loss = report_.loss;
  char text[160];
  std::snprintf(text, sizeof text,
                "%5.1f%% step %lld questions %lld pictures %llu answer %.3f norm %.2f",
                100 * std::min(1.0, progress()), static_cast<long long>(steps_),
                static_cast<long long>(questions_), static_cast<unsigned long long>(tickets_),
                report_.loss, means.at("norm"));
  say_(text);
  last_report_ = now();
}

void QueryTrainer::evaluate_and_save() {
  const at::NoGradGuard no_grad;
  tiny::save_queries(options_.out, bundle_.shape, {weights_->on_cpu(), tag_},
                     {{"steps", std::to_string(steps_)},
                      {"questions", std::to_string(questions_)},
                      {"canvas", std::to_string(options_.canvas)}});
  std::vector<int> slots;
  for (int i = 0; i < options_.held_out; ++i) slots.push_back(i);
  const Batch batch = all_of(held_out_, slots, kHeldOutQuestions);
  const tiny::Memory memory = memory_of(weights_->tensors(type_), held_out_, batch);
  report_.held_out_loss = loss_of(memory, batch).item<double>();
  const auto written = answerer_.write_greedy(frozen_, memory);
  int right = 0;
  for (size_t i = 0; i < batch.size(); ++i)
    right += written.symbols[i] == batch.asks[i]->answer ? 1 : 0;
  report_.held_out_exact = static_cast<double>(right) / static_cast<double>(batch.size());
  char text[128];
  std::snprintf(text, sizeof text, "saved; held out %zu: answer %.3f exact %.3f", batch.size(),
                report_.held_out_loss, report_.held_out_exact);
  say_(text);
  last_save_ = now();
}

QueryReport QueryTrainer::run() {
  if (device_.is_cuda()) {
    at::set_num_threads(4);  // the host shares its cores with the generator
#if TORCH_VERSION_MAJOR >= 2
    at::globalContext().setSDPUseCuDNN(false);  // it would plan anew for every number of tokens
#endif
  }
  start_ = now();
  fill_held_out();
  const int workers = workers_of(options_);
  prefetch_ = std::make_unique<Prefetch>([this](uint64_t ticket) { return make(ticket); }, 0,
                                         workers, std::max(4 * workers, 64));
  char text[160];
  std::snprintf(text, sizeof text, "%s: %d queries, %.2f M parameters learn; %d workers, %d slots",
                device_.is_cuda() ? "cuda" : "cpu", tiny::kQueries, 1e-6 * net_.layout().count(),
                workers, options_.slots);
  say_(text);
  last_report_ = last_save_ = now();
  for (double at = progress(); at < 1; at = progress()) {
    refresh();
    step(at);
    ++steps_;
    if (now() - last_report_ > options_.report_seconds) report();
    const bool due = options_.evaluate_steps > 0 ? steps_ % options_.evaluate_steps == 0
                                                 : now() - last_save_ > options_.evaluate_seconds;
    if (due && progress() < 1) evaluate_and_save();
  }
  report();
  evaluate_and_save();
  report_.steps = steps_;
  report_.questions = questions_;
  report_.seconds = now() - start_;
  return report_;
}

}  // namespace

Options query_defaults() {
  Options out;
  out.minutes = 4;
  out.canvas = 512;
  out.slots = 1024;
  out.words = 0;
  out.optimiser = "muon";
  out.rate = 1e-3F;
  out.warmup = 0.03F;
  out.decay = 0.02F;
  out.evaluate_seconds = 60;
  out.held_out = 64;
  return out;
}

QueryReport train_queries(const Options& options, const SceneSource& source,
                          const std::function<void(const std::string&)>& say) {
  if (options.init.empty() || options.out.empty())
    throw Error(ErrorCode::bad_argument,
                "learned queries need --init FOLDER (the model that they are for) and a folder to "
                "go to");
  if (options.refit)
    throw Error(ErrorCode::bad_argument,
                "refit is not for queries: they belong to finished weights");
  return QueryTrainer(options, source, say).run();
}

QueryReport train_queries(const Options& options,
                          const std::function<void(const std::string&)>& say) {
  return train_queries(options, scene_source(options), say);
}

}  // namespace arrcoc::training
