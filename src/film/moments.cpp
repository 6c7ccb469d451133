// Which frames of a film are kept for questions over time.
#include "arrcoc/moments.h"

#include <algorithm>

namespace arrcoc::filming {

namespace {

// Between shots of much the same colours: what flow does not explain and the colours exchanged.
constexpr double kAnotherShot = 0.38;

}  // namespace

void Moments::add(const Step& step, double seconds, std::function<Picture()> picture) {
  const bool cut = step.cut || step.change.residual + step.change.histogram > kAnotherShot;
  if (shots_ == 0 || cut) ++shots_;
  const Moment moment{step.frame, seconds, shots_ - 1, step.change.residual, std::move(picture)};
  keep_even(moment);
  if (last_ && cut) {
    auto& cuts = first_cuts_.size() < kCuts ? first_cuts_ : last_cuts_;
    cuts.emplace_back(*last_, moment);
    if (cuts.size() > kCuts) cuts.erase(cuts.begin());
  } else if (last_) {
    keep_jump(moment);
  }
  last_ = moment;
}

void Moments::keep_even(const Moment& moment) {
  if (count_++ % stride_ != 0) return;
  if (even_.size() == kEven) {
    size_t kept = 0;
    for (size_t i = 0; i < even_.size(); i += 2) even_[kept++] = std::move(even_[i]);
    even_.resize(kept);
    stride_ *= 2;
    if ((count_ - 1) % stride_ != 0) return;
  }
  even_.push_back(moment);
}

// Of jumps in a row only the largest: a thing that slides in is one event.
void Moments::keep_jump(const Moment& moment) {
  if (!(moment.jump > 0)) return;
  if (!jumps_.empty() && jumps_.back().second.frame == last_->frame) {
    if (moment.jump > jumps_.back().second.jump) jumps_.back() = {*last_, moment};
    return;
  }
  jumps_.emplace_back(*last_, moment);
  if (jumps_.size() <= kJumps) return;
  jumps_.erase(std::min_element(jumps_.begin(), jumps_.end(), [](const Pair& a, const Pair& b) {
    return a.second.jump < b.second.jump;
  }));
}

std::vector<Moment> Moments::kept() const {
  std::vector<Moment> out = even_;
  for (const auto* pairs : {&first_cuts_, &last_cuts_, &jumps_})
    for (const auto& [before, after] : *pairs) {
      out.push_back(before);
      out.push_back(after);
    }
  if (last_) out.push_back(*last_);
  std::sort(out.begin(), out.end(),
            [](const Moment& a, const Moment& b) { return a.frame < b.frame; });
  out.erase(std::unique(out.begin(), out.end(),
                        [](const Moment& a, const Moment& b) { return a.frame == b.frame; }),
            out.end());
  return out;
}

}  // namespace arrcoc::filming
