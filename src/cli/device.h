// --device and --dtype of the bundled networks.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace arrcoc::cli {

// Read when the bundle is loaded ($ARRCOC_DEVICE, $ARRCOC_DTYPE); programs that this one starts
// inherit it. Before that, and only where the flags were given: null says they were not.
void place_networks(const std::string* device, const std::string* dtype);
// Both flags, for a command that has none of a Hugging Face model.
void add_device_flags(CLI::App& app);

}  // namespace arrcoc::cli
