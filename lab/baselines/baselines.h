// Other people's ways to spend or to save tokens, on the bundled weights: what `arrcoc eval` and
// `bench` compare with. Each is an allocator, or a reader of the bundled model that drops tokens
// itself, behind a policy's name.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "arrcoc/ask.h"
#include "lab/baselines/reductions.h"

namespace arrcoc::baselines {

// Adds allocators oracle, slices and every-patch, and the policies oracle, slices, qformer and one
// for every reducer. Once, before any thread asks; again changes nothing.
void register_baselines();

// True where the encoder pays for every native patch, so that a question takes seconds.
bool encodes_all(const AskOptions& options);

// A Hugging Face model that is asked instead of the bundled one.
struct ModelSource {
  std::string folder;
  // The mode is that of policies which say none; automatic: prune. The depth is that of modes prune
  // and patches; all other ways encode every token whole.
  ModelOptions options;
  RelevanceSource relevance = RelevanceSource::network;
  std::string clip;  // folder of RelevanceSource::clip and combined
};

// Who is asked under which policy. Shared by threads.
class Askers {
 public:
  // bundle: null where only looking without the network is wanted.
  explicit Askers(std::shared_ptr<const Bundle> bundle);
  // Policies are ways (way_of); what is asked besides is told (prompted). The weights are read
  // once. Error{not_found, bad_json, bad_weights, unsupported}.
  Askers(std::shared_ptr<const Bundle> bundle, const ModelSource& source);
  const std::shared_ptr<const Bundle>& bundle() const { return bundle_; }
  // The bundle's own model, unless the policy has one. What the network made of pictures is shared.
  // Error{not_found, bad_weights} of policy qformer without learned queries for these weights,
  // Error{unsupported} of a way that the model cannot go.
  const Asker& of(const AskOptions& options) const;

 private:
  std::unique_ptr<Asker> asker_of(const std::string& policy) const;

  ModelSource source_;
  std::shared_ptr<const hf::HfModel> model_;  // null: the bundle's
  std::shared_ptr<const Bundle> bundle_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::unique_ptr<Asker>> askers_;  // by policy; "": the bundle's own
};

}  // namespace arrcoc::baselines
