#include "arrcoc/error.h"

namespace arrcoc {

const char* to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::bad_argument:
      return "bad_argument";
    case ErrorCode::bad_image:
      return "bad_image";
    case ErrorCode::too_large:
      return "too_large";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::io:
      return "io";
    case ErrorCode::bad_json:
      return "bad_json";
    case ErrorCode::bad_weights:
      return "bad_weights";
    case ErrorCode::numeric:
      return "numeric";
  }
  return "unknown";
}

}  // namespace arrcoc
