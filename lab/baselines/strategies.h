#pragma once

#include "models/tiny/reducer.h"

namespace arrcoc::reducing {

std::unique_ptr<Reducer> make_tome();
std::unique_ptr<Reducer> make_visionzip();
std::unique_ptr<Reducer> make_fastv();
std::unique_ptr<Reducer> make_cdpruner();
std::unique_ptr<Reducer> make_five_paths();

}  // namespace arrcoc::reducing
