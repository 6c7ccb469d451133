// What every model's pictures would have cost as they came, what they cost, and the difference in
// money.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "serve/metrics.h"

namespace arrcoc::serving {

// PATTERN=DOLLARS for a million input tokens; the last pattern that matches counts.
// Error{bad_argument} for a rule that is not of this form.
std::optional<double> price_of(const std::vector<std::string>& prices, const std::string& model);

class Savings {
 public:
  Savings(std::vector<std::string> prices, Metrics& metrics);
  // reported: picture tokens by the upstream's own count.
  void add(const std::string& model, int64_t native, int64_t kept, std::optional<int64_t> reported);
  // A model that is served here: in the report, with its price, before anybody asks it.
  void expect(const std::string& model);
  // {models: [{model, requests, native_tokens, kept_tokens, saved_tokens, ...}], total: {...}}
  ordered_json report() const;

 private:
  struct Sum {
    int64_t requests = 0, native = 0, kept = 0, reported = 0;
  };
  ordered_json line(const std::string& model, const Sum& sum) const;

  const std::vector<std::string> prices_;
  Metrics& metrics_;
  mutable std::mutex mutex_;
  std::map<std::string, Sum> sums_;
};

}  // namespace arrcoc::serving
