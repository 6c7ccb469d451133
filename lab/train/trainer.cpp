// The training loop, to be read top to bottom: train() at the end.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <torch/version.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "arrcoc/error.h"
#include "arrcoc/weights.h"
#include "lab/train/batch.h"
#include "lab/train/evaluate.h"
#include "lab/train/losses.h"
#include "lab/train/meters.h"
#include "lab/train/optimiser.h"
#include "lab/train/outcome.h"
#include "lab/train/parallel.h"
#include "lab/train/plan.h"
#include "lab/train/pool.h"
#include "lab/train/prefetch.h"
#include "lab/train/refit.h"
#include "lab/train/train.h"
#include "models/tiny/files.h"

namespace arrcoc::training {
namespace {

namespace fs = std::filesystem;
using at::Tensor;
using nlohmann::json;
using Say = std::function<void(const std::string&)>;

constexpr uint64_t kHeldOut = 1ULL << 62;  // tickets from here on are never trained on
constexpr int kMostReadingCells = 96;
constexpr float kWithoutRelevance = 0.15F;  // share of questions whose tokens hide their relevance

at::Device device_of(const std::string& name) {
  const bool there = at::hasCUDA();
  if (name == "cuda" && !there)
    throw Error(ErrorCode::unsupported, "device cuda: this libtorch finds no CUDA device");
  return at::Device(name == "cpu" || !there ? at::kCPU : at::kCUDA);
}

void prefer_fast_kernels() {
  at::globalContext().setBenchmarkCuDNN(true);  // convolutions keep their shapes
#if TORCH_VERSION_MAJOR >= 2
  at::globalContext().setSDPUseCuDNN(false);  // it would plan anew for every number of tokens
#endif
}

class Trainer {
 public:
  Trainer(const Options& options, const SceneSource& source, Say say);
  Report run();

 private:
  Sample make(uint64_t ticket) const;
  void fill_held_out();
  // Whose turn it is when they alternate.
  enum class Turn { both, realizer, answerer };
  Turn turn() const {
    if (options_.alternate == 0) return Turn::both;
    return steps_ / options_.alternate % 2 == 0 ? Turn::realizer : Turn::answerer;
  }
  void refresh();
  void take_in(const std::vector<std::shared_ptr<const Sample>>& samples);
  std::vector<int> choose(const Plan& plan, int part, Dice& dice) const;
  void step(const Plan& wanted, int part, Dice& dice);
  bool own_slot(int slot) const {
    return slot % options_.accumulate % together_->world() == together_->rank();
  }
  int slot_of(uint64_t ticket) const {
    return static_cast<int>(ticket % static_cast<uint64_t>(options_.slots));
  }
  double agreed_progress();
  struct Looked {
    Tensor maps;    // [Q,g,g] on the host, when wanted
    Tensor logits;  // of the taught questions, with gradient
    Tensor loss;    // undefined when the realizer does not learn
  };
  Looked look(const Plan& plan, const Batch& batch, Dice& dice);
  std::vector<std::vector<Cell>> cells_for(const Plan& plan, const Batch& batch, const Tensor& maps,
                                           Dice& dice) const;
  std::vector<std::vector<Cell>> drawn_cells(const Plan& plan, const Batch& batch,
                                             const Tensor& maps, Dice& dice, Tensor& scores) const;
  struct Share {  // of a group in its batch
    float characters, questions;
  };
  Tensor answer(const Plan& plan, const Batch& batch, std::vector<std::vector<Cell>> cells,
                Dice& dice);
  Tensor answer_part(const Plan& plan, const Batch& part,
                     const std::vector<std::vector<Cell>>& cells, const Share& share, Dice& dice);
  bool add_up(FlatWeights& weights);
  void update(const Plan& plan);
  void report(double progress);
  void evaluate_and_save();
  void save_checkpoint() const;
  void load_checkpoint();
  void begin_log() const;
  void log(const json& line);
  double elapsed() const { return before_ + (now() - start_); }
  double progress() const;

  const Options options_;
  SceneSource source_;
  Say say_;
  at::Device device_;
  at::ScalarType type_;
  std::unique_ptr<Together> together_;
  tiny::NetworkWeights first_;  // what training starts from; afterwards only the shape
  tiny::RealizerNet realizer_;
  tiny::Answerer answerer_;
  std::unique_ptr<FlatWeights> look_weights_, answer_weights_;
  Pool pool_, held_out_;
  std::unique_ptr<Prefetch> prefetch_;
  uint64_t tickets_ = 0;  // fresh pictures taken so far
  int filled_ = 0;
  int64_t steps_ = 0, questions_ = 0, drawn_ = 0;
  mutable std::atomic<int64_t> failed_scenes_{0};
  std::map<std::string, double> host_seconds_;  // of this window, by phase
  double start_ = 0, before_ = 0;               // seconds of earlier runs of this checkpoint
  double last_report_ = 0, last_evaluation_ = 0;
  int64_t reported_questions_ = 0, reported_steps_ = 0;
  uint64_t reported_tickets_ = 0;
  int64_t reported_drawn_ = 0;
  Window window_;
  Report report_;
};

tiny::NetworkWeights first_weights(const Options& options) {
  if (options.init.empty())
    return {options.shape, tiny::RealizerNet(options.shape).layout().initial(options.seed * 2),
            tiny::Answerer(options.shape).layout().initial(options.seed * 2 + 1)};
  tiny::NetworkWeights bundle = tiny::load_networks(options.init);
  return options.refit ? refit(bundle, options.shape, options.seed) : bundle;
}

Trainer::Trainer(const Options& options, const SceneSource& source, Say say)
    : options_(options),
      source_(source),
      say_(std::move(say)),
      device_(device_of(options.device)),
      type_(device_.is_cuda() ? at::kBFloat16 : at::kFloat),
      together_(Together::from_environment(device_)),
      first_(first_weights(options)),
      realizer_(first_.shape),
      answerer_(first_.shape),
      pool_(options.slots, options.canvas, device_, type_),
      held_out_(options.held_out, options.canvas, device_, type_) {
  if (options.accumulate % together_->world() != 0)
    throw Error(ErrorCode::bad_argument, "accumulate (" + std::to_string(options.accumulate) +
                                             ") must be a multiple of the " +
                                             std::to_string(together_->world()) +
                                             " processes, which share a step's parts");
  if (together_->world() > 1 && options.fresh == 0)
    throw Error(ErrorCode::bad_argument,
                "several processes must take as many fresh pictures a step: set fresh");
  look_weights_ = std::make_unique<FlatWeights>(realizer_.layout(), first_.realizer, device_);
  answer_weights_ = std::make_unique<FlatWeights>(answerer_.layout(), first_.answerer, device_);
  first_ = {first_.shape, {}, {}};
  for (const std::string& prefix : options.freeze)
    if (look_weights_->freeze("realizer.", {prefix}) +
            answer_weights_->freeze("answerer.", {prefix}) ==
        0)
      throw Error(ErrorCode::bad_argument, "freeze: no tensor's name starts with '" + prefix + "'");
  look_weights_->freeze("realizer.", options.freeze);
  answer_weights_->freeze("answerer.", options.freeze);
  if (options.optimiser == "muon") {
    look_weights_->use_muon();
    answer_weights_->use_muon();
  }
  realizer_.set_recompute(options.recompute);
  answerer_.set_recompute(options.recompute);
}

Sample Trainer::make(uint64_t ticket) const {
  if (ticket < kHeldOut && !own_slot(slot_of(ticket))) {
    Sample foreign;  // another process makes it
    foreign.ticket = ticket;
    return foreign;
  }
  Dice dice(options_.seed, ticket);
  for (int tries = 0; tries < 32; ++tries) {
    const bool small = dice.chance(options_.small);
    // Held-out seeds have their top bit set, training seeds never do; both lie below the suites'.
    const uint64_t seed = (dice.next() >> 2) | (ticket >= kHeldOut ? 1ULL << 63 : 0);
    static_assert(scenes::kSuiteSeedBase > (1ULL << 63 | ~0ULL >> 2));
    try {
      Sample sample = make_sample(source_(seed, small), ticket, options_.canvas, device_.is_cuda());
      if (!sample.asks.empty()) return sample;
    } catch (const Error&) {
      ++failed_scenes_;  // one bad scene must not end a long run; the number is reported
    }
  }
  throw Error(ErrorCode::bad_argument,
              "32 scenes in a row failed or had no question that fits the canvas");
}

void Trainer::fill_held_out() {
  if (together_->rank() != 0) return;  // only the first process measures and writes
  const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1);
  Prefetch prefetch([this](uint64_t ticket) { return make(ticket); }, kHeldOut, threads,
                    options_.held_out);
  std::vector<int> slots;
  for (int i = 0; i < options_.held_out; ++i) slots.push_back(i);
  held_out_.put(slots, prefetch.take(options_.held_out, options_.held_out));
}

// Fresh pictures go round the pool: ticket t lies in slot t % slots, so that a checkpoint needs to
// know the number of tickets only.
void Trainer::refresh() {
  const Stopwatch watch(host_seconds_["refresh"]);
  // The first step waits for one step's worth of pictures, the pool fills up on the way.
  const int first = std::min(options_.slots, options_.pictures);
  const int least = filled_ < first ? first - filled_ : options_.fresh;
  const int most =
      options_.fresh > 0 && filled_ >= first ? options_.fresh : std::max(least, options_.pictures);
  const auto samples = prefetch_->take(least, std::min(most, options_.slots));
  take_in(samples);
  filled_ = static_cast<int>(std::min<uint64_t>(tickets_, static_cast<uint64_t>(options_.slots)));
}

void Trainer::take_in(const std::vector<std::shared_ptr<const Sample>>& samples) {
  std::vector<int> slots;
  std::vector<std::shared_ptr<const Sample>> own;
  for (const auto& sample : samples) {
    const int slot = slot_of(sample->ticket);
    if (!own_slot(slot)) continue;
    slots.push_back(slot);
    own.push_back(sample);
  }
  pool_.put(slots, own);
  tickets_ += samples.size();
}

// Part p of a step draws from slots p, p + accumulate, ...: a process needs only the pictures of
// its own parts, and as many processes as parts do what one process does part after part.
std::vector<int> Trainer::choose(const Plan& plan, int part, Dice& dice) const {
  std::vector<int> candidates;
  for (int slot = part; slot < filled_; slot += options_.accumulate) {
    const Geometry& g = pool_.sample(slot).geometry;
    if (plan.mode != Plan::dense || std::max(g.width, g.height) <= options_.canvas / 2)
      candidates.push_back(slot);
  }
  // All tokens of a small picture are as many as about four ordinary questions have.
  int wanted = options_.pictures / options_.accumulate;
  if (plan.mode == Plan::dense) wanted = std::max(1, wanted / 4);
  std::vector<int> slots;
  for (int i = 0; i < wanted && !candidates.empty(); ++i) {
    const size_t pick = static_cast<size_t>(dice.below(static_cast<int>(candidates.size())));
    slots.push_back(candidates[pick]);
    candidates[pick] = candidates.back();
    candidates.pop_back();
  }
  return slots;
}

// The realizer's forward pass. Maps come back on the host when wanted: waiting for them happens
// before backward is queued, so the device works through it while the host allocates.
Trainer::Looked Trainer::look(const Plan& plan, const Batch& batch, Dice& dice) {
  const Stopwatch watch(host_seconds_["look"]);
  // Backward is the dearer part: some questions of each picture are enough to teach by, the others
  // are only looked at when their maps are wanted.
  const int taught = options_.taught > 0 ? std::min(options_.taught, batch.each) : batch.each;
  std::vector<size_t> first, others;
  for (size_t i = 0; i < batch.size(); ++i)
    (static_cast<int>(i) % batch.each < taught ? first : others).push_back(i);
  Batch lesson = part_of(batch, first, device_);
  lesson.each = taught;
  const PageLabels labels = page_labels(pool_, lesson, dice);
  const tiny::Tensors w = look_weights_->tensors(type_);
  const tiny::Page page = pool_.page(batch.slots);
  const tiny::PageFeatures features = realizer_.read(w, page, type_);
  const tiny::Judgement judged =
      realizer_.judge(w, features, lesson.question, lesson.pages, taught);
  Looked out;
  out.logits = judged.relevance;
  if (plan.outcome || (plan.mode == Plan::full && plan.own_maps > 0)) {
    const at::NoGradGuard no_grad;
    const auto of_pages = [&](const Tensor& logits, int each) {
      const int64_t pages = static_cast<int64_t>(batch.slots.size());
      const int64_t g = pool_.grid();
      return visible_relevance(logits, labels.inside.repeat_interleave(each, 0))
          .view({pages, each, g, g});
    };
    Tensor maps = of_pages(judged.relevance, taught);
    if (plan.outcome) {
      maps = maps.repeat({1, batch.each / taught, 1, 1});  // the others are copies
    } else if (!others.empty()) {
      const Batch rest = part_of(batch, others, device_);
      const int left = batch.each - taught;
      const Tensor logits = realizer_.judge(w, features, rest.question, rest.pages, left).relevance;
      maps = at::cat({maps, of_pages(logits, left)}, 1);
    }
    out.maps = maps.flatten(0, 1).to(at::kCPU).contiguous();
  }
  if (options_.freeze_realizer || turn() == Turn::answerer) return out;
  const LookLosses losses = look_losses(realizer_, w, features, judged, lesson, labels);
  out.loss = losses.relevance + losses.glyph + 0.2 * losses.text + 0.1 * losses.tier +
             options_.sparsity * losses.tokens + 0.1 * losses.tensions;
  if (losses.lookup.defined()) {
    out.loss = out.loss + 0.1 * losses.lookup;
    window_.add("lookup", losses.lookup);
  }
  window_.add("relevance", losses.relevance);
  window_.add("page_glyph", losses.glyph);
  window_.add("page_glyph_right", losses.glyph_accuracy);
  window_.add("text", losses.text);
  window_.add("tier", losses.tier);
  window_.add("tokens", losses.tokens);
  return out;
}

std::vector<std::vector<Cell>> Trainer::cells_for(const Plan& plan, const Batch& batch,
                                                  const Tensor& maps, Dice& dice) const {
  std::vector<std::vector<Cell>> cells(batch.size());
  const int g = pool_.grid();
  const uint64_t seed = dice.next();
  at::parallel_for(0, static_cast<int64_t>(batch.size()), 8, [&](int64_t begin, int64_t end) {
    std::vector<float> noisy(static_cast<size_t>(g) * g);
    for (int64_t i = begin; i < end; ++i) {
      const size_t q = static_cast<size_t>(i);
      Dice own(seed, static_cast<uint64_t>(i));
      Geometry geometry = pool_.sample(batch.slot_of[q]).geometry;
      if (plan.mode == Plan::reading) {
        cells[q] = reading_cells(*batch.asks[q], geometry, kMostReadingCells);
        if (static_cast<int>(cells[q].size()) == kMostReadingCells) {
          // More than fits at full detail (objects, counts): all of it, coarser.
          oracle_map(*batch.asks[q], geometry, g, noisy.data());
          cells[q] = quadtree(noisy.data(), g, geometry, kMostReadingCells);
        }
        continue;
      }
      if (plan.mode == Plan::dense) {
        cells[q] = dense_cells(geometry);
        continue;
      }
      geometry.finest = own.chance(options_.enlarged) ? -1 : 0;
      const float* map = noisy.data();
      if (maps.defined() && own.chance(plan.own_maps)) {
        map = maps.data_ptr<float>() + i * g * g;
      } else {
        noisy_map(*batch.asks[q], geometry, g, own, noisy.data());
      }
      cells[q] = quadtree(map, g, geometry, plan.budget);
      if (own.chance(kWithoutRelevance))
        for (Cell& cell : cells[q]) cell.relevance = 0;
    }
  });
  return cells;
}

// Outcome steps: every copy of a question draws splits of its own, and differs in nothing else.
std::vector<std::vector<Cell>> Trainer::drawn_cells(const Plan& plan, const Batch& batch,
                                                    const Tensor& maps, Dice& dice,
                                                    Tensor& scores) const {
  std::vector<std::vector<Cell>> cells(batch.size());
  scores = at::zeros_like(maps);
  const int g = pool_.grid();
  const uint64_t seed = dice.next();
  at::parallel_for(0, static_cast<int64_t>(batch.size()), 8, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Dice own(seed, static_cast<uint64_t>(i));
      const Geometry& geometry = pool_.sample(batch.slot_of[static_cast<size_t>(i)]).geometry;
      cells[static_cast<size_t>(i)] =
          drawn_quadtree(maps.data_ptr<float>() + i * g * g, g, geometry, plan.budget,
                         options_.outcome_temperature, own, scores.data_ptr<float>() + i * g * g)
              .cells;
    }
  });
  return cells;
}

Tensor Trainer::answer_part(const Plan& plan, const Batch& part,
                            const std::vector<std::vector<Cell>>& cells, const Share& share,
                            Dice& dice) {
  // Some pictures pose as larger ones, so that scales up to 6 occur.
  std::vector<int> octaves(part.size());
  if (!plan.outcome)
    for (int& o : octaves) o = dice.chance(0.15F) ? 1 + dice.below(2) : 0;
  Tensor glyphs;
  tiny::Look seen = pool_.look(part.slot_of, cells, octaves, &glyphs);
  seen.question = part.question;
  const tiny::Tensors w = answer_weights_->tensors(type_);
  const tiny::Memory memory = answerer_.encode(w, seen, type_);
  const AnswerLosses losses = answer_losses(answerer_, w, memory, part, glyphs);
  const float glyph_weight =
      plan.mode == Plan::reading ? 2 * options_.glyph_weight : options_.glyph_weight;
  Tensor loss = losses.answer * share.characters + glyph_weight * losses.glyph * share.questions;
  (loss / options_.accumulate).backward();
  static const char* const kNames[] = {"answer_reading", "answer", "answer_dense"};
  window_.add(kNames[plan.mode], losses.answer);
  window_.add("glyph", losses.glyph);
  window_.add("glyph_right", losses.glyph_accuracy);
  return plan.outcome ? rewards(losses.logits, part.expected) : Tensor();
}

// Questions of like length go together, so that little is padded; the gradient is that of the whole
// batch but for rounding: each group's means count by its share. Returns every question's reward in
// outcome steps.
Tensor Trainer::answer(const Plan& plan, const Batch& batch, std::vector<std::vector<Cell>> cells,
                       Dice& dice) {
  const Stopwatch watch(host_seconds_["answer"]);
  std::vector<size_t> order(batch.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return batch.asks[a]->question.size() < batch.asks[b]->question.size();
  });
  const auto characters = [](const Batch& of) {
    size_t sum = 0;
    for (const Ask* ask : of.asks) sum += ask->task == Task::find ? 0 : ask->answer.size() + 1;
    return static_cast<float>(std::max<size_t>(1, sum));
  };
  const size_t groups = std::min<size_t>(static_cast<size_t>(options_.groups), batch.size());
  std::vector<Tensor> earned;
  for (size_t k = 0; k < groups; ++k) {
    const std::vector<size_t> which(
        order.begin() + static_cast<std::ptrdiff_t>(k * batch.size() / groups),
        order.begin() + static_cast<std::ptrdiff_t>((k + 1) * batch.size() / groups));
    const Batch part = part_of(batch, which, device_);
    std::vector<std::vector<Cell>> seen;
    for (size_t i : which) seen.push_back(std::move(cells[i]));
    const Share share{characters(part) / characters(batch),
                      static_cast<float>(part.size()) / static_cast<float>(batch.size())};
    earned.push_back(answer_part(plan, part, seen, share, dice));
  }
  if (!plan.outcome) return {};
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[order[i]] = static_cast<int64_t>(i);
  return at::cat(earned).index_select(0, send(at::tensor(back, at::kLong), device_));
}

void Trainer::step(const Plan& wanted, int part, Dice& dice) {
  Plan plan = wanted;
  std::vector<int> slots = choose(plan, part, dice);
  if (slots.empty()) {  // no small picture in the pool
    plan.mode = Plan::full;
    slots = choose(plan, part, dice);
  }
  const Batch batch = draw(pool_, slots, options_.questions, options_.words, dice,
                           plan.outcome ? options_.taught : 0);
  Looked looked;
  if (plan.mode != Plan::dense) looked = look(plan, batch, dice);
  const auto learn = [&] {
    if (looked.loss.defined()) (looked.loss / options_.accumulate).backward();
  };
  if (!plan.outcome) learn();  // the device works while the host chooses cells
  if (!options_.freeze_answerer && turn() != Turn::realizer) {
    Tensor scores;
    std::vector<std::vector<Cell>> cells;
    {
      const Stopwatch inner(host_seconds_["cells"]);
      cells = plan.outcome ? drawn_cells(plan, batch, looked.maps, dice, scores)
                           : cells_for(plan, batch, looked.maps, dice);
    }
    const Tensor earned = answer(plan, batch, std::move(cells), dice);
    if (plan.outcome && looked.loss.defined()) {
      window_.add("reward", earned.mean());
      looked.loss =
          looked.loss + options_.outcome_weight * outcome_loss(looked.logits, send(scores, device_),
                                                               earned, options_.taught, batch.each);
    }
  }
  if (plan.outcome) learn();
  questions_ += static_cast<int64_t>(batch.size()) * together_->world();
  drawn_ += static_cast<int64_t>(slots.size());
}

// Adds the gradients of all processes; false when none has one (dense steps do not look).
bool Trainer::add_up(FlatWeights& weights) {
  if (together_->world() == 1) return weights.gradient().defined();
  Tensor having = at::full({1}, weights.gradient().defined() ? 1.0 : 0.0,
                           at::TensorOptions(device_).dtype(at::kFloat));
  together_->sum(having);
  if (having.item<float>() == 0) return false;
  Tensor gradient = weights.gradient_or_zeros();
  together_->sum(gradient);
  weights.replace_gradient(gradient);
  return true;
}

// The first process' clock counts, so that all end at the same step.
double Trainer::agreed_progress() {
  if (together_->world() == 1) return progress();
  Tensor mine = at::full({1}, together_->rank() == 0 ? progress() : 0.0,
                         at::TensorOptions(device_).dtype(at::kDouble));
  together_->sum(mine);
  return mine.item<double>();
}

void Trainer::update(const Plan& plan) {
  const Stopwatch watch(host_seconds_["update"]);
  for (auto& [weights, rate, name] :
       {std::tuple{look_weights_.get(), options_.realizer_rate, "look_norm"},
        std::tuple{answer_weights_.get(), options_.rate, "answer_norm"}}) {
    if (!add_up(*weights)) continue;
    Tensor norm;
    const Tensor factor = clip_factor({weights}, options_.clip, &norm);
    window_.add(name, norm);
    weights->step(rate * plan.rate, options_.decay, factor);
    weights->forget_gradient();
  }
}

double Trainer::progress() const {
  return options_.steps > 0 ? static_cast<double>(steps_) / static_cast<double>(options_.steps)
                            : elapsed() / (60 * options_.minutes);
}

// Lines of another run, or of steps that a kill has undone, would be drawn as well.
void Trainer::begin_log() const {
  if (together_->rank() != 0) return;
  const fs::path path = fs::path(options_.out) / "metrics.jsonl";
  std::string kept;
  std::ifstream in(path);
  for (std::string line; options_.resume && std::getline(in, line);) {
    const json known = json::parse(line, nullptr, false);
    if (known.is_object() && known.contains("step") && known["step"].is_number() &&
        known["step"].get<double>() <= static_cast<double>(steps_))
      kept += line + "\n";
  }
  write_text_file(path.string(), kept);
}

void Trainer::log(const json& line) {
  std::ofstream out(fs::path(options_.out) / "metrics.jsonl", std::ios::app);
  out << line.dump() << '\n';
}

void Trainer::report(double progress) {
  const std::map<std::string, double> means = window_.read();  // waits for the device
  const double seconds = now() - last_report_;
  const double rate = static_cast<double>(questions_ - reported_questions_) / seconds;
  const double reuse = static_cast<double>(drawn_ - reported_drawn_) /
                       static_cast<double>(std::max<uint64_t>(1, tickets_ - reported_tickets_));
  json line{{"step", steps_},           {"seconds", elapsed()},         {"progress", progress},
            {"questions", questions_},  {"questions_per_second", rate}, {"pictures", tickets_},
            {"uses_per_picture", reuse}};
  line["failed_scenes"] = failed_scenes_.load();
  char part[96];
  std::string text = " | host ms:";
  const double per_step = 1e3 / static_cast<double>(std::max<int64_t>(1, steps_ - reported_steps_));
  for (const auto& [name, sum] : host_seconds_) {
    line["host_ms"][name] = sum * per_step;
    std::snprintf(part, sizeof part, " %s %.0f", name.c_str(), sum * per_step);
    text += part;
  }
  host_seconds_.clear();
  text += " |";
  for (const auto& [name, value] : means) {
    line[name] = value;
    std::snprintf(part, sizeof part, " %s %.3f", name.c_str(), value);
    text += part;
  }
  const auto take = [&](const char* name, double& into) {
    if (auto found = means.find(name); found != means.end()) into = found->second;
  };
  take("answer", report_.answer_loss);
  if (!means.count("answer")) take("answer_reading", report_.answer_loss);
  take("glyph", report_.glyph_loss);
  take("relevance", report_.relevance_loss);
  take("page_glyph", report_.page_glyph_loss);
  std::snprintf(part, sizeof part, "%5.1f%% step %lld %.0f q/s pictures %llu (%.1f uses)",
                100 * progress, static_cast<long long>(steps_), rate,
                static_cast<unsigned long long>(tickets_), reuse);
  say_(part + text);
  log(line);
  last_report_ = now();
  reported_questions_ = questions_;
  reported_steps_ = steps_;
  reported_tickets_ = tickets_;
  reported_drawn_ = drawn_;
}

void Trainer::evaluate_and_save() {
  const double begun = now();
  tiny::save_networks((fs::path(options_.out) / "weights").string(),
                    {first_.shape, look_weights_->on_cpu(), answer_weights_->on_cpu()},
                    "s" + std::to_string(steps_));
  if (options_.checkpoint) save_checkpoint();
  Evaluation e;
  {
    at::NoGradGuard no_grad;
    e = evaluate(realizer_, look_weights_->tensors(type_), answerer_,
                 answer_weights_->tensors(type_), held_out_, type_, options_.held_out_budget);
  }
  report_.exact_realized = e.all.exact_realized;
  report_.exact_oracle = e.all.exact_oracle;
  report_.recall = e.all.recall;
  json line{{"step", steps_}, {"seconds", elapsed()}, {"evaluation", json::object()}};
  json& result = line["evaluation"];
  char text[256];
  std::snprintf(
      text, sizeof text,
      "held out %d: exact realized %.3f oracle %.3f (four kinds alike: %.3f, %.3f) recall "
      "%.3f page glyphs %.3f tier tokens %.0f distinct %.3f (%.1f s)",
      e.all.questions, e.all.exact_realized, e.all.exact_oracle, e.suites_realized, e.suites_oracle,
      e.all.recall, e.all.page_glyphs, e.mean_tier_tokens, e.distinct, now() - begun);
  std::string said = text;
  for (const auto& [kind, score] : e.kinds) {
    std::snprintf(text, sizeof text, "\n  %-10s %3d realized %.3f oracle %.3f recall %.3f",
                  kind.c_str(), score.questions, score.exact_realized, score.exact_oracle,
                  score.recall);
    said += text;
    result["kinds"][kind] = {{"questions", score.questions},
                             {"exact_realized", score.exact_realized},
                             {"exact_oracle", score.exact_oracle},
                             {"recall", score.recall}};
  }
  result["exact_realized"] = e.all.exact_realized;
  result["exact_oracle"] = e.all.exact_oracle;
  result["suites_realized"] = e.suites_realized;
  result["suites_oracle"] = e.suites_oracle;
  result["recall"] = e.all.recall;
  result["page_glyphs"] = e.all.page_glyphs;
  result["tier_tokens"] = e.mean_tier_tokens;
  result["distinct"] = e.distinct;
  result["tier_share"] = e.tier_share;
  result["tokens_by_complexity"] = e.tokens_by_complexity;
  std::snprintf(text, sizeof text, "\n  tokens asked for: simple %.0f, medium %.0f, complex %.0f",
                e.tokens_by_complexity[0], e.tokens_by_complexity[1], e.tokens_by_complexity[2]);
  said += text;
  for (const std::string& sign : collapses(e)) {
    said += "\n  COLLAPSE: " + sign;
    result["collapse"].push_back(sign);
  }
  say_(said);
  log(line);
  last_evaluation_ = now();
}

void Trainer::save_checkpoint() const {
  std::map<std::string, Tensor> tensors;
  look_weights_->store(tensors, "realizer");
  answer_weights_->store(tensors, "answerer");
  write_safetensors((fs::path(options_.out) / "checkpoint.safetensors").string(), tensors,
                    {{"steps", std::to_string(steps_)},
                     {"questions", std::to_string(questions_)},
                     {"drawn", std::to_string(drawn_)},
                     {"tickets", std::to_string(tickets_)},
                     {"seconds", std::to_string(elapsed())},
                     {"seed", std::to_string(options_.seed)}});
}

void Trainer::load_checkpoint() {
  const std::string path = (fs::path(options_.out) / "checkpoint.safetensors").string();
  const WeightFile file = WeightFile::open(path);
  const auto& meta = file.metadata();
  const auto field = [&](const std::string& name) {
    auto found = meta.find(name);
    if (found == meta.end()) throw Error(ErrorCode::bad_weights, path + ": no '" + name + "'");
    return found->second;
  };
  if (field("seed") != std::to_string(options_.seed))
    throw Error(ErrorCode::bad_argument,
                path + " was made with seed " + field("seed") + "; resume with the same seed");
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, info] : file.tensors()) tensors[name] = file.view(name);
  look_weights_->restore(tensors, "realizer");
  answer_weights_->restore(tensors, "answerer");
  steps_ = std::stoll(field("steps"));
  questions_ = std::stoll(field("questions"));
  drawn_ = std::stoll(field("drawn"));
  tickets_ = std::stoull(field("tickets"));
  before_ = std::stod(field("seconds"));
}

Report Trainer::run() {
  fs::create_directories(options_.out);
  start_ = now();
  if (options_.resume && fs::exists(fs::path(options_.out) / "checkpoint.safetensors"))
    load_checkpoint();
  begin_log();
  const int workers = options_.workers > 0
                          ? options_.workers
                          : std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 2);
  // Intra-op threads of the host share the cores with the generator.
  if (device_.is_cuda()) at::set_num_threads(4);
  prefer_fast_kernels();
  fill_held_out();
  // After a resume the pool is made again: the last `slots` tickets.
  const uint64_t slots = static_cast<uint64_t>(options_.slots);
  const uint64_t again = tickets_ > slots ? slots : tickets_;
  tickets_ -= again;
  prefetch_ = std::make_unique<Prefetch>([this](uint64_t ticket) { return make(ticket); }, tickets_,
                                         workers, std::max(4 * workers, 64));
  for (uint64_t left = again; left > 0;) {
    const int part = static_cast<int>(std::min<uint64_t>(left, 64));
    const auto samples = prefetch_->take(part, part);
    take_in(samples);
    left -= samples.size();
  }
  filled_ = static_cast<int>(again);
  char text[160];
  std::snprintf(
      text, sizeof text,
      "%s: realizer %.2f M, answerer %.2f M parameters; %d workers, %d slots, from step %lld",
      device_.is_cuda() ? "cuda" : "cpu", 1e-6 * realizer_.layout().count(),
      1e-6 * answerer_.layout().count(), workers, options_.slots, static_cast<long long>(steps_));
  say_(text);
  last_report_ = last_evaluation_ = now();
  reported_tickets_ = tickets_;

  const bool first = together_->rank() == 0;
  for (double at = agreed_progress(); at < 1; at = agreed_progress()) {
    refresh();
    Dice dice(options_.seed, static_cast<uint64_t>(steps_), 1);
    const Plan plan = plan_of(options_, at, dice);
    for (int part = together_->rank(); part < options_.accumulate; part += together_->world()) {
      Dice own(options_.seed, static_cast<uint64_t>(steps_), 2 + static_cast<uint64_t>(part));
      step(plan, part, own);
    }
    update(plan);
    ++steps_;
    if (!first) continue;
    if (now() - last_report_ > options_.report_seconds) report(progress());
    const bool due = options_.evaluate_steps > 0
                         ? steps_ % options_.evaluate_steps == 0
                         : now() - last_evaluation_ > options_.evaluate_seconds;
    if (due && progress() < 1) evaluate_and_save();
  }
  if (first) {
    report(progress());
    evaluate_and_save();
  }
  report_.rank = together_->rank();
  report_.steps = steps_;
  report_.questions = questions_;
  report_.seconds = elapsed();
  return report_;
}

}  // namespace

Report train(const Options& options, const SceneSource& source, const Say& say) {
  return Trainer(options, source, say).run();
}

}  // namespace arrcoc::training
