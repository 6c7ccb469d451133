// The shared products (models/kernels) under this folder's names.
#pragma once

#include "models/kernels/kernels.h"
#include "models/kernels/scratch.h"

namespace arrcoc::tiny {
using namespace kernels;
using kernels::Weights;  // not those of the balancers
}  // namespace arrcoc::tiny
