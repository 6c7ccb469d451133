// arrcoc train --policies N --out FILE: fits the small policies of the pipeline.
#pragma once

#include <string>

namespace arrcoc::cli {

void train_policies(int questions, const std::string& out, bool json);

}  // namespace arrcoc::cli
