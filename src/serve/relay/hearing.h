// What an upstream says, read as it comes: whatever it sends, it is heard or an ApiError{502}.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/relay/dialect.h"

namespace arrcoc::serving {

inline constexpr size_t kLargestReply = size_t{16} << 20;

class Hearing {
 public:
  explicit Hearing(const Dialect& dialect) : dialect_(dialect) {}

  // A whole reply. ApiError{502} for anything but a JSON object.
  json object(std::string_view body);
  // More bytes of a stream; adds the lines that are whole now, at the end the last one too.
  // ApiError{502} for a line without end.
  void feed(std::string_view bytes, bool ended, std::vector<std::string>& lines);
  // What one line says, where it is an event.
  std::optional<json> line(const std::string& line);

  const Heard& heard() const { return heard_; }

 private:
  const Dialect& dialect_;
  std::string pending_;
  Heard heard_;
};

const ApiError& broken_off();

}  // namespace arrcoc::serving
