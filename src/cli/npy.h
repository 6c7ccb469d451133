// Maps for numpy.
#pragma once

#include <string>

#include "arrcoc/map.h"

namespace arrcoc::cli {

// The values as numpy.load() reads them: float32 [rows, cols], every bit. Error{io}.
void write_npy(const std::string& path, const Map& map);

}  // namespace arrcoc::cli
