// Errors of the library: one exception type with a code and a message that names the input.
//
// The library never prints and never exits. User errors throw Error; programmer errors assert.
#pragma once

#include <stdexcept>
#include <string>

namespace arrcoc {

enum class ErrorCode {
  bad_argument,  // an option or parameter has no such value
  bad_image,     // bytes that are not a picture, or a broken one
  too_large,     // a limit (pixels, question length, memory) would be passed
  unsupported,   // a known thing that this build or model cannot do
  not_found,     // no such file, strategy, page or tensor
  io,            // reading or writing failed (permission, full disk)
  bad_json,      // text that does not parse, or an unknown key
  bad_weights,   // a weight file that does not match what it should hold
  numeric,       // NaN or infinity where a number is needed
};

// "bad_argument", "bad_image", ...; stable, used in JSON replies.
const char* to_string(ErrorCode code);

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace arrcoc
