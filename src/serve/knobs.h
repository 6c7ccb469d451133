// How many tokens a request may cost, by whatever it says about it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "arrcoc/serve.h"

namespace arrcoc::serving {

inline constexpr const char* kBudgetHeader = "X-Arrcoc-Budget";

struct Knobs {
  struct Picture {
    Detail detail = Detail::automatic;
    int64_t max_pixels = 0;  // 0: not given
  };
  std::string body, header;       // arrcoc.budget and kBudgetHeader; "": not given
  int64_t max_pixels = 0;         // mm_processor_kwargs: of pictures that have none of their own
  std::vector<Picture> pictures;  // in their order
};

// The first of these that says something:
//   arrcoc.budget > the header > max_pixels > detail > the model's budget > the server's
// max_pixels are tokens of token_pixels x token_pixels (0: size does not set the model's tokens,
// and they say nothing), at least 1 and summed over the pictures; one without any may have as many
// as the largest. detail is that of the picture that wants most: low is "fast", high "accurate",
// auto says nothing. ApiError{400} for a header that is no budget.
std::string budget_of(const Knobs& knobs, int token_pixels, const std::string& of_model,
                      const std::string& of_server);
// The same budget, at most so many tokens (0: any number).
std::string capped(const std::string& budget, int most);

}  // namespace arrcoc::serving
