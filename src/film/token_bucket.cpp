#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "arrcoc/film.h"

namespace arrcoc::filming {

namespace {
constexpr int kBurst = 8;   // full frames that may be saved up
constexpr int kLeast = 16;  // fewer tokens than this are not worth a new tree
}  // namespace

TokenBucket::TokenBucket(const Allowance& allowance)
    : allowance_(allowance), credit_(allowance.most) {
  if (allowance.most < 1 || allowance.most > 65536)
    throw Error(ErrorCode::bad_argument,
                "a frame may get 1 to 65536 tokens, not " + std::to_string(allowance.most));
  if (!(allowance.rate > 0) || allowance.total < 0)
    throw Error(ErrorCode::bad_argument, "a film needs more than no tokens");
}

int TokenBucket::grant(double novelty, bool fresh) {
  if (spent_ > 0 || !fresh)
    credit_ = std::min(credit_ + allowance_.rate, 1.0 * kBurst * allowance_.most);
  pending_ = fresh ? 0 : pending_ + novelty;
  // A bucket that gets a quarter of what full frames cost waits for four times the change.
  const double enough = allowance_.novelty * std::max(1.0, allowance_.most / allowance_.rate);
  if (!fresh && pending_ < enough) return 0;
  int64_t tokens = std::min<int64_t>(allowance_.most, static_cast<int64_t>(std::floor(credit_)));
  if (allowance_.total > 0) tokens = std::min(tokens, allowance_.total - spent_);
  const int least = std::min(kLeast, allowance_.most);
  // The very first frame always sees something, if the film has any tokens at all.
  if (tokens < least && !(spent_ == 0 && tokens > 0)) return 0;
  pending_ = 0;
  credit_ -= static_cast<double>(tokens);
  spent_ += tokens;
  return static_cast<int>(tokens);
}

void TokenBucket::unused(int tokens) {
  credit_ += tokens;
  spent_ -= tokens;
}

}  // namespace arrcoc::filming
