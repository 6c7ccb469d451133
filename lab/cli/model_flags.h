// --model of `eval` and `bench`: a Hugging Face checkpoint is measured instead of the bundled
// model.
#pragma once

#include "cli/cli.h"
#include "cli/hub.h"
#include "lab/baselines/baselines.h"

namespace arrcoc::cli {

// Stays where it was made: the parser writes into it.
class ModelFlags {
 public:
  explicit ModelFlags(CLI::App& app);
  ModelFlags(const ModelFlags&) = delete;
  bool given() const { return !folder_.empty(); }
  // From here on askers() are the model's. Error{bad_argument} for flags without --model, the
  // errors of opening it.
  void use() const;
  // The options of a policy, or of a way to ask the model.
  AskOptions options(const OptionFlags& flags, const std::string& policy) const;
  // What the model is, for the report: folder, parameters, how it is read.
  ordered_json about() const;
  int64_t parameters() const;

 private:
  ReadMode usual() const;
  CLI::App* app_;
  HubFlags hub_;
  std::string folder_, mode_, relevance_ = "network", relevance_model_, device_ = "cpu", dtype_,
                              depth_;
  int64_t max_new_tokens_ = 32;
};

}  // namespace arrcoc::cli
