#pragma once

#include <string>

#include "cli/cli.h"

namespace arrcoc::cli {

struct FromLog {
  std::string file, init, out;
  int64_t steps = 0;
  int guard_questions = 50;
  bool json_out = false;
};
void train_from_log(const FromLog& wanted);

}  // namespace arrcoc::cli
