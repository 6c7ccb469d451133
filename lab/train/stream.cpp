#include "lab/train/stream.h"

#include <algorithm>
#include <utility>

namespace arrcoc::training {

Stream::Stream(std::string name, Pool& pool, int shelf, const Flow& flow, Prefetch::Make make,
               const Parts& parts)
    : name_(std::move(name)),
      pool_(pool),
      shelf_(shelf),
      flow_(flow),
      make_(std::move(make)),
      parts_(parts) {}

void Stream::start(int workers) {
  const uint64_t again = std::min(tickets_, static_cast<uint64_t>(slots()));
  tickets_ -= again;
  const auto make = [this](uint64_t ticket) {
    if (parts_.own(slot_of(ticket))) return make_(ticket);
    Sample elsewhere;
    elsewhere.ticket = ticket;
    return elsewhere;
  };
  prefetch_ = std::make_unique<Prefetch>(make, tickets_, workers, std::max(4 * workers, 64));
  for (const uint64_t end = tickets_ + again; tickets_ < end;) {
    const int some = static_cast<int>(std::min<uint64_t>(end - tickets_, 64));
    take_in(some, some);
  }
  filled_ = static_cast<int>(again);
}

void Stream::refresh() {
  const int first = std::min(slots(), flow_.pictures);
  const int least = filled_ < first ? first - filled_ : flow_.fresh;
  const int most =
      flow_.fresh > 0 && filled_ >= first ? flow_.fresh : std::max(least, flow_.pictures);
  take_in(least, std::min(most, slots()));
  filled_ = static_cast<int>(std::min<uint64_t>(tickets_, static_cast<uint64_t>(slots())));
}

void Stream::take_in(int least, int most) {
  std::vector<int> slots;
  std::vector<std::shared_ptr<const Sample>> own;
  for (auto& sample : prefetch_->take(least, most)) {
    ++tickets_;
    const int slot = slot_of(sample->ticket);
    if (!parts_.own(slot)) continue;
    slots.push_back(pool_.first(shelf_) + slot);
    own.push_back(std::move(sample));
  }
  pool_.put(slots, own);
}

std::vector<int> Stream::choose(int count, int part, int longest, Dice& dice) const {
  std::vector<int> candidates;
  const int first = pool_.first(shelf_);
  for (int slot = part; slot < filled_; slot += parts_.count) {
    const Geometry& g = pool_.sample(first + slot).geometry;
    if (std::max(g.width, g.height) <= longest) candidates.push_back(first + slot);
  }
  std::vector<int> slots;
  for (int i = 0; i < count && !candidates.empty(); ++i) {
    const size_t pick = static_cast<size_t>(dice.below(static_cast<int>(candidates.size())));
    slots.push_back(candidates[pick]);
    candidates[pick] = candidates.back();
    candidates.pop_back();
  }
  return slots;
}

}  // namespace arrcoc::training
