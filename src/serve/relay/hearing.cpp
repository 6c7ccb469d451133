#include "serve/relay/hearing.h"

#include <utility>

#include "arrcoc/error.h"
#include "serve/admission.h"

namespace arrcoc::serving {

namespace {
constexpr size_t kMostHeard = size_t{1} << 20;  // bytes of an answer that are kept for the log
constexpr int kDeepest = 200;
constexpr size_t kMostValues = 1'000'000;
}  // namespace

const ApiError& broken_off() {
  static const ApiError error(502, "upstream_died", "the upstream's answer broke off");
  return error;
}

json Hearing::object(std::string_view body) {
  try {
    require_few_values(body, kMostValues);
    json data = parse_json(body, "the upstream's answer", kDeepest);
    if (!data.is_object()) throw Error(ErrorCode::bad_json, "no object");
    dialect_.hear(data, heard_);
    if (heard_.text.size() > kMostHeard) heard_.text.resize(kMostHeard);
    return data;
  } catch (const std::runtime_error&) {
    throw ApiError(502, "upstream_failed", "the upstream's answer is no JSON object");
  }
}

void Hearing::feed(std::string_view bytes, bool ended, std::vector<std::string>& lines) {
  size_t at = 0, seen = pending_.size();
  pending_ += bytes;
  for (size_t end; (end = pending_.find('\n', seen)) != std::string::npos; at = seen = end + 1)
    lines.push_back(pending_.substr(at, end - at));
  pending_.erase(0, at);
  if (ended && !pending_.empty()) lines.push_back(std::exchange(pending_, ""));
  if (pending_.size() > kLargestReply) throw broken_off();
}

std::optional<json> Hearing::line(const std::string& line) {
  const std::string_view payload = dialect_.payload(line);
  if (payload == "[DONE]") heard_.finished = true;
  if (payload.empty() || payload == "[DONE]") return std::nullopt;
  try {
    require_few_values(payload, kMostValues);
    json data = parse_json(payload, "an event", kDeepest);
    if (!data.is_object()) return std::nullopt;
    dialect_.hear(data, heard_);
    if (heard_.text.size() > kMostHeard) heard_.text.resize(kMostHeard);
    return data;
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

}  // namespace arrcoc::serving
