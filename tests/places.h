// Where the sources and the program under test are. Paths of one checkout stand in places.cpp and
// in the few sources that name them, so that a compiler's cache serves all others in every
// checkout.
#pragma once

#include <string>

namespace arrcoc::places {

std::string sources();
std::string data();     // tests/data
std::string program();  // arrcoc

}  // namespace arrcoc::places
