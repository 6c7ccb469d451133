// What a client is told when a request fails: {error:{code,message,type}} with a status.
#pragma once

#include <stdexcept>
#include <string>

#include "arrcoc/error.h"

namespace arrcoc::serving {

class ApiError : public std::runtime_error {
 public:
  ApiError(int status, std::string code, const std::string& message)
      : std::runtime_error(message), status_(status), code_(std::move(code)) {}
  int status() const { return status_; }
  const std::string& code() const { return code_; }
  std::string type() const;  // invalid_request_error, rate_limit_error, server_error ...
  std::string body() const;  // JSON

 private:
  int status_;
  std::string code_;
};

// A library error as a status: what the client sent is 4xx, the rest 500.
ApiError api_error(const Error& error);
// Any exception; the words of unexpected ones stay inside.
ApiError api_error(std::exception_ptr problem);

}  // namespace arrcoc::serving
