// arrcoc train --policies N --out FILE: fits the small policies of the pipeline.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "lab/fit/policies_fit.h"

namespace arrcoc::cli {

// {"questions": 320, "seed": 1, "steps": 400, "couplings": ["lexical"]}, all optional.
training::PolicyOptions policy_options(const nlohmann::json& given);
void train_policies(const training::PolicyOptions& options, const std::string& out, bool json);

}  // namespace arrcoc::cli
