#include "lab/cli/model_flags.h"

#include <filesystem>

#include "arrcoc/error.h"
#include "cli/ask_flags.h"
#include "cli/device.h"
#include "lab/cli/lab.h"

namespace arrcoc::cli {

ModelFlags::ModelFlags(CLI::App& app) : app_(&app), hub_(app) {
  const auto add = [&](const char* name, auto& target, const char* help) {
    return app.add_option(name, target, help)->group("Hugging Face model");
  };
  add("--model", folder_,
      "measure this model instead of the bundled one: a folder, or OWNER/NAME[@REVISION]");
  add("--mode", mode_,
      "of policies that are no mode themselves: prune (default, where the model can), patches or "
      "zoom");
  add("--relevance", relevance_, "map from: network, clip, attention or combined");
  add("--relevance-model", relevance_model_,
      "CLIP or SigLIP model: a folder, or OWNER/NAME[@REVISION]");
  add("--depth", depth_, kDepthHelp);
  add("--max-new-tokens", max_new_tokens_, "length of an answer, at most (32)")
      ->check(CLI::Range(1, 1 << 20));
  add("--device", device_, "cpu, cuda or cuda:N; of the bundled networks, too");
  add("--dtype", dtype_,
      "float32, bfloat16 or float16; of the bundled model where that answers; of others int8, too "
      "(on the CPU)");
}

ReadMode ModelFlags::usual() const {
  return mode_.empty() ? ReadMode::automatic : parse_enum<ReadMode>(mode_);
}

void ModelFlags::use() const {
  place_networks(app_->count("--device") > 0 ? &device_ : nullptr,
                 !given() && app_->count("--dtype") > 0 ? &dtype_ : nullptr);
  if (!given()) {
    for (const char* flag :
         {"--mode", "--relevance", "--relevance-model", "--max-new-tokens", "--depth"})
      if (app_->count(flag) > 0)
        throw Error(ErrorCode::bad_argument, std::string(flag) + " needs --model");
    return;
  }
  baselines::ModelSource source;
  source.folder = hub_.folder(folder_);
  if (holds_bundle(source.folder))
    throw Error(ErrorCode::bad_argument,
                folder_ +
                    " holds the bundled architecture: leave --model out, or compare folders "
                    "of weights with eval --weights");
  source.options.mode = usual();
  source.options.device = device_;
  source.options.dtype = dtype_;
  if (!depth_.empty()) source.options.depth = parse_depth(depth_);
  source.relevance = parse_enum<RelevanceSource>(relevance_);
  if (!relevance_model_.empty()) source.clip = hub_.folder(relevance_model_);
  ask_model(source);
}

AskOptions ModelFlags::options(const OptionFlags& flags, const std::string& policy) const {
  if (!given()) return flags.options(policy);
  AskOptions out = flags.options(baselines::way_of(policy, usual()).policy);
  out.policy = policy;  // askers() go by it
  out.generate.max_new_tokens = max_new_tokens_;
  return out;
}

int64_t ModelFlags::parameters() const { return inspect_model(hub_.folder(folder_)).parameters; }

ordered_json ModelFlags::about() const {
  const ModelInfo info = inspect_model(hub_.folder(folder_));
  return {{"folder", folder_},
          {"family", info.family},
          {"parameters", info.parameters},
          {"stored_bytes", info.stored_bytes},
          {"mode", to_string(usual())},
          {"depth", depth_.empty() ? "full" : depth_},
          {"relevance", relevance_},
          {"relevance_model", relevance_model_},
          {"max_new_tokens", max_new_tokens_},
          {"device", device_},
          {"dtype", dtype_}};
}

}  // namespace arrcoc::cli
