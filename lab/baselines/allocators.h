// Allocators that only measuring uses.
#pragma once

#include <memory>

#include "arrcoc/allocate.h"

namespace arrcoc::baselines {

// Quadtree on the known evidence boxes. Error{bad_argument} where none lies inside the picture.
std::unique_ptr<Allocator> make_oracle();
// LLaVA-UHD's overview and slices, as crops.
std::unique_ptr<Allocator> make_slices();
// Every native patch, for models that leave the budget's number of them themselves.
std::unique_ptr<Allocator> make_every_patch();

}  // namespace arrcoc::baselines
