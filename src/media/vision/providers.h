// Factories of what media adds to the registries; see strategies.cpp.
#pragma once

#include <memory>

#include "arrcoc/look.h"
#include "arrcoc/texture.h"

namespace arrcoc::media {

std::unique_ptr<Provider> make_clusters();
std::unique_ptr<Provider> make_distance_field();
std::unique_ptr<Provider> make_text();

std::unique_ptr<Scorer> make_symbolic();
std::unique_ptr<Scorer> make_text_scorer();

}  // namespace arrcoc::media
