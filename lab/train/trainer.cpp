// The training loop, to be read top to bottom: train() at the end.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "arrcoc/error.h"
#include "arrcoc/weights.h"
#include "lab/train/guard.h"
#include "lab/train/held_aside.h"
#include "lab/train/machine.h"
#include "lab/train/meters.h"
#include "lab/train/networks.h"
#include "lab/train/parallel.h"
#include "lab/train/streams.h"
#include "lab/train/teacher.h"
#include "lab/train/train.h"

namespace arrcoc::training {
namespace {

namespace fs = std::filesystem;
using at::Tensor;
using nlohmann::json;
using Say = std::function<void(const std::string&)>;

Parts parts_of(const Options& options, const Together& together) {
  const int world = together.world();
  if (options.accumulate % world != 0)
    throw Error(ErrorCode::bad_argument, "accumulate (" + std::to_string(options.accumulate) +
                                             ") must be a multiple of the " +
                                             std::to_string(world) +
                                             " processes, which share a step's parts");
  if (world > 1 && options.fresh == 0)
    throw Error(ErrorCode::bad_argument,
                "several processes must take as many fresh pictures a step: set fresh");
  return {options.accumulate, world, together.rank()};
}

int names_of(const Streams& streams) {
  return streams.data() ? static_cast<int>(streams.data()->names().size()) : 0;
}

class Trainer {
 public:
  Trainer(const Options& options, const SceneSource& source, Say say);
  Report run();

 private:
  void begin();
  void step(double progress);
  void report(double progress);
  void evaluate_and_save();
  void guard();
  void save_checkpoint() const;
  void load_checkpoint();
  void begin_log() const;
  void log(const json& line) const;
  std::string file(const char* name) const { return (fs::path(options_.out) / name).string(); }
  double elapsed() const { return before_ + (now() - start_); }
  double progress() const;
  double agreed_progress();

  const Options options_;
  Say say_;
  at::Device device_;
  at::ScalarType type_;
  std::unique_ptr<Together> together_;
  Streams streams_;
  Networks networks_;
  Meters meters_;
  Teacher teacher_;
  std::unique_ptr<HeldAside> held_aside_;  // of the first process, which measures and writes
  struct Counts {
    int64_t steps = 0, questions = 0;
    int64_t drawn = 0;     // pictures of this process' parts
    uint64_t tickets = 0;  // fresh pictures
  };
  Counts counts_, reported_;
  double start_ = 0, before_ = 0;  // seconds of earlier runs of this checkpoint
  double last_report_ = 0, last_evaluation_ = 0;
  Report report_;
};

Trainer::Trainer(const Options& options, const SceneSource& source, Say say)
    : options_(options),
      say_(std::move(say)),
      device_(device_of(options.device)),
      type_(device_.is_cuda() ? at::kBFloat16 : at::kFloat),
      together_(Together::from_environment(device_)),
      streams_(options_, source, parts_of(options_, *together_), device_, type_),
      networks_(options_, names_of(streams_), device_, type_),
      teacher_(options_, streams_, networks_, meters_) {}

double Trainer::progress() const {
  return options_.steps > 0
             ? static_cast<double>(counts_.steps) / static_cast<double>(options_.steps)
             : elapsed() / (60 * options_.minutes);
}

// The first process' clock counts, so that all end at the same step.
double Trainer::agreed_progress() {
  if (together_->world() == 1) return progress();
  Tensor mine = at::full({1}, together_->rank() == 0 ? progress() : 0.0,
                         at::TensorOptions(device_).dtype(at::kDouble));
  together_->sum(mine);
  return mine.item<double>();
}

// Lines of another run, or of steps that a kill has undone, would be drawn as well.
void Trainer::begin_log() const {
  if (together_->rank() != 0) return;
  std::string kept;
  std::ifstream in(file("metrics.jsonl"));
  for (std::string line; options_.resume && std::getline(in, line);) {
    const json known = json::parse(line, nullptr, false);
    if (known.is_object() && known.contains("step") && known["step"].is_number() &&
        known["step"].get<double>() <= static_cast<double>(counts_.steps))
      kept += line + "\n";
  }
  write_text_file(file("metrics.jsonl"), kept);
}

void Trainer::log(const json& line) const {
  std::ofstream out(file("metrics.jsonl"), std::ios::app);
  out << line.dump() << '\n';
}

void Trainer::save_checkpoint() const {
  std::map<std::string, Tensor> tensors;
  networks_.store(tensors);
  std::map<std::string, std::string> meta{{"steps", std::to_string(counts_.steps)},
                                          {"questions", std::to_string(counts_.questions)},
                                          {"drawn", std::to_string(counts_.drawn)},
                                          {"seconds", std::to_string(elapsed())},
                                          {"seed", std::to_string(options_.seed)}};
  streams_.store(meta);
  write_safetensors(file("checkpoint.safetensors"), tensors, meta);
}

void Trainer::load_checkpoint() {
  const std::string path = file("checkpoint.safetensors");
  const WeightFile checkpoint = WeightFile::open(path);
  const auto& meta = checkpoint.metadata();
  const auto field = [&](const std::string& name) {
    auto found = meta.find(name);
    if (found == meta.end()) throw Error(ErrorCode::bad_weights, path + ": no '" + name + "'");
    return found->second;
  };
  if (field("seed") != std::to_string(options_.seed))
    throw Error(ErrorCode::bad_argument,
                path + " was made with seed " + field("seed") + "; resume with the same seed");
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, info] : checkpoint.tensors()) tensors[name] = checkpoint.view(name);
  networks_.restore(tensors);
  streams_.restore(meta);
  counts_.steps = std::stoll(field("steps"));
  counts_.questions = std::stoll(field("questions"));
  counts_.drawn = std::stoll(field("drawn"));
  before_ = std::stod(field("seconds"));
}

void Trainer::begin() {
  fs::create_directories(options_.out);
  std::error_code none;
  if (!options_.init.empty() && fs::equivalent(options_.init, file("weights"), none))
    throw Error(ErrorCode::bad_argument,
                "init " + options_.init + " is where the new weights go: choose another out");
  start_ = now();
  if (options_.resume && fs::exists(file("checkpoint.safetensors"))) load_checkpoint();
  begin_log();
  // Intra-op threads of the host share the cores with the generator.
  if (device_.is_cuda()) at::set_num_threads(4);
  prefer_fast_kernels();
  if (together_->rank() == 0)
    held_aside_ = std::make_unique<HeldAside>(options_, streams_, device_, type_);
  const int workers = workers_of(options_.workers);
  streams_.start(workers);
  char text[160];
  std::snprintf(
      text, sizeof text,
      "%s: realizer %.2f M, answerer %.2f M parameters; %d workers, %d slots, from step %lld",
      device_.is_cuda() ? "cuda" : "cpu", 1e-6 * networks_.realizer().layout().count(),
      1e-6 * networks_.answerer().layout().count(), workers, options_.slots,
      static_cast<long long>(counts_.steps));
  say_(text);
  for (const auto& stream : streams_.each())
    if (stream->shelf() > 0)
      say_("real " + stream->name() + ": " + std::to_string(stream->pictures()) + " of " +
           std::to_string(options_.pictures) + " pictures a step, " +
           std::to_string(stream->slots()) + " slots");
  last_report_ = last_evaluation_ = now();
  counts_.tickets = streams_.tickets();
  reported_ = counts_;
}

void Trainer::step(double progress) {
  {
    const Stopwatch watch(meters_.host_seconds["refresh"]);
    streams_.refresh();
  }
  const auto number = static_cast<uint64_t>(counts_.steps);
  Dice dice(options_.seed, number, 1);
  const Plan plan = plan_of(options_, progress, counts_.steps, dice);
  for (int part = together_->rank(); part < options_.accumulate; part += together_->world()) {
    Dice own(options_.seed, number, 2 + static_cast<uint64_t>(part));
    const Teacher::Taught taught = teacher_.teach(plan, part, own);
    counts_.questions += taught.questions * together_->world();
    counts_.drawn += taught.pictures;
  }
  const Stopwatch watch(meters_.host_seconds["update"]);
  networks_.update(options_, plan.rate, *together_, meters_.window);
  ++counts_.steps;
}

void Trainer::report(double progress) {
  const std::map<std::string, double> means = meters_.window.read();  // waits for the device
  counts_.tickets = streams_.tickets();
  const double rate =
      static_cast<double>(counts_.questions - reported_.questions) / (now() - last_report_);
  const double reuse =
      static_cast<double>(counts_.drawn - reported_.drawn) /
      static_cast<double>(std::max<uint64_t>(1, counts_.tickets - reported_.tickets));
  json line{{"step", counts_.steps},        {"seconds", elapsed()},
            {"progress", progress},         {"questions", counts_.questions},
            {"questions_per_second", rate}, {"pictures", counts_.tickets},
            {"uses_per_picture", reuse},    {"failed_scenes", streams_.failed()}};
  char part[96];
  std::snprintf(part, sizeof part, "%5.1f%% step %lld %.0f q/s pictures %llu (%.1f uses)",
                100 * progress, static_cast<long long>(counts_.steps), rate,
                static_cast<unsigned long long>(counts_.tickets), reuse);
  std::string text = std::string(part) + " | host ms:";
  const double steps = static_cast<double>(std::max<int64_t>(1, counts_.steps - reported_.steps));
  for (const auto& [name, sum] : std::exchange(meters_.host_seconds, {})) {
    line["host_ms"][name] = sum * 1e3 / steps;
    std::snprintf(part, sizeof part, " %s %.0f", name.c_str(), sum * 1e3 / steps);
    text += part;
  }
  text += " |";
  for (const auto& [name, value] : means) {
    line[name] = value;
    std::snprintf(part, sizeof part, " %s %.3f", name.c_str(), value);
    text += part;
  }
  const auto take = [&](const char* name, double& into) {
    if (auto found = means.find(name); found != means.end()) into = found->second;
  };
  take("answer_reading", report_.answer_loss);
  take("answer", report_.answer_loss);
  take("glyph", report_.glyph_loss);
  take("relevance", report_.relevance_loss);
  take("page_glyph", report_.page_glyph_loss);
  say_(text);
  log(line);
  last_report_ = now();
  reported_ = counts_;
}

void Trainer::evaluate_and_save() {
  networks_.save(file("weights"), "s" + std::to_string(counts_.steps));
  if (options_.checkpoint) save_checkpoint();
  json line{{"step", counts_.steps}, {"seconds", elapsed()}};
  const Evaluation e = held_aside_->measure(networks_, line, say_);
  report_.exact_realized = e.all.exact_realized;
  report_.exact_oracle = e.all.exact_oracle;
  report_.recall = e.all.recall;
  log(line);
  last_evaluation_ = now();
}

// Users adapt the model to documents of their own: where that did harm, they keep what they had.
void Trainer::guard() {
  if (options_.init.empty() || !streams_.data()) return;
  const at::NoGradGuard no_grad;
  const std::vector<real::Result>& after = held_aside_->last_real();
  copy_fitted(options_.init, file("weights"));
  if (after.empty()) {
    say_("guard: no question about a real picture is held aside (held_share): nothing compared");
    return;
  }
  say_("guard: the old weights answer the same " + std::to_string(after.size()) + " questions");
  Verdict verdict =
      verdict_of(held_aside_->measure_real(tiny::load_networks(options_.init), type_), after);
  verdict.kept_old = verdict.kept_old && options_.guard;
  if (verdict.kept_old) {
    networks_.save(file("refused"), "s" + std::to_string(counts_.steps));
    copy_weights(options_.init, file("weights"));
  }
  say_(to_text(verdict));
  log({{"step", counts_.steps},
       {"guard",
        {{"questions", verdict.questions},
         {"pictures", verdict.pictures},
         {"before", verdict.before},
         {"after", verdict.after},
         {"difference", verdict.gain},
         {"interval", {verdict.low, verdict.high}},
         {"kept", verdict.kept_old ? "old" : "new"}}}});
  report_.verdict = verdict;
}

Report Trainer::run() {
  begin();
  const bool first = together_->rank() == 0;
  for (double at = agreed_progress(); at < 1; at = agreed_progress()) {
    step(at);
    if (!first) continue;
    if (now() - last_report_ > options_.report_seconds) report(progress());
    const bool due = options_.evaluate_steps > 0
                         ? counts_.steps % options_.evaluate_steps == 0
                         : now() - last_evaluation_ > options_.evaluate_seconds;
    if (due && progress() < 1) evaluate_and_save();
  }
  if (first) {
    report(progress());
    evaluate_and_save();
    guard();
  }
  report_.rank = together_->rank();
  report_.steps = counts_.steps;
  report_.questions = counts_.questions;
  report_.seconds = elapsed();
  return report_;
}

}  // namespace

Report train(const Options& options, const SceneSource& source, const Say& say) {
  return Trainer(options, source, say).run();
}

}  // namespace arrcoc::training
