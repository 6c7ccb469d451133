// A checkpoint to begin with: random weights of a configuration, and a tokenizer of bytes.
#pragma once

#include <cstdint>
#include <string>

namespace arrcoc::training {

// config.json's random checkpoint in a folder, with a tokenizer whose tokens are the 256 bytes, the
// picture's placeholder (256) and the end (257). Error{bad_argument} for a configuration of another
// vocabulary.
void start_checkpoint(const std::string& config, const std::string& folder, uint64_t seed);

}  // namespace arrcoc::training
