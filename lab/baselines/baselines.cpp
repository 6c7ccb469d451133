#include "lab/baselines/baselines.h"

#include <algorithm>

#include "lab/baselines/allocators.h"
#include "lab/baselines/reducers.h"
#include "models/tiny/looker.h"

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

const Asker& Askers::of(const AskOptions& options) const {
  const std::string policy = bundle_ && has_own_model(options.policy) ? options.policy : "";
  const std::scoped_lock lock(mutex_);
  std::unique_ptr<Asker>& asker = askers_[policy];
  if (!asker)
    asker =
        std::make_unique<Asker>(bundle_, policy.empty() ? nullptr : own_model(policy, *bundle_));
  return *asker;
}

}  // namespace arrcoc::baselines
