// The parts of `arrcoc train` besides training itself.
#pragma once

#include "arrcoc/serve.h"
#include "lab/cli/lab.h"
#include "lab/fit/balance_fit.h"
#include "lab/fit/policies_fit.h"
#include "lab/train/vlm/vlm.h"

namespace arrcoc::cli {

// --from-log FILE: the tier head learns from what people thought of answers.
struct FromLog {
  std::string file, init, out;
  serving::ExampleFilter filter;
  int64_t steps = 0;
  int guard_questions = 50;
  bool json_out = false;
};
void train_from_log(const FromLog& wanted);

// --policies N: fits the small policies of looking and allocating.
// {"questions": 320, "seed": 1, "steps": 400, "couplings": ["lexical", "network"]}, all optional.
fitting::PolicyOptions policy_options(const json& given);
void train_policies(const fitting::PolicyOptions& options, const std::string& out, bool json);
// What a policies.json holds already, nothing where there is none: parts that are not fitted stay.
json kept_of(const std::string& path);

// --balancer N: fits balancer "outcome" on answers, into a policies.json, whose other parts stay.
void train_balancer(const fitting::BalanceFitOptions& options, const std::vector<std::string>& data,
                    const std::string& out, bool json);
void train_vlm(const training::VlmOptions& options, bool json);

}  // namespace arrcoc::cli
