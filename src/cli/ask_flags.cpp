#include "cli/ask_flags.h"

#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "cli/device.h"
#include "cli/hub.h"

namespace arrcoc::cli {

struct PassFlags::State {
  std::string passes, policy;
  int total_budget = 0;
  double confident = -1;  // below 0: as the options have it
};

PassFlags::PassFlags(CLI::App& app) : state_(std::make_shared<State>()) {
  app.add_option("--passes", state_->passes, "look again while unsure: auto (up to 2) or 1 to 9");
  app.add_option("--total-budget", state_->total_budget, "passes: tokens of all of them together")
      ->check(positive());
  app.add_option("--confident", state_->confident,
                 "passes: from this confidence on no further look")
      ->check(between(0, 1));
  app.add_option("--pass-policy", state_->policy,
                 "passes: learned policy (arrcoc passes --fit) instead of the rules");
}

void PassFlags::apply(AskOptions& options) const {
  const std::string& passes = state_->passes;
  PassRules& rules = options.passes;
  if (passes == "auto") {
    rules.passes = std::max(2, rules.passes);
  } else if (passes.size() == 1 && passes[0] >= '1' && passes[0] <= '9') {
    rules.passes = passes[0] - '0';
  } else if (!passes.empty()) {
    throw Error(ErrorCode::bad_argument, "--passes is auto or 1 to 9, not '" + passes + "'");
  }
  rules.total_budget = state_->total_budget;
  if (state_->confident >= 0) rules.confident = state_->confident;
  for (const auto& [flag, given] : {std::pair{"--total-budget", state_->total_budget > 0},
                                    {"--confident", state_->confident >= 0},
                                    {"--pass-policy", !state_->policy.empty()}})
    if (given && rules.passes == 1)
      throw Error(ErrorCode::bad_argument, std::string(flag) + " needs --passes");
  if (state_->policy.empty()) return;
  try {
    options.pass_policy = pass_policy_from_json(read_text(state_->policy));
  } catch (const Error& problem) {
    if (problem.code() == ErrorCode::not_found) throw;
    throw Error(problem.code(), state_->policy + ": " + problem.what());
  }
}

GazeFlag::GazeFlag(CLI::App& app) : at_(std::make_shared<std::vector<double>>()) {
  app.add_option("--gaze", *at_, "a pixel where somebody looked: lifts the map there")
      ->expected(2)
      ->type_name("X Y");
}

void GazeFlag::apply(const Picture& picture, AskOptions& options) const {
  if (at_->empty()) return;
  const double x = (*at_)[0], y = (*at_)[1];
  if (!(x >= 0 && x < picture.width() && y >= 0 && y < picture.height()))
    throw Error(ErrorCode::bad_argument, "--gaze X Y is a pixel of the picture, which is " +
                                             std::to_string(picture.width()) + "x" +
                                             std::to_string(picture.height()));
  constexpr int kCells = 64;
  Map map{kCells,
          kCells,
          static_cast<float>(picture.width()) / kCells,
          static_cast<float>(picture.height()) / kCells,
          {}};
  const double reach = std::max(picture.width(), picture.height()) / 12.0;
  for (int r = 0; r < kCells; ++r)
    for (int c = 0; c < kCells; ++c) {
      const double dx = (c + 0.5) * map.cell_width - x, dy = (r + 0.5) * map.cell_height - y;
      map.values.push_back(
          static_cast<float>(std::exp(-0.5 * (dx * dx + dy * dy) / (reach * reach))));
    }
  options.gaze = std::move(map);
}

struct AskFlags::Model {
  explicit Model(CLI::App& app) : hub(app) {}
  HubFlags hub;
  std::string folder, mode, relevance = "network", relevance_model, device = "cpu", dtype, depth;
  int64_t max_new_tokens = 0;
  double top_p = 0;
  bool merge = false, tiers = false;
  // Flags that only a Hugging Face model has.
  static constexpr const char* kOwn[] = {"--mode",  "--relevance",      "--relevance-model",
                                         "--top-p", "--max-new-tokens", "--merge",
                                         "--tiers", "--depth"};
  bool own() const { return folder.empty() || holds_bundle(folder); }  // the bundled architecture
  // Names become folders; only when they are needed, as that may take a while.
  void find() {
    for (std::string* one : {&folder, &relevance_model})
      if (!one->empty()) *one = hub.folder(*one);
  }
};

AskFlags::AskFlags(CLI::App& app)
    : app_(&app), options_(app), passes_(app), gaze_(app), model_(std::make_shared<Model>(app)) {
  Model& m = *model_;
  const auto add = [&](const char* name, auto& target, const char* help) {
    return app.add_option(name, target, help)->group("Hugging Face model");
  };
  add("--model", m.folder,
      "model that is to answer: a folder, or OWNER/NAME[@REVISION] of Hugging Face's hub");
  add("--mode", m.mode, "native, prune, patches or zoom (default: zoom if it can, else prune)");
  add("--relevance", m.relevance, "map from: network, clip, attention or combined");
  add("--relevance-model", m.relevance_model,
      "CLIP or SigLIP model: a folder, or OWNER/NAME[@REVISION]");
  add("--max-new-tokens", m.max_new_tokens, "length of an answer, at most")
      ->check(CLI::Range(1, 1 << 20));
  add("--top-p", m.top_p, "sample among the likeliest tokens of this share")->check(between(0, 1));
  add("--device", m.device, "cpu, cuda or cuda:N; of the bundled networks, too");
  add("--dtype", m.dtype,
      "float32, bfloat16 or float16; of the bundled model where that answers; of others int8, too "
      "(on the CPU)");
  add("--depth", m.depth, kDepthHelp);
  app.add_flag("--merge", m.merge, "prune, patches: average the tokens of a coarse cell")
      ->group("Hugging Face model");
  app.add_flag("--tiers", m.tiers, "DeepStack levels by relevance (Qwen3-VL)")
      ->group("Hugging Face model");
}

AskOptions AskFlags::options(const Picture& picture) const {
  AskOptions out = options_.options();
  options_.require_effect(out);
  passes_.apply(out);
  gaze_.apply(picture, out);
  const Model& m = *model_;
  if (m.own()) return out;
  out.generate.max_new_tokens = m.max_new_tokens;
  if (app_->count("--top-p") > 0) out.generate.top_p = m.top_p;
  if (app_->count("--temperature") > 0)
    out.generate.temperature = static_cast<double>(out.allocate.temperature);
  out.generate.seed = out.allocate.seed;
  return out;
}

std::shared_ptr<const Asker> AskFlags::asker() const {
  model_->find();
  const Model& m = *model_;
  place_networks(app_->count("--device") > 0 ? &m.device : nullptr,
                 m.own() && app_->count("--dtype") > 0 ? &m.dtype : nullptr);
  if (m.own()) {
    for (const char* flag : Model::kOwn)
      if (app_->count(flag) > 0)
        throw Error(ErrorCode::bad_argument,
                    std::string(flag) +
                        (m.folder.empty() ? " needs --model" : " is for Hugging Face models"));
    return std::make_shared<Asker>(m.folder.empty() ? bundle() : load_bundle(m.folder));
  }
  ModelOptions options;
  options.mode = m.mode.empty() ? ReadMode::automatic : parse_enum<ReadMode>(m.mode);
  options.device = m.device;
  options.dtype = m.dtype;
  options.merge = m.merge;
  options.tiers = m.tiers;
  if (!m.depth.empty()) options.depth = parse_depth(m.depth);
  const auto model = open_model(m.folder, options);
  const auto own = bundle_for(options_.options());
  return std::make_shared<Asker>(
      own, model,
      relevance_looker(parse_enum<RelevanceSource>(m.relevance), *model,
                       own ? own->looker : nullptr, m.relevance_model, options));
}

}  // namespace arrcoc::cli
