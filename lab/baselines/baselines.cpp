#include "lab/baselines/baselines.h"

#include <algorithm>
#include <filesystem>

#include "arrcoc/error.h"
#include "lab/baselines/allocators.h"
#include "lab/baselines/reducers.h"
#include "lab/measure/prompted.h"
#include "look/balance/balancers.h"
#include "models/hf/config.h"
#include "models/hf/vlm.h"
#include "models/tiny/looker.h"
#include "models/tiny/signs.h"

namespace arrcoc::baselines {

namespace {

constexpr const char* kEveryPatch = "every-patch";
constexpr const char* kQueryPolicy = "qformer";
constexpr int64_t kPageBytes = int64_t{64} << 20;  // page features, about 5 MB each

class EveryPatch : public Allocator {
 public:
  bool tiles() const override { return true; }
  bool keeps_budget() const override { return false; }
  Allocation allocate(const Relevance& relevance, const Geometry& geometry, const Budget& budget,
                      const AllocateOptions& options) const override {
    Allocation out = allocating::allocate(relevance, geometry, budget, "native", options);
    out.budget = budget;
    return out;
  }
};

void blind(AskOptions& o, const char* allocator) {
  o.look.information = o.look.salience = o.look.coupling = "none";
  o.allocator = allocator;
}

// Of the picture as it came: these count and cut it by rules of their own.
void blind_as_it_is(AskOptions& o, const char* allocator) {
  blind(o, allocator);
  o.least_side = o.most_side = 0;
}

// The model of a policy that has one of its own; null: the bundle's.
std::shared_ptr<const Model> own_model(const std::string& policy, const Bundle& bundle) {
  tiny::ReadOptions options;
  options.name += "+" + policy;
  if (policy == kQueryPolicy) {
    options.queries = true;
  } else if (registry<Reducer>().has(policy)) {
    options.reducer = registry<Reducer>().make(policy);
  } else {
    return nullptr;
  }
  tiny::take_signs(bundle.folder, options);
  return tiny::make_reader(bundle.networks, bundle.calibration, options);
}

bool has_own_model(const std::string& policy) {
  return policy == kQueryPolicy || registry<Reducer>().has(policy);
}

}  // namespace

std::unique_ptr<Allocator> make_every_patch() { return std::make_unique<EveryPatch>(); }

void register_baselines() {
  auto& allocators = registry<Allocator>();
  if (allocators.has(kEveryPatch)) return;
  allocators.add("oracle", "quadtree on the known evidence boxes: an upper bound", make_oracle);
  allocators.add("slices", "an overview and slices by aspect ratio (LLaVA-UHD)", make_slices);
  allocators.add(kEveryPatch, "every patch, for models that drop tokens themselves",
                 make_every_patch);
  for (const char* part : balancing::kParts)
    registry<Balancer>().add(std::string("outcome-without-") + part,
                             std::string("the same, ") + part + " neutral",
                             [part] { return balancing::make_outcome(part); });
  auto& all = policies();
  all.push_back({"oracle", {"quadtree on the known evidence: an upper bound", [](AskOptions& o) {
                              blind(o, "oracle");
                            }}});
  all.push_back({"slices",
                 {"an overview and slices by aspect ratio, equal shares of the budget (LLaVA-UHD)",
                  [](AskOptions& o) { blind_as_it_is(o, "slices"); }}});
  all.push_back({kQueryPolicy,
                 {"64 learned queries look at every patch, the writer sees only them (BLIP-2)",
                  [](AskOptions& o) {
                    blind_as_it_is(o, kEveryPatch);
                    o.own_budget = std::to_string(tiny::kQueries);
                  }}});
  for (const auto& [name, summary] : registry<Reducer>().list())
    all.push_back({name, {summary, [](AskOptions& o) { blind_as_it_is(o, kEveryPatch); }}});
}

bool encodes_all(const AskOptions& options) {
  return options.allocator == "native" || options.allocator == kEveryPatch;
}

Askers::Askers(std::shared_ptr<const Bundle> bundle) : bundle_(std::move(bundle)) {
  if (!bundle_) return;
  auto shared = std::make_shared<Bundle>(*bundle_);
  shared->looker = remembering(bundle_->looker, kPageBytes);
  bundle_ = std::move(shared);
}

Askers::Askers(std::shared_ptr<const Bundle> bundle, const ModelSource& source)
    : Askers(std::move(bundle)) {
  source_ = source;
  hf::require_language_model(hf::read_config(source.folder));
  model_ = hf::HfModel::open(source.folder, source.options, load_tokenizer(source.folder));
  model_->require_depth(source.options.depth);
  if (source_.options.mode == ReadMode::automatic)
    source_.options.mode = model_->select_refusal().empty() ? ReadMode::prune : ReadMode::zoom;
}

const Asker& Askers::of(const AskOptions& options) const {
  const bool own = model_ || (bundle_ && has_own_model(options.policy));
  const std::string policy = own ? options.policy : "";
  const std::scoped_lock lock(mutex_);
  std::unique_ptr<Asker>& asker = askers_[policy];
  if (!asker) asker = asker_of(policy);
  return *asker;
}

std::unique_ptr<Asker> Askers::asker_of(const std::string& policy) const {
  if (!model_)
    return std::make_unique<Asker>(bundle_, policy.empty() ? nullptr : own_model(policy, *bundle_));
  const Way way = way_of(policy, source_.options.mode);
  ModelOptions options = source_.options;
  options.mode = way.mode;
  const bool chooses = way.mode == ReadMode::prune || way.mode == ReadMode::patches;
  if (!chooses || !way.reduction.empty()) options.depth = {};
  std::shared_ptr<const hf::Reduction> reduction;
  if (!way.reduction.empty()) reduction = registry<hf::Reduction>().make(way.reduction);
  const std::string name = std::filesystem::weakly_canonical(source_.folder).filename().string();
  const auto reader = hf::make_reader(model_, name, options, reduction);
  const auto looker = relevance_looker(source_.relevance, *reader,
                                       bundle_ ? bundle_->looker : nullptr, source_.clip, options);
  return std::make_unique<Asker>(bundle_, measuring::prompted(reader), looker);
}

}  // namespace arrcoc::baselines
