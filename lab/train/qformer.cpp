#include "lab/train/qformer.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <numeric>

#include "arrcoc/error.h"
#include "lab/train/batch.h"
#include "lab/train/losses.h"
#include "lab/train/machine.h"
#include "lab/train/meters.h"
#include "lab/train/optimiser.h"
#include "lab/train/pool.h"
#include "lab/train/source.h"
#include "lab/train/stream.h"
#include "models/tiny/files.h"
#include "models/tiny/query_former.h"

namespace arrcoc::training {
namespace {

using at::Tensor;
using Say = std::function<void(const std::string&)>;

constexpr int kHeldOutQuestions = 4;  // a picture

class QueryTrainer {
 public:
  QueryTrainer(const Options& options, SceneSource source, Say say);
  QueryReport run();

 private:
  Sample make(uint64_t ticket) const;
  std::vector<int> held_out_slots() const;
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
  Stream stream_;
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
      held_out_(options.held_out, options.canvas, device_, type_),
      stream_("scenes", pool_, 0, {options.pictures, options.fresh},
              [this](uint64_t ticket) { return make(ticket); }) {
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

std::vector<int> QueryTrainer::held_out_slots() const {
  std::vector<int> slots(static_cast<size_t>(options_.held_out));
  std::iota(slots.begin(), slots.end(), 0);
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
    const tiny::AnswererInput look = pool.look(batch.slots, cells, octaves, nullptr);
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
  const std::vector<int> slots =
      stream_.choose(options_.pictures, 0, std::numeric_limits<int>::max(), dice);
  const Batch batch = draw(pool_, slots, options_.questions, {options_.words, 0}, dice);
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
                static_cast<long long>(questions_),
                static_cast<unsigned long long>(stream_.tickets()), report_.loss, means.at("norm"));
  say_(text);
  last_report_ = now();
}

void QueryTrainer::evaluate_and_save() {
  const at::NoGradGuard no_grad;
  tiny::save_queries(options_.out, bundle_.shape, {weights_->on_cpu(), tag_},
                     {{"steps", std::to_string(steps_)},
                      {"questions", std::to_string(questions_)},
                      {"canvas", std::to_string(options_.canvas)}});
  const Batch batch = all_of(held_out_, held_out_slots(), kHeldOutQuestions);
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
  if (device_.is_cuda()) at::set_num_threads(4);  // the host shares its cores with the generator
  prefer_fast_kernels();
  start_ = now();
  held_out_.put(held_out_slots(), make_all([this](uint64_t ticket) { return make(ticket); },
                                           kHeldOut, options_.held_out));
  const int workers = workers_of(options_.workers);
  stream_.start(workers);
  char text[160];
  std::snprintf(text, sizeof text, "%s: %d queries, %.2f M parameters learn; %d workers, %d slots",
                device_.is_cuda() ? "cuda" : "cpu", tiny::kQueries, 1e-6 * net_.layout().count(),
                workers, options_.slots);
  say_(text);
  last_report_ = last_save_ = now();
  for (double at = progress(); at < 1; at = progress()) {
    stream_.refresh();
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
