#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "arrcoc/error.h"
#include "lab/train/train.h"
#include "models/tiny/files.h"

namespace arrcoc::training {
namespace {

using nlohmann::json;

// Calls visit(name, field) for every field but the shape.
template <class Struct, class Visit>
void each(Struct& o, const Visit& visit) {
  visit("assets", o.assets);
  visit("out", o.out);
  visit("init", o.init);
  visit("refit", o.refit);
  visit("device", o.device);
  visit("seed", o.seed);
  visit("minutes", o.minutes);
  visit("steps", o.steps);
  visit("resume", o.resume);
  visit("checkpoint", o.checkpoint);
  visit("canvas", o.canvas);
  visit("slots", o.slots);
  visit("workers", o.workers);
  visit("fresh", o.fresh);
  visit("small", o.small);
  visit("words", o.words);
  visit("mix", o.mix);
  visit("strange", o.strange);
  visit("pictures", o.pictures);
  visit("questions", o.questions);
  visit("taught", o.taught);
  visit("groups", o.groups);
  visit("accumulate", o.accumulate);
  visit("reading", o.reading);
  visit("joint", o.joint);
  visit("own_maps", o.own_maps);
  visit("own_maps_start", o.own_maps_start);
  visit("dense", o.dense);
  visit("enlarged", o.enlarged);
  visit("budget_low", o.budget_low);
  visit("budget_high", o.budget_high);
  visit("optimiser", o.optimiser);
  visit("rate", o.rate);
  visit("realizer_rate", o.realizer_rate);
  visit("warmup", o.warmup);
  visit("final_rate", o.final_rate);
  visit("decay", o.decay);
  visit("clip", o.clip);
  visit("glyph_weight", o.glyph_weight);
  visit("sparsity", o.sparsity);
  visit("freeze_realizer", o.freeze_realizer);
  visit("freeze_answerer", o.freeze_answerer);
  visit("freeze", o.freeze);
  visit("alternate", o.alternate);
  visit("outcome", o.outcome);
  visit("outcome_weight", o.outcome_weight);
  visit("outcome_temperature", o.outcome_temperature);
  visit("recompute", o.recompute);
  visit("report_seconds", o.report_seconds);
  visit("evaluate_seconds", o.evaluate_seconds);
  visit("evaluate_steps", o.evaluate_steps);
  visit("held_out", o.held_out);
  visit("held_out_budget", o.held_out_budget);
}

// json would cut 2.9 to 2 and wrap what does not fit.
template <class T>
T read(const json& given, const std::string& key) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    const bool fits = given.is_number_unsigned()  ? std::in_range<T>(given.get<uint64_t>())
                      : given.is_number_integer() ? std::in_range<T>(given.get<int64_t>())
                                                  : false;
    if (!fits)
      throw Error(ErrorCode::bad_json, "training options: '" + key +
                                           "' must be a whole number in its range, not " +
                                           given.dump());
  }
  return given.get<T>();
}

void require(bool good, const std::string& what) {
  if (!good) throw Error(ErrorCode::bad_argument, "training options: " + what);
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
  require(o.strange >= 0 && o.strange <= 1, "strange is a share from 0 to 1");
  require(!o.refit || !o.init.empty(), "refit needs weights to start from (init)");
  require(o.groups >= 1, "groups starts at 1");
  require(o.alternate >= 0, "alternate is a number of steps");
  double weights = 0;
  for (const auto& [kind, weight] : o.mix) {
    const auto& kinds = scenes::kinds();
    require(std::find(kinds.begin(), kinds.end(), kind) != kinds.end(),
            "mix: there is no kind of scene named '" + kind + "'");
    require(weight >= 0, "mix: the weight of " + kind + " is negative");
    weights += weight;
  }
  require(o.mix.empty() || weights > 0, "mix: all weights are zero");
  require(o.pictures % o.accumulate == 0, "accumulate must divide pictures");
  require(o.budget_low >= 4 && o.budget_low <= o.budget_high && o.budget_high <= 4096,
          "budgets must satisfy 4 <= budget_low <= budget_high <= 4096");
  require(o.held_out >= 1 && o.held_out_budget >= 4, "held_out starts at 1, its budget at 4");
  require(o.optimiser == "adamw" || o.optimiser == "muon",
          "optimiser must be adamw or muon, not '" + o.optimiser + "'");
  require(o.device == "auto" || o.device == "cpu" || o.device == "cuda",
          "device must be auto, cpu or cuda, not '" + o.device + "'");
}

}  // namespace

Options options_from_json(const std::string& text) {
  json in = json::parse(text, nullptr, false, true);
  if (!in.is_object()) throw Error(ErrorCode::bad_json, "training options: no JSON object");
  Options options;
  for (const auto& [key, value] : in.items()) {
    bool known = key == "shape";
    if (known) options.shape = tiny::shape_from_json(value.dump());
    try {
      each(options, [&, &name = key, &given = value](const char* field, auto& target) {
        if (name != field) return;
        target = read<std::decay_t<decltype(target)>>(given, name);
        known = true;
      });
    } catch (const json::exception& problem) {
      throw Error(ErrorCode::bad_json, "training options: '" + key + "': " + problem.what());
    }
    if (!known) throw Error(ErrorCode::bad_json, "training options: unknown key '" + key + "'");
  }
  check(options);
  return options;
}

std::string to_json(const Options& options) {
  json out;
  each(options, [&](const char* name, const auto& value) { out[name] = value; });
  out["shape"] = json::parse(tiny::shape_to_json(options.shape));
  return out.dump(2);
}

}  // namespace arrcoc::training
