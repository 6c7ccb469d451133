// The core's scorers; strategies.cpp gives them their names.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "arrcoc/look.h"

namespace arrcoc::scoring {

std::unique_ptr<Scorer> make_shannon();
std::unique_ptr<Scorer> make_spectrum();
std::unique_ptr<Scorer> make_points();
std::unique_ptr<Scorer> make_saliency();
std::unique_ptr<Scorer> make_print();
std::unique_ptr<Scorer> make_attention();
std::unique_ptr<Scorer> make_nothing();
std::unique_ptr<Scorer> make_features();

// Words of the question that name something visible. `find_faces` (media has one) serves words for
// people; without it skin colour stands in.
using FaceFinder = std::function<std::vector<Box>(const Picture&)>;
std::unique_ptr<Scorer> make_lexical(FaceFinder find_faces = {});

}  // namespace arrcoc::scoring
