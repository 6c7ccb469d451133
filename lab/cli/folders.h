// Folders of pictures with questions (items*.jsonl), as groups to be measured.
#pragma once

#include "lab/measure/measure.h"

namespace arrcoc::cli {

// The questions of a folder, `limit` at most (0: all), one picture after the other; groups are
// numbered from `first`. Error{bad_image} for a picture of another size than its line says.
answering::GroupSource folder_groups(const std::string& folder, int limit, int first);

}  // namespace arrcoc::cli
