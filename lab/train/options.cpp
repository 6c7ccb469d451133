#include <algorithm>

#include "arrcoc/error.h"
#include "base/json.h"
#include "lab/train/train.h"
#include "models/tiny/files.h"

namespace arrcoc::training {
namespace {

constexpr const char* kWhat = "training options";

// Calls visit(name, field) for pairs of both.
template <class Visit, class T, class... More>
void visit_pairs(const Visit& visit, const char* name, T& field, More&&... more) {
  visit(name, field);
  if constexpr (sizeof...(more) > 0) visit_pairs(visit, more...);
}

// All fields but the shape and the mix.
template <class Struct, class Visit>
void each(Struct& o, const Visit& visit) {
  visit_pairs(
      visit, "assets", o.assets, "out", o.out, "init", o.init, "refit", o.refit, "device", o.device,
      "seed", o.seed, "minutes", o.minutes, "steps", o.steps, "resume", o.resume, "checkpoint",
      o.checkpoint, "canvas", o.canvas, "slots", o.slots, "workers", o.workers, "fresh", o.fresh,
      "small", o.small, "words", o.words, "texts", o.texts, "strange", o.strange, "pictures",
      o.pictures, "questions", o.questions, "taught", o.taught, "groups", o.groups, "accumulate",
      o.accumulate, "reading", o.reading, "joint", o.joint, "own_maps", o.own_maps,
      "own_maps_start", o.own_maps_start, "dense", o.dense, "enlarged", o.enlarged, "budget_low",
      o.budget_low, "budget_high", o.budget_high, "data", o.data, "real", o.real, "real_words",
      o.real_words, "swapped", o.swapped, "native", o.native, "frame_zoom", o.frame_zoom,
      "real_slots", o.real_slots, "remember", o.remember, "held_share", o.held_share, "held_real",
      o.held_real, "names", o.names, "guard", o.guard, "optimiser", o.optimiser, "rate", o.rate,
      "realizer_rate", o.realizer_rate, "warmup", o.warmup, "final_rate", o.final_rate, "decay",
      o.decay, "clip", o.clip, "glyph_weight", o.glyph_weight, "sparsity", o.sparsity,
      "freeze_realizer", o.freeze_realizer, "freeze_answerer", o.freeze_answerer, "freeze",
      o.freeze, "alternate", o.alternate, "outcome", o.outcome, "outcome_weight", o.outcome_weight,
      "outcome_temperature", o.outcome_temperature, "history", o.history, "history_low",
      o.history_low, "history_high", o.history_high, "history_wrong", o.history_wrong,
      "history_outcome", o.history_outcome, "recompute", o.recompute, "report_seconds",
      o.report_seconds, "evaluate_seconds", o.evaluate_seconds, "evaluate_steps", o.evaluate_steps,
      "held_out", o.held_out, "held_out_budget", o.held_out_budget);
}

void require(bool good, const std::string& what) {
  if (!good) throw Error(ErrorCode::bad_argument, std::string(kWhat) + ": " + what);
}

void check(const Options& o) {
  require(o.minutes > 0 || o.steps > 0, "minutes or steps must be positive");
  require(o.canvas >= 64 && o.canvas <= 1024 && (o.canvas & (o.canvas - 1)) == 0,
          "canvas must be a power of two from 64 to 1024");
  require(o.pictures >= 1 && o.questions >= 1 && o.accumulate >= 1 && o.slots >= 1,
          "pictures, questions, accumulate and slots start at 1");
  require(o.slots <= 1 << 20 && o.held_out <= 1 << 16, "slots go up to 1048576, held_out to 65536");
  require(o.fresh >= 0 && o.workers >= 0, "fresh and workers start at 0");
  require(o.taught >= 0 && o.taught <= o.questions, "taught must lie between 0 and questions");
  require(o.outcome >= 0 && o.outcome <= 1 && o.outcome_temperature > 0,
          "outcome is a share from 0 to 1, outcome_temperature is positive");
  require(o.outcome == 0 || (o.taught > 0 && o.questions % o.taught == 0 && o.questions > o.taught),
          "outcome compares several draws of a question: questions must be a multiple of taught");
  require(o.history >= 0 && o.history <= 1 && o.history_wrong >= 0 && o.history_wrong <= 1,
          "history and history_wrong are shares from 0 to 1");
  require(o.history_low >= 4 && o.history_low <= o.history_high && o.history_high <= 4096,
          "budgets must satisfy 4 <= history_low <= history_high <= 4096");
  require(o.history_outcome >= 0, "history_outcome is a weight from 0 on");
  require(o.history_outcome == 0 || (o.history > 0 && o.data.empty() && o.taught > 0 &&
                                     o.questions % o.taught == 0 && o.questions > o.taught),
          "history_outcome is for scenes alone: questions must be a multiple of taught");
  require(o.strange >= 0 && o.strange <= 1, "strange is a share from 0 to 1");
  require(!o.refit || !o.init.empty(), "refit needs weights to start from (init)");
  require(o.groups >= 1, "groups starts at 1");
  require(o.alternate >= 0, "alternate is a number of steps");
  double weights = 0;
  for (const auto& [kind, weight] : o.mix) {
    auto kinds = scenes::kinds();
    kinds.emplace_back(scenes::kTexts);
    require(std::find(kinds.begin(), kinds.end(), kind) != kinds.end(),
            "mix: there is no kind of scene named '" + kind + "'");
    require(kind != scenes::kTexts || !o.texts.empty(),
            "mix: scenes of the kind texts need a file of texts (option texts)");
    require(weight >= 0, "mix: the weight of " + kind + " is negative");
    weights += weight;
  }
  require(o.mix.empty() || weights > 0, "mix: all weights are zero");
  require(o.texts.empty() || o.mix.contains(scenes::kTexts),
          "texts: the mix has no scenes of the kind texts");
  require(o.pictures % o.accumulate == 0, "accumulate must divide pictures");
  require(o.budget_low >= 4 && o.budget_low <= o.budget_high && o.budget_high <= 4096,
          "budgets must satisfy 4 <= budget_low <= budget_high <= 4096");
  require(o.held_out >= 1 && o.held_out_budget >= 4, "held_out starts at 1, its budget at 4");
  require(o.real >= 0 && o.real <= 1 && o.real_words >= 0 && o.real_words <= 1 && o.swapped >= 0 &&
              o.swapped <= 1,
          "real, real_words and swapped are shares from 0 to 1");
  require(o.native >= 16 && o.native <= 4096, "native is a size from 16 to 4096 pixels");
  require(o.real_slots >= 1 && o.remember >= 0 && o.held_real >= 0,
          "real_slots starts at 1, remember and held_real at 0");
  require(o.held_share >= 0 && o.held_share <= 1, "held_share is a share from 0 to 1");
  require(o.frame_zoom >= 1 && o.frame_zoom <= 8, "frame_zoom is a factor from 1 to 8");
  require(o.data.empty() || o.outcome == 0, "outcome steps are for scenes alone, without data");
  require(o.data.empty() || o.pictures >= 2, "data needs at least 2 pictures a step");
  require(o.optimiser == "adamw" || o.optimiser == "muon",
          "optimiser must be adamw or muon, not '" + o.optimiser + "'");
  require(o.device == "auto" || o.device == "cpu" || o.device == "cuda",
          "device must be auto, cpu or cuda, not '" + o.device + "'");
}

}  // namespace

Options options_from_json(const std::string& text) {
  JsonFields fields = JsonFields::parse(kWhat, text);
  Options options;
  each(options, [&](const char* name, auto& target) { fields.field(name, target); });
  if (const json* shape = fields.take("shape"))
    options.shape = tiny::shape_from_json(shape->dump());
  if (const json* mix = fields.take("mix")) {
    if (!mix->is_object()) wrong_json(kWhat, "mix", "an object of weights");
    for (const auto& [kind, weight] : mix->items())
      read_value(kWhat, "mix." + kind, weight, options.mix[kind]);
  }
  fields.done();
  check(options);
  return options;
}

std::string to_json(const Options& options) {
  json out;
  each(options, [&](const char* name, const auto& value) { out[name] = value; });
  out["mix"] = options.mix;
  out["shape"] = json::parse(tiny::shape_to_json(options.shape));
  return out.dump(2);
}

}  // namespace arrcoc::training
