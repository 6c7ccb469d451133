#include "serve/knobs.h"

#include <algorithm>
#include <cstdio>

#include "arrcoc/allocate.h"
#include "arrcoc/error.h"
#include "arrcoc/query.h"
#include "serve/api_error.h"

namespace arrcoc::serving {

namespace {

constexpr int64_t kMost = 65536;

// Sizes in tokens, all pictures together; 0: none has a limit.
int64_t tokens_of_pixels(const Knobs& knobs, int token_pixels) {
  if (token_pixels <= 0) return 0;
  const int64_t area = int64_t{token_pixels} * token_pixels;
  int64_t sum = 0, largest = 0, without = 0;
  for (const Knobs::Picture& picture : knobs.pictures) {
    const int64_t pixels = picture.max_pixels > 0 ? picture.max_pixels : knobs.max_pixels;
    const int64_t tokens = pixels > 0 ? std::clamp<int64_t>(pixels / area, 1, kMost) : 0;
    without += tokens == 0;
    largest = std::max(largest, tokens);
    sum = std::min(sum + tokens, kMost);
  }
  return std::min(sum + without * largest, kMost);
}

Detail wanted(const Knobs& knobs) {
  Detail out = knobs.pictures.empty() ? Detail::automatic : Detail::low;
  for (const Knobs::Picture& picture : knobs.pictures) out = std::max(out, picture.detail);
  return out;
}

int even_budget(const std::string& rule) {
  Look even;
  even.relevance.map = Map{1, 1, 16, 16, {0.5F}};
  return allocating::budget(even, parse_query("what"), rule).tokens;
}

void require_budget(const std::string& rule) {
  try {
    even_budget(rule);
  } catch (const Error& e) {
    throw ApiError(400, "invalid_request", std::string(kBudgetHeader) + ": " + e.what());
  }
}

}  // namespace

std::string budget_of(const Knobs& knobs, int token_pixels, const std::string& of_model,
                      const std::string& of_server) {
  if (!knobs.header.empty())
    require_budget(knobs.header);  // a mistake even where it does not count
  if (!knobs.body.empty()) return knobs.body;
  if (!knobs.header.empty()) return knobs.header;
  if (const int64_t tokens = tokens_of_pixels(knobs, token_pixels); tokens > 0)
    return std::to_string(tokens);
  const Detail detail = wanted(knobs);
  if (detail != Detail::automatic) return detail == Detail::low ? "fast" : "accurate";
  return of_model.empty() ? of_server : of_model;
}

std::string capped(const std::string& budget, int most) {
  if (most == 0 || budget.empty()) return budget;
  const auto range = [&](int low, int high) {
    high = std::min(high, most);
    if (high < 2) return std::to_string(high);
    return "auto:" + std::to_string(std::min(low, high - 1)) + "-" + std::to_string(high);
  };
  int low = 0, high = 0;
  if (std::sscanf(budget.c_str(), "auto:%5d-%5d", &low, &high) == 2)
    return high > most ? range(low, high) : budget;
  if (budget.find_first_not_of("0123456789") == std::string::npos)
    return budget.size() > 9 || std::stoll(budget) > most ? std::to_string(most) : budget;
  if (most >= kMaxBudget) return budget;  // no rule gives more
  if (budget == "fast" || budget == "balanced" || budget == "accurate")
    return std::to_string(std::min(even_budget(budget), most));
  return range(kMinBudget, most);
}

}  // namespace arrcoc::serving
