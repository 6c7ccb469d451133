#include "serve/api_error.h"

#include <new>

#include "base/json.h"

namespace arrcoc::serving {

std::string ApiError::type() const {
  switch (status_) {
    case 401:
      return "authentication_error";
    case 429:
      return "rate_limit_error";
    case 502:
    case 504:
      return "upstream_error";
    default:
      return status_ < 500 ? "invalid_request_error" : "server_error";
  }
}

std::string ApiError::body() const {
  const ordered_json out = {
      {"error", {{"code", code_}, {"message", what()}, {"type", type()}, {"param", nullptr}}}};
  // Messages may quote what a stranger sent.
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

ApiError api_error(const Error& error) {
  int status = 500;
  switch (error.code()) {
    case ErrorCode::bad_argument:
    case ErrorCode::bad_image:
    case ErrorCode::bad_json:
    case ErrorCode::not_found:
    case ErrorCode::unsupported:
      status = 400;
      break;
    case ErrorCode::too_large:
      status = 413;
      break;
    case ErrorCode::io:
    case ErrorCode::bad_weights:
    case ErrorCode::numeric:
      break;
  }
  return ApiError(status, to_string(error.code()), error.what());
}

ApiError api_error(std::exception_ptr problem) {
  try {
    std::rethrow_exception(problem);
  } catch (const ApiError& e) {
    return e;
  } catch (const Error& e) {
    return api_error(e);
  } catch (const std::bad_alloc&) {
    return ApiError(503, "out_of_memory", "out of memory, try again later");
  } catch (...) {
    return ApiError(500, "internal", "the server failed on this request");
  }
}

}  // namespace arrcoc::serving
