// Answers over time as `arrcoc watch` says them.
#pragma once

#include "arrcoc/moments.h"
#include "cli/cli.h"

namespace arrcoc::cli {

ordered_json to_json(const filming::TimeAnswer& answer);
// The answer's line, then one for every moment that was asked.
std::string to_text(const filming::TimeAnswer& answer);

}  // namespace arrcoc::cli
