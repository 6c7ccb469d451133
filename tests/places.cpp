#include "places.h"

namespace arrcoc::places {

std::string sources() { return ARRCOC_SOURCE_DIR; }
std::string data() { return ARRCOC_TEST_DATA; }
std::string program() { return ARRCOC_BINARY; }

}  // namespace arrcoc::places
