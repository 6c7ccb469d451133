// What `ask`, `eval` and `bench` share: the bundled model behind the command line's options.
#pragma once

#include "arrcoc/answering.h"
#include "cli/cli.h"

namespace arrcoc::cli {

// The bundled model, loaded once.
std::shared_ptr<const answering::Answerer> answerer();

// A policy of answering::policies() with what was given on the command line over it.
answering::AskOptions ask_options(const std::string& policy, const nlohmann::json& given);

// Error{bad_argument} when flags that make the map (--coupling, --channels, ...) were given to
// policies of which none looks by the pipeline.
void require_effect(const std::vector<std::string>& policies, const nlohmann::json& given);

// "a,b,c" -> names; Error{bad_argument} for an empty one, and for one that comes twice.
std::vector<std::string> split_names(const std::string& list);

}  // namespace arrcoc::cli
